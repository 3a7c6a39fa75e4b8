/* Numbers and their bits in every element type (evaluate.h). All roundings go through `pack`, which
   takes an exact significand of 64 bits, so nothing is rounded twice. */
#include "ir/evaluate.h"

#include <math.h>

#include "ir/type.h"
#include "tkc/float_bits.h"

/* The layout of a float format. */
typedef struct Format {
    int exp_bits, man_bits, bias;
    uint64_t sign;       /* the sign bit */
    uint64_t max_finite;
    bool saturates, has_infinity;
} Format;

static Format format_of(DType dt)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    Format f = {.exp_bits = info->exp_bits,
                .man_bits = info->man_bits,
                .bias = (1 << (info->exp_bits - 1)) - 1};
    f.sign = UINT64_C(1) << (f.exp_bits + f.man_bits);
    uint64_t top = ((UINT64_C(1) << f.exp_bits) - 1) << f.man_bits;
    f.max_finite = dt == DT_F8E4 ? 0x7e : top - 1;
    f.saturates = dtype_is_f8(dt);
    f.has_infinity = dt != DT_F8E4;
    return f;
}

uint64_t bits_nan(DType dt)
{
    if (dtype_is_f8(dt)) return 0x7f;
    Format f = format_of(dt);
    return (f.max_finite + 1) | UINT64_C(1) << (f.man_bits - 1);
}

uint64_t bits_infinity(DType dt)
{
    return format_of(dt).max_finite + 1;
}

static uint64_t overflow(const Format *f, bool is_infinite, bool toward_zero)
{
    const bool saturates = toward_zero ? !is_infinite || !f->has_infinity : f->saturates;
    return saturates ? f->max_finite : f->max_finite + 1;
}

/* man * 2^exp, rounded, without its sign. */
static uint64_t pack(const Format *f, uint64_t man, int exp, bool toward_zero)
{
    if (!man) return 0;
    int zeros = __builtin_clzll(man);
    man <<= zeros;
    int e = exp - zeros + 63; /* now the number is 1.… * 2^e */
    if (e > f->bias + 1) return overflow(f, false, toward_zero);
    int lost_to_subnormal = e < 1 - f->bias ? 1 - f->bias - e : 0;
    int drop = 63 - f->man_bits + lost_to_subnormal;
    if (drop > 64) return 0; /* below half of the least subnormal */
    uint64_t kept = drop < 64 ? man >> drop : 0;
    uint64_t rest =
        drop < 64 ? man << (64 - drop) : man; /* the dropped bits, their highest on top */
    const uint64_t half = UINT64_C(1) << 63;
    if (!toward_zero && (rest > half || (rest == half && (kept & 1)))) kept++;
    /* A carry out of the significand, or out of the subnormals, moves into the exponent by
       itself. */
    uint64_t bits = kept;
    if (!lost_to_subnormal) bits += (uint64_t)(e + f->bias - 1) << f->man_bits;
    return bits > f->max_finite ? overflow(f, false, toward_zero) : bits;
}

static uint64_t from_double(DType dt, double v, bool toward_zero)
{
    if (isnan(v)) return bits_nan(dt);
    Format f = format_of(dt);
    uint64_t sign = signbit(v) ? f.sign : 0;
    if (isinf(v)) return sign | overflow(&f, true, toward_zero);
    const uint64_t bits = f64_bits(v);
    int exp = (int)(bits >> 52 & 0x7ff);
    uint64_t man = bits & ((UINT64_C(1) << 52) - 1);
    if (exp) man |= UINT64_C(1) << 52;
    return sign | pack(&f, man, (exp ? exp : 1) - 1075, toward_zero);
}

uint64_t bits_from_double(DType dt, double v)
{
    return from_double(dt, v, false);
}

uint64_t bits_of_written(DType dt, double v)
{
    uint64_t sign = isnan(v) && signbit(v) ? format_of(dt).sign : 0;
    return bits_from_double(dt, v) | sign;
}

uint64_t bits_from_float_rtz(DType dt, double v)
{
    return from_double(dt, v, true);
}

double bits_to_double(DType dt, uint64_t bits)
{
    Format f = format_of(dt);
    uint64_t magnitude = bits & (f.sign - 1);
    double v;
    if (dt == DT_F64) return f64_of(bits);
    if (magnitude > f.max_finite) {
        v = magnitude == f.max_finite + 1 && dt != DT_F8E4 ? (double)INFINITY : (double)NAN;
    } else {
        int exp = (int)(magnitude >> f.man_bits);
        uint64_t man = magnitude & ((UINT64_C(1) << f.man_bits) - 1);
        if (exp) man |= UINT64_C(1) << f.man_bits;
        v = ldexp((double)man, (exp ? exp : 1) - f.bias - f.man_bits);
    }
    return bits & f.sign ? -v : v;
}

/* The low bits of v, extended to 64 by the type's signedness. */
static uint64_t wrap(const DTypeInfo *info, uint64_t v)
{
    int unused = 64 - info->bits;
    if (info->kind == DK_INT) return (uint64_t)((int64_t)(v << unused) >> unused);
    return v << unused >> unused;
}

uint64_t bits_from_int(DType dt, int64_t v)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    if (info->kind != DK_FLOAT) return wrap(info, (uint64_t)v);
    if (v >= 0) return bits_from_uint(dt, (uint64_t)v);
    Format f = format_of(dt);
    return f.sign | pack(&f, 0 - (uint64_t)v, 0, false);
}

uint64_t bits_from_uint(DType dt, uint64_t v)
{
    const DTypeInfo *info = tkc_dtype_info(dt);
    if (info->kind != DK_FLOAT) return wrap(info, v);
    Format f = format_of(dt);
    return pack(&f, v, 0, false);
}
