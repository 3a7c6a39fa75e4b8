/* Building sums, products and polynomials of floats, fp32 or fp64 as their operands are, for the
   functions of math.c, math64.c and turn64.c. */
#ifndef TKC_LOWER_MATH_H
#define TKC_LOWER_MATH_H

#include "lower/lower.h"

/* A constant of x's type. */
static inline LLVMValueRef constant_like(LLVMValueRef x, double v)
{
    return LLVMConstReal(LLVMTypeOf(x), v);
}

static inline LLVMValueRef number(const Lower *L, double v)
{
    return LLVMConstReal(L->f64, v);
}

static inline LLVMValueRef integer(const Lower *L, int64_t v)
{
    return LLVMConstInt(L->i64, (uint64_t)v, true);
}

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
    LLVMValueRef args[3] = {x, y, z};
    return lower_intrinsic(L, "llvm.fma", LLVMTypeOf(x), 3, args);
}

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
    return lower_intrinsic(L, intrinsic, LLVMTypeOf(x), 1, &x);
}

static inline LLVMValueRef absolute(Lower *L, LLVMValueRef x)
{
    return unary(L, "llvm.fabs", x);
}

static inline LLVMValueRef with_sign_of(Lower *L, LLVMValueRef x, LLVMValueRef sign)
{
    LLVMValueRef args[2] = {x, sign};
    return lower_intrinsic(L, "llvm.copysign", LLVMTypeOf(x), 2, args);
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

/* The sine of a turn by `quarters`, a whole number, and a rest, whose sine and cosine are given; NaN
   when the angle is not finite. */
static inline LLVMValueRef sine_of_turn(Lower *L, LLVMValueRef angle, LLVMValueRef quarters,
                                        LLVMValueRef sine, LLVMValueRef cosine)
{
    LLVMTypeRef whole = LLVMTypeOf(quarters);
    LLVMValueRef is_odd = LLVMBuildTrunc(L->b, quarters, L->i1, "");
    LLVMValueRef second = LLVMBuildAnd(L->b, quarters, LLVMConstInt(whole, 2, false), "");
    LLVMValueRef negative = LLVMBuildICmp(L->b, LLVMIntNE, second, LLVMConstNull(whole), "");
    LLVMValueRef y = pick(L, is_odd, cosine, sine);
    y = pick(L, negative, LLVMBuildFNeg(L->b, y, ""), y);
    LLVMValueRef finite = compare(L, LLVMRealOLT, absolute(L, angle), __builtin_inf());
    return pick(L, finite, y, constant_like(y, __builtin_nan("")));
}

/* ---- turn64.c ---- */
LLVMValueRef sine64(Lower *L, LLVMValueRef x);
LLVMValueRef cosine64(Lower *L, LLVMValueRef x);

#endif
