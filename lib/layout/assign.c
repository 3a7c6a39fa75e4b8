/* Every block gets a layout.

   Dots come first: the unit that multiplies has its own layouts for sum and operands (anchor.c).
   Then memory accesses, which know what they want (access.c): from the largest blocks to the
   smallest, and among equals those first for which another's layout would cost most, each access
   not yet reached takes its layout, and the layout spreads from there
   through operands, results and uses, as long as it follows from the relations of propagate.c:
   through elementwise ops in all directions, from a block to what is reduced from it or was
   broadcast to it, around loops. What is reached keeps the first layout it is given. When a
   smaller access is reached it is asked whether it accepts the layout that comes along (a row of
   weights loaded as the slice of the tile it is multiplied with) or is better off with its own
   and a conversion. Blocks no access reaches get the default of their shape, again largest
   first.

   Then types are set, and an operand whose layout is not the one its op needs is made again or
   converted (remat.c).

   Some ops dictate the layout of their results whatever was reached: memory ops (that of the
   access), scans and sorts (one in which a warp has all along the axis), reductions (the slice of
   the operand's), join (from its operands), split (one layout for both results), control flow (one
   layout a slot). */

#include "base/bitset.h"
#include "base/unwind.h"
#include "base/vec.h"
#include "ir/build.h"
#include "ir/dot_unit.h"
#include "layout/anchor.h"
#include "layout/convert.h"
#include "layout/joined.h"
#include "layout/passes.h"
#include "layout/propagate.h"
#include "layout/reduce_plan.h"
#include "tkc/carry.h"
#include "layout/remat.h"
#include "layout/weight.h"

typedef struct Assign {
    Arena *scratch;
    Func *fn;
    LayoutTable *layouts;
    Accesses *accesses;
    Remat remat;
    const Layout **of_value; /* by value id */
    Map of_op;               /* ops that choose: the layout they work in */
    VEC(Value *) values;     /* every block */
    VEC(Op *) ops;           /* every op, outer before inner */
    VEC(int) sizes;          /* see measure_accesses */
    Bitset indices;          /* ids of values, see is_index_op */
    VEC(Value *) work;       /* given a layout that has not yet spread */
    int next;                /* of work: first in, first out */
} Assign;

static const Layout *layout_of(const Assign *a, const Value *v)
{
    return a->of_value[v->id];
}

static const Layout *working_layout(const Assign *a, const Op *op)
{
    return map_get_ptr(&a->of_op, op);
}

static void give(Assign *a, Value *v, const Layout *l)
{
    if (!l || !type_is_block(v->type) || layout_of(a, v)) return;
    a->of_value[v->id] = l;
    vec_push(a->scratch, &a->work, v);
}

static void give_results(Assign *a, Op *op, const Layout *l)
{
    for (int i = 0; i < op->nresults; i++) give(a, op_result(op, i), l);
}

static void give_operands(Assign *a, Op *op, const Layout *l)
{
    for (int i = 0; i < op->nargs; i++) give(a, op_arg(op, i), l);
}

/* ---- ops that choose ---- */

static void settle_access(Assign *a, Op *op, const Layout *l)
{
    map_set_ptr(&a->of_op, op, (void *)l);
    give_results(a, op, l);
    give_operands(a, op, l);
}

static void reach_access(Assign *a, Op *op, const Layout *offered)
{
    if (working_layout(a, op)) return;
    const bool takes = !(op->nresults && remat_is_wide_index(&a->remat, op_result(op, 0), offered)) &&
                       access_accepts(a->accesses, op, offered);
    settle_access(a, op, takes ? offered : access_layout(a->accesses, op));
}

/* A layout that threads can reduce along the axis without exchanging other dims: the offered
   one, or a plain one. Every warp has a short line: what that repeats costs less than their
   meeting. */
static const Layout *reducible(const Assign *a, const Op *op, const Layout *offered)
{
    ReducePlan plan;
    int axis = ir_axis(op);
    const Layout *all = propagate_to_each_warp(a->layouts, offered);
    if (all) return all;
    reduce_plan(&plan, a->layouts, offered, axis, 0);
    if (plan.direct) return offered;
    const Layout *plain = access_default(a->accesses, op_arg(op, 0)->type);
    reduce_plan(&plan, a->layouts, plain, axis, 0);
    check(plan.direct, "no layout to reduce in");
    return plain;
}

/* What is left of l by a reduction, or of the rows by a sort. */
static const Layout *reduced(const Assign *a, const Op *op, const Layout *l)
{
    if (op->kind == OP_SORT) return propagate_result(a->layouts, op, l);
    return l->rank > 1 ? layout_slice(a->layouts, l, ir_axis(op)) : NULL;
}

static void reach_reduce(Assign *a, Op *op, const Layout *offered)
{
    if (working_layout(a, op)) return;
    const Layout *l = reducible(a, op, offered);
    map_set_ptr(&a->of_op, op, (void *)l);
    give_operands(a, op, l);
    give_results(a, op, reduced(a, op, l));
}

static bool works_on_rows(const Op *op)
{
    return op->kind == OP_SCAN || op->kind == OP_SORT;
}

/* Of a scan: threads have no more totals of segments than half of what they have of the block. */
static bool scans_well(const Assign *a, const Op *op, const Layout *l)
{
    const int axis = ir_axis(op);
    LayoutAxis along;
    if (op->kind != OP_SCAN || !layout_scans(l, axis, &along)) return false;
    if (!along.in_warps) return true;
    const int most = layout_registers(l) / 2;
    return layout_registers(layout_slots(a->layouts, l, axis, &along)) <= (most ? most : 1);
}

/* A sort has the lowest bits of the axis in registers, which its steps meet most often: as many as
   a thread has elements, and what lanes have no room for. Then a vector along the next dim. */
static void deal_sort(const Layout *like, int axis, const int *order, int *thread)
{
    const int share = like->total_log2 - like->nbits[DIM_LANE] - like->nbits[DIM_WARP],
              bits = like->dim_log2[axis], rest = bits - like->nbits[DIM_LANE];
    thread[axis] = share > rest ? share : rest;
    if (thread[axis] > bits) thread[axis] = bits;
    if (thread[axis] < 0) thread[axis] = 0;
    const int left = share - thread[axis];
    if (like->rank > 1 && left > 0) thread[order[1]] = left < 2 ? left : 2;
}

/* No lane has a lower bit of the axis than a register. */
static bool sorts_well(const Layout *l, int axis)
{
    LayoutAxis along;
    return layout_axis(l, axis, &along) && !along.in_warps &&
           !(along.in_registers & (along.in_registers + 1));
}

/* A plain one with the axis along registers, lanes, and then warps. */
static const Layout *line_layout(const Assign *a, const Op *op, const Layout *like)
{
    const int axis = ir_axis(op);
    int order[TKC_MAX_RANK] = {axis}, thread[TKC_MAX_RANK] = {0};
    for (int d = like->rank - 1, n = 1; d >= 0; d--) {
        if (d != axis) order[n++] = d;
    }
    thread[axis] = 2;
    if (op->kind == OP_SORT) deal_sort(like, axis, order, thread);
    return layout_blocked(a->layouts, like->rank, like->dim_log2, order, thread,
                          like->nbits[DIM_LANE], like->nbits[DIM_WARP]);
}

/* For a scan, a layout in which every warp has all along the axis: the offered one, the one nearest
   to it, or a plain one; it goes across warps where that spares moving the block, or having it in
   every warp. */
static const Layout *row_layout(const Assign *a, const Op *op, const Layout *offered)
{
    const int axis = ir_axis(op);
    const Layout *all = op->kind == OP_SCAN ? propagate_to_each_warp(a->layouts, offered) : NULL;
    if (all) return all;
    const Layout *near = layout_keep_in_warp(a->layouts, offered, axis),
                 *line = line_layout(a, op, offered);
    if (op->kind == OP_SORT) return sorts_well(offered, axis) ? offered : line;
    if (layout_axis_in_warp(offered, axis) || scans_well(a, op, offered)) return offered;
    const bool copies = layout_free_bits(near, DIM_WARP) & ~layout_free_bits(offered, DIM_WARP);
    if (copies && scans_well(a, op, line)) return line;
    if (layout_axis_in_warp(near, axis)) return near;
    const Layout *plain = access_default(a->accesses, op_arg(op, 0)->type);
    plain = layout_keep_in_warp(a->layouts, plain, axis);
    check(layout_axis_in_warp(plain, axis), "no layout to scan in");
    return plain;
}

/* Where several warps must have the same row, nothing but the op itself is to be done that often.
 */
static void reach_row(Assign *a, Op *op, const Layout *offered)
{
    if (working_layout(a, op)) return;
    const Layout *l = row_layout(a, op, offered),
                 *around = layout_free_bits(l, DIM_WARP) ? offered : l;
    map_set_ptr(&a->of_op, op, (void *)l);
    give_operands(a, op, around);
    give_results(a, op, op->kind == OP_SORT ? reduced(a, op, around) : around);
}

/* ---- spreading ---- */

static void spread_slot(Assign *a, const Op *owner, int slot, const Layout *l)
{
    Value *members[CARRY_MEMBERS];
    const int n = tkc_carry_members(owner, slot, members);
    for (int i = 0; i < n; i++) give(a, members[i], l);
}

/* A warp group reads b from memory, and an a that is loaded or comes from outside of the loop.
   Nobody has it in the layout that the sum's, l, asks for. */
static bool is_read_by_group(const Op *op, int arg, const Layout *l)
{
    bool flipped;
    return op->kind == OP_DOT && arg != 2 && dot_fits_group(op) &&
           fragment_is_group_sum(dot_group_row(op)->shape, l) &&
           (arg == 1 || dot_source(op, arg, OP_LOAD, &flipped) ||
            ir_is_defined_outside(op_arg(op, arg), op->region));
}

/* Whole rows in each thread are what a dot without a matrix instruction reads them in; nothing else
   is done well so. */
static bool is_reading_layout(const Op *op, int arg, const Layout *l)
{
    return op->kind == OP_DOT && arg != 2 && (!dot_unit(op).mma || is_read_by_group(op, arg, l));
}

/* Adds what a register of v costs that comes by arithmetic from what is loaded or scanned; false: it
   comes from anything else, too. */
static bool add_weight(Bitset *seen, const Value *v, int *weight)
{
    const Op *op = v->def;
    if (!type_is_block(v->type) || (op && (op->kind == OP_LOAD || op->kind == OP_SCAN)) ||
        !bitset_add(seen, (int)v->id))
        return true;
    const int own = op ? weight_of(op) : WEIGHT_NEVER;
    if (own == WEIGHT_NEVER) return false;
    *weight += own;
    for (int i = 0; i < op->nargs; i++)
        if (!add_weight(seen, op_arg(op, i), weight)) return false;
    return true;
}

/* To compute v in l costs more than to do that for the own share and to move it. */
static bool is_dear(const Assign *a, const Value *v, const Layout *l)
{
    const Layout *own = access_default(a->accesses, v->type);
    Bitset seen = bitset_make(a->scratch, (int)a->fn->nvalues);
    int weight = 0;
    if (type_is_int(v->type) || layout_registers(l) <= layout_registers(own) ||
        !add_weight(&seen, v, &weight))
        return false;
    ConvertPlan plan;
    convert_plan(&plan, own, l, type_bytes(v->type), 0);
    return weight * (layout_registers(l) - layout_registers(own)) > plan.cost;
}

/* A line of which each thread would have much more than its share, when something has to be
   computed for it: that is done for a share, and moved. What only loads it decides for itself. */
static bool is_too_much(const Assign *a, const Op *op, int arg, const Layout *l)
{
    enum { MOST = 16 };
    const Value *v = op_arg(op, arg);
    if (op->kind != OP_EXPAND_DIMS || !l || !v->def || v->def->kind == OP_LOAD) return false;
    const int threads = l->nbits[DIM_LANE] + l->nbits[DIM_WARP];
    const int share = l->total_log2 > threads ? 1 << (l->total_log2 - threads) : 1;
    return layout_registers(l) >= MOST * share || is_dear(a, v, l);
}

/* A factor that several warps have: nothing is to be done that often for the sake of a product. */
static bool is_copied(const Op *op, int arg, const Layout *l)
{
    return op->kind == OP_DOT && arg != 2 && l && layout_free_bits(l, DIM_WARP);
}

/* What l asks for cannot be had from what v is joined of: it has to be moved there, wider than it is
   now (numbers of 4 bits, eight to a word, are 32 bits each until they have been shifted). */
static bool is_moved_wide(const Assign *a, Bitset *seen, const Value *v, const Layout *l, int bits)
{
    const Op *op = v->def;
    if (!op || !l || bitset_has(&a->indices, (int)v->id) || !bitset_add(seen, (int)v->id))
        return false;
    if (op->kind == OP_JOIN && !propagate_operand(a->layouts, op, 0, l))
        return type_bits(v->type) > bits;
    if (op->kind != OP_JOIN && !ir_has(op, OT_EW) && !ir_has(op, OT_SHAPE)) return false;
    for (int i = 0; i < op->nargs; i++)
        if (is_moved_wide(a, seen, op_arg(op, i), propagate_operand(a->layouts, op, i, l), bits))
            return true;
    return false;
}

/* A factor that is moved anyway is moved when it is done. */
static bool is_moved_late(const Assign *a, const Op *op, int arg, const Layout *l)
{
    if (op->kind != OP_DOT || arg == 2) return false;
    Bitset seen = bitset_make(a->scratch, (int)a->fn->nvalues);
    return is_moved_wide(a, &seen, op_arg(op, arg), l, type_bits(op_arg(op, arg)->type));
}

/* From a result to the operands and the other results. */
static void spread_to_definition(Assign *a, const Value *v, const Layout *l)
{
    Op *op = v->def;
    const Op *owner;
    int slot;
    if (tkc_carry_of_value(v, &owner, &slot)) spread_slot(a, owner, slot, l);
    if (!op) return;
    if (access_is_block(op)) reach_access(a, op, l);
    if (works_on_rows(op) && !tkc_op_attr(op, ATTR_KEEP)) reach_row(a, op, l);
    if (ir_has(op, OT_EW) || op->kind == OP_SPLIT) give_results(a, op, l);
    for (int i = 0; i < op->nargs; i++) {
        const Layout *needs = propagate_operand(a->layouts, op, i, l);
        if (!is_reading_layout(op, i, l) && !is_too_much(a, op, i, needs) &&
            !is_copied(op, i, needs) && !is_moved_late(a, op, i, needs))
            give(a, op_arg(op, i), needs);
    }
}

static void spread_to_use(Assign *a, Use *use, const Layout *l)
{
    Op *op = use->user;
    const Op *owner;
    int slot;
    if (tkc_carry_of_use(use, &owner, &slot)) spread_slot(a, owner, slot, l);
    else if (access_is_block(op)) reach_access(a, op, l);
    else if (op->kind == OP_REDUCE) reach_reduce(a, op, l);
    else if (works_on_rows(op)) reach_row(a, op, l);
    else {
        give_results(a, op, propagate_result(a->layouts, op, l));
        if (ir_has(op, OT_EW) || op->kind == OP_JOIN) give_operands(a, op, l);
    }
}

/* An index that it takes is made again in whatever layout it wants. */
static bool takes_any(const Use *use)
{
    const Op *owner;
    int slot;
    return ir_has(use->user, OT_EW) || access_is_block(use->user) ||
           tkc_carry_of_use(use, &owner, &slot);
}

/* A line of integers from before the loop where it is used, of which a thread has several: what it
   is moved for there is moved once. */
static bool is_from_before(const Value *v, const Layout *l, const Use *use)
{
    enum { SEVERAL = 4 };
    const Region *turn = ir_turn(use->user);
    return v->type->rank == 1 && type_is_int(v->type) && !type_is_bool(v->type) && turn &&
           layout_registers(l) >= SEVERAL && ir_is_defined_outside(v, turn);
}

static void spread(Assign *a)
{
    while (a->next < a->work.len) {
        Value *v = a->work.data[a->next++];
        const Layout *l = layout_of(a, v);
        spread_to_definition(a, v, l);
        /* much more than a thread's share, which the load refuses, goes no further */
        const Layout *own = v->def && access_is_block(v->def) ? working_layout(a, v->def) : l;
        if (l->rank > 1 && layout_registers(own) * 4 <= layout_registers(l))
            a->of_value[v->id] = l = own;
        const bool is_index = bitset_has(&a->indices, (int)v->id);
        for (Use *use = v->uses; use; use = use->next) {
            const bool decides_itself = is_index || is_from_before(v, l, use);
            if (!decides_itself || !takes_any(use)) spread_to_use(a, use, l);
        }
    }
}

/* ---- seeds ---- */

static int size_log2(const Type *ty)
{
    uint8_t dims[TKC_MAX_RANK];
    return layout_pad(ty->rank, ty->shape, dims);
}

static void collect_values(Assign *a, int n, Value *const *values)
{
    for (int i = 0; i < n; i++) {
        if (type_is_block(values[i]->type)) vec_push(a->scratch, &a->values, values[i]);
    }
}

/* Integers and pointers made of ranges and scalars alone, and constants. They cost next to nothing
   to make again, so that no use of them hands its layout on to another. */
static bool is_index_op(const Assign *a, const Op *op)
{
    const Type *ty = op->nresults == 1 ? op_result(op, 0)->type : NULL;
    const bool is_arithmetic = ir_has(op, OT_EW) && ir_has(op, OT_PURE) && !ir_has(op, OT_LONG) &&
                               ty && (type_is_int(ty) || type_is_pointer(ty)),
               is_given = op->kind == OP_SPLAT || op->kind == OP_ARANGE || ir_has(op, OT_CONST);
    if (!ty || !type_is_block(ty) || !(is_arithmetic || is_given || ir_has(op, OT_SHAPE)))
        return false;
    for (int i = 0; i < op->nargs; i++) {
        const Value *x = op_arg(op, i);
        if (type_is_block(x->type) && !bitset_has(&a->indices, (int)x->id)) return false;
    }
    return true;
}

static void collect_op(Op *op, void *user)
{
    Assign *a = user;
    if (is_index_op(a, op)) bitset_add(&a->indices, (int)op_result(op, 0)->id);
    ir_remove_attr(op, ATTR_VECTOR); /* it was decided for another layout */
    ir_remove_attr(op, ATTR_EQUAL);
    ir_remove_attr(op, ATTR_RUN);
    vec_push(a->scratch, &a->ops, op);
    collect_values(a, op->nresults, op->results);
    for (int i = 0; i < op->nregions; i++)
        collect_values(a, op->regions[i]->nargs, op->regions[i]->args);
}

/* The size of the largest block that numbers packed in v are taken apart to. */
static int unpacked_log2(Bitset *seen, const Value *v)
{
    int most = size_log2(v->type);
    if (!bitset_add(seen, (int)v->id)) return most;
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *op = u->user;
        const bool follows = op->kind == OP_JOIN || op->kind == OP_TRANS ||
                             op->kind == OP_RESHAPE || ir_has(op, OT_EW);
        for (int i = 0; follows && i < op->nresults; i++) {
            const int log2 = unpacked_log2(seen, op_result(op, i));
            if (log2 > most) most = log2;
        }
    }
    return most;
}

/* Of each access, by place among the seeds. What is loaded packed goes by vectors as it lies, and
   what is made of it follows, unless it is stored. */
static void measure_accesses(Assign *a)
{
    Op *op;
    for (int i = 0; (op = access_seed(a->accesses, i)); i++) {
        int log2 = size_log2(op_arg(op, 0)->type);
        if (op->kind == OP_LOAD) {
            Bitset seen = bitset_make(a->scratch, (int)a->fn->nvalues);
            log2 = unpacked_log2(&seen, op_result(op, 0));
        }
        vec_push(a->scratch, &a->sizes, log2);
    }
}

/* Those of that size, or those that are unpacked to it. */
static void seed_accesses(Assign *a, int log2, bool unpacked)
{
    Op *op;
    for (int i = 0; (op = access_seed(a->accesses, i)); i++) {
        const int size = unpacked ? a->sizes.data[i] : size_log2(op_arg(op, 0)->type);
        if (working_layout(a, op) || size != log2) continue;
        settle_access(a, op, access_layout(a->accesses, op));
        spread(a);
    }
}

static void seed_size(Assign *a, int log2)
{
    for (int unpacked = 0; unpacked <= 1; unpacked++) seed_accesses(a, log2, unpacked);
    for (int i = 0; i < a->values.len; i++) {
        Value *v = a->values.data[i];
        if (layout_of(a, v) || size_log2(v->type) != log2) continue;
        const Layout *joined = joined_layout(a->scratch, a->fn, v);
        give(a, v, joined ? joined : access_default(a->accesses, v->type));
        spread(a);
    }
}

/* What is loaded is loaded as suits that, and moves before it comes in parts. */
static void seed_part(Assign *a, const Anchors *anchors, Op *dot, const Layout *sum)
{
    Op *load;
    const Layout *part = anchor_part(anchors, dot, sum, &load);
    if (!part) return;
    give(a, op_arg(dot, 1), part);
    if (working_layout(a, load)) return;
    map_set_ptr(&a->of_op, load, (void *)access_layout(a->accesses, load));
    give_operands(a, load, working_layout(a, load));
}

/* Of a product, rounded to fewer bits for that, transposed or not. */
static bool is_rounded_factor(const Value *v, int bits)
{
    for (const Use *use = v->uses; use; use = use->next) {
        const Op *op = use->user;
        const bool passes = op->kind == OP_CAST || op->kind == OP_TRANS;
        if (op->kind == OP_DOT ? use != &op->args[2] && type_bits(v->type) < bits
                               : passes && is_rounded_factor(op_result(op, 0), bits))
            return true;
    }
    return false;
}

/* What a loop carries of a sum stays as that is, though a product in it multiplies by it: it is moved
   when it is rounded for that. */
static void seed_slots(Assign *a, Bitset *seen, const Value *v, const Layout *sum)
{
    if (!bitset_add(seen, (int)v->id)) return;
    for (Use *use = v->uses; use; use = use->next) {
        const Op *owner;
        int slot;
        if (ir_has(use->user, OT_TERM) && tkc_carry_of_use(use, &owner, &slot)) {
            if (owner->kind == OP_FOR &&
                is_rounded_factor(carry_param(owner->regions[0], slot), type_bits(v->type)))
                spread_slot(a, owner, slot, sum);
            seed_slots(a, seen, op_result(owner, slot), sum);
        } else if (ir_has(use->user, OT_EW) && use->user->nresults == 1) {
            seed_slots(a, seen, op_result(use->user, 0), sum);
        }
    }
}

static void seed_dot(Assign *a, const Anchors *anchors, Op *op)
{
    const Layout *sum = anchor_dot(anchors, op);
    const int run = anchor_run_log2(anchors, op, sum);
    if (run) ir_set_int(a->fn, op, ATTR_RUN, run);
    give_results(a, op, sum);
    Bitset seen = bitset_make(a->scratch, (int)a->fn->nvalues);
    seed_slots(a, &seen, op_result(op, 0), sum);
    seed_part(a, anchors, op, sum);
}

/* All dots take their layouts before any of them spreads: between two of them the first gets as far
   as it can. */
static void seed_dots(Assign *a)
{
    Anchors *anchors = anchors_find(a->scratch, a->fn, a->accesses);
    for (int i = 0; i < a->ops.len; i++) {
        Op *op = a->ops.data[i];
        if (op->kind == OP_DOT) seed_dot(a, anchors, op);
    }
    spread(a);
}

/* ---- what ops dictate ---- */

static void set_layout(Assign *a, const Value *v, const Layout *l)
{
    if (type_is_block(v->type)) a->of_value[v->id] = l;
}

static void dictate_slots(Assign *a, const Op *op)
{
    for (int i = 0; op->kind != OP_IF && i < carry_count(op); i++)
        for (int r = 0; r < op->nregions; r++)
            set_layout(a, carry_param(op->regions[r], i), layout_of(a, op_result(op, i)));
}

static void dictate(Assign *a, Op *op)
{
    const Layout *l = working_layout(a, op);
    if (op->kind == OP_REDUCE || op->kind == OP_SORT) {
        if (l) l = reduced(a, op, l);
    } else if (op->kind == OP_JOIN) {
        l = layout_join(a->layouts, layout_of(a, op_arg(op, 0)));
    } else if ((ir_has(op, OT_EW) || op->kind == OP_SPLIT) && op->nresults > 1) {
        l = layout_of(a, op_result(op, 0));
    }
    for (int i = 0; l && i < op->nresults; i++) set_layout(a, op_result(op, i), l);
    dictate_slots(a, op);
}

/* ---- making it so ---- */

/* The layout operand i must have, types being set; NULL when any will do. */
static const Layout *required(const Assign *a, const Op *op, int i)
{
    const Op *owner;
    int slot;
    const Layout *works_in = working_layout(a, op);
    if (works_in) return works_in;
    if (tkc_carry_of_use(&op->args[i], &owner, &slot)) return op_result(owner, slot)->type->layout;
    if (op->kind == OP_JOIN || op->kind == OP_ASSERT || op->kind == OP_HISTOGRAM ||
        (ir_has(op, OT_EW) && !op->nresults))
        return op_arg(op, 0)->type->layout;
    return op->nresults ? propagate_operand(a->layouts, op, i, op_result(op, 0)->type->layout)
                        : NULL;
}

static void set_types(Assign *a)
{
    TypeTable *types = ir_of(a->fn)->types;
    for (int i = 0; i < a->values.len; i++) {
        Value *v = a->values.data[i];
        ir_set_type(v, type_with_layout(types, v->type, layout_of(a, v)));
    }
}

/* The cast where its operand is; its result is moved. */
static void narrow_first(const Assign *a, Op *op)
{
    Value *small = op_result(op, 0);
    const Type *ty = small->type;
    Builder b = build_before_at(op->next, op->loc);
    ir_set_type(small, type_with_layout(ir_of(a->fn)->types, ty, op_arg(op, 0)->type->layout));
    Value *moved = build_convert(&b, small, ty->layout);
    ir_replace_uses(small, moved);
    ir_set_arg(moved->def, 0, small);
}

/* A factor that the product reads from memory goes there as it is. */
static bool only_passes(const Assign *a, const Op *op, int i)
{
    if (op->kind != OP_DOT || i == 2) return false;
    if (dot_unit(op).mma) return is_read_by_group(op, i, op_result(op, 0)->type->layout);
    return layout_registers(required(a, op, 0)) + layout_registers(required(a, op, 1)) >
           DOT_MOST_ROWS;
}

static void fix_operand(Assign *a, Op *op, int i)
{
    Value *v = op_arg(op, i);
    const Layout *want = type_is_block(v->type) ? required(a, op, i) : NULL;
    if (!want || want == v->type->layout) return;
    if (remat_narrows(op) && remat_moves(&a->remat, v, want)) {
        narrow_first(a, op);
        return;
    }
    ir_set_arg(op, i, only_passes(a, op, i) ? remat_convert(&a->remat, v, want)
                                            : remat_value(&a->remat, v, want));
}

static void fix_operands(Assign *a)
{
    for (int i = 0; i < a->ops.len; i++)
        for (int k = 0; k < a->ops.data[i]->nargs; k++) fix_operand(a, a->ops.data[i], k);
}

/* needs: no layouts yet, axis facts (computed here).  keeps: what every op computes.  changes:
   every block's type gets a layout; adds convert ops and copies of cheap ops; dce removes
   originals that are no longer used. */
void assign_run(Pass *p, Func *fn)
{
    Assign a = {.scratch = p->scratch, .fn = fn, .layouts = ir_of(fn)->layouts};
    a.indices = bitset_make(p->scratch, (int)fn->nvalues);
    a.of_value = arena_array(p->scratch, const Layout *, fn->nvalues);
    a.accesses = access_choose(p->scratch, fn);
    a.remat = remat_make(fn, p->scratch, a.accesses);
    map_init(&a.of_op, p->scratch);
    ir_walk(fn->body, collect_op, &a);
    seed_dots(&a);
    measure_accesses(&a);
    for (int log2 = LAYOUT_MAX_BITS; log2 >= 0; log2--) seed_size(&a, log2);
    for (int i = 0; i < a.ops.len; i++) dictate(&a, a.ops.data[i]);
    set_types(&a);
    fix_operands(&a);
}
