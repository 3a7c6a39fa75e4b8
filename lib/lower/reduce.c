/* Reductions, as lib/layout/reduce_plan.h plans them: a tree over a thread's registers, butterflies
   over the lanes, and shared memory when the axis crosses warps.

   Whether a partial result holds a real element (combine.h) is known across warps when compiling: a
   warp's part of the axis has a real element or it has not. */
#include "layout/reduce_plan.h"
#include "lower/combine.h"

#include "base/unwind.h"
#include "ir/type.h"

typedef struct Reduce {
    Combine by;
    ReducePlan plan;
    int32_t size; /* logical extent of the axis */
} Reduce;

static Partial combine_all(Lower *L, const Reduce *r, Partial *parts, int n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            parts[i] = combine_two(L, &r->by, parts[2 * i], parts[2 * i + 1]);
        if (n & 1) parts[n / 2] = parts[n - 1];
    }
    return parts[0];
}

/* ---- in a thread ---- */

static Partial reduce_thread(Lower *L, const Reduce *r, uint32_t result_reg)
{
    const int n = layout_registers(r->plan.operand);
    uint32_t *regs = arena_array(L->arena, uint32_t, n);
    Partial *parts = arena_array(L->arena, Partial, n);
    int count = reduce_group(&r->plan, result_reg, regs), used = 0;
    for (int i = 0; i < count; i++) {
        parts[used] = combine_element(L, &r->by, regs[i]);
        used += !lower_is_false(parts[used].valid) || used == 0;
        if (used > 1 && lower_is_false(parts[0].valid)) parts[0] = parts[--used];
    }
    return combine_all(L, r, parts, used);
}

/* ---- across lanes ---- */

static bool reduce_by_instruction(Lower *L, const Reduce *r, Partial *p)
{
    const uint32_t all_lanes = (uint32_t)L->machine->warp_size - 1;
    if (!r->by.known || p->valid || r->plan.lane_axis != all_lanes) return false;
    if (LLVMTypeOf(p->x[0]) != L->i32) return false;
    LLVMValueRef v = L->target->warp_reduce(L, r->by.known, r->by.dt, p->x[0]);
    if (v) p->x[0] = v;
    return v != NULL;
}

static Partial reduce_lanes(Lower *L, const Reduce *r, Partial p)
{
    if (reduce_by_instruction(L, r, &p)) return p;
    for (uint32_t lanes = r->plan.lane_axis; lanes;) {
        uint32_t bit = 1u << (31 - __builtin_clz(lanes));
        lanes ^= bit;
        p = combine_two(L, &r->by, p, combine_shuffle_xor(L, &r->by, p, bit));
    }
    return p;
}

/* ---- across warps ---- */

/* Whether any element that the warps of this slot hold is real. */
static bool slot_is_real(const Reduce *r, uint32_t slot)
{
    const Layout *l = r->plan.operand;
    uint32_t warp = 0;
    int n = 0;
    for (uint32_t bits = r->plan.warp_axis; bits; bits &= bits - 1) {
        if (slot >> n++ & 1) warp |= bits & -bits;
    }
    for (uint32_t reg = 0; reg < (uint32_t)layout_registers(l); reg++) {
        for (uint32_t lane = 0; lane < 1u << l->nbits[DIM_LANE]; lane++) {
            if (layout_coord(l, layout_apply(l, reg, lane, warp), r->plan.axis) < r->size)
                return true;
        }
    }
    return false;
}

/* Byte offset of the thread's place in an operand's scratch; with_slot: of the warp's own partial
   result. */
static ThreadPart scratch_part(Lower *L, const Reduce *r, int bytes, bool with_slot)
{
    uint32_t lane[32] = {0}, warp[32] = {0};
    const Layout *l = r->plan.operand;
    for (int i = 0; i < l->nbits[DIM_LANE]; i++)
        lane[i] = reduce_offset(&r->plan, 0, 1u << i, 0, 0) * (uint32_t)bytes;
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) {
        uint32_t slot = with_slot ? reduce_slot(&r->plan, 1u << i) : 0;
        warp[i] = reduce_offset(&r->plan, 0, 0, 1u << i, slot) * (uint32_t)bytes;
    }
    return lower_thread_linear(L, lane, warp);
}

static void write_partials(Lower *L, const Reduce *r, int64_t scratch, const uint32_t *offsets,
                           const Partial *parts)
{
    LLVMValueRef pred = lower_thread_is_zero(L, r->plan.writer_lane, r->plan.writer_warp);
    for (int i = 0; i < r->by.n; i++) {
        const int bytes = lower_shared_bytes(LLVMTypeOf(parts[0].x[i]));
        ThreadPart part = scratch_part(L, r, bytes, true);
        for (int k = 0; k < r->plan.result_registers; k++) {
            uint32_t at = reduce_offset(&r->plan, (uint32_t)k, 0, 0, 0) * (uint32_t)bytes;
            int64_t imm = scratch + offsets[i];
            LLVMValueRef address = lower_thread_address(L, part, at, &imm);
            lower_shared_store(L, address, imm, 1, &parts[k].x[i], pred);
        }
    }
}

/* Result register k of one operand in every slot. Slots of a scalar lie side by side and are read
   several at once. */
static void read_slots(Lower *L, const Reduce *r, int64_t scratch, int k, LLVMTypeRef ty,
                       LLVMValueRef *xs)
{
    const int bytes = lower_shared_bytes(ty), nslots = 1 << r->plan.slots_log2;
    ThreadPart part = scratch_part(L, r, bytes, false);
    int width = r->plan.results_log2 == 0 ? 16 / bytes : 1;
    if (width > nslots) width = nslots;
    uint32_t at = reduce_offset(&r->plan, (uint32_t)k, 0, 0, 0) * (uint32_t)bytes;
    LLVMValueRef address = lower_thread_address(L, part, at, &scratch);
    for (int s = 0; s < nslots; s += width) {
        uint32_t slot = ((uint32_t)s << r->plan.results_log2) * (uint32_t)bytes;
        lower_shared_load(L, address, scratch + slot, ty, width, xs + s);
    }
}

static Partial combine_slots(Lower *L, const Reduce *r, int64_t scratch, const uint32_t *offsets,
                             int k, const Partial *own)
{
    const int nslots = 1 << r->plan.slots_log2;
    Partial *parts = arena_array(L->arena, Partial, nslots);
    LLVMValueRef *xs = arena_array(L->arena, LLVMValueRef, nslots);
    for (int s = 0; s < nslots; s++) parts[s].x = arena_array(L->arena, LLVMValueRef, r->by.n);
    for (int i = 0; i < r->by.n; i++) {
        read_slots(L, r, scratch + offsets[i], k, LLVMTypeOf(own->x[i]), xs);
        for (int s = 0; s < nslots; s++) parts[s].x[i] = xs[s];
    }
    int used = 0;
    for (int s = 0; s < nslots; s++) {
        if (slot_is_real(r, (uint32_t)s)) parts[used++] = parts[s];
    }
    return combine_all(L, r, parts, used);
}

static void reduce_warps(Lower *L, const Reduce *r, Partial *parts)
{
    uint32_t *offsets = arena_array(L->arena, uint32_t, r->by.n);
    const Attr *scratch = tkc_op_attr(r->by.op, ATTR_OFFSET);
    check(scratch, "a reduction across warps has no scratch memory");
    reduce_scratch_op(&r->plan, r->by.op, offsets);
    write_partials(L, r, scratch->i, offsets, parts);
    L->target->barrier(L);
    for (int k = 0; k < r->plan.result_registers; k++)
        parts[k] = combine_slots(L, r, scratch->i, offsets, k, &parts[k]);
}

void lower_reduce(Lower *L, const Op *op)
{
    Reduce r = {.by = combine_of(op), .size = op_arg(op, 0)->type->shape[ir_axis(op)]};
    reduce_plan_op(&r.plan, ir_of(L->fn)->layouts, op);
    check(r.plan.direct, "a reduction in a layout that mixes the axis with other dims");
    Partial *parts = arena_array(L->arena, Partial, r.plan.result_registers);
    for (int k = 0; k < r.plan.result_registers; k++)
        parts[k] = reduce_lanes(L, &r, reduce_thread(L, &r, (uint32_t)k));
    if (r.plan.warp_axis) reduce_warps(L, &r, parts);
    combine_set_results(L, &r.by, parts, r.plan.result_registers);
}
