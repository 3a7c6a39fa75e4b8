/* A dot whose b lies in a ring as a warp group reads it (linear/swizzle.h), and whose a does so,
   too, or is in registers, becomes asynchronous: it begins, and a dot_wait is for its end.

   Where all of them in a loop have both operands there and add to a slot that nothing else uses, a
   turn does not wait for its own products but for those of the turn before,

     wait for copies
     sum = dot {async} …, sum
     sum = dot_wait {pending = 1} sum      the last turn's product is done
     barrier                               in all groups: what it has read can be overwritten
     copies

   and the matrix units have work while the threads count and copy. The last products are waited for
   behind the loop; no copy is under way by then. Otherwise each product is waited for in its turn,
   where something asks for the sum; where a is in registers at once, since ptxas may give these
   away.

   An a that comes from outside of the loop is stored to a ring of one copy before it. */
#include "memory/groups.h"

#include "base/vec.h"
#include "ir/build.h"
#include "ir/dot_unit.h"
#include "linear/swizzle.h"
#include "tkc/carry.h"

typedef struct Turn {
    Func *fn;
    Op *loop;
    VEC(Op *) dots;
} Turn;

/* The slot that the dot adds to, which nothing else uses; -1: none. */
static int slot_of(const Turn *t, const Op *dot)
{
    const Value *sum = op_result(dot, 0);
    for (int k = 0; k < carry_count(t->loop); k++) {
        const Value *param = carry_param(t->loop->regions[0], k);
        const bool is_its = op_arg(dot, 2) == param && carry_passed(t->loop->regions[0], k) == sum;
        if (is_its && !param->uses->next && !sum->uses->next) return k;
    }
    return -1;
}

/* All uses of v but the first op's become the result of that. */
static void replace_later(Value *v, Value *by)
{
    ir_replace_uses(v, by);
    ir_set_arg(by->def, 0, v);
}

static Value *wait_after(Func *fn, Op *after, Value *sum, int pending)
{
    Builder b = build_before(fn, after->next);
    b.loc = after->loc;
    Value *done = build_dot_wait(&b, sum, pending);
    replace_later(sum, done);
    return done;
}

/* Registers of an operand belong to the product, too: the next turn writes them. What is summed
   apart is waited for to be added. */
static bool may_stay(const Turn *t, const Op *dot)
{
    bool flipped;
    return slot_of(t, dot) >= 0 && dot_ring(dot, 0, &flipped) && !dot_together(dot);
}

static bool all_may_stay(const Turn *t)
{
    for (int i = 0; i < t->dots.len; i++)
        if (!may_stay(t, t->dots.data[i])) return false;
    return t->dots.len <= GROUP_MOST_PENDING;
}

/* Returns the barrier behind the waits. */
static Op *keep_under_way(const Turn *t)
{
    Op *last = t->dots.data[t->dots.len - 1];
    Builder after = build_before(t->fn, t->loop->next);
    after.loc = t->loop->loc;
    for (int i = t->dots.len - 1; i >= 0; i--) {
        Op *dot = t->dots.data[i];
        const int slot = slot_of(t, dot);
        Value *result = t->loop->results[slot];
        wait_after(t->fn, last, op_result(dot, 0), t->dots.len);
        replace_later(result, build_dot_wait(&after, result, 0));
    }
    while (last->next->kind == OP_DOT_WAIT) last = last->next;
    Builder b = build_before(t->fn, last->next);
    b.loc = t->loop->loc;
    return build_barrier(&b);
}

/* ---- an operand that stays the same ---- */

/* Before its layout was changed for the product. */
static Value *source_of(Value *v)
{
    return v->def && v->def->kind == OP_CONVERT ? op_arg(v->def, 0) : v;
}

static void put_in_ring(const Turn *t, Op *dot, const Layout *tiles)
{
    Value *a = op_arg(dot, 0);
    Builder b = build_before(t->fn, t->loop), in = build_before(t->fn, dot);
    b.loc = in.loc = dot->loc;
    Value *ring = build_alloc(
        &b, type_smem(ir_of(t->fn)->types, tkc_type_element(a->type), 2, a->type->shape, tiles));
    ir_set_int(t->fn, ring->def, ATTR_COPIES, 1);
    build_sstore(&b, ring, source_of(a), 0);
    build_barrier(&b);
    Value *args[] = {ring, build_int(&in, DT_I32, 0)};
    Op *read = build_checked(&in, build_op(&in, OP_RING_LOAD, 2, args, 1, &a->type));
    ir_set_arg(dot, 0, op_result(read, 0));
}

/* An a from outside of the loop, as far as there is room: registers have other uses. Leaves the
   dots whose a can be read. */
static void settle(Turn *t, int64_t room)
{
    bool flipped;
    int kept = 0;
    for (int i = 0; i < t->dots.len; i++) {
        Op *dot = t->dots.data[i];
        const Value *a = op_arg(dot, 0);
        const int64_t bytes = (int64_t)type_bytes(a->type) << a->type->layout->total_log2;
        const Layout *tiles =
            swizzle_layout(ir_of(t->fn)->layouts, a->type->layout, 1, type_bytes(a->type));
        if (!dot_ring(dot, 0, &flipped) && ir_is_defined_outside(a, t->loop->regions[0]) && tiles &&
            bytes <= room) {
            put_in_ring(t, dot, tiles);
            room -= bytes;
        }
        if (dot_group_reads(dot, 0)) t->dots.data[kept++] = dot;
    }
    t->dots.len = kept;
}

/* ---- waits in the turn ---- */

static bool asks_for(const Op *op, const Value *v)
{
    for (const Use *u = v->uses; u; u = u->next)
        for (const Op *user = u->user; user; user = user->region->parent)
            if (user == op) return true;
    return false;
}

/* Where its sum is first asked for; others that begin until then stay under way. */
static void wait_where_used(Func *fn, Op *dot)
{
    Value *sum = op_result(dot, 0);
    Op *user = dot->next;
    int pending = 0;
    bool flipped;
    const bool may_go_on = dot_ring(dot, 0, &flipped);
    for (; may_go_on && !ir_is_terminator(user) && !asks_for(user, sum); user = user->next)
        pending += user->kind == OP_DOT && tkc_op_int(user, ATTR_ASYNC, 0);
    wait_after(fn, user->prev, sum, pending < GROUP_MOST_PENDING ? pending : GROUP_MOST_PENDING);
}

Op *groups_start(Arena *scratch, Func *fn, Op *loop, int64_t room)
{
    Turn t = {.fn = fn, .loop = loop};
    for (Op *op = loop->regions[0]->first; op; op = op->next)
        if (dot_is_of_group(op) && dot_group_reads(op, 1)) vec_push(scratch, &t.dots, op);
    settle(&t, room);
    if (!t.dots.len) return NULL;
    const bool stays = all_may_stay(&t);
    for (int i = 0; i < t.dots.len; i++) ir_set_int(fn, t.dots.data[i], ATTR_ASYNC, 1);
    if (stays) return keep_under_way(&t);
    for (int i = 0; i < t.dots.len; i++) wait_where_used(fn, t.dots.data[i]);
    return NULL;
}
