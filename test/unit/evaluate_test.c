/* Scalars against references that share no code with them: rounding against a search among the
   sorted values of a format, integers against C's own arithmetic in wider types, fp16 and bf16
   against the compiler's and a shift. */
#include "ir/evaluate.h"

#include <math.h>
#include <stdlib.h>

#include "expect.h"

static uint64_t state = 88172645463325252u;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double nan_value(void)
{
    return (double)NAN;
}

/* ---- floats of 8 and 16 bits ---- */

static double float_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

/* What the bits mean, from the formats' definitions. */
static double meaning(DType dt, unsigned bits)
{
    if (dt == DT_BF16) return float_of((uint32_t)bits << 16);
    if (dt == DT_F8E5) bits <<= 8; /* the high byte of an fp16 */
    if (dt == DT_F8E5 || dt == DT_F16) {
        _Float16 h;
        uint16_t b = (uint16_t)bits;
        memcpy(&h, &b, sizeof h);
        return (double)h;
    }
    int exp = (bits >> 3) & 15, man = bits & 7;
    double v = exp ? (8 + man) / 8.0 * pow(2, exp - 7) : man / 8.0 * pow(2, -6);
    if ((bits & 0x7f) == 0x7f) return nan_value();
    return bits & 0x80 ? -v : v;
}

static const DType small_floats[] = {DT_F8E4, DT_F8E5, DT_F16, DT_BF16};

static int positive_count(DType dt)
{
    return 1 << (tkc_dtype_info(dt)->bits - 1);
}

static void decoding(void)
{
    for (int k = 0; k < 4; k++) {
        for (int bits = 0; bits < 2 * positive_count(small_floats[k]); bits++) {
            double got = bits_to_double(small_floats[k], (uint64_t)bits),
                   want = meaning(small_floats[k], (unsigned)bits);
            EXPECT(isnan(want) ? isnan(got) : got == want && signbit(got) == signbit(want));
        }
    }
}

static unsigned greatest_finite(DType dt)
{
    unsigned bits = (unsigned)positive_count(dt) - 1;
    while (!isfinite(meaning(dt, bits))) bits--;
    return bits;
}

static void expect_rounded(DType dt, double v, unsigned want, unsigned want_rtz)
{
    unsigned sign = (unsigned)positive_count(dt);
    EXPECT_INT(bits_from_double(dt, v), want);
    EXPECT_INT(bits_from_double(dt, -v), want | sign);
    EXPECT_INT(bits_from_float_rtz(dt, v), want_rtz);
    EXPECT_INT(bits_from_float_rtz(dt, -v), want_rtz | sign);
}

/* Every value, every midpoint of neighbours, and both doubles beside each midpoint. */
static void rounding(void)
{
    for (int k = 0; k < 4; k++) {
        DType dt = small_floats[k];
        unsigned last = greatest_finite(dt);
        for (unsigned bits = 0; bits < last; bits++) {
            double low = meaning(dt, bits), high = meaning(dt, bits + 1),
                   mid = low + (high - low) / 2;
            expect_rounded(dt, low, bits, bits);
            expect_rounded(dt, mid, bits & 1 ? bits + 1 : bits, bits);
            expect_rounded(dt, nextafter(mid, 0), bits, bits);
            expect_rounded(dt, nextafter(mid, high), bits + 1, bits);
            expect_rounded(dt, nextafter(high, 0), bits + 1, bits);
        }
    }
}

static void overflow(void)
{
    EXPECT_INT(bits_from_double(DT_F16, 65519.99), 0x7bff);
    EXPECT_INT(bits_from_double(DT_F16, 65520), 0x7c00);
    EXPECT_INT(bits_from_double(DT_F16, 1e300), 0x7c00);
    EXPECT_INT(bits_from_float_rtz(DT_F16, 1e300), 0x7bff);
    EXPECT_INT(bits_from_float_rtz(DT_F16, (double)INFINITY), 0x7c00);
    EXPECT_INT(bits_from_double(DT_BF16, -1e39), 0xff80);
    EXPECT_INT(bits_from_double(DT_F32, 3.5e38), 0x7f800000);
    EXPECT_INT(bits_from_double(DT_F8E4, 449), 0x7e);
    EXPECT_INT(bits_from_double(DT_F8E4, 1e9), 0x7e);
    EXPECT_INT(bits_from_double(DT_F8E4, -(double)INFINITY), 0xfe);
    EXPECT_INT(bits_from_double(DT_F8E5, (double)INFINITY), 0x7b);
    EXPECT_INT(bits_from_double(DT_F8E5, 1e9), 0x7b);
    EXPECT_INT(bits_from_double(DT_F8E4, nan_value()), 0x7f);
    EXPECT_INT(bits_from_double(DT_F16, -nan_value()), 0x7e00);
    EXPECT_INT(bits_from_double(DT_F32, nan_value()), 0x7fc00000);
}

static uint64_t bits_of_float(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static uint64_t bits_of_double(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static void fp32_and_fp64_are_the_machines(void)
{
    for (int i = 0; i < 200000; i++) {
        uint64_t r = next_random();
        double f = float_of((uint32_t)r), d;
        memcpy(&d, &r, sizeof d);
        if (i & 1)
            d = ldexp((double)(int64_t)r,
                      (int)(r % 300) - 240); /* near fp32's range, subnormals too */
        if (isnan(f) || isnan(d)) continue;
        EXPECT(bits_to_double(DT_F32, (uint32_t)r) == f);
        EXPECT(bits_from_double(DT_F32, d) == bits_of_float((float)d));
        EXPECT(bits_from_double(DT_F64, d) == bits_of_double(d));
        EXPECT(bits_from_int(DT_F32, (int64_t)r) == bits_of_float((float)(int64_t)r));
        EXPECT(bits_from_uint(DT_F32, r) == bits_of_float((float)r));
        EXPECT(bits_from_int(DT_F64, (int64_t)r) == bits_of_double((double)(int64_t)r));
    }
}

static uint64_t evaluate(OpKind kind, DType dt, DType result, uint64_t x, uint64_t y, uint64_t z)
{
    uint64_t args[] = {x, y, z}, out = 0;
    int n = tkc_op_info(kind)->min_args;
    EXPECT(tkc_evaluate(kind, dt, result, NULL, n, args, &out));
    return out;
}

/* An integer between two neighbours of bf16 that a detour through double would round to the wrong
   one. */
static void integers_round_once(void)
{
    int64_t above = (INT64_C(0x101) << 54) + 1; /* half of the last place, and one more */
    EXPECT_INT(evaluate(OP_CAST, DT_I64, DT_BF16, (uint64_t)above, 0, 0), 0x5e81);
    EXPECT_INT(evaluate(OP_CAST, DT_I64, DT_BF16, (uint64_t)(above - 1), 0, 0), 0x5e80);
    EXPECT_INT(evaluate(OP_CAST, DT_U64, DT_F16, UINT64_MAX, 0, 0), 0x7c00);
    EXPECT_INT(evaluate(OP_CAST, DT_I64, DT_F8E4, (uint64_t)-500, 0, 0), 0xfe);
}

/* ---- arithmetic of small floats, exhaustive for 8 bits ---- */

static void expect_same_float(DType dt, uint64_t got, double exact)
{
    uint64_t want = bits_from_double(dt, exact);
    EXPECT(got == want || (isnan(exact) && isnan(bits_to_double(dt, got))));
}

static void fp8_arithmetic(void)
{
    for (int k = 0; k < 2; k++) {
        DType dt = small_floats[k];
        for (unsigned i = 0; i < 256 * 256; i++) {
            unsigned x = i >> 8, y = i & 255;
            double a = meaning(dt, x), b = meaning(dt, y);
            expect_same_float(dt, evaluate(OP_ADD, dt, dt, x, y, 0), a + b);
            expect_same_float(dt, evaluate(OP_MUL, dt, dt, x, y, 0), a * b);
            expect_same_float(dt, evaluate(OP_DIV, dt, dt, x, y, 0), a / b);
            EXPECT_INT(evaluate(OP_LT, dt, DT_I1, x, y, 0), a < b);
            EXPECT_INT(evaluate(OP_NE, dt, DT_I1, x, y, 0), !(a == b));
            EXPECT_INT(evaluate(OP_GE, dt, DT_I1, x, y, 0), a >= b);
        }
    }
}

static void fma_rounds_once(void)
{
    /* 1 + 2^-11 * (1 + 2^-10)^2 lies just above a midpoint of fp16. */
    uint64_t x = bits_from_double(DT_F16, ldexp(1 + ldexp(1, -10), -6)),
             y = bits_from_double(DT_F16, ldexp(1 - ldexp(1, -10), -5));
    uint64_t one = bits_from_double(DT_F16, 1);
    EXPECT_INT(evaluate(OP_FMA, DT_F16, DT_F16, x, y, one), one);                 /* just below */
    y = bits_from_double(DT_F16, ldexp(1 + ldexp(1, -10), -5));
    EXPECT_INT(evaluate(OP_FMA, DT_F16, DT_F16, x, y, one), one + 1);             /* just above */
    /* Below a midpoint of fp32 by less than double sees of a sum near 1. */
    uint64_t odd = bits_from_double(DT_F32, 1 + ldexp(1, -23));
    uint64_t tiny = bits_from_double(DT_F32, ldexp(1 - ldexp(1, -23), -24));
    EXPECT_INT(evaluate(OP_FMA, DT_F32, DT_F32, odd, tiny, odd), odd);
    for (int i = 0; i < 200000; i++) {
        uint32_t a = (uint32_t)next_random(), b = (uint32_t)next_random(),
                 c = (uint32_t)next_random();
        if (i & 1)
            c = (uint32_t)bits_of_float((float)(float_of(a) * float_of(b))) ^ (c & 0x80000fff);
        float want = fmaf((float)float_of(a), (float)float_of(b), (float)float_of(c));
        uint64_t got = evaluate(OP_FMA, DT_F32, DT_F32, a, b, c);
        EXPECT(isnan(want) ? isnan(bits_to_double(DT_F32, got)) : got == bits_of_float(want));
    }
}

static void min_and_max(void)
{
    const uint64_t nan = bits_nan(DT_F32), one = bits_from_double(DT_F32, 1), zero = 0,
                   minus_zero = 0x80000000;
    EXPECT_INT(evaluate(OP_MIN, DT_F32, DT_F32, nan, one, 0), one);
    EXPECT_INT(evaluate(OP_MAX, DT_F32, DT_F32, one, nan, 0), one);
    EXPECT_INT(evaluate(OP_MAX, DT_F32, DT_F32, nan, nan, 0), nan);
    EXPECT_INT(evaluate(OP_MIN_NAN, DT_F32, DT_F32, nan, one, 0), nan);
    EXPECT_INT(evaluate(OP_MAX_NAN, DT_F32, DT_F32, one, nan, 0), nan);
    EXPECT_INT(evaluate(OP_MIN, DT_F32, DT_F32, zero, minus_zero, 0), minus_zero);
    EXPECT_INT(evaluate(OP_MAX, DT_F32, DT_F32, minus_zero, zero, 0), zero);
    EXPECT_INT(evaluate(OP_NEG, DT_F32, DT_F32, nan, 0, 0), nan | minus_zero);
    EXPECT_INT(evaluate(OP_ABS, DT_F16, DT_F16, 0xfe00, 0, 0), 0x7e00);
}

/* ---- integers ---- */

static const DType bytes[] = {DT_I8, DT_U8};

static int64_t wrapped(DType dt, int64_t v)
{
    return dt == DT_I8 ? (int8_t)v : (uint8_t)v;
}

static int64_t shifted_right(DType dt, int64_t x, int64_t y)
{
    uint8_t count = (uint8_t)y;
    if (count < 8) return x >> count;
    return dt == DT_I8 && x < 0 ? -1 : 0;
}

static void bytes_exhaustively(void)
{
    for (int k = 0; k < 2; k++) {
        DType dt = bytes[k];
        for (int i = 0; i < 256 * 256; i++) {
            int64_t x = wrapped(dt, i >> 8), y = wrapped(dt, i);
            uint64_t bx = (uint64_t)x, by = (uint64_t)y;
#define EXPECT_OP(kind, want)                                                                      \
    EXPECT_INT((int64_t)evaluate(kind, dt, dt, bx, by, 0), wrapped(dt, want))
            EXPECT_OP(OP_ADD, x + y);
            EXPECT_OP(OP_SUB, x - y);
            EXPECT_OP(OP_MUL, x * y);
            EXPECT_OP(OP_DIV, y ? x / y : 0);
            EXPECT_OP(OP_REM, y ? x % y : x);
            EXPECT_OP(OP_MULHI, x * y >> 8);
            EXPECT_OP(OP_SHL, (uint8_t)y < 8 ? x * (1 << (uint8_t)y) : 0);
            EXPECT_OP(OP_SHR, shifted_right(dt, x, y));
            EXPECT_OP(OP_MIN, x < y ? x : y);
            EXPECT_OP(OP_MAX, x > y ? x : y);
            EXPECT_INT(evaluate(OP_LT, dt, DT_I1, bx, by, 0), x < y);
            EXPECT_INT(evaluate(OP_GE, dt, DT_I1, bx, by, 0), x >= y);
            EXPECT_INT(evaluate(OP_EQ, dt, DT_I1, bx, by, 0), x == y);
            if (y) continue;
            EXPECT_OP(OP_NEG, -x);
            EXPECT_OP(OP_NOT, ~x);
            EXPECT_OP(OP_ABS, x < 0 ? -x : x);
            EXPECT_OP(OP_POPC, __builtin_popcount((uint8_t)x));
            EXPECT_OP(OP_CLZ, (uint8_t)x ? __builtin_clz((uint8_t)x) - 24 : 8);
        }
    }
}

static void wide_edges(void)
{
    const uint64_t min = (uint64_t)INT64_MIN, all = UINT64_MAX;
    EXPECT(evaluate(OP_DIV, DT_I64, DT_I64, min, all, 0) == min);
    EXPECT(evaluate(OP_REM, DT_I64, DT_I64, min, all, 0) == 0);
    EXPECT(evaluate(OP_DIV, DT_I64, DT_I64, min, 0, 0) == 0);
    EXPECT(evaluate(OP_REM, DT_U64, DT_U64, all, 0, 0) == all);
    EXPECT(evaluate(OP_MULHI, DT_U64, DT_U64, all, all, 0) == all - 1);
    EXPECT(evaluate(OP_MULHI, DT_I64, DT_I64, min, min, 0) == UINT64_C(1) << 62);
    EXPECT(evaluate(OP_SHR, DT_I64, DT_I64, min, 64, 0) == all);
    EXPECT(evaluate(OP_SHL, DT_U64, DT_U64, 1, 64, 0) == 0);
    EXPECT(evaluate(OP_SHL, DT_I32, DT_I32, 1, 31, 0) == (uint64_t)INT32_MIN);
    EXPECT(evaluate(OP_ADD, DT_U32, DT_U32, UINT32_MAX, 1, 0) == 0);
    EXPECT(evaluate(OP_NOT, DT_I1, DT_I1, 1, 0, 0) == 0);
    EXPECT(evaluate(OP_ADD, DT_I1, DT_I1, 1, 1, 0) == 0);
    EXPECT(evaluate(OP_CLZ, DT_I32, DT_I32, 1, 0, 0) == 31);
}

/* ---- conversions ---- */

static double clamped(double v, double least, double most)
{
    if (isnan(v)) return 0;
    v = trunc(v);
    return v < least ? least : v > most ? most : v;
}

static void floats_to_integers_saturate(void)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        double v = meaning(DT_F16, bits);
        EXPECT_INT((int64_t)evaluate(OP_CAST, DT_F16, DT_I8, bits, 0, 0), clamped(v, -128, 127));
        EXPECT_INT((int64_t)evaluate(OP_CAST, DT_F16, DT_U8, bits, 0, 0), clamped(v, 0, 255));
        EXPECT_INT((int64_t)evaluate(OP_CAST, DT_F16, DT_I16, bits, 0, 0),
                   clamped(v, -32768, 32767));
        EXPECT_INT((int64_t)evaluate(OP_CAST, DT_F16, DT_U16, bits, 0, 0), clamped(v, 0, 65535));
        EXPECT_INT((int64_t)evaluate(OP_CAST, DT_F16, DT_I1, bits, 0, 0), v != 0);
    }
    const uint64_t inf = bits_infinity(DT_F64), minus_inf = inf | UINT64_C(1) << 63;
    EXPECT(evaluate(OP_CAST, DT_F64, DT_I64, inf, 0, 0) == (uint64_t)INT64_MAX);
    EXPECT(evaluate(OP_CAST, DT_F64, DT_I64, minus_inf, 0, 0) == (uint64_t)INT64_MIN);
    EXPECT(evaluate(OP_CAST, DT_F64, DT_U64, inf, 0, 0) == UINT64_MAX);
    EXPECT(evaluate(OP_CAST, DT_F64, DT_U64, minus_inf, 0, 0) == 0);
    EXPECT(evaluate(OP_CAST, DT_F64, DT_I32, bits_of_double(-0.999), 0, 0) == 0);
    EXPECT(evaluate(OP_CAST, DT_F64, DT_U64, bits_of_double(ldexp(1, 63)), 0, 0) == UINT64_C(1)
                                                                                        << 63);
}

static void integers_convert(void)
{
    EXPECT(evaluate(OP_CAST, DT_I8, DT_U32, (uint64_t)-1, 0, 0) == UINT32_MAX);
    EXPECT(evaluate(OP_CAST, DT_U8, DT_I32, 255, 0, 0) == 255);
    EXPECT(evaluate(OP_CAST, DT_I32, DT_I8, 200, 0, 0) == (uint64_t)-56);
    EXPECT(evaluate(OP_CAST, DT_I32, DT_I1, 256, 0, 0) == 1);
    EXPECT(evaluate(OP_CAST, DT_I1, DT_I32, 1, 0, 0) == 1);
    EXPECT(evaluate(OP_CAST, DT_I1, DT_F16, 1, 0, 0) == 0x3c00);
    EXPECT(evaluate(OP_BITCAST, DT_I32, DT_F32, (uint64_t)INT32_MIN, 0, 0) == 0x80000000);
    EXPECT(evaluate(OP_BITCAST, DT_F32, DT_I32, 0x80000000, 0, 0) == (uint64_t)INT32_MIN);
    EXPECT(evaluate(OP_BITCAST, DT_F16, DT_U16, 0xffff, 0, 0) == 0xffff);
}

static void some_ops_have_no_value(void)
{
    uint64_t args[3] = {0}, out;
    EXPECT(!tkc_evaluate(OP_LOAD, DT_F32, DT_F32, NULL, 1, args, &out));
    EXPECT(!tkc_evaluate(OP_ADDPTR, DT_I32, DT_I32, NULL, 2, args, &out));
    EXPECT(!tkc_evaluate(OP_ADD, DT_NONE, DT_NONE, NULL, 2, args, &out));
    EXPECT(!tkc_evaluate(OP_AND, DT_F32, DT_F32, NULL, 2, args, &out));
    EXPECT(!tkc_evaluate(OP_EXP, DT_I32, DT_I32, NULL, 1, args, &out));
    EXPECT(!tkc_evaluate(OP_DOT, DT_F32, DT_F32, NULL, 3, args, &out));
}

int main(void)
{
    RUN(decoding);
    RUN(rounding);
    RUN(overflow);
    RUN(fp32_and_fp64_are_the_machines);
    RUN(integers_round_once);
    RUN(fp8_arithmetic);
    RUN(fma_rounds_once);
    RUN(min_and_max);
    RUN(bytes_exhaustively);
    RUN(wide_edges);
    RUN(floats_to_integers_saturate);
    RUN(integers_convert);
    RUN(some_ops_have_no_value);
    return expect_done();
}
