/* Functions on floats. Each is computed in fp32 from the hardware's approximations of 2^x, 1/x and
   sqrt, or from our own polynomials (least maximum error on their interval); shorter floats are
   widened and rounded once. Errors, measured over the whole range against the exact value: log 1
   ulp, log2 2, tanh 2, erf 2; exp as 2^(x log2 e), whose error grows with |x| to some 2^-18 relative
   at the ends. Sines and cosines: turn.c. fp64: math64.c. */
#include "lower/math.h"

#include <math.h>

#include "base/unwind.h"

static LLVMValueRef f32_const(const Lower *L, double v)
{
    return LLVMConstReal(L->f32, v);
}

/* ---- exponentials and logarithms ---- */

static const double log2_e = 1.4426950408889634, ln_2 = 0.6931471805599453;

/* To keep subnormal results takes two multiplications and a comparison of each element. */
static LLVMValueRef exp_2(Lower *L, LLVMValueRef x)
{
    return lower_instr(L, INSTR_EX2_FTZ, x);
}

static LLVMValueRef exp_e(Lower *L, LLVMValueRef x)
{
    return lower_instr(L, INSTR_EX2, mul(L, x, f32_const(L, log2_e)));
}

/* Of fp32 and fp64. */
static const struct Float {
    double least_normal, scale; /* subnormal numbers are scaled first, */
    int scale_log2, man_bits;   /* by so much */
    uint64_t two_thirds, exponent;
} floats[] = {{0x1p-126, 0x1p23, 23, 23, 0x3f2aaaab, 0xff800000},
              {0x1p-1022, 0x1p54, 54, 52, 0x3fe5555555555555, 0xfff0000000000000}};

/* Of a normal number. The exponent is left where it stands in the number's bits: a factor by which
   it is multiplied anyway makes up for that. */
static Split split_normal(Lower *L, LLVMValueRef x)
{
    LLVMTypeRef type = LLVMTypeOf(x);
    const struct Float *f = &floats[type == L->f64];
    LLVMValueRef bits = bits_as(L, x, type == L->f64 ? L->i64 : L->i32);
    LLVMValueRef e = masked(L, minus(L, bits, f->two_thirds), f->exponent);
    LLVMValueRef m = bits_as(L, LLVMBuildSub(L->b, bits, e, ""), type);
    return (Split){sub(L, m, constant_like(x, 1)), LLVMBuildSIToFP(L->b, e, type, ""),
                   ldexp(1, -f->man_bits)};
}

Split split_exponent(Lower *L, LLVMValueRef x)
{
    const struct Float *f = &floats[LLVMTypeOf(x) == L->f64];
    LLVMValueRef tiny = compare(L, LLVMRealOLT, x, f->least_normal);
    const Split s = split_normal(L, pick(L, tiny, mul(L, x, constant_like(x, f->scale)), x));
    LLVMValueRef scaled = pick(L, tiny, constant_like(x, -f->scale_log2), constant_like(x, 0));
    return (Split){s.f, fused(L, s.e, constant_like(x, s.unit), scaled), 1};
}

/* log(1 + f) = f - f^2/2 + f^3 p(f) on [-1/3, 1/3] */
static LLVMValueRef log_1p(Lower *L, LLVMValueRef f)
{
    static const double p[] = {0.33333224058151245,  -0.24999688565731049, 0.20010043680667877,
                               -0.16685466468334198, 0.14010922610759735,  -0.12115129828453064,
                               0.13962434232234955,  -0.131916344165802};
    LLVMValueRef square = mul(L, f, f), tail = fused(L, POLYNOMIAL(L, f, p), f, f32_const(L, -0.5));
    return fused(L, tail, square, f);
}

static LLVMValueRef upper_edge(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    return pick(L, compare(L, LLVMRealUGE, x, __builtin_inf()), x, y);
}

/* x inf + inf is inf of inf, and NaN of NaN and below zero, which as a whole number without sign is
   above inf. */
LLVMValueRef log_edges(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    const struct Float *f = &floats[LLVMTypeOf(x) == L->f64];
    LLVMValueRef bits = bits_as(L, x, LLVMTypeOf(x) == L->f64 ? L->i64 : L->i32),
                 inf = constant_like(x, __builtin_inf());
    LLVMValueRef outside = compare_whole(L, LLVMIntUGE, bits, f->exponent & f->exponent >> 1);
    y = pick(L, outside, fused(L, x, inf, inf), y);
    return pick(L, compare(L, LLVMRealOEQ, x, 0), constant_like(x, -__builtin_inf()), y);
}

static LLVMValueRef log_e_of(Lower *L, Split s)
{
    return fused(L, s.e, f32_const(L, ln_2 * s.unit), log_1p(L, s.f));
}

static LLVMValueRef log_2_of(Lower *L, Split s)
{
    LLVMValueRef e = mul(L, s.e, f32_const(L, s.unit));
    return fused(L, log_1p(L, s.f), f32_const(L, log2_e), e);
}

static LLVMValueRef log_e(Lower *L, LLVMValueRef x)
{
    return log_edges(L, x, log_e_of(L, split_exponent(L, x)));
}

static LLVMValueRef log_2(Lower *L, LLVMValueRef x)
{
    return log_edges(L, x, log_2_of(L, split_exponent(L, x)));
}

static LLVMValueRef log_e_normal(Lower *L, LLVMValueRef x)
{
    return upper_edge(L, x, log_e_of(L, split_normal(L, x)));
}

static LLVMValueRef log_2_normal(Lower *L, LLVMValueRef x)
{
    return upper_edge(L, x, log_2_of(L, split_normal(L, x)));
}

/* ---- hyperbolic and error function ---- */

static LLVMValueRef hyperbolic_tangent(Lower *L, LLVMValueRef x)
{
    static const double p[] = {-0.33333298563957214, 0.13331958651542664, -0.05378668010234833,
                               0.020805377513170242, -0.00590586056932807};
    LLVMValueRef size = absolute(L, x), square = mul(L, x, x);
    LLVMValueRef near = fused(L, mul(L, POLYNOMIAL(L, square, p), square), x, x);
    /* 1 - 2 / (e^2|x| + 1); infinity in the divisor gives 1 */
    LLVMValueRef e = exp_2(L, mul(L, size, f32_const(L, 2 * log2_e)));
    LLVMValueRef part = lower_instr(L, INSTR_RCP_FTZ, add(L, e, f32_const(L, 1)));
    LLVMValueRef far = fused(L, f32_const(L, -2), part, f32_const(L, 1));
    /* of -0, too, whose near sum is +0 */
    return with_sign_of(L, pick(L, compare(L, LLVMRealOGT, size, 0.6), far, near), x);
}

/* x + x p(x^2) below 0.92; above it 1 - 2^q(|x|), q being log2 of the complement; 1 from 4 on. */
static LLVMValueRef error_function(Lower *L, LLVMValueRef x)
{
    static const double p[] = {0.12837916612625122,   -0.37612634897232056, 0.11283703148365021,
                               -0.026859799399971962, 0.005201960448175669, -0.0008152627851814032,
                               8.409920701524243e-05};
    static const double q[] = {
        0.0002352770825382322, -1.6294499635696411,     -0.9139611721038818,
        -0.15589192509651184,  0.03596685081720352,     -0.005873129703104496,
        0.0005799851496703923, -2.1947635104879737e-05, -6.585142955373158e-07};
    LLVMValueRef size = absolute(L, x), square = mul(L, x, x);
    LLVMValueRef near = fused(L, POLYNOMIAL(L, square, p), x, x);
    LLVMValueRef capped = pick(L, compare(L, LLVMRealOLT, size, 4), size, f32_const(L, 4));
    LLVMValueRef complement = exp_2(L, POLYNOMIAL(L, capped, q));
    LLVMValueRef far = with_sign_of(L, sub(L, f32_const(L, 1), complement), x);
    return pick(L, compare(L, LLVMRealOGT, size, 0.92), far, near);
}

/* ---- by table ---- */

/* What computes it, or the instruction that does. */
typedef struct Function {
    LLVMValueRef (*by)(Lower *L, LLVMValueRef x);
    Instr instr;
} Function;

static const Function functions[OP_COUNT] = {
    [OP_EXP] = {exp_e, 0},
    [OP_EXP2] = {exp_2, 0},
    [OP_LOG] = {log_e, 0},
    [OP_LOG2] = {log_2, 0},
    [OP_TANH] = {hyperbolic_tangent, 0},
    [OP_ERF] = {error_function, 0},
    [OP_SQRT] = {NULL, INSTR_SQRT},
    [OP_RSQRT] = {NULL, INSTR_RSQRT},
};

/* Of fp32 that is known to be normal; of other functions all zero. */
static const Function of_normal[OP_COUNT] = {
    [OP_LOG] = {log_e_normal, 0},
    [OP_LOG2] = {log_2_normal, 0},
    [OP_SQRT] = {NULL, INSTR_SQRT_FTZ},
    [OP_RSQRT] = {NULL, INSTR_RSQRT_FTZ},
};

static LLVMValueRef apply(Lower *L, const Function *f, LLVMValueRef x)
{
    return f->by ? f->by(L, x) : lower_instr(L, f->instr, x);
}

static LLVMValueRef math_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    const DType dt = type_dtype(op_arg(op, 0)->type);
    if (dt == DT_F64) return lower_math64(L, op->kind, args[0]);
    return lower_from_f32(L, dt, apply(L, &functions[op->kind], lower_to_f32(L, dt, args[0])));
}

static LLVMValueRef normal_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    return apply(L, &of_normal[op->kind], args[0]);
}

/* e^x, 0 where that is subnormal. */
static LLVMValueRef vanishing_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    (void)op;
    return exp_2(L, mul(L, args[0], f32_const(L, log2_e)));
}

void lower_math(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 0);
    const bool single = type_dtype(x->type) == DT_F32;
    if (single && (of_normal[op->kind].by || of_normal[op->kind].instr) && lower_is_normal(x))
        lower_elementwise(L, op, normal_element);
    else if (op->kind == OP_EXP && lower_vanishes_below_normal(op_result(op, 0)))
        lower_elementwise(L, op, vanishing_element);
    else lower_elementwise(L, op, math_element);
}
