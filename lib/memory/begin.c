/* A product that needs nothing of what is made of an earlier one's sum begins beside it: the matrix
   units have work while threads compute, as in attention's way back, where v times the gradient has
   no need of the scores. Its sum has registers from there on; with many, nothing moves. */
#include "memory/begin.h"

#include "ir/dot_unit.h"
#include "linear/layout.h"
#include "memory/flow.h"

/* Such ops say where something is, and compute nothing. */
static bool goes_along(const Op *op)
{
    return op->kind == OP_RING_LOAD || op->kind == OP_TRANS || op->kind == OP_CONST;
}

static bool reads_memory(const Op *dot)
{
    bool flipped;
    for (int i = 0; i < 2; i++)
        if (!dot_ring(dot, i, &flipped)) return false;
    return true;
}

static bool stands_before(const Op *op, const Op *at)
{
    while (at && at != op) at = at->prev;
    return at;
}

/* Behind `at`, when what it takes to say where it is has come along. */
static bool is_there(const Value *v, const Op *at)
{
    const Op *def = v->def;
    if (!def || def->region != at->region || stands_before(def, at)) return true;
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
        if (def && def->region == op->region && !stands_before(def, *last)) bring(def, last);
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

/* The last dot before this one that threads wait for in between, and beside which it can begin;
   NULL: there is none. */
static Op *begins_beside(const Op *dot)
{
    bool has_wait = false;
    for (Op *op = dot->prev; op && may_pass(op); op = op->prev) {
        for (int i = 0; i < dot->nargs; i++)
            if (!is_there(op_arg(dot, i), op)) return NULL;
        if (has_wait && dot_is_async(op) && reads_memory(op)) return op;
        has_wait |= waits(op);
    }
    return NULL;
}

/* Of all sums in the region, those that go on into others once. */
static int sum_words(const Op *dot)
{
    int n = 0;
    for (const Op *op = dot->region->first; op; op = op->next) {
        const Value *sum = op->kind == OP_DOT ? op_result(op, 0) : NULL;
        if (sum && !(op_arg(op, 2)->def && op_arg(op, 2)->def->kind == OP_DOT))
            n += layout_registers(sum->type->layout) * type_bits(sum->type) / 32;
    }
    return n;
}

void begin_beside(Op *const *dots, int n)
{
    enum { MOST = 192 };
    for (int i = 0; i < n; i++) {
        Op *at = reads_memory(dots[i]) && sum_words(dots[i]) <= MOST ? begins_beside(dots[i]) : NULL;
        if (at) bring(dots[i], &at);
    }
}
