/* A reduction over lanes leaves each of its results in all of them, for whoever goes on with the
   rows that were reduced. Where all that asks for the results is another layout, one in which lanes
   have different rows, they had better stay where they are once the lanes have halved them: what
   follows is one shuffle, in place of one for each result and a selection. Diagonal blocks of gated
   attention, 16 rows by one warp: a turn of 647 instructions has 611, and the exponentials, which had
   one predicate left beside those that tell lanes apart, two. */
#include "ir/build.h"
#include "ir/type.h"
#include "layout/convert.h"
#include "layout/passes.h"
#include "layout/reduce_plan.h"

/* Of all moves of the results from a layout; -1: one of them goes through shared memory, or what
   asks for them is no move. */
static int cost_of_moves(const Value *v, const Layout *from)
{
    int cost = 0;
    for (const Use *u = v->uses; u; u = u->next) {
        ConvertPlan plan;
        if (u->user->kind != OP_CONVERT) return -1;
        convert_plan(&plan, from, op_result(u->user, 0)->type->layout, type_bytes(v->type), 0);
        if (plan.kind == CONVERT_SHARED) return -1;
        cost += plan.cost;
    }
    return cost;
}

static bool may_deal(const Op *op)
{
    return op->kind == OP_REDUCE && op->nargs == 1 && op_arg(op, 0)->type->layout->rank > 1 &&
           ir_combine_kind(op->regions[0]) && op_result(op, 0)->uses;
}

static void deal(Func *fn, Op *op)
{
    Value *v = op_result(op, 0);
    Ir *ir = ir_of(fn);
    ReducePlan plan;
    reduce_plan_op(&plan, ir->layouts, op);
    const int lanes = reduce_most_dealt(&plan);
    if (!lanes || layout_warp_bits(plan.operand, plan.axis)) return;
    const Layout *dealt = layout_deal(ir->layouts, plan.operand, plan.axis, lanes);
    const int now = cost_of_moves(v, plan.result), then = cost_of_moves(v, dealt);
    if (now < 0 || then < 0) return;
    if (reduce_cost(&plan, lanes) + then >= reduce_cost(&plan, 0) + now) return;
    ir_set_int(fn, op, ATTR_DEALT, lanes);
    ir_set_type(v, type_with_layout(ir->types, v->type, dealt));
}

/* needs: layouts.  keeps: what every op computes.  changes: layouts of results of reductions. */
void deal_run(Pass *p, Func *fn)
{
    (void)p;
    for (Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (may_deal(op)) deal(fn, op);
}
