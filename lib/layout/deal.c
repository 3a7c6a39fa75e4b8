/* A reduction over lanes leaves each of its results in all of them, for whoever goes on with the
   rows that were reduced. Where nobody does, and all that becomes of the results is stored or goes
   to other lanes, they had better stay where they are once the lanes have halved them: a shuffle
   for each is saved, what is computed with them is so once, and rows go to memory by lanes.
   Diagonal blocks of gated attention, 16 rows by one warp: a turn of 647 instructions has 611, and
   the exponentials, which had one predicate left beside those that tell lanes apart, two. */
#include "ir/build.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/passes.h"
#include "layout/reduce_plan.h"
#include "layout/remat.h"

enum { MOST_OPS = 8 }; /* one behind the other, between a reduction and a store */

typedef struct Deal {
    Func *fn;
    Remat remat;
    const Layout *now, *then; /* of the results */
    int gain;                 /* issue slots of a warp */
} Deal;

/* All but v are there in other lanes by arithmetic alone. */
static bool has_others(Deal *d, const Op *op, const Value *v)
{
    for (int i = 0; i < op->nargs; i++) {
        Value *arg = op_arg(op, i);
        if (arg != v && type_is_block(arg->type) && !remat_again(&d->remat, arg, d->then))
            return false;
    }
    return true;
}

static bool takes_move(Deal *d, const Op *convert, const Value *v)
{
    const Layout *to = op_result(convert, 0)->type->layout;
    ConvertPlan now, then;
    convert_plan(&now, d->now, to, type_bytes(v->type), 0);
    convert_plan(&then, d->then, to, type_bytes(v->type), 0);
    d->gain += now.cost - then.cost;
    return now.kind != CONVERT_SHARED && then.kind != CONVERT_SHARED;
}

static bool is_elementwise(const Op *op)
{
    return ir_has(op, OT_EW) && ir_has(op, OT_PURE) && op->nresults == 1 && !op->nregions;
}

/* There addresses for other lanes are registers that sums lack. */
static bool is_beside_products(const Op *op)
{
    const Region *turn = ir_turn(op);
    return turn && ir_contains(turn, OP_DOT, true);
}

/* All that asks for v may have it dealt. */
static bool follow(Deal *d, const Value *v, int ops)
{
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *op = u->user;
        if (op->kind == OP_CONVERT) {
            if (!takes_move(d, op, v)) return false;
            continue;
        }
        const bool stored = op->kind == OP_STORE && u == &op->args[1];
        if ((!stored && !is_elementwise(op)) || ops == MOST_OPS || !has_others(d, op, v) ||
            is_beside_products(op))
            return false;
        d->gain += COST_ISSUE * (layout_registers(d->now) - layout_registers(d->then));
        if (!stored && !follow(d, op_result(op, 0), ops + 1)) return false;
    }
    return v->uses;
}

static void deal_value(Deal *d, Value *v)
{
    ir_set_type(v, type_with_layout(ir_of(d->fn)->types, v->type, d->then));
    for (const Use *u = v->uses; u; u = u->next) {
        Op *op = u->user;
        if (op->kind == OP_CONVERT) continue;
        for (int i = 0; i < op->nargs; i++) {
            Value *arg = op_arg(op, i);
            if (arg != v && type_is_block(arg->type))
                ir_set_arg(op, i, remat_value(&d->remat, arg, d->then));
        }
        if (op->kind != OP_STORE) deal_value(d, op_result(op, 0));
    }
}

static bool may_deal(const Op *op)
{
    return op->kind == OP_REDUCE && op->nargs == 1 && op_arg(op, 0)->type->layout->rank > 1 &&
           ir_combine_kind(op->regions[0]);
}

/* Whole numbers of 32 bits over all lanes. */
static bool is_one_instruction(const Op *op, const ReducePlan *plan)
{
    enum { REDUX_BITS = 32 };
    const Type *ty = op_arg(op, 0)->type;
    return plan->lane_axis == MACHINE_LANES - 1 && !type_is_float(ty) &&
           type_bits(ty) == REDUX_BITS;
}

static void deal(Deal *d, Op *op)
{
    Value *v = op_result(op, 0);
    LayoutTable *layouts = ir_of(d->fn)->layouts;
    ReducePlan plan;
    reduce_plan_op(&plan, layouts, op);
    const int lanes = reduce_most_dealt(&plan);
    if (!lanes || layout_warp_bits(plan.operand, plan.axis) || is_one_instruction(op, &plan))
        return;
    d->now = plan.result;
    d->then = layout_deal(layouts, plan.operand, plan.axis, lanes);
    d->gain = reduce_cost(&plan, 0) - reduce_cost(&plan, lanes);
    if (!follow(d, v, 0) || d->gain <= 0) return;
    ir_set_int(d->fn, op, ATTR_DEALT, lanes);
    deal_value(d, v);
}

/* needs: layouts.  keeps: what every op computes.  changes: layouts of results of reductions, and
   of what becomes of them. */
void deal_run(Pass *p, Func *fn)
{
    Deal d = {.fn = fn, .remat = remat_make(fn, p->scratch, NULL)};
    for (Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (may_deal(op)) deal(&d, op);
}
