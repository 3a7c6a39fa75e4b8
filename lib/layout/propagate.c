/* The relations are the algebra of linear/layout.h. They go from the larger block to the smaller
   one always (the source of a broadcast, the result of a reduction, the operand of expand_dims
   have one layout each), and back only where nothing is lost. A broadcast or a reduction has
   many layouts of the larger block for one of the smaller. */
#include "layout/propagate.h"

#include "ir/dot_unit.h"
#include "ir/shape_map.h"

bool propagate_is_uniform(const Op *op)
{
    return ir_has(op, OT_EW);
}

/* ---- shape ops ---- */

static const Layout *inverse_trans(LayoutTable *t, const Op *op, const Layout *result)
{
    const Attr *perm = tkc_op_attr(op, ATTR_PERM);
    int inverse[TKC_MAX_RANK] = {0};
    for (int i = 0; i < perm->count; i++) inverse[perm->v[i]] = i;
    return layout_trans(t, result, perm->count, inverse);
}

static const Layout *forward_trans(LayoutTable *t, const Op *op, const Layout *operand)
{
    const Attr *attr = tkc_op_attr(op, ATTR_PERM);
    int perm[TKC_MAX_RANK] = {0};
    for (int i = 0; i < attr->count; i++) perm[i] = (int)attr->v[i];
    return layout_trans(t, operand, attr->count, perm);
}

static const Layout *reshaped(LayoutTable *t, const Layout *l, const Type *from, const Type *to)
{
    if (!type_is_block(to) || !shape_reshape_is_free(from, to)) return NULL;
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(to->rank, to->shape, dims);
    return layout_reshape(t, l, to->rank, dims);
}

static const Layout *projected(LayoutTable *t, const Layout *l, const Type *to)
{
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(to->rank, to->shape, dims);
    return layout_project(t, l, to->rank, dims);
}

const Layout *propagate_operand(LayoutTable *t, const Op *op, int i, const Layout *result)
{
    const Type *ty = op_arg(op, i)->type;
    if (!type_is_block(ty) || !result) return NULL;
    if (propagate_is_uniform(op)) return result;
    switch (op->kind) {
    case OP_EXPAND_DIMS: return layout_squeeze(t, result, (int)tkc_op_int(op, ATTR_AXIS, 0));
    case OP_BROADCAST: return projected(t, result, ty);
    case OP_TRANS: return inverse_trans(t, op, result);
    case OP_RESHAPE: return reshaped(t, result, op_result(op, 0)->type, ty);
    case OP_JOIN: return layout_split(t, result);
    case OP_SPLIT: return layout_join(t, result);
    case OP_DOT: return dot_operand_layout(t, op, i, result);
    case OP_GATHER: return i == 1 ? result : NULL;
    default: return NULL;
    }
}

const Layout *propagate_result(LayoutTable *t, const Op *op, const Layout *operand)
{
    if (propagate_is_uniform(op)) return operand;
    switch (op->kind) {
    case OP_EXPAND_DIMS: return layout_expand(t, operand, (int)tkc_op_int(op, ATTR_AXIS, 0));
    case OP_TRANS: return forward_trans(t, op, operand);
    case OP_RESHAPE: return reshaped(t, operand, op_arg(op, 0)->type, op_result(op, 0)->type);
    case OP_JOIN: return layout_join(t, operand);
    case OP_SPLIT: return layout_split(t, operand);
    default: return NULL;
    }
}
