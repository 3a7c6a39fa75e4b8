/* Reductions, as lib/layout/reduce_plan.h plans them: a tree over a thread's registers, butterflies
   over the lanes, and shared memory when the axis crosses warps. The combining region is lowered
   anew wherever two values meet.

   Padded elements must not count. A combine that is one known op has a neutral element that they
   are replaced by; NaN is neutral for the minimum and maximum in which a NaN loses, -0 for a sum.
   Any other combine carries a bit that says whether a partial result holds any real element, and
   combine(x, nothing) is x. Across warps the bit is known when compiling: a warp's part of the axis
   has a real element or it has not. */
#include "layout/reduce_plan.h"
#include "lower/vector.h"

#include "base/unwind.h"
#include "ir/evaluate.h"
#include "ir/type.h"

/* A partial result: one value an operand; valid NULL: there is a real element in it. */
typedef struct Partial {
    LLVMValueRef *x;
    LLVMValueRef valid;
} Partial;

typedef struct Reduce {
    const Op *op;
    const Region *combine;
    ReducePlan plan;
    int n;        /* operands */
    int32_t size; /* logical extent of the axis */
    OpKind known; /* the one op that the region is, or OP_NONE */
    DType dt;     /* of the first operand */
} Reduce;

static OpKind known_combine(const Reduce *r)
{
    const Op *only = r->combine->first, *end = r->combine->last;
    if (r->n != 1 || !only || only->next != end || only->nargs != 2 || op_arg(end, 0)->def != only)
        return OP_NONE;
    const Value *x = op_arg(only, 0), *y = op_arg(only, 1);
    const bool both = (x == r->combine->args[0] && y == r->combine->args[1]) ||
                      (x == r->combine->args[1] && y == r->combine->args[0]);
    return both ? only->kind : OP_NONE;
}

/* The element e with combine(x, e) = x; false when there is none to be had. */
static bool neutral_bits(OpKind kind, DType dt, uint64_t *bits)
{
    const DTypeInfo *info = dtype_info(dt);
    const bool is_float = info->kind == DK_FLOAT, is_signed = info->kind == DK_INT;
    const int64_t greatest = (int64_t)(UINT64_MAX >> (64 - info->bits + is_signed));
    switch (kind) {
    case OP_ADD: *bits = is_float ? bits_from_double(dt, -0.0) : 0; return true;
    case OP_MUL: *bits = is_float ? bits_from_double(dt, 1) : 1; return true;
    case OP_OR:
    case OP_XOR: *bits = 0; return true;
    case OP_AND: *bits = bits_from_int(dt, -1); return true;
    case OP_MAX:
        *bits = is_float ? bits_from_double(dt, __builtin_nan(""))
                         : bits_from_int(dt, is_signed ? ~greatest : 0);
        return true;
    case OP_MIN:
        *bits = is_float ? bits_from_double(dt, __builtin_nan("")) : bits_from_int(dt, greatest);
        return true;
    case OP_MAX_NAN: *bits = bits_from_double(dt, -__builtin_inf()); return true;
    case OP_MIN_NAN: *bits = bits_from_double(dt, __builtin_inf()); return true;
    default: return false;
    }
}

/* ---- combining two partial results ---- */

static Partial run_region(Lower *L, const Reduce *r, Partial a, Partial b)
{
    for (int i = 0; i < r->n; i++) {
        lower_set_scalar(L, r->combine->args[i], a.x[i]);
        lower_set_scalar(L, r->combine->args[r->n + i], b.x[i]);
    }
    L->combines = lower_and(L, a.valid, b.valid);
    const Op *yield = lower_region(L, r->combine);
    L->combines = NULL;
    Partial out = {arena_array(L->arena, LLVMValueRef, r->n), NULL};
    for (int i = 0; i < r->n; i++) out.x[i] = lower_scalar(L, op_arg(yield, i));
    return out;
}

static Partial combine(Lower *L, const Reduce *r, Partial a, Partial b)
{
    if (lower_is_false(a.valid)) return b;
    if (lower_is_false(b.valid)) return a;
    Partial out = run_region(L, r, a, b);
    for (int i = 0; i < r->n; i++) {
        if (b.valid) out.x[i] = LLVMBuildSelect(L->b, b.valid, out.x[i], a.x[i], "");
        if (a.valid) out.x[i] = LLVMBuildSelect(L->b, a.valid, out.x[i], b.x[i], "");
    }
    if (a.valid && b.valid) out.valid = LLVMBuildOr(L->b, a.valid, b.valid, "");
    return out;
}

static Partial combine_all(Lower *L, const Reduce *r, Partial *parts, int n)
{
    for (; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++) parts[i] = combine(L, r, parts[2 * i], parts[2 * i + 1]);
        if (n & 1) parts[n / 2] = parts[n - 1];
    }
    return parts[0];
}

/* ---- in a thread ---- */

static Partial element(Lower *L, const Reduce *r, uint32_t reg)
{
    const Type *ty = op_arg(r->op, 0)->type;
    Partial p = {arena_array(L->arena, LLVMValueRef, r->n),
                 lower_valid_along(L, ty, r->plan.axis, reg)};
    for (int i = 0; i < r->n; i++) p.x[i] = lower_reg(L, op_arg(r->op, i), (int)reg);
    uint64_t bits;
    if (p.valid && r->known && neutral_bits(r->known, r->dt, &bits) && !lower_is_false(p.valid)) {
        p.x[0] =
            LLVMBuildSelect(L->b, p.valid, p.x[0], lower_bits(L, tkc_type_element(ty), bits), "");
        p.valid = NULL;
    }
    return p;
}

static Partial reduce_thread(Lower *L, const Reduce *r, uint32_t result_reg)
{
    const int n = layout_registers(r->plan.operand);
    uint32_t *regs = arena_array(L->arena, uint32_t, n);
    Partial *parts = arena_array(L->arena, Partial, n);
    int count = reduce_group(&r->plan, result_reg, regs), used = 0;
    for (int i = 0; i < count; i++) {
        parts[used] = element(L, r, regs[i]);
        used += !lower_is_false(parts[used].valid) || used == 0;
        if (used > 1 && lower_is_false(parts[0].valid)) parts[0] = parts[--used];
    }
    return combine_all(L, r, parts, used);
}

/* ---- across lanes ---- */

static bool reduce_by_instruction(Lower *L, const Reduce *r, Partial *p)
{
    const uint32_t all_lanes = (uint32_t)L->machine->warp_size - 1;
    if (!r->known || p->valid || r->plan.lane_axis != all_lanes) return false;
    if (LLVMTypeOf(p->x[0]) != L->i32) return false;
    LLVMValueRef v = L->target->warp_reduce(L, r->known, r->dt, p->x[0]);
    if (v) p->x[0] = v;
    return v != NULL;
}

static Partial reduce_lanes(Lower *L, const Reduce *r, Partial p)
{
    if (reduce_by_instruction(L, r, &p)) return p;
    /* A value that is nowhere real in this thread may be so in its partner: the bit travels as a
       number. */
    for (uint32_t lanes = r->plan.lane_axis; lanes;) {
        uint32_t bit = 1u << (31 - __builtin_clz(lanes));
        lanes ^= bit;
        Partial other = {arena_array(L->arena, LLVMValueRef, r->n), NULL};
        for (int i = 0; i < r->n; i++) other.x[i] = lower_shuffle_xor(L, p.x[i], bit);
        if (p.valid) other.valid = lower_shuffle_xor(L, p.valid, bit);
        p = combine(L, r, p, other);
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
    for (int i = 0; i < r->n; i++) {
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
    for (int s = 0; s < nslots; s++) parts[s].x = arena_array(L->arena, LLVMValueRef, r->n);
    for (int i = 0; i < r->n; i++) {
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
    uint32_t *offsets = arena_array(L->arena, uint32_t, r->n);
    const Attr *scratch = tkc_op_attr(r->op, ATTR_OFFSET);
    check(scratch, "a reduction across warps has no scratch memory");
    reduce_scratch_op(&r->plan, r->op, offsets);
    write_partials(L, r, scratch->i, offsets, parts);
    L->target->barrier(L);
    for (int k = 0; k < r->plan.result_registers; k++)
        parts[k] = combine_slots(L, r, scratch->i, offsets, k, &parts[k]);
}

void lower_reduce(Lower *L, const Op *op)
{
    Reduce r = {.op = op, .combine = op->regions[0], .n = op->nargs};
    reduce_plan_op(&r.plan, ir_of(L->fn)->layouts, op);
    check(r.plan.direct, "a reduction in a layout that mixes the axis with other dims");
    const Type *ty = op_arg(op, 0)->type;
    r.size = ty->shape[r.plan.axis];
    r.dt = type_dtype(ty);
    r.known = known_combine(&r);
    Partial *parts = arena_array(L->arena, Partial, r.plan.result_registers);
    for (int k = 0; k < r.plan.result_registers; k++)
        parts[k] = reduce_lanes(L, &r, reduce_thread(L, &r, (uint32_t)k));
    if (r.plan.warp_axis) reduce_warps(L, &r, parts);
    for (int i = 0; i < r.n; i++) {
        Regs out = lower_regs_new(L, r.plan.result_registers);
        for (int k = 0; k < out.n; k++) out.r[k].v = parts[k].x[i];
        lower_set(L, op_result(op, i), out);
    }
}
