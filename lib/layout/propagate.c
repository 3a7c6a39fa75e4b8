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
