/* Which dim each dim of a result was says nearly all: extents, index maps and layouts follow. Index
   maps rename bits of the index or mask a dim's off, so each is linear. A reshape keeps every
   padded index or is none of them. */
#include "ir/shape_map.h"

#include "base/power.h"
#include "ir/ir.h"

int tkc_moved_dim(const Op *op, int dim)
{
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    switch (op->kind) {
    case OP_EXPAND_DIMS: return dim == axis ? -1 : dim - (dim > axis);
    case OP_TRANS: return (int)tkc_op_attr(op, ATTR_PERM)->v[dim];
    case OP_JOIN: return dim < op_arg(op, 0)->type->rank ? dim : -1;
    case OP_BROADCAST:
    case OP_SPLIT:
    case OP_GATHER:
    case OP_CAT:
    case OP_SORT: return dim;
    default: return -1;
    }
}

/* Slots are ordered as the values of the kept bits, and the least coordinate of a slot has no other
   bit: so the slots of coordinates that there are come first. */
static int32_t slot_count(int32_t extent, uint32_t kept)
{
    int32_t n = 0;
    for (uint32_t least = 0; least < (uint32_t)extent; n++) {
        least = ((least | ~kept) + 1) & kept;
        if (!least) return n + 1;
    }
    return n;
}

static int reduced_shape(const Op *op, int32_t *shape)
{
    const Type *from = op->args[0].value->type;
    const Attr *slots = tkc_op_attr(op, ATTR_SLOTS);
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    int rank = 0;
    if (slots && (slots->i < 1 ||
                  INT64_C(1) << (63 - __builtin_clzll((uint64_t)slots->i)) >= from->shape[axis]))
        return -1;
    for (int i = 0; i < from->rank; i++) {
        if (i != axis) shape[rank++] = from->shape[i];
        else if (slots) shape[rank++] = slot_count(from->shape[i], (uint32_t)slots->i);
    }
    return rank;
}

int shape_of_result(const Op *op, int32_t *shape)
{
    if (op->nregions) return reduced_shape(op, shape);
    const Type *from = op_arg(op, op->kind == OP_GATHER)->type;
    const int rank =
        from->rank + (op->kind == OP_EXPAND_DIMS || op->kind == OP_JOIN) - (op->kind == OP_SPLIT);
    for (int d = 0; d < rank; d++) {
        const int was = tkc_moved_dim(op, d);
        shape[d] = was >= 0 ? from->shape[was] : op->kind == OP_JOIN ? 2 : 1;
    }
    if (op->kind == OP_CAT) shape[0] += op_arg(op, 1)->type->shape[0];
    if (op->kind == OP_SORT) shape[rank - 1] = (int32_t)tkc_op_int(op, ATTR_KEEP, shape[rank - 1]);
    return rank;
}

uint32_t shape_source(const Op *op, const Layout *from, const Layout *to, uint32_t index)
{
    if (op->kind == OP_RESHAPE) return index;
    uint32_t source = 0;
    for (int d = 0; d < to->rank; d++) {
        const int was = tkc_moved_dim(op, d);
        if (was < 0) continue;
        const uint32_t coord =
            (uint32_t)layout_coord(to, index, d) & ((1u << from->dim_log2[was]) - 1);
        source |= coord << layout_dim_shift(from, was);
    }
    return source;
}

/* ---- layouts ---- */

static const Layout *transposed(LayoutTable *t, const Op *op, const Layout *l, bool back)
{
    int perm[TKC_MAX_RANK];
    for (int d = 0; d < l->rank; d++) {
        const int was = tkc_moved_dim(op, d);
        perm[back ? was : d] = back ? d : was;
    }
    return layout_trans(t, l, l->rank, perm);
}

static const Layout *reshaped(LayoutTable *t, const Layout *l, const Type *from, const Type *to)
{
    uint8_t dims[TKC_MAX_RANK];
    if (!type_is_block(to) || !shape_reshape_is_free(from, to)) return NULL;
    layout_pad(to->rank, to->shape, dims);
    return layout_reshape(t, l, to->rank, dims);
}

static const Layout *kept(LayoutTable *t, const Op *sort, const Layout *l)
{
    const Attr *keep = tkc_op_attr(sort, ATTR_KEEP);
    return keep ? layout_keep(t, l, l->rank - 1, (uint32_t)keep->i - 1) : l;
}

static const Layout *projected(LayoutTable *t, const Layout *l, const Type *to)
{
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(to->rank, to->shape, dims);
    return layout_project(t, l, to->rank, dims);
}

const Layout *shape_layout(LayoutTable *t, const Op *op, const Layout *l, bool back)
{
    const Type *from = op_arg(op, 0)->type, *to = op->nresults ? op_result(op, 0)->type : NULL;
    const int axis = (int)tkc_op_int(op, ATTR_AXIS, 0);
    switch (op->kind) {
    case OP_EXPAND_DIMS: return back ? layout_squeeze(t, l, axis) : layout_expand(t, l, axis);
    case OP_BROADCAST: return back ? projected(t, l, from) : NULL;
    case OP_TRANS: return transposed(t, op, l, back);
    case OP_RESHAPE: return back ? reshaped(t, l, to, from) : reshaped(t, l, from, to);
    case OP_JOIN: return back ? layout_split(t, l) : layout_join(t, l);
    case OP_SPLIT: return back ? layout_join(t, l) : layout_split(t, l);
    case OP_SORT: return back ? NULL : kept(t, op, l);
    default: return NULL;
    }
}

/* ---- reshape ---- */

/* Extents other than 1. */
static int squeezed(const Type *ty, int64_t *out)
{
    int n = 0;
    for (int i = 0; i < ty->rank; i++)
        if (ty->shape[i] != 1) out[n++] = ty->shape[i];
    return n;
}

bool shape_reshape_is_free(const Type *from, const Type *to)
{
    int64_t a[TKC_MAX_RANK], b[TKC_MAX_RANK];
    int i = squeezed(from, a), j = squeezed(to, b);
    while (i > 0 && j > 0) {
        int64_t x = a[--i], y = b[--j];
        if (x == y) continue;
        while (x != y) {
            /* A dim that others follow on its left is not the outermost of its group. */
            if (x < y) {
                if (!is_power_of_two(a[i]) || i == 0) return false;
                x *= a[--i];
            } else {
                if (!is_power_of_two(b[j]) || j == 0) return false;
                y *= b[--j];
            }
        }
    }
    return i == 0 && j == 0;
}
