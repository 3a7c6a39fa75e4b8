/* rand:f32[4096,781] and its like. In: text and seed. Out: an array, the same bits on every
   machine: elements are made from their numbers, in runs, by operations that IEEE defines to the
   last bit (no library's logarithm or cosine), and contraction is off for the whole tree.

   randn is Box's and Muller's: two uniform numbers u, v become r cos a and r sin a, r = sqrt(-2
   ln u). The angle is drawn from an eighth of the circle to either side of 0, where short
   polynomials do; two bits more say whether sine and cosine swap and whether the cosine is
   negative, which makes it any angle. The loops are written to be vectorized. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "tkc/float_bits.h"
#include "tkc/vector.h"

/* splitmix64: a stream by seed, any element by itself. */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + (i + 1) * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Multiples of 2^-bits, which the type holds: rounding would make some of them 1. */
static void make_rand(const Array *a, uint64_t seed, int64_t from, int n, double *out)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    const int bits = info->man_bits + 1;
    if (info->kind == DK_FLOAT) {
        const double unit = ldexp(1, -bits);
        for (int i = 0; i < n; i++)
            out[i] =
                (double)(int64_t)(random_bits(seed, (uint64_t)(from + i)) >> (64 - bits)) * unit;
        return;
    }
    const uint64_t below = info->kind == DK_BOOL ? 2 : info->bits == 8 ? 128 : 1000;
    for (int i = 0; i < n; i++)
        out[i] = (double)(int64_t)((random_bits(seed, (uint64_t)(from + i)) >> 32) * below >> 32);
}

/* c[0] z^(n - 1) + … + c[n - 1] */
static inline double polynomial(double z, const double *c, int n)
{
    double p = c[0];
    for (int i = 1; i < n; i++) p = p * z + c[i];
    return p;
}

/* ln u for 2^-52 <= u <= 1: u = 2^e m with m around 1, ln m = 2 artanh s of s = (m - 1) / (m +
   1). */
static inline double log_unit(double u)
{
    static const double c[] = {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3};
    const uint64_t half_root = 0x3FE6A09E667F3BCD; /* of 2: m is in [it, twice it) */
    uint64_t e64 = (f64_bits(u) - half_root + (UINT64_C(64) << 52)) >> 52; /* e + 64 */
    double e = f64_of(e64 | 0x4330000000000000) - (0x1p52 + 64);
    double f = f64_of(f64_bits(u) - ((e64 - 64) << 52)) - 1, s = f / (2 + f), z = s * s;
    return e * 0.69314718055994531 + 2 * (s + s * z * polynomial(z, c, 7));
}

static inline double sine(double x)
{
    static const double c[] = {1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880,
                               -1.0 / 5040,      1.0 / 120,       -1.0 / 6};
    return x + x * (x * x) * polynomial(x * x, c, 6);
}

static inline double cosine(double x)
{
    static const double c[] = {-1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800, 1.0 / 40320,
                               -1.0 / 720,         1.0 / 24,        -1.0 / 2};
    return 1 + x * x * polynomial(x * x, c, 7);
}

/* Pairs of normal numbers from pairs of 64 random bits. */
VECTOR static void make_pairs(int n, const uint64_t *restrict a, const uint64_t *restrict b,
                              double *restrict first, double *restrict second)
{
    const uint64_t exponent = 0x3FF0000000000000;
    for (int i = 0; i < n; i++) {
        double u = 2 - f64_of(a[i] >> 12 | exponent); /* (0, 1] */
        double x = (f64_of(b[i] >> 12 | exponent) - 1.5) * 1.5707963267948966;
        double r = sqrt(-2 * log_unit(u));
        uint64_t c = f64_bits(r * cosine(x)) ^ b[i] << 63, s = f64_bits(r * sine(x));
        uint64_t swap = (c ^ s) & (0 - (b[i] >> 1 & 1));
        first[i] = f64_of(c ^ swap);
        second[i] = f64_of(s ^ swap);
    }
}

/* Integers: to the nearest; without a sign where the type has none; int1: above 0. */
static void to_integers(const DTypeInfo *info, int n, double *x)
{
    for (int i = 0; i < n; i++) {
        double v = info->kind == DK_UINT ? fabs(x[i]) : x[i];
        x[i] = info->kind == DK_BOOL ? v > 0 : rint(v);
    }
}

static void make_randn(const Array *a, uint64_t seed, int64_t from, int n, double *out)
{
    uint64_t x[ARRAY_RUN / 2] = {0}, y[ARRAY_RUN / 2] = {0};
    double first[ARRAY_RUN / 2], second[ARRAY_RUN / 2];
    const int pairs = (n + 1) / 2;
    for (int i = 0; i < pairs; i++) {
        x[i] = random_bits(seed, (uint64_t)(from + 2 * i));
        y[i] = random_bits(seed, (uint64_t)(from + 2 * i + 1));
    }
    make_pairs(pairs, x, y, first, second);
    for (int i = 0; i < pairs; i++) { /* a run has room for one more */
        out[2 * i] = first[i];
        out[2 * i + 1] = second[i];
    }
    if (tkc_dtype_info(a->dtype)->kind != DK_FLOAT) to_integers(tkc_dtype_info(a->dtype), n, out);
}

static void make_arange(const Array *a, uint64_t seed, int64_t from, int n, double *out)
{
    (void)a, (void)seed;
    for (int i = 0; i < n; i++) out[i] = (double)(from + i);
}

static void make_ones(const Array *a, uint64_t seed, int64_t from, int n, double *out)
{
    (void)a, (void)seed, (void)from;
    for (int i = 0; i < n; i++) out[i] = 1;
}

/* Elements from … of the array, an even number of them before it; NULL: see array_generate. */
typedef void (*Maker)(const Array *a, uint64_t seed, int64_t from, int n, double *out);
static const struct {
    const char *name;
    Maker make;
} makers[] = {
    {"rand", make_rand}, {"randn", make_randn}, {"arange", make_arange},
    {"ones", make_ones}, {"zeros", NULL},       {"empty", NULL},
};
enum { MAKERS = sizeof makers / sizeof *makers };

size_t array_kinds(const char **names, size_t most)
{
    size_t n = 0;
    for (; n < MAKERS && n < most; n++) names[n] = makers[n].name;
    return n;
}

static int find_maker(const char *text)
{
    for (int i = 0; i < MAKERS; i++) {
        size_t n = strlen(makers[i].name);
        if (!strncmp(text, makers[i].name, n) && text[n] == ':') return i;
    }
    return -1;
}

bool array_is_generator(const char *text)
{
    return find_maker(text) >= 0;
}

/* "[4096,781]" or nothing (one element). */
static bool read_shape(const char *p, int *rank, int64_t *shape)
{
    *rank = 0;
    if (!*p) return true;
    if (*p++ != '[') return false;
    while (*rank < ARRAY_MAX_RANK) {
        char *end;
        long long n = strtoll(p, &end, 10);
        if (end == p || n < 0 || isspace((unsigned char)*p)) return false;
        shape[(*rank)++] = n;
        p = end;
        if (*p == ']') return p[1] == 0;
        if (*p++ != ',') return false;
    }
    return false;
}

static void fill(Array *a, Maker make, uint64_t seed)
{
    double run[ARRAY_RUN];
    for (int64_t i = 0; i < a->count; i += ARRAY_RUN) {
        int n = a->count - i < ARRAY_RUN ? (int)(a->count - i) : ARRAY_RUN;
        make(a, seed, i, n, run);
        array_write(a, i, n, run);
    }
}

bool array_generate(Array *a, const char *text, uint64_t seed, char *why, size_t size)
{
    int m = find_maker(text);
    const char *type = text + strlen(makers[m].name) + 1;
    size_t n = strcspn(type, "[(");
    DType dtype = array_dtype(type, n);
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    if (dtype == DT_NONE)
        return array_refuse(why, size,
                            "'%.*s' is not an element type such as f32, bf16, i64, u8 or i1", (int)n,
                            type);
    if (type[n] == '(')
        return array_refuse(why, size, "the shape goes in brackets: write %.*s[%.*s]",
                            (int)(type + n - text), text, (int)strcspn(type + n + 1, ")"),
                            type + n + 1);
    if (!read_shape(type + n, &rank, shape))
        return array_refuse(
            why, size,
            "expected a shape such as [4096,781], numbers, of at most %d extents, not '%s'",
            ARRAY_MAX_RANK, type + n);
    if (!array_make(a, dtype, rank, shape, why, size)) return false;
    if (!strcmp(makers[m].name, "empty")) memset(a->data, dtype == DT_I1 ? 1 : 0xA5, a->bytes);
    if (makers[m].make) fill(a, makers[m].make, seed);
    return true;
}
