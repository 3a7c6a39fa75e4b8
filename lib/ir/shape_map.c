/* The index maps of ops that move elements: bits of the index are renamed, or a dim's are masked
   off, so each is linear. A reshape keeps every padded index or is none of them. */
#include "ir/shape_map.h"

#include "ir/ir.h"

uint32_t shape_source(const Op *op, const Layout *from, const Layout *to, uint32_t index)
{
    if (op->kind == OP_EXPAND_DIMS || op->kind == OP_RESHAPE) return index;
    if (op->kind == OP_JOIN) return index >> 1;
    if (op->kind == OP_SPLIT) return index << 1;
    const Attr *perm = tkc_op_attr(op, ATTR_PERM);
    uint32_t source = 0;
    for (int d = 0; d < to->rank; d++) {
        const int dim = op->kind == OP_TRANS ? (int)perm->v[d] : d;
        const uint32_t coord =
            (uint32_t)layout_coord(to, index, d) & ((1u << from->dim_log2[dim]) - 1);
        source |= coord << layout_dim_shift(from, dim);
    }
    return source;
}

/* ---- reshape ---- */

/* Extents other than 1. */
static int squeezed(const Type *ty, int64_t *out)
{
    int n = 0;
    for (int i = 0; i < ty->rank; i++) {
        if (ty->shape[i] != 1) out[n++] = ty->shape[i];
    }
    return n;
}

static bool is_power_of_two(int64_t x)
{
    return (x & (x - 1)) == 0;
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
