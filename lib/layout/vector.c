/* A vector is as wide as the addresses run on and are aligned, as far as the thread holds the
   neighbours in registers. A mask that may end inside it, or the edge of a shape that is padded,
   does not make it narrower, but cuts it into runs of which each has a predicate. */
#include "layout/vector.h"

#include "ir/ir.h"

static int log2_of(int64_t v)
{
    return 63 - __builtin_clzll((uint64_t)v);
}

/* Register bits that step along dim by 1, 2, 4, … */
static VectorBits steps_along(const Layout *l, int dim, int max_log2)
{
    VectorBits v = {.dim = dim};
    const int shift = layout_dim_shift(l, dim);
    for (int k = 0; k < max_log2 && k < l->dim_log2[dim]; k++) {
        int bit = -1;
        for (int i = 0; i < l->nbits[DIM_REGISTER] && bit < 0; i++) {
            if (l->basis[DIM_REGISTER][i] == 1u << (shift + k)) bit = i;
        }
        if (bit < 0) break;
        v.bit[v.log2++] = 1u << bit;
    }
    return v;
}

static VectorBits widest(const AxisFacts *facts, const Value *ptr)
{
    VectorBits best = {0};
    for (int d = ptr->type->rank - 1; d >= 0; d--) {
        int width = axis_vector_width(facts, ptr, d, VECTOR_MAX_BYTES);
        VectorBits v = steps_along(ptr->type->layout, d, log2_of(width));
        if (v.log2 > best.log2) best = v;
    }
    return best;
}

/* The edge of a shape lies between groups of as many as divide its extent. */
static int run_of(const AxisFacts *facts, const VectorBits *v, const Type *ty, const Value *mask)
{
    int64_t run = 1 << v->log2;
    if (run == 1) return 1;
    const int64_t size = ty->shape[v->dim], valid = size & -size;
    if (valid != size && valid < run) run = valid;
    const int64_t constancy = axis_mask_constancy(facts, mask, v->dim);
    return (int)(constancy < run ? constancy : run);
}

const Value *vector_mask(const Op *op)
{
    const int at = op->nresults ? 1 : 2;
    return op->nargs > at ? op_arg(op, at) : NULL;
}

VectorBits vector_bits(const AxisFacts *facts, const Op *op)
{
    const Value *ptr = op_arg(op, 0);
    if (!type_is_block(ptr->type) || ir_has(op, OT_ATOMIC)) return (VectorBits){.run = 1};
    VectorBits v = widest(facts, ptr);
    v.run = run_of(facts, &v, ptr->type, vector_mask(op));
    return v;
}
