/* The promotion rules of the language.

   Floats form a ladder: fp64 > fp32 > fp16 > bf16 > fp8. The higher of two wins, with three
   exceptions: bf16 with anything below it that is not bf16 gives fp32 (its mantissa is too short
   for them), two different fp8 give fp16, and fp8 has no common type with integers. Integers: the
   wider wins; of one width the unsigned one. A compile-time number adopts the type of the run-time
   operand unless its kind (bool < integer < float) is higher; then it gets the smallest type of its
   kind and promotes like any operand. Division with a half is done in fp32. */
#include "spec/promote.h"

#include <math.h>

#include "ir/evaluate.h"

static DTypeKind kind_of(DType dt)
{
    return dtype_info(dt)->kind;
}

static bool is_float(DType dt)
{
    return kind_of(dt) == DK_FLOAT;
}

/* Position on the ladder of floats; integers are below all. */
static const int float_level[DT_COUNT] = {[DT_F64] = 5,  [DT_F32] = 4,  [DT_F16] = 3,
                                          [DT_BF16] = 2, [DT_F8E4] = 1, [DT_F8E5] = 1};

static DType promote_floats(DType a, DType b, PromoteFault *fault)
{
    DType high = float_level[a] >= float_level[b] ? a : b, low = high == a ? b : a;
    if (high == low) return high;
    if (high == DT_BF16) return DT_F32;
    if (!dtype_is_f8(high)) return high;
    if (dtype_is_f8(low)) return DT_F16;
    *fault = PROMOTE_FP8_INT;
    return DT_NONE;
}

static DType promote_integers(DType a, DType b)
{
    int wa = dtype_info(a)->bits, wb = dtype_info(b)->bits;
    if (wa != wb) return wa > wb ? a : b;
    return kind_of(a) == DK_UINT ? a : b;
}

static DType divide_in(DType dt, bool division)
{
    return division && (dt == DT_F16 || dt == DT_BF16) ? DT_F32 : dt;
}

/* An int1 has no sign that could be the wrong one. */
static bool are_signs_mixed(DType a, DType b)
{
    return (kind_of(a) == DK_INT && kind_of(b) == DK_UINT) ||
           (kind_of(a) == DK_UINT && kind_of(b) == DK_INT);
}

DType promote_pair(DType a, DType b, bool division, PromoteFault *fault)
{
    *fault = PROMOTE_FINE;
    if (is_float(a) || is_float(b)) /* two fp8 stay what they promote to */
        return divide_in(promote_floats(a, b, fault),
                         division && !(dtype_is_f8(a) && dtype_is_f8(b)));
    if (division && are_signs_mixed(a, b)) {
        *fault = PROMOTE_SIGNS;
        return DT_NONE;
    }
    return promote_integers(a, b);
}

static bool is_in_range(DType dt, __int128 i)
{
    return i >= dtype_least(dt) && i <= dtype_most(dt);
}

/* Smallest normal and largest finite fp32. */
static bool is_fp32_range(double v)
{
    double x = fabs(v);
    return x == 0 || !isfinite(x) || (x >= 0x1p-126 && x <= 0x1.fffffep127);
}

DType promote_dtype_of(SpecValue number)
{
    if (number.kind == SV_BOOL) return DT_I1;
    if (number.kind == SV_FLOAT) return is_fp32_range(number.f) ? DT_F32 : DT_F64;
    static const DType integers[] = {DT_I32, DT_U32, DT_I64, DT_U64};
    for (int i = 0; i < 4; i++)
        if (is_in_range(integers[i], number.i)) return integers[i];
    return DT_NONE;
}

/* bool 0, integer 1, float 2. */
static int rank_of(DType dt)
{
    return is_float(dt) ? 2 : kind_of(dt) == DK_BOOL ? 0 : 1;
}

bool promote_compares(DType tensor, SpecValue number)
{
    if (!is_float(tensor))
        return number.kind != SV_FLOAT && is_in_range(tensor, sv_integer(number));
    const double own = is_fp32_range(number.f) ? (float)number.f : number.f;
    return number.kind != SV_FLOAT ||
           bits_to_double(tensor, bits_of_written(tensor, number.f)) == own;
}

DType promote_constant(DType tensor, SpecValue number, bool division, PromoteFault *fault)
{
    *fault = PROMOTE_FINE;
    DType dt = promote_dtype_of(number);
    if (rank_of(dt) > rank_of(tensor)) {
        if (dt != DT_NONE) return promote_pair(tensor, dt, division, fault);
        *fault = PROMOTE_TOO_WIDE;
        return DT_NONE;
    }
    if (is_float(tensor)) return divide_in(tensor, division);
    if (is_in_range(tensor, sv_integer(number))) return tensor;
    *fault =
        sv_integer(number) < 0 && kind_of(tensor) == DK_UINT ? PROMOTE_NEGATIVE : PROMOTE_RANGE;
    return DT_NONE;
}
