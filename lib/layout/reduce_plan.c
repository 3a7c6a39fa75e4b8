/* The positions whose values make up result element y are those whose index is y once the axis is
   forgotten, but for the bits that are kept (linear/reduce.c: which layouts the steps reach all of
   them in). A lane vector that is 0 already in the operand's layout is a duplicate: it holds the
   same value and takes no part. */
#include "layout/reduce_plan.h"

#include "base/unwind.h"
#include "ir/ir.h"
#include "layout/convert.h"

enum { SHUFFLE = COST_WAVE + COST_ISSUE };

/* Of n results over `bits` bits of lanes: a shuffle and an instruction to combine for each, two to
   choose what stays and what goes where they are halved. */
static int dealt_cost(int n, int bits, int halvings)
{
    const int left = n >> halvings, halved = n - left;
    return halved * (SHUFFLE + 3 * COST_ISSUE) + (bits - halvings) * left * (SHUFFLE + COST_ISSUE);
}

/* And a shuffle for each to have all again. */
static int lanes_cost(int n, int bits, int halvings)
{
    return dealt_cost(n, bits, halvings) + (halvings ? n * SHUFFLE : 0);
}

/* Steps that wait for each other are what little there is of work in small blocks: for one step
   more, an eighth has to be gained. */
static int halvings_of(const ReducePlan *p)
{
    const int bits = __builtin_popcount(p->lane_axis), n = p->result_registers;
    int best = 0;
    for (int h = 1; h <= bits && n >> h; h++)
        if (lanes_cost(n, bits, h) < lanes_cost(n, bits, best)) best = h;
    return lanes_cost(n, bits, best) * 8 <= lanes_cost(n, bits, 0) * 7 ? best : 0;
}

void reduce_plan(ReducePlan *out, LayoutTable *t, const Layout *operand, int axis, uint32_t kept)
{
    check(axis >= 0 && axis < operand->rank, "reduction along dim %d of %d", axis, operand->rank);
    ReducePlan *p = out;
    *p = (ReducePlan){.operand = operand, .axis = axis, .kept = kept};
    if (kept) p->result = layout_keep(t, operand, axis, kept);
    else if (operand->rank > 1) p->result = layout_slice(t, operand, axis);
    p->direct = layout_reduces(operand, axis);
    p->result_registers = p->result ? layout_registers(p->result) : 1;
    p->register_free = layout_free_bits(operand, DIM_REGISTER);
    p->lane_axis = layout_lanes_along(operand, axis);
    p->halvings = halvings_of(p);
}

void reduce_plan_op(ReducePlan *out, LayoutTable *t, const Op *op)
{
    const Layout *l = op_arg(op, 0)->type->layout;
    check(l, "reduction of a block without a layout");
    reduce_plan(out, t, l, ir_axis(op), (uint32_t)tkc_op_int(op, ATTR_SLOTS, 0));
    out->dealt = (int)tkc_op_int(op, ATTR_DEALT, 0);
    if (out->dealt) out->halvings = out->dealt;
}

int reduce_most_dealt(const ReducePlan *p)
{
    const int bits = __builtin_popcount(p->lane_axis), all = p->result->nbits[DIM_REGISTER];
    return bits < all ? bits : all;
}

int reduce_cost(const ReducePlan *p, int dealt)
{
    const int bits = __builtin_popcount(p->lane_axis), n = p->result_registers;
    return dealt ? dealt_cost(n, bits, dealt) : lanes_cost(n, bits, p->halvings);
}

int reduce_group(const ReducePlan *p, uint32_t result_reg, uint32_t *out)
{
    uint32_t want = p->result ? layout_apply(p->result, result_reg, 0, 0) : 0;
    int n = 0;
    for (uint32_t r = 0; r < (uint32_t)layout_registers(p->operand); r++) {
        uint32_t index = layout_apply(p->operand, r, 0, 0);
        if (r & p->register_free) continue;
        if (layout_keep_bits(p->operand, p->axis, p->kept, index) != want) continue;
        int at = n++;
        for (; at > 0 && layout_apply(p->operand, out[at - 1], 0, 0) > index; at--)
            out[at] = out[at - 1];
        out[at] = r;
    }
    return n;
}
