/* Scans across warps. Each warp scans the segments that it holds. Their totals, one for each
   segment, go through a buffer to all warps with elements of the same rows, which scan them and
   combine what comes before a segment into its elements:

     %s, %t = scan %x {slots}          segments, and totals
     sstore %buf, %t
     %u = sload_at %buf, slot - 1      the total of the segment before; + 1 in a reverse scan
     %y = carry %s, %u {slots}

   There is one barrier, and what is stored is small: elements stay where they are. */
#include "ir/rule.h"
#include "memory/expand.h"

static uint32_t slots_of(const Op *op)
{
    LayoutAxis axis;
    return layout_scans(op_arg(op, 0)->type->layout, ir_axis(op), &axis) ? layout_axis_slots(&axis)
                                                                         : 0;
}

bool expand_is_scan_across_warps(const Op *op)
{
    return !tkc_op_attr(op, ATTR_SLOTS) && slots_of(op);
}

static Op *scan_segments(Op *op, Arena *scratch)
{
    Func *fn = op->region->func;
    Op *scan = expand_copy(op, scratch);
    ir_set_int(fn, scan, ATTR_SLOTS, slots_of(op));
    for (int i = 0; i < op->nargs; i++)
        ir_add_result(scan, rule_result(ir_of(fn), scan, op->nargs + i));
    return scan;
}

static Op *carry_of(Op *op, const Op *scan, Value **totals, Arena *scratch)
{
    const int n = op->nargs;
    Value **args = arena_array(scratch, Value *, 2 * n);
    const Type **types = arena_array(scratch, const Type *, n);
    for (int i = 0; i < n; i++) {
        args[i] = op_result(scan, i);
        args[n + i] = totals[i];
        types[i] = op_result(op, i)->type;
    }
    Builder b = build_before(op);
    Op *carry = build_op(&b, OP_CARRY, 2 * n, args, n, types);
    ValueMap map = ir_value_map(scratch, b.fn);
    ir_copy_attrs(b.fn, carry, scan);
    ir_clone_region(b.fn, carry->regions[0], op->regions[0], &map);
    return carry;
}

void expand_scan(Op *op, Arena *scratch)
{
    const int n = op->nargs, axis = ir_axis(op);
    const Layout *layout = op_arg(op, 0)->type->layout;
    LayoutAxis along;
    layout_scans(layout, axis, &along);
    Op *scan = scan_segments(op, scratch);
    Builder b = build_before(op);
    const Layout *to = layout_slots(ir_of(b.fn)->layouts, layout, axis, &along);
    Value **buffers = arena_array(scratch, Value *, n);
    for (int i = 0; i < n; i++) {
        Value *total = op_result(scan, n + i);
        buffers[i] = expand_row_major(&b, tkc_type_element(total->type), total->type->rank,
                                      total->type->shape);
        build_sstore(&b, buffers[i], total, 0);
    }
    const int by = tkc_op_int(op, ATTR_REVERSE, 0) ? 1 : -1;
    for (int i = 0; i < n; i++) {
        const Type *ty = type_with_layout(ir_of(b.fn)->types, op_result(scan, n + i)->type, to);
        buffers[i] = expand_load_moved(&b, buffers[i], ty, axis, by);
    }
    ir_replace(op, carry_of(op, scan, buffers, scratch)->results);
}
