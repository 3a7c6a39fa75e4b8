/* What only ops behind a loop ask for is made there: conversions, which bring a thread more than it
   had, and what such a value is made into. A row of scales that each thread needs as a whole after
   the loop took 32 registers while it ran. What only moves elements waits for matrix products, too.
   What one branch alone asks for is made in it: no other pays for the conversion of a sum that
   atomics take. (LLVM would move it there, last first, and derive each address from the next:
   all are there before the first is used.)

   A region is walked from its end, so that users have moved before what they use. */
#include "base/vec.h"
#include "layout/passes.h"

typedef struct Before {
    int loops, products; /* how many come before an op */
} Before;

typedef struct Sink {
    Arena *scratch;
    Map numbers;        /* op of the region to its number */
    VEC(Before) before; /* by number */
} Sink;

/* Keeping its only block operand costs a thread no more than keeping the result. */
static bool may_wait(const Op *op)
{
    if (op->nregions || op->nresults != 1 || !ir_has(op, OT_PURE) || ir_has(op, OT_LONG) ||
        !type_is_block(op_result(op, 0)->type))
        return false;
    if (!ir_has(op, OT_EW) && !ir_has(op, OT_SHAPE)) return false;
    const Value *from = NULL;
    for (int i = 0; i < op->nargs; i++) {
        const Value *v = op_arg(op, i);
        if (!type_is_block(v->type) || v == from) continue;
        if (from) return false;
        from = v;
    }
    return from && type_words(from->type) <= type_words(op_result(op, 0)->type);
}

/* The first op of the region that uses the result, inside or itself. */
static Op *first_user(const Sink *s, const Op *op)
{
    Op *first = NULL;
    for (const Use *u = op_result(op, 0)->uses; u; u = u->next) {
        Op *user = ir_op_of(u->user, op->region);
        if (!first || map_number(&s->numbers, user) < map_number(&s->numbers, first)) first = user;
    }
    return first;
}

/* The branch behind it in which all are that use the result. */
static Region *branch_of(const Op *op)
{
    Region *branch = NULL;
    for (const Use *u = op->nresults == 1 ? op_result(op, 0)->uses : NULL; u; u = u->next) {
        const Op *user = ir_op_of(u->user, op->region);
        if (user == u->user || user->kind != OP_IF) return NULL;
        const Region *in = u->user->region;
        while (in->parent != user) in = in->parent->region;
        if (branch && in != branch) return NULL;
        branch = user->regions[in == user->regions[1]];
    }
    return branch;
}

static bool may_branch(const Op *op)
{
    return !op->nregions && ir_has(op, OT_PURE) && !ir_has(op, OT_LONG) && op->kind != OP_DOT &&
           op->nresults == 1 && type_is_block(op_result(op, 0)->type);
}

static void sink_region(Sink *s, Region *r);

static void sink_op(Sink *s, Op *op)
{
    for (int i = 0; i < op->nregions; i++) sink_region(s, op->regions[i]);
    const bool waits = may_wait(op);
    Region *branch = may_branch(op) ? branch_of(op) : NULL;
    Op *user = branch ? branch->parent : waits ? first_user(s, op) : NULL;
    if (!user) return;
    const int to = map_number(&s->numbers, user);
    const Before here = s->before.data[map_number(&s->numbers, op)], there = s->before.data[to];
    if (!waits && here.loops != there.loops) return;
    if (branch) {
        ir_move_before(op, branch->first);
        return;
    }
    const bool moves = ir_has(op, OT_SHAPE) && here.products != there.products;
    if (here.loops == there.loops && !moves) return;
    while (user->prev && map_number(&s->numbers, user->prev) == to)
        user = user->prev; /* all that went there */
    ir_move_before(op, user);
    map_set_number(&s->numbers, op, to);
}

static void sink_region(Sink *s, Region *r)
{
    const Sink outer = *s;
    Before n = {0};
    s->before.len = s->before.cap = 0;
    s->before.data = NULL;
    for (Op *op = r->first; op; op = op->next) {
        map_set_number(&s->numbers, op, s->before.len);
        vec_push(s->scratch, &s->before, n);
        n.loops += ir_is_loop(op);
        n.products += op->kind == OP_DOT;
    }
    for (Op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        sink_op(s, op);
    }
    s->before = outer.before;
}

/* needs: layouts.  keeps: what every op computes.  changes: where conversions are, and what costs
   little to make of a block. */
void sink_run(Pass *p, Func *fn)
{
    Sink s = {.scratch = p->scratch};
    map_init(&s.numbers, p->scratch);
    sink_region(&s, fn->body);
}
