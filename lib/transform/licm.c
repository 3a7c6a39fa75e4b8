/* What does not change in a loop goes before it. Nothing has undefined behaviour, so an op may be
   computed though the loop would not have, also out of a branch inside the loop.

   Each value gets a level: the number of loops around its definition. An op without effect whose
   operands all have a lower level than its place moves before the loop that is one deeper than the
   deepest of them: at once, over all loops it does not depend on. Operands come before their users,
   so one walk sees each op after its operands moved.

   The pass `reads` moves loads, too: before the for loops around that write nothing, masked off where
   one has no turn, as long as registers are few.

   A pointer that moves by two offsets, first by one that changes in the loop, moves by the other one
   first: x + row * width + col in a loop over rows is x + col, before the loop, and one addition
   inside. */
#include "base/vec.h"
#include "ir/build.h"
#include "transform/passes.h"

enum { THREAD_BYTES = 256, LANES = 32 }; /* a thread's, of loads that go before loops */

typedef struct Licm {
    Arena *scratch;
    VEC(int) level;  /* by value id */
    VEC(Op *) loops; /* around the walk; loops[i] is entered from level i */
    int64_t bytes;   /* that all threads may still load before loops */
} Licm;

/* 0 of what has not been met: the walk has not come to what a region inside defines. */
static int level_of(const Licm *l, const Value *v)
{
    return (int)v->id < l->level.len ? l->level.data[v->id] : 0;
}

static void set_level(Licm *l, const Value *v, int level)
{
    while (l->level.len <= (int)v->id) vec_push(l->scratch, &l->level, 0);
    l->level.data[v->id] = level;
}

/* Of an op with all that its regions use. What a region defines itself counts as level 0 and does
   not matter. */
static int needed_level(const Licm *l, const Op *op)
{
    int level = 0;
    for (const Op *in = op; in; in = ir_next(in, op)) {
        for (int i = 0; i < in->nargs; i++) {
            const int at = level_of(l, op_arg(in, i));
            if (at > level) level = at;
        }
    }
    return level;
}

static void set_levels(Licm *l, const Op *op, int level)
{
    for (int i = 0; i < op->nresults; i++) set_level(l, op_result(op, i), level);
}

/* The outermost level that op may move to: loops that forbid it keep what is in them. */
static int target_level(Licm *l, const Op *op)
{
    int level = needed_level(l, op), here = l->loops.len;
    for (int i = here - 1; i >= level; i--)
        if (tkc_op_int(l->loops.data[i], ATTR_NO_LICM, 0)) return i + 1;
    return level < here ? level : here;
}

/* Where v has one user: the op of that kind that makes it. */
static Op *only_from(const Value *v, OpKind kind)
{
    return v->uses && !v->uses->next ? ir_def(v, kind) : NULL;
}

/* The addition below that of `op`, maybe under a broadcast, when it is by what changes in the
   innermost loop and all else is the same in it. */
static Op *moves_later(const Licm *l, const Op *op)
{
    const int here = l->loops.len;
    const Type *ty = op->kind == OP_ADDPTR ? op_result(op, 0)->type : NULL;
    if (!here || !ty || !ty->rank || ty->layout) return NULL;
    if (level_of(l, op_arg(op, 1)) == here) return NULL;
    const Value *below = op_arg(op, 0);
    const Op *wide = only_from(below, OP_BROADCAST);
    Op *first = only_from(wide ? op_arg(wide, 0) : below, OP_ADDPTR);
    if (!first || level_of(l, op_arg(first, 0)) == here || level_of(l, op_arg(first, 1)) < here)
        return NULL;
    return first;
}

/* The first of the ops that take its place. */
static Op *exchange(Op *op, const Op *first)
{
    const Type *ty = op_result(op, 0)->type;
    const Op *before = op->prev;
    Builder b = build_before(op);
    Value *from = build_broadcast(&b, op_arg(first, 0), ty->rank, ty->shape),
          *by = build_broadcast(&b, op_arg(first, 1), ty->rank, ty->shape),
          *moved = build_addptr(&b, from, op_arg(op, 1));
    ir_replace_uses(op_result(op, 0), build_addptr(&b, moved, by));
    Op *next = op->prev;
    while (next->prev != before) next = next->prev;
    ir_unlink(op);
    return next;
}

/* The greater level of two values, and where values of that level are made. */
static int place_of_both(const Licm *l, const Value *x, const Value *y, Builder *b)
{
    const int at_x = level_of(l, x), at_y = level_of(l, y), level = at_x > at_y ? at_x : at_y;
    *b = build_before(l->loops.data[level]);
    return level;
}

/* Masks the load of the loop off where that has no turn. */
static void mask_by_turns(Licm *l, const Op *loop, Op *load)
{
    Value *from = op_arg(loop, 0), *to = op_arg(loop, 1);
    const Type *ty = op_arg(load, 0)->type;
    int64_t first, end;
    if (ir_const_int(from, &first) && ir_const_int(to, &end) && first < end) return;
    Builder b;
    int level = place_of_both(l, from, to, &b);
    Value *turns = build_binary(&b, OP_LT, from, to);
    set_level(l, turns, level);
    if (ty->rank) turns = build_splat(&b, turns, ty->rank, ty->shape);
    set_level(l, turns, level);
    if (load->nargs < 2) {
        ir_add_arg(load, turns);
        return;
    }
    level = place_of_both(l, op_arg(load, 1), turns, &b);
    ir_set_arg(load, 1, build_and(&b, op_arg(load, 1), turns));
    set_level(l, op_arg(load, 1), level);
}

/* May a load in the body of the innermost of so many loops go before it? */
static bool may_leave(const Licm *l, const Op *load, int loops)
{
    if (!loops) return false;
    const Op *loop = l->loops.data[loops - 1];
    int64_t step;
    return loop->kind == OP_FOR && load->region == loop->regions[0] &&
           needed_level(l, load) < loops && !tkc_op_int(loop, ATTR_NO_LICM, 0) &&
           ir_const_int(op_arg(loop, 2), &step) && step > 0 && ir_can_erase(loop);
}

static void move_load(Licm *l, Op *load)
{
    const Type *ty = op_result(load, 0)->type;
    const int64_t bytes = tkc_type_count(ty) * type_bytes(ty);
    const bool is_small = bytes <= l->bytes && ir_can_erase(load);
    int loops = l->loops.len;
    if (is_small && may_leave(l, load, loops)) l->bytes -= bytes;
    for (; is_small && may_leave(l, load, loops); loops--) {
        mask_by_turns(l, l->loops.data[loops - 1], load);
        ir_move_before(load, l->loops.data[loops - 1]);
    }
    set_levels(l, load, loops);
}

static void licm_region(Licm *l, Region *r)
{
    for (int i = 0; i < r->nargs; i++) set_level(l, r->args[i], l->loops.len);
    for (Op *op = r->first, *next; op; op = next) {
        const Op *later = moves_later(l, op);
        if (later) op = exchange(op, later);
        next = op->next;
        if (ir_has(op, OT_PURE) && ir_can_erase(op)) { /* a combine may assert */
            int level = target_level(l, op);
            set_levels(l, op, level);
            if (level == l->loops.len) continue;
            ir_move_before(op, l->loops.data[level]);
            continue;
        }
        if (op->kind == OP_LOAD) {
            move_load(l, op);
            continue;
        }
        set_levels(l, op, l->loops.len);
        if (ir_is_loop(op)) vec_push(l->scratch, &l->loops, op);
        for (int i = 0; i < op->nregions; i++) licm_region(l, op->regions[i]);
        if (ir_is_loop(op)) l->loops.len--;
    }
}

/* needs: nothing.  keeps: layouts, the order of effects.  changes: where ops without effect are. */
void licm_run(Pass *p, Func *fn)
{
    Licm l = {.scratch = p->scratch};
    licm_region(&l, fn->body);
}

/* needs: nothing.  keeps: layouts, the order of effects.  changes: where loads and ops without effect
   are, and masks of loads. The cpu device has no use for it: it reads what the source says. */
void reads_run(Pass *p, Func *fn)
{
    Licm l = {.scratch = p->scratch, .bytes = THREAD_BYTES * LANES * fn->num_warps};
    licm_region(&l, fn->body);
}
