/* The remainder of floats, exact: both are integers times powers of two, so the remainder of the
   integers is wanted, the dividend's being as many bits longer as the exponents differ. It is
   brought down by long division, as many bits a round as a 64-bit number has room for:  r = (r <<
   s) mod m.

   Edges as fmod: x % 0, inf % y and NaN give NaN, x % inf gives x; the sign is the dividend's. */
#include "lower/lower.h"

/* A format and its integers. */
typedef struct Format {
    LLVMTypeRef real, bits;
    int man_bits, exp_max, room; /* room: bits a remainder can be shifted by */
} Format;

static LLVMValueRef integer(const Format *f, uint64_t v)
{
    return LLVMConstInt(f->bits, v, false);
}

static LLVMValueRef exponent_of(Lower *L, const Format *f, LLVMValueRef bits)
{
    LLVMValueRef e = LLVMBuildLShr(L->b, bits, integer(f, (uint64_t)f->man_bits), "");
    LLVMValueRef is_subnormal = LLVMBuildICmp(L->b, LLVMIntEQ, e, integer(f, 0), "");
    return LLVMBuildSelect(L->b, is_subnormal, integer(f, 1), e, "");
}

static LLVMValueRef significand_of(Lower *L, const Format *f, LLVMValueRef bits)
{
    const uint64_t one = UINT64_C(1) << f->man_bits;
    LLVMValueRef low = LLVMBuildAnd(L->b, bits, integer(f, one - 1), "");
    LLVMValueRef is_normal = LLVMBuildICmp(L->b, LLVMIntUGE, bits, integer(f, one), "");
    LLVMValueRef m =
        LLVMBuildSelect(L->b, is_normal, LLVMBuildOr(L->b, low, integer(f, one), ""), low, "");
    return LLVMBuildZExt(L->b, m, L->i64, "");
}

/* r mod m after `left` more bits. */
static LLVMValueRef divide_long(Lower *L, const Format *f, LLVMValueRef r, LLVMValueRef m,
                                LLVMValueRef left)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), loop = lower_block(L, "divide"),
                      after = lower_block(L, "divided");
    LLVMValueRef none = integer(f, 0), first = LLVMBuildURem(L->b, r, m, "");
    LLVMBuildCondBr(L->b, LLVMBuildICmp(L->b, LLVMIntEQ, left, none, ""), after, loop);
    lower_place(L, loop);
    LLVMValueRef now = LLVMBuildPhi(L->b, L->i64, ""), bits = LLVMBuildPhi(L->b, f->bits, ""),
                 room = integer(f, (uint64_t)f->room);
    LLVMValueRef many = LLVMBuildICmp(L->b, LLVMIntUGT, bits, room, "");
    LLVMValueRef s = LLVMBuildSelect(L->b, many, room, bits, "");
    LLVMValueRef wide = f->bits == L->i64 ? s : LLVMBuildZExt(L->b, s, L->i64, "");
    LLVMValueRef next = LLVMBuildURem(L->b, LLVMBuildShl(L->b, now, wide, ""), m, "");
    LLVMValueRef rest = LLVMBuildSub(L->b, bits, s, "");
    LLVMBuildCondBr(L->b, LLVMBuildICmp(L->b, LLVMIntEQ, rest, none, ""), after, loop);
    LLVMAddIncoming(now, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(bits, (LLVMValueRef[]){left, rest}, (LLVMBasicBlockRef[]){before, loop}, 2);
    lower_place(L, after);
    LLVMValueRef out = LLVMBuildPhi(L->b, L->i64, "");
    LLVMAddIncoming(out, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    return out;
}

LLVMValueRef lower_float_remainder(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    const bool is_f64 = LLVMTypeOf(x) == L->f64;
    const Format f =
        is_f64 ? (Format){L->f64, L->i64, 52, 2047, 11} : (Format){L->f32, L->i32, 23, 255, 40};
    const uint64_t magnitude = (UINT64_C(1) << (f.man_bits + (is_f64 ? 11 : 8))) - 1;
    LLVMValueRef inf = integer(&f, (uint64_t)f.exp_max << f.man_bits);
    LLVMValueRef bx =
        LLVMBuildAnd(L->b, LLVMBuildBitCast(L->b, x, f.bits, ""), integer(&f, magnitude), "");
    LLVMValueRef by =
        LLVMBuildAnd(L->b, LLVMBuildBitCast(L->b, y, f.bits, ""), integer(&f, magnitude), "");
    LLVMValueRef x_special = LLVMBuildICmp(L->b, LLVMIntUGE, bx, inf, ""),
                 y_nan = LLVMBuildICmp(L->b, LLVMIntUGT, by, inf, "");
    LLVMValueRef y_zero = LLVMBuildICmp(L->b, LLVMIntEQ, by, integer(&f, 0), "");
    LLVMValueRef bad = LLVMBuildOr(L->b, LLVMBuildOr(L->b, x_special, y_nan, ""), y_zero, "");
    LLVMValueRef small = LLVMBuildOr(L->b, LLVMBuildICmp(L->b, LLVMIntULT, bx, by, ""), bad, "");
    /* Where the answer is known already, 0 mod 1 is computed. */
    LLVMValueRef mx =
        LLVMBuildSelect(L->b, small, LLVMConstInt(L->i64, 0, false), significand_of(L, &f, bx), "");
    LLVMValueRef my =
        LLVMBuildSelect(L->b, small, LLVMConstInt(L->i64, 1, false), significand_of(L, &f, by), "");
    LLVMValueRef ey = exponent_of(L, &f, by),
                 apart = LLVMBuildSub(L->b, exponent_of(L, &f, bx), ey, "");
    LLVMValueRef left = LLVMBuildSelect(L->b, small, integer(&f, 0), apart, "");
    LLVMValueRef r = divide_long(L, &f, mx, my, left);
    /* r 2^-man 2^(ey - bias), in this order: both products are exact. */
    const int bias = is_f64 ? 1023 : 127;
    LLVMValueRef ulp = LLVMBuildBitCast(
        L->b, integer(&f, (uint64_t)(bias - f.man_bits) << f.man_bits), f.real, "");
    LLVMValueRef scale = LLVMBuildBitCast(
        L->b, LLVMBuildShl(L->b, ey, integer(&f, (uint64_t)f.man_bits), ""), f.real, "");
    LLVMValueRef v = LLVMBuildFMul(
        L->b, LLVMBuildFMul(L->b, LLVMBuildUIToFP(L->b, r, f.real, ""), ulp, ""), scale, "");
    LLVMValueRef args[2] = {v, x};
    v = lower_intrinsic(L, "llvm.copysign", f.real, 2, args);
    v = LLVMBuildSelect(L->b, small, x, v, "");
    return LLVMBuildSelect(L->b, bad, LLVMConstReal(f.real, __builtin_nan("")), v, "");
}
