/* A product that needs nothing of what is made of an earlier one's sum begins beside it: the matrix
   units have work while threads compute, as in attention's way back, where v times the gradient has
   no need of the scores. Its sum has registers from there on; with many, nothing moves.

   The first product of a turn whose sum is computed with for another one (attention's scores)
   begins before the copies of a later turn: threads find their addresses meanwhile. So does one
   whose sum is each turn's own. */
#include "memory/begin.h"

#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "memory/flow.h"
#include "memory/room.h"

/* Such ops say where something is, and compute nothing. */
static bool goes_along(const Op *op)
{
    return op->kind == OP_RING_LOAD || op->kind == OP_TRANS || op->kind == OP_CONST;
}

static bool reads_memory(const Op *dot)
{
    for (int i = 0; i < 2; i++)
        if (!dot_ring(dot, i, NULL)) return false;
    return true;
}

/* Behind `at`, when what it takes to say where it is has come along. */
static bool is_there(const Value *v, const Op *at)
{
    const Op *def = v->def;
    if (!def || def->region != at->region || ir_is_before(def, at)) return true;
    if (!goes_along(def)) return false;
    for (int i = 0; i < def->nargs; i++)
        if (!is_there(op_arg(def, i), at)) return false;
    return true;
}

/* To behind `last`, which becomes the op. */
static void bring(Op *op, Op **last)
{
    for (int i = 0; i < op->nargs; i++) {
        Op *def = op_arg(op, i)->def;
        if (def && def->region == op->region && !ir_is_before(def, *last)) bring(def, last);
    }
    if ((*last)->next != op) ir_move_before(op, (*last)->next);
    *last = op;
}

/* Nothing that other threads see happens at it. */
static bool may_pass(const Op *op)
{
    const AccessKind kind = memory_access(op);
    return !op->nregions && !ir_has(op, OT_SIDE) && !ir_has(op, OT_WRITE) &&
           (kind == ACCESS_NONE || kind == ACCESS_READ);
}

/* Threads wait for a product, to compute with its sum or to use registers again. */
static bool waits(const Op *op)
{
    if (dot_is_async(op)) return !reads_memory(op);
    for (int i = 0; i < op->nargs; i++) {
        const Op *def = op_arg(op, i)->def;
        if (def && dot_is_async(def)) return true;
    }
    return false;
}

static bool copies_only(const Region *r)
{
    const Op *op = r->first;
    while (op && (op->kind == OP_COPY_ASYNC || ir_is_terminator(op) || may_pass(op))) op = op->next;
    return !op;
}

/* They go where no product of this turn reads. */
static bool copies_for_later(const Op *op)
{
    if (op->kind == OP_COMMIT) return true;
    return op->kind == OP_IF && !op->nresults && copies_only(op->regions[0]) &&
           copies_only(op->regions[1]);
}

static bool can_be_behind(const Op *dot, const Op *op)
{
    for (int i = 0; i < dot->nargs; i++)
        if (!is_there(op_arg(dot, i), op)) return false;
    return true;
}

/* The last dot before this one that threads wait for in between, and beside which it can begin;
   NULL: there is none. */
static Op *begins_beside(const Op *dot)
{
    bool has_wait = false;
    for (Op *op = dot->prev; op && (may_pass(op) || copies_for_later(op)); op = op->prev) {
        if (!can_be_behind(dot, op)) return NULL;
        if (has_wait && dot_is_async(op) && reads_memory(op)) return op;
        has_wait |= waits(op);
    }
    return NULL;
}

/* Threads compute with its sum for a later product. */
static bool leads_to_another(const Op *dot)
{
    bool has_wait = false;
    for (const Op *op = dot->next; op; op = op->next) {
        if (has_wait && dot_is_async(op)) return true;
        has_wait |= waits(op);
    }
    return false;
}

static int words_of_sum(const Op *dot)
{
    const Type *sum = op_result(dot, 0)->type;
    return layout_registers(sum->layout) * type_bits(sum) / 32;
}

/* Its high half of a product waits for what matrix units do. */
static bool divides(const Op *op)
{
    return (op->kind == OP_DIV || op->kind == OP_REM) && !ir_def(op_arg(op, 1), OP_CONST);
}

/* What the dot can come right behind, before copies of a later turn, which go on beside it then;
   NULL: it stays. Where three programs share a multiprocessor, products of others are beside them,
   and beside a large sum addresses take registers, for which only those that wait to be loaded make
   up. A sum that each turn begins anew (products of blocks that have scales) is waited for in the
   turn whatever the others do. */
static Op *begins_before_copies(const Op *dot)
{
    enum { MANY = 3, LARGE = 64 };
    const Machine *m = dot->region->func->machine;
    const bool leads = leads_to_another(dot);
    const int words = words_of_sum(dot);
    bool copies = false, pays = leads ? words < LARGE : words <= LARGE;
    if (leads ? machine_programs(m, room_around(dot, NULL)) >= MANY : !dot_begins_at_0(dot) || !pays)
        return NULL;
    Op *op = dot->prev;
    while (op && (may_pass(op) || copies_for_later(op)) && !dot_is_async(op) &&
           !divides(op) && can_be_behind(dot, op)) {
        copies |= op->kind == OP_IF;
        pays |= op->kind == OP_LOAD;
        op = op->prev;
    }
    return copies && pays ? op : NULL;
}

/* Of all sums in the region, those that go on into others once. */
static int words_of_sums(const Op *dot)
{
    int n = 0;
    for (const Op *op = dot->region->first; op; op = op->next) {
        const Value *sum = op->kind == OP_DOT ? op_result(op, 0) : NULL;
        if (sum && !(op_arg(op, 2)->def && op_arg(op, 2)->def->kind == OP_DOT))
            n += words_of_sum(op);
    }
    return n;
}

void begin_beside(Op *const *dots, int n)
{
    enum { MOST = 192 };
    for (int i = 0; i < n; i++) {
        if (!reads_memory(dots[i])) continue;
        Op *at = words_of_sums(dots[i]) <= MOST ? begins_beside(dots[i]) : NULL;
        if (!at) at = begins_before_copies(dots[i]);
        if (at) bring(dots[i], &at);
    }
}
