/* Sines and cosines of fp64, of angles of any size: the nearest multiple of a quarter turn (pi / 2)
   is taken off, what is left is known as a pair of floats, rest + low, to some 100 bits, and a
   polynomial does the rest. Below 2^19 the multiple times pi / 2, in four parts, is subtracted;
   beyond, the bits of 2 / pi that matter are multiplied (Payne and Hanek). Measured: 1 ulp. */
#include "lower/math.h"

typedef struct Pair {
    LLVMValueRef high, low;
} Pair;

/* ---- sums and products without loss ---- */

static Pair sum(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef s = add(L, x, y), y_part = sub(L, s, x), x_part = sub(L, s, y_part);
    return (Pair){s, add(L, sub(L, x, x_part), sub(L, y, y_part))};
}

/* The same for |x| >= |y|. */
static Pair quick_sum(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef s = add(L, x, y);
    return (Pair){s, sub(L, y, sub(L, s, x))};
}

static Pair product(Lower *L, LLVMValueRef x, LLVMValueRef y)
{
    LLVMValueRef p = mul(L, x, y);
    return (Pair){p, fused(L, x, y, LLVMBuildFNeg(L->b, p, ""))};
}

/* ---- small angles ---- */

/* The first two parts have 33 bits: their products with k, which has 20, are exact. */
static Turn turn_by_parts(Lower *L, LLVMValueRef x)
{
    static const double parts[] = {1.5707963267341256, 6.077100506303966e-11,
                                   2.0222662487959506e-21, 1.0085854035872483e-37};
    LLVMValueRef k = unary(L, "llvm.roundeven", mul(L, x, number(L, 0.6366197723675814)));
    LLVMValueRef less = LLVMBuildFNeg(L->b, k, "");
    LLVMValueRef first = fused(L, less, number(L, parts[0]), x);
    Pair y = sum(L, first, mul(L, less, number(L, parts[1])));
    const Pair third = product(L, less, number(L, parts[2]));
    LLVMValueRef low = y.low;
    y = sum(L, y.high, third.high);
    const Pair lows = sum(L, low, y.low);
    LLVMValueRef fourth = fused(L, less, number(L, parts[3]), third.low);
    y = quick_sum(L, y.high, lows.high);
    low = add(L, y.low, add(L, lows.low, fourth));
    return (Turn){y.high, low, lower_instr(L, INSTR_F64_TO_S64, k)};
}

/* ---- large angles ---- */

/* The fraction bits of 2 / pi, after a word of zeros. */
static LLVMValueRef table(Lower *L)
{
    static const uint64_t words[] = {0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
                                     0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
                                     0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                     0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
                                     0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
                                     0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
                                     0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
    enum { WORDS = sizeof words / sizeof *words };
    static const char name[] = "two_over_pi";
    LLVMValueRef values[WORDS], made = LLVMGetNamedGlobal(L->module, name);
    if (made) return made;
    for (int i = 0; i < WORDS; i++) values[i] = LLVMConstInt(L->i64, words[i], false);
    made = LLVMAddGlobalInAddressSpace(L->module, LLVMArrayType2(L->i64, WORDS), name, 1);
    LLVMSetInitializer(made, LLVMConstArray2(L->i64, values, WORDS));
    LLVMSetGlobalConstant(made, true);
    LLVMSetLinkage(made, LLVMPrivateLinkage);
    return made;
}

LLVMValueRef two_over_pi(Lower *L, LLVMValueRef index, uint64_t ahead)
{
    LLVMValueRef at = plus(L, index, ahead);
    at = LLVMBuildGEP2(L->b, L->i64, table(L), &at, 1, "");
    return LLVMBuildLoad2(L->b, L->i64, at, "");
}

/* |x| times 2 / pi modulo 4 as 128 bits, the upper two of which are the quarter turns: x is m 2^e
   with a whole m, and of 2 / pi only the 192 bits from place e - 1 on count. */
static void multiply_turns(Lower *L, LLVMValueRef x, LLVMValueRef *high, LLVMValueRef *low)
{
    LLVMBuilderRef b = L->b;
    LLVMValueRef bits = bits_as(L, x, L->i64), parts[3];
    LLVMValueRef m = masked(L, bits, 0xfffffffffffff);
    m = LLVMBuildOr(b, m, whole_like(m, 0x10000000000000), "");
    LLVMValueRef place = minus(L, masked(L, shift_down(L, bits, 52), 2047), 1013);
    LLVMValueRef index = shift_down(L, place, 6), shift = masked(L, place, 63);
    for (uint64_t i = 0; i < 3; i++)
        parts[i] = lower_call(L, "llvm.fshl", L->i64, two_over_pi(L, index, i),
                              two_over_pi(L, index, i + 1), shift);
    LLVMValueRef middle = LLVMBuildMul(b, parts[1], m, "");
    *low = LLVMBuildAdd(b, middle, lower_high_product(L, DT_U64, parts[2], m), "");
    LLVMValueRef carry = LLVMBuildICmp(b, LLVMIntULT, *low, middle, "");
    *high = LLVMBuildAdd(b, LLVMBuildMul(b, parts[0], m, ""),
                         lower_high_product(L, DT_U64, parts[1], m), "");
    *high = LLVMBuildAdd(b, *high, LLVMBuildZExt(b, carry, L->i64, ""), "");
}

/* The 126 bits below the quarter turns, from -1/2 to 1/2 of one: their size as a pair of floats in
   units of 2^-62 quarter turns, to be multiplied with pi / 2. */
static Pair angle_of(Lower *L, LLVMValueRef high, LLVMValueRef low)
{
    LLVMBuilderRef b = L->b;
    LLVMValueRef upper = masked(L, high, ~UINT64_C(0x3fffffff)),
                 lower = masked(L, high, 0x3fffffff);
    Pair y =
        quick_sum(L, LLVMBuildUIToFP(b, upper, L->f64, ""), LLVMBuildUIToFP(b, lower, L->f64, ""));
    LLVMValueRef tail = mul(L, LLVMBuildUIToFP(b, low, L->f64, ""), number(L, 0x1p-64));
    Pair z = sum(L, y.high, tail);
    z.low = add(L, y.low, z.low);
    const double half_pi = 1.5707963267948966, half_pi_rest = 6.123233995736766e-17;
    Pair p = product(L, z.high, number(L, half_pi));
    p.low = fused(L, z.high, number(L, half_pi_rest), fused(L, z.low, number(L, half_pi), p.low));
    return quick_sum(L, p.high, p.low);
}

static Turn turn_exactly(Lower *L, LLVMValueRef x)
{
    LLVMBuilderRef b = L->b;
    LLVMValueRef high, low;
    multiply_turns(L, x, &high, &low);
    LLVMValueRef quarters = shift_down(L, plus(L, high, UINT64_C(1) << 61), 62);
    high = LLVMBuildSub(b, high, shift_up(L, quarters, 62), "");
    LLVMValueRef below = compare_whole(L, LLVMIntSLT, high, 0);
    LLVMValueRef no_low = LLVMBuildZExt(b, compare_whole(L, LLVMIntEQ, low, 0), L->i64, "");
    LLVMValueRef negated = LLVMBuildAdd(b, LLVMBuildNot(b, high, ""), no_low, "");
    high = pick(L, below, negated, high);
    low = pick(L, below, LLVMBuildNeg(b, low, ""), low);
    const Pair angle = angle_of(L, high, low);
    LLVMValueRef negative = compare(L, LLVMRealOLT, x, 0),
                 other = LLVMBuildXor(b, below, negative, "");
    LLVMValueRef unit = pick(L, other, number(L, -0x1p-62), number(L, 0x1p-62));
    return (Turn){mul(L, angle.high, unit), mul(L, angle.low, unit),
                  pick(L, negative, LLVMBuildNeg(b, quarters, ""), quarters)};
}

/* ---- the functions ---- */

/* sin(x + low) for |x| <= pi / 4: x + x^3 p(x^2), and what low adds. */
static LLVMValueRef sine_near(Lower *L, LLVMValueRef x, LLVMValueRef low)
{
    static const double p[] = {-0.16666666666666666,    0.008333333333333331,
                               -0.00019841269841264992, 2.7557319219283263e-06,
                               -2.5052106213057995e-08, 1.605852855027605e-10,
                               -7.586516494116063e-13};
    LLVMValueRef z = mul(L, x, x), by_low = fused(L, mul(L, z, number(L, -0.5)), low, low);
    return add(L, x, fused(L, mul(L, x, z), POLYNOMIAL(L, z, p), by_low));
}

/* cos(x + low): 1 - x^2 / 2 as a pair, x^4 p(x^2), and what low takes. */
static LLVMValueRef cosine_near(Lower *L, LLVMValueRef x, LLVMValueRef low)
{
    static const double p[] = {0.041666666666666664,   -0.0013888888888888887,
                               2.4801587301584608e-05, -2.7557319221371743e-07,
                               2.0876755780300253e-09, -1.1470459181467978e-11,
                               4.745771478494321e-14};
    const Pair z = product(L, x, x);
    LLVMValueRef square = mul(L, z.high, z.high), by_low = LLVMBuildFNeg(L->b, mul(L, x, low), "");
    const Pair flat = quick_sum(L, number(L, 1), mul(L, z.high, number(L, -0.5)));
    LLVMValueRef tail = fused(L, square, POLYNOMIAL(L, z.high, p), by_low);
    tail = fused(L, z.low, number(L, -0.5), tail);
    return add(L, flat.high, add(L, flat.low, tail));
}

static void sines(Lower *L, LLVMValueRef x, Turn t, LLVMValueRef *sine, LLVMValueRef *cosine)
{
    LLVMValueRef tiny = compare(L, LLVMRealOLT, absolute(L, x), 0x1p-30);
    *sine = pick(L, tiny, x, sine_near(L, t.rest, t.low));
    *cosine = cosine_near(L, t.rest, t.low);
}

const Angles angles64 = {0x1p19, turn_by_parts, turn_exactly, sines};
