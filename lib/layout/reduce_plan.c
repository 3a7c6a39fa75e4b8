/* The positions whose values make up result element y are those whose index is y once the axis is
   forgotten (linear/reduce.c: which layouts the three steps reach all of them in). A lane or warp
   vector that is 0 already in the operand's layout is a duplicate: it holds the same value and takes
   no part. */
#include "layout/reduce_plan.h"

#include "base/unwind.h"
#include "ir/type.h"

/* The bits of a hardware dim that hold nothing but the axis. */
static uint32_t axis_bits(const ReducePlan *p, LayoutDim dim)
{
    uint32_t bits = 0;
    for (int i = 0; i < p->operand->nbits[dim]; i++) {
        uint32_t v = p->operand->basis[dim][i];
        if (v && !layout_forget(p->operand, p->axis, v)) bits |= UINT32_C(1) << i;
    }
    return bits;
}

void reduce_plan(ReducePlan *out, LayoutTable *t, const Layout *operand, int axis)
{
    check(axis >= 0 && axis < operand->rank, "reduction along dim %d of %d", axis, operand->rank);
    ReducePlan *p = out;
    *p = (ReducePlan){.operand = operand, .axis = axis};
    p->result = operand->rank > 1 ? layout_slice(t, operand, axis) : NULL;
    p->direct = layout_reduces(operand, axis);
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
        if (r & p->register_free || layout_forget(p->operand, p->axis, index) != want) continue;
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
