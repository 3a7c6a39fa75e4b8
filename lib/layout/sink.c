/* What only ops behind a loop ask for is made there: conversions, which bring a thread more than it
   had, and what such a value is made into. A row of scales that each thread needs as a whole after
   the loop took 32 registers while it ran. What only moves elements waits for matrix products, too.

   A region is walked from its end, so that users have moved before what they use.

   A slot of a loop that each turn converts before it uses it, and back behind that, is carried as
   it is used; its conversions are before and behind the loop. */
#include "base/map.h"
#include "base/vec.h"
#include "ir/build.h"
#include "ir/type.h"
#include "layout/passes.h"
#include "linear/layout.h"
#include "tkc/carry.h"

typedef struct Before {
    int loops, products; /* how many come before an op */
} Before;

typedef struct Sink {
    Arena *scratch;
    Map numbers;        /* op of the region to its number plus 1 */
    VEC(Before) before; /* by number */
    bool changed;
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

static int number_of(const Sink *s, const Op *op)
{
    return (int)(uintptr_t)map_get_ptr(&s->numbers, op) - 1;
}

/* The first op of the region that uses the result, inside or itself. */
static Op *first_user(const Sink *s, const Op *op)
{
    Op *first = NULL;
    for (const Use *u = op_result(op, 0)->uses; u; u = u->next) {
        Op *user = u->user;
        while (user->region != op->region) user = user->region->parent;
        if (!first || number_of(s, user) < number_of(s, first)) first = user;
    }
    return first;
}

static void sink_region(Sink *s, Region *r);

static void sink_op(Sink *s, Op *op)
{
    for (int i = 0; i < op->nregions; i++) sink_region(s, op->regions[i]);
    Op *user = may_wait(op) ? first_user(s, op) : NULL;
    if (!user) return;
    const int to = number_of(s, user);
    const Before here = s->before.data[number_of(s, op)], there = s->before.data[to];
    const bool moves = ir_has(op, OT_SHAPE) && here.products != there.products;
    if (here.loops == there.loops && !moves) return;
    while (user->prev && number_of(s, user->prev) == to)
        user = user->prev; /* all that went there */
    ir_move_before(op, user);
    map_set_ptr(&s->numbers, op, (void *)(uintptr_t)(to + 1));
    s->changed = true;
}

static void sink_region(Sink *s, Region *r)
{
    const Sink outer = *s;
    Before n = {0};
    s->before.len = s->before.cap = 0;
    s->before.data = NULL;
    for (Op *op = r->first; op; op = op->next) {
        vec_push(s->scratch, &s->before, n);
        map_set_ptr(&s->numbers, op, (void *)(uintptr_t)s->before.len);
        n.loops += ir_is_loop(op);
        n.products += op->kind == OP_DOT;
    }
    for (Op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        sink_op(s, op);
    }
    s->before = outer.before;
}

/* ---- slots ---- */

/* What all of the loop converts the slot to, and back from; NULL: there is no such layout. */
static const Layout *used_layout(const Op *loop, int slot)
{
    const Value *param = carry_param(loop->regions[0], slot);
    const Op *back = carry_passed(loop->regions[0], slot)->def;
    if (!type_is_block(param->type) || !back || back->kind != OP_CONVERT) return NULL;
    const Layout *l = op_arg(back, 0)->type->layout;
    for (const Use *u = param->uses; u; u = u->next)
        if (u->user->kind != OP_CONVERT || op_result(u->user, 0)->type->layout != l) return NULL;
    return param->uses ? l : NULL;
}

static Op *conversion(const Value *v, const Layout *l)
{
    for (const Use *u = v->uses; u; u = u->next)
        if (u->user->kind == OP_CONVERT && op_result(u->user, 0)->type->layout == l) return u->user;
    return NULL;
}

static void carry_as_used(Func *fn, Op *loop, int slot, const Layout *l)
{
    Region *body = loop->regions[0];
    Value *param = carry_param(body, slot), *result = op_result(loop, slot);
    const Layout *was = param->type->layout;
    const Type *ty = type_with_layout(ir_of(fn)->types, param->type, l);
    Builder before = build_before(fn, loop), after = build_before(fn, loop->next);
    before.loc = after.loc = loop->loc;
    ir_set_arg(loop, carry_own_args(loop) + slot,
               build_convert(&before, carry_init(loop, slot), l));
    ir_set_type(param, ty);
    for (Op *convert; (convert = conversion(param, l));) {
        ir_replace_uses(op_result(convert, 0), param);
        ir_unlink(convert);
    }
    ir_set_arg(body->last, carry_own_ends(body->last) + slot,
               op_arg(carry_passed(body, slot)->def, 0));
    ir_set_type(result, ty);
    Value *back = build_convert(&after, result, was);
    ir_replace_uses(result, back);
    ir_set_arg(back->def, 0, result);
}

static void carry_slots(Op *op, void *user)
{
    Sink *s = user;
    for (int k = 0; op->kind == OP_FOR && k < carry_count(op); k++) {
        const Layout *l = used_layout(op, k);
        if (!l) continue;
        carry_as_used(op->region->func, op, k, l);
        s->changed = true;
    }
}

/* needs: layouts.  keeps: what every op computes.  changes: where conversions are, and what costs
   little to make of a block. */
bool sink_run(Pass *p, Func *fn)
{
    Sink s = {.scratch = p->scratch};
    map_init(&s.numbers, p->scratch);
    ir_walk(fn->body, carry_slots, &s);
    sink_region(&s, fn->body);
    return s.changed;
}
