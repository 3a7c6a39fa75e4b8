/* Functions on fp64, from its sums, products and quotients alone: exponentials and logarithms by
   reduction to a short interval and a polynomial of least maximum error there; tanh from e^2x - 1.
   Errors, measured: exp, exp2, log, erf 1 ulp, log2 and tanh 3. Sines and cosines: turn64.c. */
#include "lower/math.h"

static const double ln_2 = 0x1.62e42fefa39efp-1, ln_2_rest = 0x1.abc9e3b39803fp-56,
                    log2_e = 0x1.71547652b82fep+0;

/* ---- exponentials ---- */

/* e^r - 1 = r + r^2 p(r) for |r| <= log(2) / 2 */
static LLVMValueRef exp_less_one(Lower *L, LLVMValueRef r)
{
    static const double p[] = {
        0.5000000000000013,    0.16666666666666693,    0.041666666666513794,   0.008333333333309956,
        0.0013888888947443557, 0.00019841269911926405, 2.4801489491311025e-05, 2.75572208518286e-06,
        2.763144496942712e-07, 2.5116497678136435e-08};
    return fused(L, mul(L, r, r), POLYNOMIAL(L, r, p), r);
}

/* 2^k for k in [-1022, 1023] */
static LLVMValueRef power_of_two(Lower *L, LLVMValueRef k)
{
    return bits_as(L, shift_up(L, plus(L, k, 1023), 52), L->f64);
}

/* x 2^k in two steps, since 2^k alone may be out of range. */
static LLVMValueRef scale(Lower *L, LLVMValueRef x, LLVMValueRef k)
{
    LLVMValueRef half = LLVMBuildAShr(L->b, k, whole_like(k, 1), ""),
                 rest = LLVMBuildSub(L->b, k, half, "");
    return mul(L, mul(L, x, power_of_two(L, half)), power_of_two(L, rest));
}

/* Keeps x where exponents of the result stay in the range of scale(); NaN passes. */
static LLVMValueRef limit(Lower *L, LLVMValueRef x, double most)
{
    x = pick(L, compare(L, LLVMRealOGT, x, most), number(L, most), x);
    return pick(L, compare(L, LLVMRealOLT, x, -most), number(L, -most), x);
}

static LLVMValueRef to_integer(Lower *L, LLVMValueRef whole)
{
    return lower_instr(L, INSTR_F64_TO_S64, whole);
}

/* x - k log 2, with k the nearest whole number to x log2 e. */
static LLVMValueRef reduce(Lower *L, LLVMValueRef x, LLVMValueRef *k)
{
    *k = unary(L, "llvm.roundeven", mul(L, x, number(L, log2_e)));
    LLVMValueRef r = fused(L, *k, number(L, -ln_2), x);
    return fused(L, *k, number(L, -ln_2_rest), r);
}

static LLVMValueRef exp_e(Lower *L, LLVMValueRef x)
{
    LLVMValueRef k, r = reduce(L, limit(L, x, 800), &k);
    LLVMValueRef y = add(L, number(L, 1), exp_less_one(L, r));
    return pick(L, compare(L, LLVMRealUNO, x, 0), x, scale(L, y, to_integer(L, k)));
}

static LLVMValueRef exp_2(Lower *L, LLVMValueRef x)
{
    LLVMValueRef near = limit(L, x, 1100), k = unary(L, "llvm.roundeven", near);
    LLVMValueRef y =
        add(L, number(L, 1), exp_less_one(L, mul(L, sub(L, near, k), number(L, ln_2))));
    return pick(L, compare(L, LLVMRealUNO, x, 0), x, scale(L, y, to_integer(L, k)));
}

/* t / (t + 2) with t = e^(2|x|) - 1; 1 from 20 on. */
static LLVMValueRef hyperbolic_tangent(Lower *L, LLVMValueRef x)
{
    LLVMValueRef size = unary(L, "llvm.fabs", x), near = limit(L, size, 20), k;
    LLVMValueRef r = reduce(L, add(L, near, near), &k), power = power_of_two(L, to_integer(L, k));
    LLVMValueRef t = fused(L, power, exp_less_one(L, r), sub(L, power, number(L, 1)));
    LLVMValueRef y = LLVMBuildFDiv(L->b, t, add(L, t, number(L, 2)), "");
    return pick(L, compare(L, LLVMRealUNO, x, 0), x, with_sign_of(L, y, x));
}

/* ---- logarithms ---- */

/* log(1 + f) = f - tail: with s = f / (2 + f), z = s^2 and h = f^2 / 2 the tail is h - s (h + z
   p(z)). */
static LLVMValueRef log_tail(Lower *L, LLVMValueRef f)
{
    static const double p[] = {0.6666666666667282,  0.399999999961021,   0.2857142940597046,
                               0.22222137629680344, 0.18186391764873602, 0.1524947455850474,
                               0.15373743199174772};
    LLVMValueRef s = LLVMBuildFDiv(L->b, f, add(L, number(L, 2), f), ""), z = mul(L, s, s);
    LLVMValueRef h = mul(L, mul(L, number(L, 0.5), f), f);
    return sub(L, h, mul(L, s, fused(L, z, POLYNOMIAL(L, z, p), h)));
}

/* e log 2 in two parts, the first exact: it has 21 zero bits at its end. */
static LLVMValueRef log_e(Lower *L, LLVMValueRef x)
{
    const double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33;
    Split s = split_exponent(L, x);
    LLVMValueRef tail = sub(L, log_tail(L, s.f), mul(L, s.e, number(L, low)));
    return log_edges(L, x, sub(L, mul(L, s.e, number(L, high)), sub(L, tail, s.f)));
}

static LLVMValueRef log_2(Lower *L, LLVMValueRef x)
{
    Split s = split_exponent(L, x);
    LLVMValueRef log_1p = sub(L, s.f, log_tail(L, s.f));
    return log_edges(L, x, fused(L, log_1p, number(L, log2_e), s.e));
}

/* ---- the error function ---- */

/* e^(x^2) times the complement of erf, for x >= 0. */
static LLVMValueRef scaled_complement(Lower *L, LLVMValueRef x)
{
    static const double p[] = {
        1.2329951186255526,      -0.1396211168405625,     0.015379652102620042,
        0.06809705425469036,     -0.10103906603632501,    0.09373283499843944,
        -0.06633036581164907,    0.037167515535912556,    -0.016197734065945754,
        0.005031969992801267,    -0.0007577732195830691,  -0.00019925677640754262,
        0.00015062130768033358,  -2.43989424802825e-05,   -1.1220754107794733e-05,
        5.709201602382891e-06,   2.909076520467346e-07,   -8.249133443116052e-07,
        7.893247423442904e-08,   1.1009103248594467e-07,  -2.1915290618593824e-08,
        -1.4705592040978731e-08, 3.9787756746735685e-09,  1.788902396296648e-09,
        -5.473903786885597e-10,  -1.3723791570900375e-10, 4.329314418914954e-11};
    LLVMValueRef four = number(L, 4);
    LLVMValueRef t = LLVMBuildFDiv(L->b, sub(L, x, four), add(L, x, four), "");
    LLVMValueRef divisor = fused(L, x, number(L, 2), number(L, 1));
    return LLVMBuildFDiv(L->b, POLYNOMIAL(L, t, p), divisor, "");
}

/* x + x p(x^2) below 0.85; from there on one less the complement, 1 from 6 on. */
static LLVMValueRef error_function(Lower *L, LLVMValueRef x)
{
    static const double p[] = {
        0.1283791670955126,     -0.37612638903183754,    0.11283791670955118,
        -0.02686617064512888,   0.0052239776254045765,   -0.0008548327019900606,
        0.00012055332766501479, -1.4925641599796734e-05, 1.6461870018745888e-06,
        -1.636115005978804e-07, 1.4745948090565165e-08,  -1.1769026546511048e-09,
        6.759519257603756e-11};
    LLVMValueRef size = unary(L, "llvm.fabs", x), square = mul(L, x, x);
    LLVMValueRef near = fused(L, POLYNOMIAL(L, square, p), x, x), capped = limit(L, size, 6);
    LLVMValueRef power = exp_e(L, LLVMBuildFNeg(L->b, mul(L, capped, capped), ""));
    LLVMValueRef far = sub(L, number(L, 1), mul(L, power, scaled_complement(L, capped)));
    return pick(L, compare(L, LLVMRealOGT, size, 0.85), with_sign_of(L, far, x), near);
}

/* ---- roots ---- */

static LLVMValueRef square_root(Lower *L, LLVMValueRef x)
{
    return unary(L, "llvm.sqrt", x);
}

static LLVMValueRef reciprocal_root(Lower *L, LLVMValueRef x)
{
    return LLVMBuildFDiv(L->b, number(L, 1), square_root(L, x), "");
}

/* ---- by table ---- */

static LLVMValueRef (*const functions[OP_COUNT])(Lower *L, LLVMValueRef x) = {
    [OP_EXP] = exp_e,
    [OP_EXP2] = exp_2,
    [OP_LOG] = log_e,
    [OP_LOG2] = log_2,
    [OP_TANH] = hyperbolic_tangent,
    [OP_ERF] = error_function,
    [OP_SQRT] = square_root,
    [OP_RSQRT] = reciprocal_root,
};

LLVMValueRef lower_math64(Lower *L, OpKind kind, LLVMValueRef x)
{
    return functions[kind](L, x);
}
