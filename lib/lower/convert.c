/* Moves a block from one layout to another, as lib/layout/convert.h plans it. */
#include "layout/convert.h"
#include "lower/vector.h"

#include "base/unwind.h"
#include "ir/type.h"

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

static bool is_own_lane(const ConvertPlan *p)
{
    for (int i = 0; i < p->to->nbits[DIM_LANE]; i++) {
        if (p->lane_of_lane[i] != 1u << i) return false;
    }
    for (int i = 0; i < p->to->nbits[DIM_WARP]; i++) {
        if (p->lane_of_warp[i]) return false;
    }
    return true;
}

static void move_in_warp(Lower *L, const ConvertPlan *p, LLVMValueRef *from, int nfrom,
                         LLVMValueRef *to, int nto)
{
    apply_stages(L, &p->send, from, nfrom);
    const bool own = is_own_lane(p);
    ThreadPart source = {0};
    if (p->moves_lanes && !own) source = lower_thread_linear(L, p->lane_of_lane, p->lane_of_warp);
    for (int r = 0; r < nto; r++) {
        const uint32_t constant = convert_source_lane(p, (uint32_t)r, 0, 0);
        LLVMValueRef x = from[convert_source_reg(p, (uint32_t)r)];
        if (own) to[r] = constant ? lower_shuffle_xor(L, x, constant) : x;
        else if (!p->moves_lanes) to[r] = x;
        else to[r] = lower_shuffle_from(L, x, lower_thread_offset(L, source, constant));
    }
    apply_stages(L, &p->receive, to, nto);
}

/* ---- through shared memory ---- */

static ThreadPart side_part(Lower *L, const ConvertSide *side, int elem_bytes)
{
    uint32_t lane[CONVERT_MAX_THREAD_BITS], warp[CONVERT_MAX_THREAD_BITS];
    for (int i = 0; i < CONVERT_MAX_THREAD_BITS; i++) {
        lane[i] = side->lane[i] * (uint32_t)elem_bytes;
        warp[i] = side->warp[i] * (uint32_t)elem_bytes;
    }
    return lower_thread_linear(L, lane, warp);
}

static LLVMValueRef address_of(Lower *L, const ConvertPlan *p, ThreadPart part, uint32_t offset,
                               int64_t *imm)
{
    return lower_thread_address(
        L, part, (offset & ((1u << p->offset_log2) - 1)) * (uint32_t)p->elem_bytes, imm);
}

static void write_piece(Lower *L, const ConvertPlan *p, uint32_t piece, int64_t scratch,
                        const LLVMValueRef *from)
{
    const ConvertSide *side = &p->write;
    ThreadPart part = side_part(L, side, p->elem_bytes);
    LLVMValueRef pred = lower_thread_is_zero(L, side->free_lane, side->free_warp), xs[VECTOR_MAX];
    for (uint32_t r = 0; r < (uint32_t)layout_registers(p->from); r++) {
        if (!convert_is_head(p, side, r, piece)) continue;
        for (uint32_t e = 0; e < 1u << p->vector_log2; e++)
            xs[e] = from[convert_vector_reg(p, side, r, e)];
        int64_t imm = scratch;
        LLVMValueRef address = address_of(L, p, part, convert_reg_offset(side, r), &imm);
        lower_shared_store(L, address, imm, 1 << p->vector_log2, xs, pred);
    }
}

static void read_piece(Lower *L, const ConvertPlan *p, uint32_t piece, int64_t scratch,
                       LLVMTypeRef ty, LLVMValueRef *to)
{
    const ConvertSide *side = &p->read;
    ThreadPart part = side_part(L, side, p->elem_bytes);
    LLVMValueRef xs[VECTOR_MAX];
    for (uint32_t r = 0; r < (uint32_t)layout_registers(p->to); r++) {
        if (r & side->free_reg || !convert_is_head(p, side, r, piece)) continue;
        int64_t imm = scratch;
        LLVMValueRef address = address_of(L, p, part, convert_reg_offset(side, r), &imm);
        lower_shared_load(L, address, imm, ty, 1 << p->vector_log2, xs);
        for (uint32_t e = 0; e < 1u << p->vector_log2; e++)
            to[convert_vector_reg(p, side, r, e)] = xs[e];
    }
}

static void move_through_shared(Lower *L, const ConvertPlan *p, int64_t scratch,
                                const LLVMValueRef *from, LLVMTypeRef ty, LLVMValueRef *to)
{
    for (uint32_t piece = 0; piece < 1u << p->pieces_log2; piece++) {
        if (piece) L->target->barrier(L);
        write_piece(L, p, piece, scratch, from);
        L->target->barrier(L);
        read_piece(L, p, piece, scratch, ty, to);
    }
}

/* ---- both ---- */

Regs lower_by_plan(Lower *L, const Op *op, const ConvertPlan *p, const Type *ty, Regs in)
{
    const int nfrom = layout_registers(p->from), nto = layout_registers(p->to);
    LLVMValueRef *from = arena_array(L->arena, LLVMValueRef, nfrom),
                 *to = arena_array(L->arena, LLVMValueRef, nto);
    Regs out = lower_regs_new(L, nto);
    if (p->kind == CONVERT_NONE || p->kind == CONVERT_REGISTERS) {
        for (int r = 0; r < nto; r++) out.r[r] = in.r[convert_source_reg(p, (uint32_t)r)];
        return out;
    }
    for (int r = 0; r < nfrom; r++) from[r] = lower_element(L, ty, in.r[r]);
    if (p->kind == CONVERT_SHUFFLE) {
        move_in_warp(L, p, from, nfrom, to, nto);
    } else {
        const Attr *offset = tkc_op_attr(op, ATTR_OFFSET);
        check(offset, "'%s' has no scratch memory", tkc_op_info(op->kind)->name);
        move_through_shared(L, p, offset->i, from, lower_type(L, ty), to);
    }
    const uint32_t free = p->kind == CONVERT_SHARED ? p->read.free_reg : 0;
    for (int r = 0; r < nto; r++) out.r[r].v = to[(uint32_t)r & ~free];
    return out;
}

void lower_convert(Lower *L, const Op *op)
{
    ConvertPlan plan;
    convert_plan_op(&plan, op);
    const Value *x = op_arg(op, 0);
    lower_set(L, op_result(op, 0), lower_by_plan(L, op, &plan, x->type, lower_get(L, x)));
}
