/* Sorting along the last dim, inside a warp.

   An element becomes a key that orders as an unsigned number does; different elements have
   different keys, so that any way of sorting gives the same bits. A NaN is the greatest key in both
   directions, and so is what pads the axis: it comes last, and where it equals a real key nobody
   sees which of the two it was.

   The keys go through a bitonic network, a merge for each bit of the axis: neighbouring runs of
   2^bit sorted keys become one. First each key meets its mirror image in the other run (the index
   with all bits up to that one flipped), then the one at half of the distance, and so on; the
   lesser key always goes to the lower index, so no step has a direction. Keys to compare are found
   by flipping bits of the position: in registers that costs nothing, between lanes a shuffle.

   Where but the first 2^k keys of a row are asked for, a run longer than that is cut to its first
   ones: of two runs of 2^k keys the lesser of each key and its mirror image, merged. The registers
   of the upper run hold nothing from then on; lanes hold the same in both. */
#include "lower/lower.h"

#include "base/power.h"
#include "base/unwind.h"
#include "ir/evaluate.h"
#include "ir/shape_map.h"

typedef struct Sort {
    const Type *type;
    LayoutAxis axis;
    DType dt;
    bool descending;
    LLVMTypeRef key;          /* i32 or i64 */
    LLVMValueRef *keys, *old; /* by register */
    int n;
    uint32_t gone; /* bits of the index that registers hold and runs have been cut by */
} Sort;

static LLVMValueRef constant(const Sort *s, uint64_t bits)
{
    return LLVMConstInt(s->key, bits, false);
}

/* The key of a NaN and of padding. */
static uint64_t greatest_key(const Sort *s)
{
    return UINT64_MAX >> (64 - dtype_info(s->dt)->bits);
}

static uint64_t sign_bit(const Sort *s)
{
    return UINT64_C(1) << (dtype_info(s->dt)->bits - 1);
}

static bool is_float(const Sort *s)
{
    return dtype_info(s->dt)->kind == DK_FLOAT;
}

/* ---- keys ---- */

/* Magnitudes above this are NaN. */
static uint64_t infinity_bits(const Sort *s)
{
    const DTypeInfo *info = dtype_info(s->dt);
    /* It has no infinity: its largest number. */
    if (s->dt == DT_F8E4) return bits_from_double(s->dt, __builtin_nan("")) - 1;
    return ((UINT64_C(1) << info->exp_bits) - 1) << info->man_bits;
}

/* All ones where the sign bit of x is set. */
static LLVMValueRef sign_mask(Lower *L, const Sort *s, LLVMValueRef x)
{
    const unsigned unused = LLVMGetIntTypeWidth(s->key) - (unsigned)dtype_info(s->dt)->bits;
    LLVMValueRef top = LLVMBuildShl(L->b, x, constant(s, unused), "");
    return LLVMBuildAShr(L->b, top, constant(s, LLVMGetIntTypeWidth(s->key) - 1), "");
}

static LLVMValueRef key_of(Lower *L, const Sort *s, LLVMValueRef element)
{
    LLVMValueRef x = lower_recast(L, element, s->key), flip = NULL, is_nan = NULL;
    const uint64_t sign = sign_bit(s), all = greatest_key(s);
    if (is_float(s)) {
        LLVMValueRef magnitude = LLVMBuildAnd(L->b, x, constant(s, sign - 1), "");
        is_nan = LLVMBuildICmp(L->b, LLVMIntUGT, magnitude, constant(s, infinity_bits(s)), "");
        flip = LLVMBuildOr(L->b, sign_mask(L, s, x), constant(s, sign), "");
        flip = LLVMBuildAnd(L->b, flip, constant(s, all), "");
    } else if (dtype_info(s->dt)->kind == DK_INT) {
        flip = constant(s, sign);
    }
    if (flip) x = LLVMBuildXor(L->b, x, flip, "");
    if (s->descending) x = LLVMBuildXor(L->b, x, constant(s, all), "");
    return is_nan ? LLVMBuildSelect(L->b, is_nan, constant(s, all), x, "") : x;
}

static LLVMValueRef element_of(Lower *L, const Sort *s, LLVMValueRef key)
{
    const uint64_t sign = sign_bit(s), all = greatest_key(s);
    LLVMValueRef x = key, flip = NULL;
    if (s->descending) x = LLVMBuildXor(L->b, x, constant(s, all), "");
    if (is_float(s)) {
        LLVMValueRef negative = LLVMBuildNot(L->b, sign_mask(L, s, x), "");
        flip = LLVMBuildOr(L->b, negative, constant(s, sign), "");
    } else if (dtype_info(s->dt)->kind == DK_INT) {
        flip = constant(s, sign);
    }
    if (flip) x = LLVMBuildXor(L->b, x, flip, "");
    if (is_float(s)) {
        LLVMValueRef is_nan = LLVMBuildICmp(L->b, LLVMIntEQ, key, constant(s, all), "");
        LLVMValueRef nan = constant(s, bits_from_double(s->dt, __builtin_nan("")));
        x = LLVMBuildSelect(L->b, is_nan, nan, x, "");
    }
    return lower_recast(L, x, lower_dtype(L, s->dt));
}

/* ---- the network ---- */

/* What of a position differs when these bits of the index do. */
typedef struct Step {
    uint32_t registers, lanes;
    uint32_t top; /* the highest of the bits: where it is 0, the lesser key goes */
} Step;

static Step step_of(const Sort *s, uint32_t bits)
{
    Step step = {0};
    for (; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        *(s->axis.held_by[i] == DIM_LANE ? &step.lanes : &step.registers) ^= s->axis.bits[i];
        step.top = bits & -bits;
    }
    return step;
}

static bool is_upper_register(const Sort *s, int reg, uint32_t top)
{
    const int axis = s->type->rank - 1;
    return lower_reg_coord(s->type->layout, axis, (uint32_t)reg) & top;
}

/* The key that the step flips to, which another lane may have. */
static LLVMValueRef other_key(Lower *L, const Sort *s, Step step, int r)
{
    LLVMValueRef other = s->old[(uint32_t)r ^ step.registers];
    return step.lanes ? lower_shuffle(L, other, (Lane){.apart = lower_i32(L, step.lanes)}) : other;
}

/* The thread's side is known for a register when a register holds the bit; else its lane tells. */
static void exchange(Lower *L, Sort *s, Step step)
{
    const bool by_lane = s->axis.in_lanes & step.top;
    LLVMValueRef upper = NULL;
    if (by_lane) {
        const int top = __builtin_ctz(step.top);
        upper = LLVMBuildNot(L->b, lower_thread_is_zero(L, s->axis.bits[top], 0), "");
    }
    for (int r = 0; r < s->n; r++) s->old[r] = s->keys[r];
    for (int r = 0; r < s->n; r++) {
        if (is_upper_register(s, r, s->gone)) continue;
        LLVMValueRef own = s->old[r], other = other_key(L, s, step, r);
        if (!by_lane) {
            const bool is_upper = is_upper_register(s, r, step.top);
            s->keys[r] = lower_call(L, is_upper ? "llvm.umax" : "llvm.umin", s->key, own, other);
        } else {
            LLVMValueRef is_less = LLVMBuildICmp(L->b, LLVMIntULT, other, own, "");
            LLVMValueRef takes = LLVMBuildXor(L->b, is_less, upper, "");
            s->keys[r] = LLVMBuildSelect(L->b, takes, other, own, "");
        }
    }
}

static void merge_keys(Lower *L, Sort *s, int bits)
{
    for (int i = bits - 1; i >= 0; i--) exchange(L, s, step_of(s, UINT32_C(1) << i));
}

static void sort_keys(Lower *L, Sort *s, int bits)
{
    for (int bit = 0; bit < bits; bit++) {
        exchange(L, s, step_of(s, (UINT32_C(2) << bit) - 1));
        merge_keys(L, s, bit);
    }
}

/* Of two runs of 2^bits keys that differ in a higher bit the first 2^bits. */
static void cut(Lower *L, Sort *s, int bits, int higher)
{
    const uint32_t bit = UINT32_C(1) << higher;
    const Step step = step_of(s, bit | ((UINT32_C(1) << bits) - 1));
    s->gone |= bit & s->axis.in_registers;
    for (int r = 0; r < s->n; r++) s->old[r] = s->keys[r];
    for (int r = 0; r < s->n; r++)
        if (!is_upper_register(s, r, s->gone))
            s->keys[r] = lower_call(L, "llvm.umin", s->key, s->old[r], other_key(L, s, step, r));
    merge_keys(L, s, bits);
}

static void cut_keys(Lower *L, Sort *s, int bits)
{
    for (int higher = bits; higher < s->axis.n; higher++) cut(L, s, bits, higher);
}

/* ---- the op ---- */

/* Of register r of the result. */
static int source_of(const Op *op, int r)
{
    const Layout *from = op_arg(op, 0)->type->layout, *to = op_result(op, 0)->type->layout;
    return layout_find_register(from, shape_source(op, from, to, layout_apply(to, r, 0, 0)));
}

static void take_keys(Lower *L, Sort *s, const Op *op)
{
    const int axis = s->type->rank - 1;
    for (int r = 0; r < s->n; r++) {
        s->keys[r] = key_of(L, s, lower_reg(L, op_arg(op, 0), r));
        LLVMValueRef valid = lower_valid_along(L, s->type, axis, (uint32_t)r);
        if (!valid) continue;
        s->keys[r] = LLVMBuildSelect(L->b, valid, s->keys[r], constant(s, greatest_key(s)), "");
    }
}

void lower_sort(Lower *L, const Op *op)
{
    const Type *ty = op_arg(op, 0)->type;
    Sort s = {.type = ty, .dt = type_dtype(ty), .n = lower_nregs(ty)};
    const bool is_direct = layout_axis(ty->layout, ir_axis(op), &s.axis);
    check(is_direct && !s.axis.in_warps, "a sort in a layout that no warp can sort in");
    s.descending = tkc_op_int(op, ATTR_DESCENDING, 0);
    s.key = dtype_info(s.dt)->bits > 32 ? L->i64 : L->i32;
    s.keys = arena_array(L->arena, LLVMValueRef, s.n);
    s.old = arena_array(L->arena, LLVMValueRef, s.n);
    take_keys(L, &s, op);
    const int64_t keep = tkc_op_int(op, ATTR_KEEP, 0);
    const int bits = keep ? log2_floor(keep) : s.axis.n;
    if (!tkc_op_int(op, ATTR_BITONIC, 0)) sort_keys(L, &s, bits);
    else if (!keep) merge_keys(L, &s, bits);
    cut_keys(L, &s, bits);
    Regs out = lower_regs_new(L, lower_nregs(op_result(op, 0)->type));
    for (int r = 0; r < out.n; r++) out.r[r].v = element_of(L, &s, s.keys[source_of(op, r)]);
    lower_set(L, op_result(op, 0), out);
}
