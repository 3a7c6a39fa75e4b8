/* Let F be the layout and pi what forgets the axis. The positions whose values make up result
   element y are those with pi(F(position)) = y: a coset of the kernel of pi F. The three steps
   reach exactly the positions that differ in combinations of registers (any that pi F sends to
   0), in single lane bits and in single warp bits. The plan is direct when that is the whole
   kernel, and when none of these steps meets one element twice. A lane or warp vector that is 0
   already in F is a duplicate: it holds the same value and takes no part. */
#include "layout/reduce_plan.h"

#include "base/unwind.h"
#include "ir/type.h"

static uint32_t forget_axis(const ReducePlan *p, uint32_t index)
{
    const Layout *l = p->operand;
    uint32_t low = (UINT32_C(1) << layout_dim_shift(l, p->axis)) - 1;
    return (index & low) | (index & ~(low | layout_dim_mask(l, p->axis))) >> l->dim_log2[p->axis];
}

/* The bits of a hardware dim that hold nothing but the axis. */
static uint32_t axis_bits(const ReducePlan *p, LayoutDim dim)
{
    uint32_t bits = 0;
    for (int i = 0; i < p->operand->nbits[dim]; i++) {
        uint32_t v = p->operand->basis[dim][i];
        if (v && !forget_axis(p, v)) bits |= UINT32_C(1) << i;
    }
    return bits;
}

/* Register combinations that stay within one result element, each once; what they reach along
   the axis goes to `reached`. Returns the dimension of the kernel. */
static int register_kernel(const ReducePlan *p, F2Space *reached)
{
    const Layout *l = p->operand;
    F2Matrix regs = {.rows = 32, .cols = l->nbits[DIM_REGISTER]}, forgotten = regs;
    uint64_t kernel[F2_MAX];
    for (int i = 0; i < regs.cols; i++) {
        regs.col[i] = l->basis[DIM_REGISTER][i];
        forgotten.col[i] = forget_axis(p, regs.col[i]);
    }
    int n = f2_kernel(&forgotten, kernel);
    for (int i = 0; i < n; i++) f2_space_add(reached, f2_apply(&regs, kernel[i]));
    return n;
}

static bool is_direct(const ReducePlan *p)
{
    const Layout *l = p->operand;
    F2Matrix all;
    F2Space reached = {0};
    uint64_t kernel[F2_MAX];
    layout_matrix(l, &all);
    for (int i = 0; i < all.cols; i++) all.col[i] = forget_axis(p, all.col[i]);
    int steps = register_kernel(p, &reached);
    for (LayoutDim d = DIM_LANE; d <= DIM_WARP; d++) {
        for (int i = 0; i < l->nbits[d]; i++) {
            uint32_t v = l->basis[d][i];
            if (forget_axis(p, v)) continue;
            steps++;
            if (v && !f2_space_add(&reached, v)) return false;
        }
    }
    return steps == f2_kernel(&all, kernel);
}

void reduce_plan(ReducePlan *out, LayoutTable *t, const Layout *operand, int axis)
{
    check(axis >= 0 && axis < operand->rank, "reduction along dim %d of %d", axis, operand->rank);
    ReducePlan *p = out;
    *p = (ReducePlan){.operand = operand, .axis = axis};
    p->result = operand->rank > 1 ? layout_slice(t, operand, axis) : NULL;
    p->direct = is_direct(p);
    p->result_registers = p->result ? layout_registers(p->result) : 1;
    p->register_free = layout_free_bits(operand, DIM_REGISTER);
    p->lane_axis = axis_bits(p, DIM_LANE);
    p->warp_axis = axis_bits(p, DIM_WARP);
    p->slots_log2 = __builtin_popcount(p->warp_axis);
    p->results_log2 = operand->total_log2 - operand->dim_log2[axis];
    uint32_t lanes = (UINT32_C(1) << operand->nbits[DIM_LANE]) - 1,
             warps = (UINT32_C(1) << operand->nbits[DIM_WARP]) - 1;
    p->writer_lane = p->result ? layout_free_bits(p->result, DIM_LANE) : lanes;
    p->writer_warp = (p->result ? layout_free_bits(p->result, DIM_WARP) : warps) & ~p->warp_axis;
}

void reduce_plan_op(ReducePlan *out, LayoutTable *t, const Op *op)
{
    const Layout *l = op_arg(op, 0)->type->layout;
    check(l, "reduction of a block without a layout");
    reduce_plan(out, t, l, (int)tkc_op_int(op, ATTR_AXIS, 0));
}

int reduce_group(const ReducePlan *p, uint32_t result_reg, uint32_t *out)
{
    uint32_t want = p->result ? layout_apply(p->result, result_reg, 0, 0) : 0;
    int n = 0;
    for (uint32_t r = 0; r < (uint32_t)layout_registers(p->operand); r++) {
        uint32_t index = layout_apply(p->operand, r, 0, 0);
        if (r & p->register_free || forget_axis(p, index) != want) continue;
        int at = n++;
        for (; at > 0 && layout_apply(p->operand, out[at - 1], 0, 0) > index; at--)
            out[at] = out[at - 1];
        out[at] = r;
    }
    return n;
}

uint32_t reduce_slot(const ReducePlan *p, uint32_t warp)
{
    uint32_t slot = 0;
    int n = 0;
    for (uint32_t bits = p->warp_axis; bits; bits &= bits - 1)
        slot |= (warp >> __builtin_ctz(bits) & 1) << n++;
    return slot;
}

uint32_t reduce_offset(const ReducePlan *p, uint32_t result_reg, uint32_t lane, uint32_t warp,
                       uint32_t slot)
{
    uint32_t y = p->result ? layout_apply(p->result, result_reg, lane, warp) : 0;
    return (slot << p->results_log2) + y;
}

uint32_t reduce_scratch(const ReducePlan *p)
{
    return p->warp_axis ? UINT32_C(1) << (p->slots_log2 + p->results_log2) : 0;
}

uint32_t reduce_scratch_op(const ReducePlan *p, const Op *op, uint32_t *offsets)
{
    uint32_t bytes = 0;
    for (int i = 0; i < op->nargs; i++) {
        if (offsets) offsets[i] = bytes;
        bytes +=
            (reduce_scratch(p) * (uint32_t)type_bytes(op_arg(op, i)->type) + 15) & ~UINT32_C(15);
    }
    return bytes;
}
