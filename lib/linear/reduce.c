/* Which layouts a block can be reduced in along a dim.

   Let F be the layout and pi what forgets the dim. The positions whose values make up result
   element y are those with pi(F(position)) = y: a coset of the kernel of pi F. A reduction goes in
   three steps (layout/reduce_plan.h): over registers, over lanes, over warps. They reach exactly
   the positions that differ in combinations of registers (any that pi F sends to 0), in single lane
   bits and in single warp bits. That must be the whole kernel, and no two of the steps may meet one
   element twice. A lane or warp vector that is 0 already in F is a duplicate: it holds the same
   value and takes no part.

   Between the second step and the third there is one partial result for each combination of warps.
   It is found by its place along the dim: the bits of the coordinate that warps set, so no register
   and no lane may set one of these. */
#include "linear/layout.h"

uint32_t layout_keep_bits(const Layout *l, int dim, uint32_t kept, uint32_t index)
{
    const uint32_t low = (UINT32_C(1) << layout_dim_shift(l, dim)) - 1,
                   high = index & ~(low | layout_dim_mask(l, dim));
    const int bits = __builtin_popcount(kept);
    uint32_t coord = (uint32_t)layout_coord(l, index, dim), out = 0;
    for (int n = 0; kept; kept &= kept - 1) out |= (coord >> __builtin_ctz(kept) & 1) << n++;
    return (index & low) | out << layout_dim_shift(l, dim) | high >> l->dim_log2[dim] << bits;
}

uint32_t layout_forget(const Layout *l, int dim, uint32_t index)
{
    return layout_keep_bits(l, dim, 0, index);
}

uint32_t layout_warp_bits(const Layout *l, int dim)
{
    uint32_t bits = 0;
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) {
        const uint32_t v = l->basis[DIM_WARP][i];
        if (!layout_forget(l, dim, v)) bits |= (uint32_t)layout_coord(l, v, dim);
    }
    return bits;
}

uint32_t layout_lanes_along(const Layout *l, int dim)
{
    uint32_t bits = 0;
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) {
        const uint32_t v = l->basis[DIM_LANE][i];
        if (v && !layout_forget(l, dim, v)) bits |= UINT32_C(1) << i;
    }
    return bits;
}

const Layout *layout_deal(LayoutTable *t, const Layout *l, int axis, int lanes)
{
    const uint32_t along = layout_lanes_along(l, axis);
    LayoutSpec s;
    layout_spec_of(layout_slice(t, l, axis), &s);
    for (int i = s.nbits[DIM_LANE] - 1; i >= 0 && lanes && s.nbits[DIM_REGISTER]; i--) {
        if (!(along >> i & 1)) continue;
        s.basis[DIM_LANE][i] = s.basis[DIM_REGISTER][--s.nbits[DIM_REGISTER]];
        lanes--;
    }
    return layout_make(t, &s);
}

static F2Matrix forget(const Layout *l, int dim, LayoutDim last)
{
    F2Matrix m = layout_matrix(l, last);
    for (int i = 0; i < m.cols; i++) m.col[i] = layout_forget(l, dim, m.col[i]);
    return m;
}

/* Register combinations that stay within one result element, each once; what they reach along the
   dim goes to `reached`. Returns the dimension of the kernel. */
static int register_kernel(const Layout *l, int dim, F2Space *reached)
{
    const F2Matrix regs = layout_matrix(l, DIM_REGISTER), forgotten = forget(l, dim, DIM_REGISTER);
    uint64_t kernel[F2_MAX];
    const int n = f2_kernel(&forgotten, kernel);
    for (int i = 0; i < n; i++) f2_space_add(reached, f2_apply(&regs, kernel[i]));
    return n;
}

/* What warps set along the dim, nothing else does that takes part; and they tell as many partial
   results apart as there are. */
static bool warps_are_apart(const Layout *l, int dim)
{
    const uint32_t kept = layout_warp_bits(l, dim) << layout_dim_shift(l, dim);
    F2Space registers = {0}, warps = {0};
    register_kernel(l, dim, &registers);
    for (int i = 0; i < registers.dim; i++) {
        if (registers.vec[i] & kept) return false;
    }
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) {
        const uint32_t v = l->basis[DIM_LANE][i];
        if (!layout_forget(l, dim, v) && v & kept) return false;
    }
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) {
        const uint32_t v = l->basis[DIM_WARP][i];
        if (!layout_forget(l, dim, v)) f2_space_add(&warps, v);
    }
    return warps.dim == __builtin_popcount(kept);
}

bool layout_reduces(const Layout *l, int dim)
{
    const F2Matrix all = forget(l, dim, DIM_WARP);
    F2Space reached = {0};
    uint64_t kernel[F2_MAX];
    int steps = register_kernel(l, dim, &reached);
    for (LayoutDim d = DIM_LANE; d <= DIM_WARP; d++) {
        for (int i = 0; i < l->nbits[d]; i++) {
            uint32_t v = l->basis[d][i];
            if (layout_forget(l, dim, v)) continue;
            steps++;
            if (v && !f2_space_add(&reached, v)) return false;
        }
    }
    return steps == f2_kernel(&all, kernel) && warps_are_apart(l, dim);
}
