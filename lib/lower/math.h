/* Building sums, products and polynomials of floats, fp32 or fp64 as their operands are, and what
   functions, remainders and conversions do to their bits. Numbers given as such are constants of
   the operand's type. */
#pragma once

#include "lower/lower.h"

/* A constant of x's type. */
static inline LLVMValueRef constant_like(LLVMValueRef x, double v)
{
    return LLVMConstReal(LLVMTypeOf(x), v);
}

static inline LLVMValueRef number(const Lower *L, double v) { return LLVMConstReal(L->f64, v); }

static inline LLVMValueRef add(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildFAdd(L->b, x, y, "");
}

static inline LLVMValueRef sub(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildFSub(L->b, x, y, "");
}

static inline LLVMValueRef mul(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildFMul(L->b, x, y, "");
}

static inline LLVMValueRef fused(Lower *L, LLVMValueRef x, LLVMValueRef y, LLVMValueRef z)
{
    return lower_call(L, "llvm.fma", LLVMTypeOf(x), x, y, z);
}

/* ---- bits ---- */

static inline LLVMValueRef whole_like(LLVMValueRef x, uint64_t v)
{
    return LLVMConstInt(LLVMTypeOf(x), v, false);
}

static inline LLVMValueRef plus(Lower *L, LLVMValueRef x, uint64_t v)
{
    return LLVMBuildAdd(L->b, x, whole_like(x, v), "");
}

static inline LLVMValueRef minus(Lower *L, LLVMValueRef x, uint64_t v)
{
    return LLVMBuildSub(L->b, x, whole_like(x, v), "");
}

static inline LLVMValueRef masked(Lower *L, LLVMValueRef x, uint64_t mask)
{
    return LLVMBuildAnd(L->b, x, whole_like(x, mask), "");
}

static inline LLVMValueRef shift_up(Lower *L, LLVMValueRef x, int by)
{
    return LLVMBuildShl(L->b, x, whole_like(x, (uint64_t)by), "");
}

/* Without the sign. */
static inline LLVMValueRef shift_down(Lower *L, LLVMValueRef x, int by)
{
    return LLVMBuildLShr(L->b, x, whole_like(x, (uint64_t)by), "");
}

static inline LLVMValueRef compare_whole(Lower *L, LLVMIntPredicate p, LLVMValueRef x, uint64_t y)
{
    return LLVMBuildICmp(L->b, p, x, whole_like(x, y), "");
}

static inline LLVMValueRef bits_as(Lower *L, LLVMValueRef x, LLVMTypeRef ty)
{
    return LLVMBuildBitCast(L->b, x, ty, "");
}

/* ---- floats ---- */

static inline LLVMValueRef pick(Lower *L, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(L->b, c, x, y, "");
}

static inline LLVMValueRef compare(Lower *L, LLVMRealPredicate p, LLVMValueRef x, double y)
{
    return LLVMBuildFCmp(L->b, p, x, constant_like(x, y), "");
}

static inline LLVMValueRef unary(Lower *L, const char *intrinsic, LLVMValueRef x)
{
    return lower_call(L, intrinsic, LLVMTypeOf(x), x);
}

static inline LLVMValueRef absolute(Lower *L, LLVMValueRef x) { return unary(L, "llvm.fabs", x); }

static inline LLVMValueRef with_sign_of(Lower *L, LLVMValueRef x, LLVMValueRef sign)
{
    return lower_call(L, "llvm.copysign", LLVMTypeOf(x), x, sign);
}

/* c[0] + c[1] x + c[2] x^2 + … by Horner's rule. */
static inline LLVMValueRef polynomial(Lower *L, LLVMValueRef x, int n, const double *c)
{
    LLVMValueRef r = constant_like(x, c[n - 1]);
    for (int i = n - 2; i >= 0; i--) r = fused(L, r, x, constant_like(x, c[i]));
    return r;
}
#define POLYNOMIAL(L, x, table)                                                                    \
    polynomial((L), (x), (int)(sizeof(table) / sizeof *(table)), (table))

/* ---- math.c, of fp32 and fp64 ---- */
/* A positive number as (1 + f) 2^(e unit) with 1 + f in [2/3, 4/3), both floats. */
typedef struct Split {
    LLVMValueRef f, e;
    double unit;
} Split; /* of split_exponent the unit is 1 */
Split split_exponent(Lower *L, LLVMValueRef x);
/* What log of 0, negative numbers, infinity and NaN is, else y. */
LLVMValueRef log_edges(Lower *L, LLVMValueRef x, LLVMValueRef y);

/* An angle of at most an eighth turn, of fp64 as a pair, and how many quarter turns were taken off
   (modulo 4). */
typedef struct Turn {
    LLVMValueRef rest, low, quarters; /* fp32: no low */
} Turn;
/* How to take quarter turns off: below the limit, and from there on; and the sine and the cosine of
   what is left of x then. */
typedef struct Angles {
    double limit;
    Turn (*near)(Lower *L, LLVMValueRef x), (*far)(Lower *L, LLVMValueRef x);
    void (*sines)(Lower *L, LLVMValueRef x, Turn t, LLVMValueRef *sine, LLVMValueRef *cosine);
} Angles;

/* ---- least.c: what is known of a float's size from how it is computed ---- */
/* At least 2^-100, or NaN. */
bool lower_is_normal(const Value *v);
/* The number, fp32, is only added to such as are normal: a subnormal one is as good as 0. */
bool lower_vanishes_below_normal(const Value *v);

/* ---- turn64.c ---- */
extern const Angles angles64;
/* The word at index + ahead of 64 zeros and the bits of 2 / pi behind the point, the highest first. */
LLVMValueRef two_over_pi(Lower *L, LLVMValueRef index, uint64_t ahead);
