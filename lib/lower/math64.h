/* Building sums, products and polynomials of fp64, for the functions of math64.c and turn64.c. */
#ifndef TKC_LOWER_MATH64_H
#define TKC_LOWER_MATH64_H

#include "lower/lower.h"

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
    return lower_intrinsic(L, "llvm.fma", L->f64, 3, args);
}

static inline LLVMValueRef pick(Lower *L, LLVMValueRef c, LLVMValueRef x, LLVMValueRef y)
{
    return LLVMBuildSelect(L->b, c, x, y, "");
}

static inline LLVMValueRef compare(Lower *L, LLVMRealPredicate p, LLVMValueRef x, double y)
{
    return LLVMBuildFCmp(L->b, p, x, number(L, y), "");
}

static inline LLVMValueRef unary(Lower *L, const char *intrinsic, LLVMValueRef x)
{
    return lower_intrinsic(L, intrinsic, L->f64, 1, &x);
}

static inline LLVMValueRef polynomial(Lower *L, LLVMValueRef x, int n, const double *c)
{
    LLVMValueRef r = number(L, c[n - 1]);
    for (int i = n - 2; i >= 0; i--) r = fused(L, r, x, number(L, c[i]));
    return r;
}
#define POLYNOMIAL(L, x, table)                                                                    \
    polynomial((L), (x), (int)(sizeof(table) / sizeof *(table)), (table))

/* ---- turn64.c ---- */
LLVMValueRef sine64(Lower *L, LLVMValueRef x);
LLVMValueRef cosine64(Lower *L, LLVMValueRef x);

#endif
