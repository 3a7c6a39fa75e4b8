/* Conversions between element types. bfloat16 and the 8-bit floats live in integer registers, so
   that their bits are ours.

   From a float to a narrower one there is one rounding. Where the hardware has only a conversion
   from fp32, an fp64 is first brought to fp32 by rounding to odd (toward zero, and the last bit set
   when anything was lost): a second rounding to 22 bits or fewer then gives what one rounding would
   have given. */
#include "lower/math.h"

#include <string.h>

#include "base/unwind.h"

static LLVMValueRef as_i32(Lower *L, LLVMValueRef x)
{
    return bits_as(L, x, L->i32);
}

static LLVMValueRef as_f32(Lower *L, LLVMValueRef x)
{
    return bits_as(L, x, L->f32);
}

static LLVMValueRef f32_is_nan(Lower *L, LLVMValueRef x)
{
    return LLVMBuildFCmp(L->b, LLVMRealUNO, x, x, "");
}

/* ---- pairs ---- */

/* Two bytes side by side: those of `word` from bit `shift` on, 0 or 16. */
typedef struct Bytes {
    LLVMValueRef word;
    unsigned shift;
} Bytes;

static bool is_instruction(LLVMValueRef x, LLVMOpcode op)
{
    return LLVMIsAInstruction(x) && LLVMGetInstructionOpcode(x) == op;
}

/* Where a byte has been taken from. */
static Bytes origin(LLVMValueRef x)
{
    Bytes b = {NULL, 0};
    if (!is_instruction(x, LLVMTrunc)) return b;
    b.word = LLVMGetOperand(x, 0);
    if (!is_instruction(b.word, LLVMLShr) || !LLVMIsAConstantInt(LLVMGetOperand(b.word, 1)))
        return b;
    b.shift = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(b.word, 1));
    b.word = LLVMGetOperand(b.word, 0);
    return b;
}

/* Of what an access has read in words the words themselves: parts that are taken from one and put
   together again would cost ptxas a shift for every other pair. */
static Bytes joined(Lower *L, const LLVMValueRef x[2])
{
    const Bytes first = origin(x[0]), second = origin(x[1]);
    const bool is_half = first.word && first.word == second.word &&
                         LLVMTypeOf(first.word) == L->i32 && first.shift % 16 == 0 &&
                         second.shift == first.shift + 8;
    if (is_half) return first;
    LLVMValueRef low = LLVMBuildZExt(L->b, x[0], L->i16, ""),
                 high = LLVMBuildZExt(L->b, x[1], L->i16, "");
    LLVMValueRef both = LLVMBuildOr(L->b, low, shift_up(L, high, 8), "");
    return (Bytes){LLVMBuildZExt(L->b, both, L->i32, ""), 0};
}

/* In the halves of a word, in their lower or upper bytes; the others are `other`. */
static LLVMValueRef spread(Lower *L, const LLVMValueRef x[2], bool is_upper, uint32_t other)
{
    const Bytes b = joined(L, x);
    const uint32_t digits = is_upper ? 0x1404 : 0x4140, second = is_upper ? 0x2020 : 0x0202;
    return lower_instr(L, INSTR_PICK_BYTES, b.word, lower_i32(L, other),
                       lower_i32(L, b.shift ? digits + second : digits));
}

static LLVMValueRef as_f16s(Lower *L, LLVMValueRef word)
{
    return LLVMBuildBitCast(L->b, word, LLVMVectorType(L->f16, 2), "");
}

static void part(Lower *L, LLVMValueRef v, LLVMValueRef out[2])
{
    for (int i = 0; i < 2; i++) out[i] = LLVMBuildExtractElement(L->b, v, lower_i32(L, i), "");
}

/* 0x6400 is 1024, whose last place is 1: with a byte there it is that more. Where a sign is turned
   first, it is 128 more than that. */
static void f16s_from_bytes(Lower *L, bool is_signed, const LLVMValueRef x[2], LLVMValueRef out[2])
{
    LLVMValueRef word = spread(L, x, false, 0x64);
    if (is_signed) word = LLVMBuildXor(L->b, word, lower_i32(L, 0x00800080), "");
    LLVMValueRef more = LLVMConstReal(L->f16, is_signed ? 1152 : 1024), both[2] = {more, more};
    part(L, LLVMBuildFSub(L->b, as_f16s(L, word), LLVMConstVector(both, 2), ""), out);
}

static LLVMValueRef bf16s_fma(Lower *L, LLVMValueRef x, uint32_t by, LLVMValueRef more)
{
    return lower_instr(L, INSTR_BF16S_FMA, x, lower_i32(L, by), more);
}

/* 0x4300 is 128, whose last place is 1, in the seven bits of the mantissa: with those of a byte there
   it is that more, and with the highest bit, which is the exponent's, it is 256. So a number is the
   lower seven less the highest, or, without a sign, the sum of both: 2 instructions an element, and
   none of those that convert, which a multiprocessor does fewer of. */
static void bf16s_from_bytes(Lower *L, bool is_signed, const LLVMValueRef x[2], LLVMValueRef out[2])
{
    enum { ONE = 0x3f803f80, MINUS_256 = 0xc380c380 };
    const uint32_t minus_one = 0xbf80bf80;
    LLVMValueRef word = spread(L, x, false, 0x43), low = masked(L, word, 0xff7fff7f),
                 high = masked(L, word, 0xff80ff80);
    if (!is_signed) low = bf16s_fma(L, low, ONE, lower_i32(L, MINUS_256));
    LLVMValueRef both = bf16s_fma(L, high, is_signed ? minus_one : ONE, low);
    part(L, LLVMBuildBitCast(L->b, both, LLVMVectorType(L->i16, 2), ""), out);
}

/* Bytes of e5m2 are the upper ones of fp16. Those of e4m3 come in 32 bits: of a register's upper
   16, where it knows that they are constant, ptxas (12.8) makes another number. What it has of both
   halves of a word is no constant. */
static void f16s_from_f8(Lower *L, DType dt, const LLVMValueRef x[2], LLVMValueRef out[2])
{
    LLVMValueRef word;
    if (dt == DT_F8E4) {
        const Bytes b = joined(L, x);
        word = lower_instr(L, b.shift ? INSTR_HIGH_E4M3S_TO_F16S : INSTR_E4M3S_TO_F16S, b.word);
    } else {
        word = spread(L, x, true, 0);
    }
    part(L, as_f16s(L, word), out);
}

static void f8s_from_f32(Lower *L, DType dt, const LLVMValueRef x[2], LLVMValueRef out[2])
{
    const Instr instr = dt == DT_F8E4 ? INSTR_F32_TO_E4M3S : INSTR_F32_TO_E5M2S;
    LLVMValueRef both = target_instr(L, instr, 2, x);
    out[0] = LLVMBuildTrunc(L->b, both, L->i8, "");
    out[1] = LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, both, LLVMConstInt(L->i16, 8, false), ""),
                            L->i8, "");
}

static void bf16s_from_f32(Lower *L, const LLVMValueRef x[2], LLVMValueRef out[2])
{
    LLVMValueRef both = target_instr(L, INSTR_F32_TO_BF16S, 2, x);
    part(L, LLVMBuildBitCast(L->b, both, LLVMVectorType(L->i16, 2), ""), out);
}

static bool widens_f8(const Lower *L, DType dt)
{
    return dt == DT_F8E5 || (dt == DT_F8E4 && target_has(L, INSTR_E4M3S_TO_F16S));
}

static bool narrows_to_f8(const Lower *L, DType dt, bool toward_zero)
{
    return dtype_is_f8(dt) && !toward_zero && target_has(L, INSTR_F32_TO_E4M3S);
}

/* ---- to fp32: always exact ---- */

/* Without an instruction for it, an 8-bit float with `man` mantissa bits: its magnitude moved to
   the place of fp32's exponent and mantissa is the value times 2^(bias - 127), subnormals included,
   so one exact product finishes it. */
static LLVMValueRef f32_from_f8(Lower *L, DType dt, LLVMValueRef x)
{
    const DTypeInfo *info = dtype_info(dt);
    const int bias = (1 << (info->exp_bits - 1)) - 1;
    if (widens_f8(L, dt)) {
        LLVMValueRef in[2] = {x, LLVMConstNull(L->i8)}, out[2];
        f16s_from_f8(L, dt, in, out);
        return LLVMBuildFPExt(L->b, out[0], L->f32, "");
    }
    LLVMValueRef wide = LLVMBuildZExt(L->b, x, L->i32, "");
    LLVMValueRef magnitude = masked(L, wide, 0x7f), sign = shift_up(L, masked(L, wide, 0x80), 24);
    LLVMValueRef placed = shift_up(L, magnitude, 23 - info->man_bits);
    LLVMValueRef scale = as_f32(L, lower_i32(L, (uint32_t)(254 - bias) << 23));
    LLVMValueRef bits = as_i32(L, mul(L, as_f32(L, placed), scale));
    LLVMValueRef is_nan = compare_whole(L, LLVMIntEQ, magnitude, 0x7f);
    bits = pick(L, is_nan, lower_i32(L, 0x7fc00000), bits);
    return as_f32(L, LLVMBuildOr(L->b, bits, sign, ""));
}

/* One instruction where ptxas shall unroll: of a shift and what widens for it, it counts two. */
static LLVMValueRef f32_from_bf16(Lower *L, LLVMValueRef x)
{
    if (!L->streams || !L->machine->bf16_arith)
        return as_f32(L, shift_up(L, LLVMBuildZExt(L->b, x, L->i32, ""), 16));
    x = bits_as(L, x, LLVMBFloatTypeInContext(L->cx));
    return LLVMBuildFPExt(L->b, x, L->f32, "");
}

LLVMValueRef lower_to_f32(Lower *L, DType dt, LLVMValueRef x)
{
    switch (dt) {
    case DT_F32:
    case DT_F64: return x;
    case DT_F16: return LLVMBuildFPExt(L->b, x, L->f32, "");
    case DT_BF16: return f32_from_bf16(L, x);
    case DT_F8E4:
    case DT_F8E5: return f32_from_f8(L, dt, x);
    default: unwind_raise("an integer was widened as a float");
    }
}

/* ---- from fp32 ---- */

/* By integers, for machines without the instruction: add half of the last place kept, less one when
   that place is even. */
static LLVMValueRef bf16_by_bits(Lower *L, LLVMValueRef x, bool toward_zero)
{
    LLVMValueRef bits = as_i32(L, x), rounded = bits;
    if (!toward_zero) {
        LLVMValueRef even = masked(L, shift_down(L, bits, 16), 1);
        rounded = plus(L, LLVMBuildAdd(L->b, bits, even, ""), 0x7fff);
    }
    LLVMValueRef quiet = LLVMBuildOr(L->b, bits, lower_i32(L, 0x400000), "");
    LLVMValueRef kept = pick(L, f32_is_nan(L, x), quiet, rounded);
    return LLVMBuildTrunc(L->b, shift_down(L, kept, 16), L->i16, "");
}

static LLVMValueRef bf16_from_f32(Lower *L, LLVMValueRef x, bool toward_zero)
{
    const Instr instr = toward_zero ? INSTR_F32_TO_BF16_RZ : INSTR_F32_TO_BF16;
    return target_has(L, instr) ? lower_instr(L, instr, x) : bf16_by_bits(L, x, toward_zero);
}

/* Saturating: the greatest finite number stands for everything above it, infinity too.
   Normal results: round the fp32 pattern at the right place by adding and rebias. Subnormal ones:
   adding a power of two whose last place is the format's least number lets the fp32 adder round. */
static LLVMValueRef f8_from_f32(Lower *L, DType dt, LLVMValueRef x, bool toward_zero)
{
    if (narrows_to_f8(L, dt, toward_zero)) {
        LLVMValueRef in[2] = {x, LLVMConstNull(L->f32)}, out[2];
        f8s_from_f32(L, dt, in, out);
        return out[0];
    }
    const DTypeInfo *info = dtype_info(dt);
    const int man = info->man_bits, bias = (1 << (info->exp_bits - 1)) - 1, drop = 23 - man;
    const uint32_t greatest = dt == DT_F8E4 ? 0x7e : 0x7b;
    LLVMValueRef bits = as_i32(L, x), magnitude = masked(L, bits, 0x7fffffff);
    LLVMValueRef sign = masked(L, shift_down(L, bits, 24), 0x80);

    LLVMValueRef rounded = magnitude;
    if (!toward_zero) {
        LLVMValueRef even = masked(L, shift_down(L, magnitude, drop), 1);
        rounded = LLVMBuildAdd(L->b, magnitude, plus(L, even, (1u << (drop - 1)) - 1), "");
    }
    LLVMValueRef normal = minus(L, shift_down(L, rounded, drop), (uint32_t)(127 - bias) << man);

    /* 2^(1 - bias - man) is the least subnormal; 2^23 times it has that as its last place. */
    const uint32_t magic = (uint32_t)(127 + 1 - bias - man + 23) << 23,
                   upscale = (uint32_t)(127 - 1 + bias + man) << 23;
    LLVMValueRef size = as_f32(L, magnitude), subnormal;
    if (toward_zero) {
        LLVMValueRef scaled = mul(L, size, as_f32(L, lower_i32(L, upscale)));
        subnormal = lower_instr(L, INSTR_F32_TO_S32, scaled);
    } else {
        subnormal = minus(L, as_i32(L, add(L, size, as_f32(L, lower_i32(L, magic)))), magic);
    }
    LLVMValueRef is_small = compare_whole(L, LLVMIntULT, magnitude, (uint32_t)(128 - bias) << 23);
    LLVMValueRef code = pick(L, is_small, subnormal, normal);
    LLVMValueRef too_big = compare_whole(L, LLVMIntUGT, code, greatest);
    LLVMValueRef far = compare_whole(L, LLVMIntUGE, magnitude, (uint32_t)(127 + bias + 3) << 23);
    code = pick(L, LLVMBuildOr(L->b, too_big, far, ""), lower_i32(L, greatest), code);
    code = LLVMBuildOr(L->b, code, sign, "");
    LLVMValueRef is_nan = compare_whole(L, LLVMIntUGT, magnitude, 0x7f800000);
    return LLVMBuildTrunc(L->b, pick(L, is_nan, lower_i32(L, 0x7f), code), L->i8, "");
}

/* float8e5 is the upper half of a float16. */
static LLVMValueRef e5_toward_zero(Lower *L, LLVMValueRef x)
{
    LLVMValueRef half = bits_as(L, lower_instr(L, INSTR_F32_TO_F16_RZ, x), L->i16);
    return LLVMBuildTrunc(L->b, shift_down(L, half, 8), L->i8, "");
}

static LLVMValueRef narrow_f32(Lower *L, DType dt, LLVMValueRef x, bool toward_zero)
{
    switch (dt) {
    case DT_F32: return x;
    case DT_F16:
        return toward_zero ? lower_instr(L, INSTR_F32_TO_F16_RZ, x)
                           : LLVMBuildFPTrunc(L->b, x, L->f16, "");
    case DT_BF16: return bf16_from_f32(L, x, toward_zero);
    case DT_F8E4: return f8_from_f32(L, dt, x, toward_zero);
    case DT_F8E5: return toward_zero ? e5_toward_zero(L, x) : f8_from_f32(L, dt, x, false);
    default: unwind_raise("an integer was rounded as a float");
    }
}

LLVMValueRef lower_from_f32(Lower *L, DType dt, LLVMValueRef x)
{
    return dt == DT_F64 ? x : narrow_f32(L, dt, x, false);
}

/* ---- from fp64 ---- */

static LLVMValueRef f64_to_odd_f32(Lower *L, LLVMValueRef x)
{
    LLVMValueRef cut = lower_instr(L, INSTR_F64_TO_F32_RZ, x);
    LLVMValueRef back = LLVMBuildFPExt(L->b, cut, L->f64, "");
    LLVMValueRef lost = LLVMBuildFCmp(L->b, LLVMRealONE, back, x, "");
    LLVMValueRef odd = as_f32(L, LLVMBuildOr(L->b, as_i32(L, cut), lower_i32(L, 1), ""));
    return pick(L, lost, odd, cut);
}

static LLVMValueRef narrow_f64(Lower *L, DType dt, LLVMValueRef x, bool toward_zero)
{
    if (dt == DT_F64) return x;
    if (dt == DT_F32)
        return toward_zero ? lower_instr(L, INSTR_F64_TO_F32_RZ, x)
                           : LLVMBuildFPTrunc(L->b, x, L->f32, "");
    if (toward_zero) return narrow_f32(L, dt, lower_instr(L, INSTR_F64_TO_F32_RZ, x), true);
    return narrow_f32(L, dt, f64_to_odd_f32(L, x), false);
}

/* ---- float to integer: toward zero, saturating, NaN to 0 ---- */

static LLVMValueRef clamped(Lower *L, bool is_signed, LLVMValueRef x, LLVMValueRef lo,
                            LLVMValueRef hi)
{
    LLVMIntPredicate above = is_signed ? LLVMIntSGT : LLVMIntUGT;
    x = pick(L, LLVMBuildICmp(L->b, above, x, hi, ""), hi, x);
    return is_signed ? pick(L, LLVMBuildICmp(L->b, LLVMIntSLT, x, lo, ""), lo, x) : x;
}

/* Through 32 bits; fp64 has no shorter way. */
static LLVMValueRef clamp_int(Lower *L, LLVMValueRef x, bool is_signed, int bits)
{
    const uint32_t greatest = (1u << (bits - is_signed)) - 1;
    return clamped(L, is_signed, x, lower_i32(L, ~greatest), lower_i32(L, greatest));
}

/* NaN where x is. A rounding that nobody else asks for is one instruction with the conversion. */
static LLVMValueRef unrounded(LLVMValueRef x)
{
    static const char *const roundings[] = {"llvm.roundeven", "llvm.floor", "llvm.ceil",
                                            "llvm.trunc"};
    LLVMValueRef callee = LLVMIsACallInst(x) ? LLVMGetCalledValue(x) : NULL;
    const unsigned id = callee && LLVMIsAFunction(callee) ? LLVMGetIntrinsicID(callee) : 0;
    for (size_t i = 0; id && i < sizeof roundings / sizeof *roundings; i++)
        if (id == LLVMLookupIntrinsicID(roundings[i], strlen(roundings[i])))
            return LLVMGetOperand(x, 0);
    return x;
}

/* Of NaN 0; but in 64 bits, and of fp64, what the instruction leaves, which is the top bit alone (of
   fewer than 32 bits, what is nearest to that). */
static LLVMValueRef int_from_number(Lower *L, DType to, LLVMValueRef x)
{
    static const Instr by[2][4][2] = {/* from fp64; log2 of the bytes; signed */
                                      {{INSTR_F32_TO_U8, INSTR_F32_TO_S8},
                                       {INSTR_F32_TO_U16, INSTR_F32_TO_S16},
                                       {INSTR_F32_TO_U32, INSTR_F32_TO_S32},
                                       {INSTR_F32_TO_U64, INSTR_F32_TO_S64}},
                                      {{INSTR_F64_TO_U32, INSTR_F64_TO_S32},
                                       {INSTR_F64_TO_U32, INSTR_F64_TO_S32},
                                       {INSTR_F64_TO_U32, INSTR_F64_TO_S32},
                                       {INSTR_F64_TO_U64, INSTR_F64_TO_S64}}};
    const DTypeInfo *info = dtype_info(to);
    const bool is_f64 = LLVMTypeOf(x) == L->f64, is_signed = info->kind == DK_INT;
    const int size = __builtin_ctz((unsigned)info->bits / 8);
    LLVMValueRef v = lower_instr(L, by[is_f64][size][is_signed], x);
    if (is_f64 && info->bits < 32) v = clamp_int(L, v, is_signed, info->bits);
    return info->bits < 32 ? LLVMBuildTrunc(L->b, v, lower_dtype(L, to), "") : v;
}

static LLVMValueRef int_from_float(Lower *L, DType to, LLVMValueRef x)
{
    if (to == DT_I1) return LLVMBuildFCmp(L->b, LLVMRealUNE, x, LLVMConstNull(LLVMTypeOf(x)), "");
    LLVMValueRef v = int_from_number(L, to, x);
    if (LLVMTypeOf(x) != L->f64 && dtype_info(to)->bits < 64) return v;
    return pick(L, f32_is_nan(L, unrounded(x)), LLVMConstNull(LLVMTypeOf(v)), v);
}

/* ---- integer to float ---- */

static LLVMValueRef build_int_to_float(Lower *L, bool is_signed, LLVMValueRef x, LLVMTypeRef ty)
{
    return is_signed ? LLVMBuildSIToFP(L->b, x, ty, "") : LLVMBuildUIToFP(L->b, x, ty, "");
}

/* A number of 32 bits as an fp32 that rounds to bf16 as it does: of those that do not fit, the last
   8 bits only tell "not exact". */
static LLVMValueRef int_to_odd_f32(Lower *L, bool is_signed, LLVMValueRef x)
{
    LLVMValueRef low = LLVMBuildAnd(L->b, x, lower_i32(L, 0xff), ""),
                 high = LLVMBuildXor(L->b, x, low, "");
    LLVMValueRef some = LLVMBuildICmp(L->b, LLVMIntNE, low, lower_i32(L, 0), "");
    LLVMValueRef cut = pick(L, some, LLVMBuildOr(L->b, high, lower_i32(L, 0x100), ""), high);
    LLVMValueRef top = is_signed ? LLVMBuildAShr(L->b, x, lower_i32(L, 31), "") : lower_i32(L, 0);
    LLVMValueRef is_small =
        LLVMBuildICmp(L->b, LLVMIntULT, LLVMBuildXor(L->b, x, top, ""), lower_i32(L, 1u << 24), "");
    return build_int_to_float(L, is_signed, pick(L, is_small, x, cut), L->f32);
}

/* The same of 64 bits, as an fp64. */
static LLVMValueRef wide_int_to_odd_f64(Lower *L, bool is_signed, LLVMValueRef x)
{
    LLVMValueRef low = masked(L, x, 0x7ff), high = LLVMBuildXor(L->b, x, low, "");
    LLVMValueRef some = compare_whole(L, LLVMIntNE, low, 0);
    LLVMValueRef sticky = LLVMBuildOr(L->b, high, whole_like(x, 0x800), "");
    /* Numbers below 2^52 are exact as they are; for larger ones everything below bit 11 only tells
       "not exact". */
    LLVMValueRef top = is_signed ? LLVMBuildAShr(L->b, x, whole_like(x, 63), "") : whole_like(x, 0);
    LLVMValueRef size = LLVMBuildXor(L->b, x, top, "");
    LLVMValueRef is_small = compare_whole(L, LLVMIntULT, size, UINT64_C(1) << 52);
    LLVMValueRef cut = pick(L, some, sticky, high);
    return build_int_to_float(L, is_signed, pick(L, is_small, x, cut), L->f64);
}

/* What is greater is no number of fp16 or fp8. */
static LLVMValueRef clamp_wide(Lower *L, bool is_signed, LLVMValueRef x)
{
    LLVMValueRef hi = whole_like(x, 1 << 20);
    return LLVMBuildTrunc(L->b, clamped(L, is_signed, x, LLVMConstNeg(hi), hi), L->i32, "");
}

static LLVMValueRef float_from_int(Lower *L, DType from, DType to, LLVMValueRef x)
{
    const DTypeInfo *info = dtype_info(from);
    const bool is_signed = info->kind == DK_INT;
    LLVMTypeRef ty = lower_dtype(L, to);
    if (from == DT_I1 && !dtype_is_f8(to)) {
        LLVMValueRef one = to == DT_BF16 ? LLVMConstInt(ty, 0x3f80, false) : LLVMConstReal(ty, 1);
        return pick(L, x, one, LLVMConstNull(ty));
    }
    if (to == DT_F32 || to == DT_F64)
        return build_int_to_float(L, is_signed, x, ty);
    if (info->bits <= 16)
        return narrow_f32(L, to, build_int_to_float(L, is_signed, x, L->f32), false);
    if (to == DT_BF16)
        return info->bits == 64 ? narrow_f64(L, to, wide_int_to_odd_f64(L, is_signed, x), false)
                                : narrow_f32(L, to, int_to_odd_f32(L, is_signed, x), false);
    if (to == DT_F16 && info->bits == 32) return build_int_to_float(L, is_signed, x, L->f16);
    LLVMValueRef clamped = clamp_wide(L, is_signed, x);
    return narrow_f32(L, to, LLVMBuildSIToFP(L->b, clamped, L->f32, ""), false);
}

static LLVMValueRef int_from_int(Lower *L, DType from, DType to, LLVMValueRef x)
{
    if (to == DT_I1) return from == DT_I1 ? x : compare_whole(L, LLVMIntNE, x, 0);
    return LLVMBuildIntCast2(L->b, x, lower_dtype(L, to), dtype_info(from)->kind == DK_INT, "");
}

LLVMValueRef lower_cast_element(Lower *L, DType from, DType to, bool toward_zero, LLVMValueRef x)
{
    const bool from_float = dtype_info(from)->kind == DK_FLOAT,
               to_float = dtype_info(to)->kind == DK_FLOAT;
    if (from == to) return x;
    if (!from_float)
        return to_float ? float_from_int(L, from, to, x) : int_from_int(L, from, to, x);
    LLVMValueRef wide = lower_to_f32(L, from, x);
    if (!to_float) return int_from_float(L, to, wide);
    if (from == DT_F64) return narrow_f64(L, to, x, toward_zero);
    return to == DT_F64 ? LLVMBuildFPExt(L->b, wide, L->f64, "")
                        : narrow_f32(L, to, wide, toward_zero);
}

static LLVMValueRef narrow_to_f32(Lower *L, DType from, LLVMValueRef x)
{
    return from == DT_F64 ? f64_to_odd_f32(L, x) : lower_to_f32(L, from, x);
}

void lower_cast_pair(Lower *L, DType from, DType to, bool toward_zero, const LLVMValueRef in[2],
                     LLVMValueRef out[2])
{
    const bool from_float = dtype_info(from)->kind == DK_FLOAT,
               to_float = dtype_info(to)->kind == DK_FLOAT,
               is_byte = from == DT_I8 || from == DT_U8;
    LLVMValueRef x[2];
    if (is_byte && to == DT_F16) {
        f16s_from_bytes(L, from == DT_I8, in, out);
    } else if (is_byte && to == DT_BF16 && target_has(L, INSTR_BF16S_FMA)) {
        bf16s_from_bytes(L, from == DT_I8, in, out);
    } else if (dtype_is_f8(from) && from != to && to_float && widens_f8(L, from)) {
        f16s_from_f8(L, from, in, x);
        lower_cast_pair(L, DT_F16, to, toward_zero, x, out);
    } else if (from_float && from != to && narrows_to_f8(L, to, toward_zero)) {
        for (int i = 0; i < 2; i++) x[i] = narrow_to_f32(L, from, in[i]);
        f8s_from_f32(L, to, x, out);
    } else if (from_float && from != to && to == DT_BF16 && !toward_zero && in[0] != in[1] &&
               target_has(L, INSTR_F32_TO_BF16S)) {
        for (int i = 0; i < 2; i++) x[i] = narrow_to_f32(L, from, in[i]);
        bf16s_from_f32(L, x, out);
    } else {
        for (int i = 0; i < 2; i++) out[i] = lower_cast_element(L, from, to, toward_zero, in[i]);
    }
}

/* Nobody asks for the number's top bit, which is all that a conversion leaves of NaN. */
static bool loses_top_bit(const Value *number)
{
    const Type *from = number->type;
    for (const Use *use = number->uses; use; use = use->next) {
        const Type *to = use->user->kind == OP_CAST ? op_result(use->user, 0)->type : NULL;
        if (!to || !type_is_int(to) || type_bits(to) == 1 || type_bits(to) >= type_bits(from))
            return false;
    }
    return type_is_int(from) && type_bits(from) >= 32;
}

static void cast_pair(Lower *L, const Op *op, LLVMValueRef in[][2], LLVMValueRef out[2])
{
    const Value *result = op_result(op, 0);
    const DType from = type_dtype(op_arg(op, 0)->type), to = type_dtype(result->type);
    if (dtype_info(from)->kind == DK_FLOAT && loses_top_bit(result)) {
        for (int i = 0; i < 2; i++)
            out[i] = int_from_number(L, to, lower_to_f32(L, from, in[0][i]));
        return;
    }
    lower_cast_pair(L, from, to, !strcmp(tkc_op_str(op, ATTR_ROUNDING, "rtne"), "rtz"), in[0], out);
}

void lower_cast(Lower *L, const Op *op)
{
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    const bool widens =
        type_is_int(from) && type_is_int(to) && type_bits(from) == 32 && type_bits(to) == 64;
    if (widens) lower_set(L, op_result(op, 0), lower_widen_int(L, op_arg(op, 0)));
    else lower_elementwise_pairs(L, op, cast_pair);
}

/* LLVM 22 compares the bits of a bfloat taken for a half with 0 by an `and` of bfloats, which it
   cannot select: it is not told that they are the same. */
static LLVMValueRef bitcast_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    LLVMTypeRef to = lower_type(L, op_result(op, 0)->type);
    if (to == L->f16 && type_dtype(op_arg(op, 0)->type) == DT_BF16)
        return target_instr(L, INSTR_BF16_AS_F16, 1, args);
    return lower_recast(L, args[0], to);
}

void lower_bitcast(Lower *L, const Op *op)
{
    lower_elementwise(L, op, bitcast_element);
}
