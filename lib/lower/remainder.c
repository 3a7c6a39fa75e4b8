/* The remainder of floats, exact: both are integers times powers of two, so the remainder of the
   integers is wanted, the dividend's being as many bits longer as the exponents differ. It is
   brought down by long division, as many bits a round as a 64-bit number has room for:  r = (r <<
   s) mod m. Where the quotient is known to less than a half because it is small, what the nearest
   integer leaves of the dividend is exact at once; that is asked first, of each element.

   Edges as fmod: x % 0, inf % y and NaN give NaN, x % inf gives x; the sign is the dividend's. */
#include "lower/math.h"

/* A format and its integers. */
typedef struct Format {
    LLVMTypeRef real, bits;
    int man_bits, exp_max, room; /* room: bits a remainder can be shifted by */
} Format;

static LLVMValueRef exponent_of(Lower *L, const Format *f, LLVMValueRef bits)
{
    LLVMValueRef e = shift_down(L, bits, f->man_bits);
    return pick(L, compare_whole(L, LLVMIntEQ, e, 0), whole_like(e, 1), e);
}

static LLVMValueRef significand_of(Lower *L, const Format *f, LLVMValueRef bits)
{
    const uint64_t one = UINT64_C(1) << f->man_bits;
    LLVMValueRef low = masked(L, bits, one - 1);
    LLVMValueRef is_normal = compare_whole(L, LLVMIntUGE, bits, one);
    LLVMValueRef m = pick(L, is_normal, LLVMBuildOr(L->b, low, whole_like(low, one), ""), low);
    return LLVMBuildZExt(L->b, m, L->i64, "");
}

/* r mod m after `left` more bits. */
static LLVMValueRef divide_long(Lower *L, const Format *f, LLVMValueRef r, LLVMValueRef m,
                                LLVMValueRef left)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), loop = lower_block(L, "divide"),
                      after = lower_block(L, "divided");
    LLVMValueRef first = LLVMBuildURem(L->b, r, m, "");
    LLVMBuildCondBr(L->b, compare_whole(L, LLVMIntEQ, left, 0), after, loop);
    lower_place(L, loop);
    LLVMValueRef now = LLVMBuildPhi(L->b, L->i64, ""), bits = LLVMBuildPhi(L->b, f->bits, "");
    LLVMValueRef many = compare_whole(L, LLVMIntUGT, bits, (uint64_t)f->room);
    LLVMValueRef s = pick(L, many, whole_like(bits, (uint64_t)f->room), bits);
    LLVMValueRef wide = f->bits == L->i64 ? s : LLVMBuildZExt(L->b, s, L->i64, "");
    LLVMValueRef next = LLVMBuildURem(L->b, LLVMBuildShl(L->b, now, wide, ""), m, "");
    LLVMValueRef rest = LLVMBuildSub(L->b, bits, s, "");
    LLVMBuildCondBr(L->b, compare_whole(L, LLVMIntEQ, rest, 0), after, loop);
    LLVMAddIncoming(now, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    LLVMAddIncoming(bits, (LLVMValueRef[]){left, rest}, (LLVMBasicBlockRef[]){before, loop}, 2);
    lower_place(L, after);
    LLVMValueRef out = LLVMBuildPhi(L->b, L->i64, "");
    LLVMAddIncoming(out, (LLVMValueRef[]){first, next}, (LLVMBasicBlockRef[]){before, loop}, 2);
    return out;
}

static LLVMValueRef by_integers(Lower *L, const Format *f, LLVMValueRef x, LLVMValueRef y)
{
    const bool is_f64 = f->real == L->f64;
    const uint64_t magnitude = (UINT64_C(1) << (f->man_bits + (is_f64 ? 11 : 8))) - 1;
    const uint64_t inf = (uint64_t)f->exp_max << f->man_bits;
    LLVMValueRef bx = masked(L, bits_as(L, x, f->bits), magnitude);
    LLVMValueRef by = masked(L, bits_as(L, y, f->bits), magnitude);
    LLVMValueRef x_special = compare_whole(L, LLVMIntUGE, bx, inf),
                 y_nan = compare_whole(L, LLVMIntUGT, by, inf);
    LLVMValueRef y_zero = compare_whole(L, LLVMIntEQ, by, 0);
    LLVMValueRef bad = LLVMBuildOr(L->b, LLVMBuildOr(L->b, x_special, y_nan, ""), y_zero, "");
    LLVMValueRef small = LLVMBuildOr(L->b, LLVMBuildICmp(L->b, LLVMIntULT, bx, by, ""), bad, "");
    /* Where the answer is known already, 0 mod 1 is computed. */
    LLVMValueRef mx = significand_of(L, f, bx), my;
    mx = pick(L, small, whole_like(mx, 0), mx);
    my = significand_of(L, f, by);
    my = pick(L, small, whole_like(my, 1), my);
    LLVMValueRef ey = exponent_of(L, f, by),
                 apart = LLVMBuildSub(L->b, exponent_of(L, f, bx), ey, "");
    LLVMValueRef left = pick(L, small, whole_like(apart, 0), apart);
    LLVMValueRef r = divide_long(L, f, mx, my, left);
    /* r 2^-man 2^(ey - bias), in this order: both products are exact. */
    const int bias = is_f64 ? 1023 : 127;
    LLVMValueRef ulp =
        bits_as(L, whole_like(ey, (uint64_t)(bias - f->man_bits) << f->man_bits), f->real);
    LLVMValueRef scale = bits_as(L, shift_up(L, ey, f->man_bits), f->real);
    LLVMValueRef v = mul(L, mul(L, LLVMBuildUIToFP(L->b, r, f->real, ""), ulp), scale);
    v = pick(L, small, x, with_sign_of(L, v, x));
    return pick(L, bad, constant_like(v, __builtin_nan("")), v);
}

/* Of magnitudes whose quotient is off by less than a quarter. Adding and taking away 3 2^(man - 1)
   rounds it. The rest is at most 3/4 y and no finer than x and y are, so one multiply-add has it. */
static LLVMValueRef by_quotient(Lower *L, const Format *f, LLVMValueRef x, LLVMValueRef y)
{
    const double whole = 3.0 * (double)(UINT64_C(1) << (f->man_bits - 1));
    LLVMValueRef q = f->real == L->f64 ? LLVMBuildFDiv(L->b, x, y, "")
                                       : mul(L, x, lower_instr(L, INSTR_RCP, y));
    q = sub(L, add(L, q, constant_like(q, whole)), constant_like(q, whole));
    LLVMValueRef r = fused(L, LLVMBuildFNeg(L->b, q, ""), y, x);
    return pick(L, compare(L, LLVMRealOLT, r, 0), add(L, r, y), r);
}

/* A quotient of at most 2^-3 2^man, and a divisor whose reciprocal is a number like others. */
static LLVMValueRef has_quotient(Lower *L, const Format *f, LLVMValueRef x, LLVMValueRef y)
{
    const double most = (double)(UINT64_C(1) << (f->man_bits - 3));
    LLVMValueRef near = LLVMBuildFCmp(L->b, LLVMRealOLT, x, mul(L, y, constant_like(y, most)), "");
    near = LLVMBuildAnd(L->b, near, compare(L, LLVMRealOGE, y, 0x1p-100), "");
    return LLVMBuildAnd(L->b, near, compare(L, LLVMRealOLE, y, 0x1p100), "");
}

LLVMValueRef lower_float_remainder(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    const bool is_f64 = LLVMTypeOf(x) == L->f64;
    const Format f =
        is_f64 ? (Format){L->f64, L->i64, 52, 2047, 11} : (Format){L->f32, L->i32, 23, 255, 40};
    LLVMValueRef ax = absolute(L, x), ay = absolute(L, y);
    LLVMValueRef near = has_quotient(L, &f, ax, ay), soon = by_quotient(L, &f, ax, ay);
    LLVMBasicBlockRef far = lower_block(L, "far"), after = lower_block(L, "remains");
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b);
    soon = with_sign_of(L, soon, x);
    LLVMBuildCondBr(L->b, near, after, far);
    lower_place(L, far);
    LLVMValueRef late = by_integers(L, &f, x, y);
    far = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, after);
    lower_place(L, after);
    LLVMValueRef out = LLVMBuildPhi(L->b, f.real, "");
    LLVMAddIncoming(out, (LLVMValueRef[]){soon, late}, (LLVMBasicBlockRef[]){before, far}, 2);
    return out;
}
