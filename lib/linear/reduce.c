/* Which layouts a block can be reduced in along a dim.

   Let F be the layout and pi what forgets the dim. The positions whose values make up result
   element y are those with pi(F(position)) = y: a coset of the kernel of pi F. A reduction goes in
   three steps (layout/reduce_plan.h): over registers, over lanes, over warps. They reach exactly
   the positions that differ in combinations of registers (any that pi F sends to 0), in single lane
   bits and in single warp bits. That must be the whole kernel, and no two of the steps may meet one
   element twice. A lane or warp vector that is 0 already in F is a duplicate: it holds the same
   value and takes no part. */
#include "linear/layout.h"

uint32_t layout_forget(const Layout *l, int dim, uint32_t index)
{
    uint32_t low = (UINT32_C(1) << layout_dim_shift(l, dim)) - 1;
    return (index & low) | (index & ~(low | layout_dim_mask(l, dim))) >> l->dim_log2[dim];
}

/* Register combinations that stay within one result element, each once; what they reach along the
   dim goes to `reached`. Returns the dimension of the kernel. */
static int register_kernel(const Layout *l, int dim, F2Space *reached)
{
    F2Matrix regs = {.rows = 32, .cols = l->nbits[DIM_REGISTER]}, forgotten = regs;
    uint64_t kernel[F2_MAX];
    for (int i = 0; i < regs.cols; i++) {
        regs.col[i] = l->basis[DIM_REGISTER][i];
        forgotten.col[i] = layout_forget(l, dim, regs.col[i]);
    }
    int n = f2_kernel(&forgotten, kernel);
    for (int i = 0; i < n; i++) f2_space_add(reached, f2_apply(&regs, kernel[i]));
    return n;
}

bool layout_reduces(const Layout *l, int dim)
{
    F2Matrix all;
    F2Space reached = {0};
    uint64_t kernel[F2_MAX];
    layout_matrix(l, &all);
    for (int i = 0; i < all.cols; i++) all.col[i] = layout_forget(l, dim, all.col[i]);
    int steps = register_kernel(l, dim, &reached);
    for (LayoutDim d = DIM_LANE; d <= DIM_WARP; d++) {
        for (int i = 0; i < l->nbits[d]; i++) {
            uint32_t v = l->basis[d][i];
            if (layout_forget(l, dim, v)) continue;
            steps++;
            if (v && !f2_space_add(&reached, v)) return false;
        }
    }
    return steps == f2_kernel(&all, kernel);
}
