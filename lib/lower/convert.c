/* Moves a block from one layout to another inside the warps, as lib/layout/convert.h plans it. */
#include "layout/convert.h"
#include "lower/lower.h"

#include "base/unwind.h"

/* ---- inside a warp ---- */

/* Swaps registers where the thread's parity says so, one stage after the other. */
static void apply_stages(Lower *L, const ConvertStages *st, LLVMValueRef *regs, int n)
{
    LLVMValueRef *old = arena_array(L->arena, LLVMValueRef, n);
    for (int i = 0; i < st->n; i++) {
        LLVMValueRef bit = lower_thread_parity(L, st->lane_mask[i], st->warp_mask[i]);
        for (int r = 0; r < n; r++) old[r] = regs[r];
        for (int r = 0; r < n; r++) {
            LLVMValueRef other = old[(uint32_t)r ^ st->vec[i]];
            regs[r] = other == old[r] ? old[r] : LLVMBuildSelect(L->b, bit, other, old[r], "");
        }
    }
}

static void move_in_warp(Lower *L, const ConvertPlan *p, LLVMValueRef *from, int nfrom,
                         LLVMValueRef *to, int nto)
{
    apply_stages(L, &p->send, from, nfrom);
    const bool own = convert_begins_at_own(p);
    ThreadPart source = {0};
    if (p->moves_lanes && !own) source = lower_thread_linear(L, p->lane_of_lane, p->lane_of_warp);
    for (int r = 0; r < nto; r++) {
        const uint32_t constant = convert_source_lane(p, (uint32_t)r, 0, 0);
        LLVMValueRef x = from[convert_source_reg(p, (uint32_t)r)];
        Lane lane = {0};
        if (own && constant) lane.apart = lower_i32(L, constant);
        if (!own && p->moves_lanes) lane.number = lower_thread_offset(L, source, constant);
        to[r] = lane.apart || lane.number ? lower_shuffle(L, x, lane) : x;
    }
    apply_stages(L, &p->receive, to, nto);
}

/* ---- both ---- */

void lower_convert(Lower *L, const Op *op)
{
    ConvertPlan plan;
    convert_plan_op(&plan, op);
    check(plan.kind != CONVERT_SHARED, "a conversion through shared memory without a buffer");
    const Type *ty = op_arg(op, 0)->type;
    const Regs in = lower_get(L, op_arg(op, 0));
    const int nfrom = layout_registers(plan.from), nto = layout_registers(plan.to);
    Regs out = lower_regs_new(L, nto);
    if (plan.kind == CONVERT_SHUFFLE) {
        LLVMValueRef *from = arena_array(L->arena, LLVMValueRef, nfrom),
                     *to = arena_array(L->arena, LLVMValueRef, nto);
        for (int r = 0; r < nfrom; r++) from[r] = lower_element(L, ty, in.r[r]);
        move_in_warp(L, &plan, from, nfrom, to, nto);
        for (int r = 0; r < nto; r++) out.r[r].v = to[r];
    } else {
        for (int r = 0; r < nto; r++) out.r[r] = in.r[convert_source_reg(&plan, (uint32_t)r)];
    }
    lower_set(L, op_result(op, 0), out);
}
