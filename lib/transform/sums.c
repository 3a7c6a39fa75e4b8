/* A sum of a loop's turns that each turn reduces a block for:

     for …: s = s + reduce_add(x)   becomes   for …: b = b + x;   s = s + reduce_add(b)

   and so do what is taken away, least and greatest values. Where threads meet to reduce, they do
   that once, and loads of the next turn need not wait for it. Floats are added in another order
   then, so it is no rule of folding, and `cpu` does without. A thread holds its share of the block
   while the loop runs: that may be no more than a few registers (with up to 8, seven calls ran at
   0.99 to 1.11 of their speed on an H200; with 16, four kernels at 1.12 to 1.31, and three at 0.79
   to 0.97), and a loop that multiplies matrices has none for it.

   Flags that a loop keeps for many elements are numbers,

     for …: f = f & c             becomes   for …: i = select(c, i, 0);   f = i != 0

   for there are seven predicates: loads waited for one another's masks to have one (whether all of
   a row is not 0: 155 instructions, 91 so). */
#include "base/power.h"
#include "ir/build.h"
#include "ir/machine.h"
#include "tkc/carry.h"
#include "transform/passes.h"

enum { MOST_SHARE = 8, /* registers of a thread, of all sums of a loop */
       FEW_FLAGS = 2 };

static bool is_only_use(const Value *v, const Op *user)
{
    return v->uses && !v->uses->next && v->uses->user == user;
}

/* What turns are joined by, of what joins them to the slot: adding nothing, or the same once more,
   changes nothing. */
static OpKind kind_of_turns(OpKind join)
{
    const bool is_kind = join == OP_ADD || join == OP_MAX || join == OP_MIN || join == OP_MAX_NAN ||
                         join == OP_MIN_NAN;
    return join == OP_SUB ? OP_ADD : is_kind ? join : OP_NONE;
}

static int share_of(const Func *fn, const Type *block)
{
    uint8_t dims[TKC_MAX_RANK];
    const int threads = MACHINE_LANE_BITS + log2_floor(fn->num_warps),
              total = layout_pad(block->rank, block->shape, dims);
    return (total > threads ? 1 << (total - threads) : 1) * (type_bits(block) > 32 ? 2 : 1);
}

/* The reduction that the slot's turn joins to what it has; NULL: it is another. */
static Op *reduced_in(const Op *loop, int slot)
{
    const Region *body = loop->regions[0];
    const Value *param = carry_param(body, slot), *next = carry_passed(body, slot);
    Op *join = next->def;
    const OpKind kind = join ? kind_of_turns(join->kind) : OP_NONE;
    if (kind == OP_NONE || join->region != body) return NULL;
    const int i = join->kind == OP_SUB || op_arg(join, 0) == param; /* operand: the turn's own */
    Op *reduce = ir_def(op_arg(join, i), OP_REDUCE);
    const bool is_fit = op_arg(join, !i) == param && reduce && reduce->region == body &&
                        reduce->nargs == 1 && !op_arg(reduce, 0)->type->layout &&
                        is_only_use(param, join) && is_only_use(op_arg(join, i), join) &&
                        is_only_use(next, body->last);
    return is_fit && ir_combine_kind(reduce->regions[0]) == kind ? reduce : NULL;
}

/* What the slot begins with, for each element. */
static Value *spread(Builder *b, Value *v, const Type *block, int axis)
{
    if (!type_is_block(v->type)) return build_splat(b, v, block->rank, block->shape);
    return build_broadcast(b, build_expand_dims(b, v, axis), block->rank, block->shape);
}

/* The reduction and what joins it go behind the loop. */
static void sum_block(Op *loop, int slot, Op *reduce)
{
    Region *body = loop->regions[0];
    Value *x = op_arg(reduce, 0), *param = carry_param(body, slot), *all = op_result(loop, slot);
    Op *join = carry_passed(body, slot)->def;
    const OpKind kind = kind_of_turns(join->kind);
    Builder before = build_before(loop), within = build_before(reduce);
    Value *begin = kind == OP_ADD
                       ? build_const(&before, x->type, 0)
                       : spread(&before, carry_init(loop, slot), x->type, ir_axis(reduce));
    ir_set_arg(join, op_arg(join, 0) == param ? 0 : 1, carry_init(loop, slot));
    ir_set_type(param, x->type);
    ir_set_arg(body->last, carry_own_ends(body->last) + slot,
               build_binary(&within, kind, param, x));
    ir_move_before(join, loop->next);
    ir_move_before(reduce, join);
    ir_set_arg(loop, carry_own_args(loop) + slot, begin);
    ir_replace_uses(all, op_result(join, 0));
    ir_set_type(all, x->type);
    ir_set_arg(reduce, 0, all);
}

/* What a slot's flags are joined with each turn; NULL: they are no flags, few, or asked for. */
static Value *flags_of(const Op *loop, int slot)
{
    const Value *param = carry_param(loop->regions[0], slot),
                *next = carry_passed(loop->regions[0], slot);
    const Op *join = next->def;
    const bool is_fit = type_is_block(param->type) && type_is_bool(param->type) && join &&
                        (join->kind == OP_AND || join->kind == OP_OR) &&
                        is_only_use(param, join) && is_only_use(next, loop->regions[0]->last) &&
                        share_of(loop->region->func, param->type) > FEW_FLAGS;
    return is_fit ? op_arg(join, op_arg(join, 0) == param) : NULL;
}

static void count_flags(Op *loop, int slot, Value *turn)
{
    Region *body = loop->regions[0];
    Value *param = carry_param(body, slot), *all = op_result(loop, slot);
    Op *join = carry_passed(body, slot)->def;
    const Type *ty = type_with_dtype(ir_of(loop->region->func)->types, param->type, DT_I32);
    Builder before = build_before(loop), within = build_before(join),
            behind = build_before(loop->next);
    Value *no = build_const(&before, ty, 0), *yes = build_const(&before, ty, 1);
    ir_set_arg(loop, carry_own_args(loop) + slot,
               build_select(&before, carry_init(loop, slot), yes, no));
    ir_set_type(param, ty);
    ir_set_type(all, ty);
    Value *next = join->kind == OP_AND ? build_select(&within, turn, param, no)
                                       : build_select(&within, turn, yes, param);
    ir_set_arg(body->last, carry_own_ends(body->last) + slot, next);
    ir_unlink(join);
    Value *flags = build_binary(&behind, OP_NE, all, no);
    ir_replace_uses(all, flags);
    ir_set_arg(flags->def, 0, all);
}

static void sum_loop(Op *loop, void *user)
{
    const Func *fn = user;
    if (loop->kind != OP_FOR) return;
    for (int i = 0; i < carry_count(loop); i++) {
        Value *turn = flags_of(loop, i);
        if (turn) count_flags(loop, i, turn);
    }
    if (ir_contains(loop->regions[0], OP_DOT, true)) return;
    int room = MOST_SHARE;
    for (int i = 0; i < carry_count(loop); i++) {
        Op *reduce = reduced_in(loop, i);
        const int share = reduce ? share_of(fn, op_arg(reduce, 0)->type) : 0;
        if (!reduce || share > room) continue;
        sum_block(loop, i, reduce);
        room -= share;
    }
}

/* needs: nothing.  keeps: sums but for the order in which floats are added.  changes: slots of for
   loops, the reductions in them, flags. */
void sums_run(Pass *p, Func *fn)
{
    (void)p;
    ir_walk(fn->body, sum_loop, fn);
}
