/* Moves a block from one layout to another inside the warps, as lib/layout/convert.h plans it. */
#include "layout/convert.h"
#include "lower/lower.h"
#include "lower/vector.h"

#include "base/unwind.h"

/* ---- inside a warp ---- */

/* A thread's words on the way: each is 1 << log2 registers of the plan. */
typedef struct Words {
    const ConvertPlan *plan;
    int log2, nfrom, nto;
    LLVMValueRef *from, *to;
} Words;

/* Swaps words where the thread's parity says so, one stage after the other. */
static void apply_stages(Lower *L, const ConvertStages *st, int log2, LLVMValueRef *words, int n)
{
    LLVMValueRef *old = arena_array(L->arena, LLVMValueRef, n);
    for (int i = 0; i < st->n; i++) {
        LLVMValueRef bit = lower_thread_parity(L, st->lane_mask[i], st->warp_mask[i]);
        for (int r = 0; r < n; r++) old[r] = words[r];
        for (int r = 0; r < n; r++) {
            LLVMValueRef other = old[(uint32_t)r ^ st->vec[i] >> log2];
            words[r] = other == old[r] ? old[r] : LLVMBuildSelect(L->b, bit, other, old[r], "");
        }
    }
}

static void move_in_warp(Lower *L, Words *w)
{
    const ConvertPlan *p = w->plan;
    apply_stages(L, &p->send, w->log2, w->from, w->nfrom);
    const bool own = convert_begins_at_own(p);
    ThreadPart source = {0};
    if (p->moves_lanes && !own) source = lower_thread_linear(L, p->lane_of_lane, p->lane_of_warp);
    for (int r = 0; r < w->nto; r++) {
        const uint32_t round = (uint32_t)r << w->log2, constant = convert_source_lane(p, round, 0, 0);
        LLVMValueRef x = w->from[convert_source_reg(p, round) >> w->log2];
        Lane lane = {0};
        if (own && constant) lane.apart = lower_i32(L, constant);
        if (!own && p->moves_lanes) lane.number = lower_thread_offset(L, source, constant);
        w->to[r] = lane.apart || lane.number ? lower_shuffle(L, x, lane) : x;
    }
    apply_stages(L, &p->receive, w->log2, w->to, w->nto);
}

static Regs shuffle(Lower *L, const ConvertPlan *plan, const Type *ty, const Regs in)
{
    const int log2 = convert_word_log2(plan), nfrom = layout_registers(plan->from),
              nto = layout_registers(plan->to);
    Words w = {.plan = plan, .log2 = log2, .nfrom = nfrom >> log2, .nto = nto >> log2};
    Regs out = lower_regs_new(L, nto);
    LLVMValueRef *elems = arena_array(L->arena, LLVMValueRef, nfrom > nto ? nfrom : nto);
    for (int r = 0; r < nfrom; r++) elems[r] = lower_element(L, ty, in.r[r]);
    const Packing word = packing_of(L, LLVMTypeOf(elems[0]), 1 << log2);
    w.from = arena_array(L->arena, LLVMValueRef, w.nfrom);
    w.to = arena_array(L->arena, LLVMValueRef, w.nto);
    for (int r = 0; r < w.nfrom; r++) pack_words(L, &word, elems + (r << log2), w.from + r);
    move_in_warp(L, &w);
    for (int r = 0; r < w.nto; r++) unpack_words(L, &word, w.to + r, elems + (r << log2));
    for (int r = 0; r < nto; r++) out.r[r].v = elems[r];
    return out;
}

/* ---- both ---- */

void lower_convert(Lower *L, const Op *op)
{
    ConvertPlan plan;
    convert_plan_op(&plan, op);
    check(plan.kind != CONVERT_SHARED, "a conversion through shared memory without a buffer");
    const Type *ty = op_arg(op, 0)->type;
    const Regs in = lower_get(L, op_arg(op, 0));
    const int n = layout_registers(plan.to);
    Regs out = lower_regs_new(L, n);
    if (plan.kind == CONVERT_SHUFFLE) out = shuffle(L, &plan, ty, in);
    else
        for (int r = 0; r < n; r++) out.r[r] = in.r[convert_source_reg(&plan, (uint32_t)r)];
    lower_set(L, op_result(op, 0), out);
}
