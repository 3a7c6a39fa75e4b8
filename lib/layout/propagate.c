/* The relations are the algebra of linear/layout.h. They go from the larger block to the smaller
   one always (the source of a broadcast, the result of a reduction, the operand of expand_dims
   have one layout each), and back only where nothing is lost. A broadcast or a reduction has
   many layouts of the larger block for one of the smaller. */
#include "layout/propagate.h"

#include "ir/dot_unit.h"
#include "ir/shape_map.h"

const Layout *propagate_operand(LayoutTable *t, const Op *op, int i, const Layout *result)
{
    if (!type_is_block(op_arg(op, i)->type) || !result) return NULL;
    if (ir_has(op, OT_EW)) return result;
    if (op->kind == OP_DOT) return dot_operand_layout(t, op, i, result);
    if (op->kind == OP_GATHER) return i == 1 ? result : NULL;
    return shape_layout(t, op, result, true);
}

const Layout *propagate_result(LayoutTable *t, const Op *op, const Layout *operand)
{
    return ir_has(op, OT_EW) ? operand : shape_layout(t, op, operand, false);
}

const Layout *propagate_to_each_warp(LayoutTable *t, const Layout *like)
{
    enum { MOST_LOG2 = 2 };
    const int own = like->total_log2 - like->nbits[DIM_LANE], order[TKC_MAX_RANK] = {0},
              thread[TKC_MAX_RANK] = {own > 0 ? own : 0};
    if (like->rank > 1 || own > MOST_LOG2 || !like->nbits[DIM_WARP]) return NULL;
    return layout_blocked(t, 1, like->dim_log2, order, thread, like->nbits[DIM_LANE],
                          like->nbits[DIM_WARP]);
}
