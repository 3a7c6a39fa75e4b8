/* cvt of PTX: between integers, between integers and floats, between floats, and to and from pairs
   of narrow floats. */
#include <math.h>

#include "float.h"
#include "tkc/edge.h"

/* An integer's sign and magnitude. */
typedef struct Whole {
    bool negative;
    uint64_t size;
} Whole;

static Whole whole_of(DType dt, uint64_t x)
{
    if (tkc_dtype_info(dt)->kind != DK_INT) return (Whole){false, x};
    int64_t v = ptx_signed(x, tkc_dtype_info(dt)->bits);
    return v < 0 ? (Whole){true, 0 - (uint64_t)v} : (Whole){false, (uint64_t)v};
}

/* The greatest size that an integer type has on that side of zero. */
static uint64_t greatest(DType dt, bool negative)
{
    const bool is_signed = tkc_dtype_info(dt)->kind == DK_INT;
    if (!is_signed) return negative ? 0 : ptx_low(~UINT64_C(0), tkc_dtype_info(dt)->bits);
    return (UINT64_C(1) << (tkc_dtype_info(dt)->bits - 1)) - !negative;
}

static uint64_t from_whole(DType dt, Whole w, bool saturates)
{
    if (saturates && w.size > greatest(dt, w.negative)) w.size = greatest(dt, w.negative);
    return ptx_low(w.negative ? 0 - w.size : w.size, tkc_dtype_info(dt)->bits);
}

void ptx_cvt_int(PtxCall *c)
{
    c->d[0] = from_whole(c->type->dtype, whole_of(c->second->dtype, c->a[0]), ptx_has(c, PTXQ_SAT));
}

/* Two integers, each into a half of the result; or into a quarter, the third operand moving up. */
void ptx_cvt_pack(PtxCall *c)
{
    const DType dt = c->type->dtype;
    const int bits = tkc_dtype_info(dt)->bits;
    uint64_t a = from_whole(dt, whole_of(DT_I32, c->a[0]), true),
             b = from_whole(dt, whole_of(DT_I32, c->a[1]), true), above = c->n > 2 ? c->a[2] : 0;
    c->d[0] = ptx_low(above << (2 * bits) | a << bits | b, 32);
}

/* The upper 53 bits of a whole number; `odd`: with the last one set where anything below was lost,
   which rounds on to a narrower type as the whole number does. */
static double upper_bits(uint64_t size, bool odd, bool *lost)
{
    const int below = size >> 53 ? 64 - __builtin_clzll(size) - 53 : 0;
    *lost = ptx_low(size, below) != 0;
    return ldexp((double)(size >> below | (odd && *lost)), below);
}

static uint64_t float_from_whole(DType dt, Whole w, PtxRound mode)
{
    bool lost;
    if (dt != DT_F64) {
        double v = upper_bits(w.size, true, &lost);
        return ptx_round(dt, w.negative ? -v : v, mode);
    }
    uint64_t x = tkc_bits_from_double(dt, upper_bits(w.size, false, &lost));
    if (mode == PTX_NEAREST) tkc_evaluate(OP_CAST, DT_U64, dt, NULL, 1, &w.size, &x);
    else x += lost && mode == (w.negative ? PTX_DOWN : PTX_UP);
    return w.negative ? x | UINT64_C(1) << 63 : x;
}

void ptx_cvt_from_int(PtxCall *c)
{
    const DType dt = c->type->dtype;
    Whole w = whole_of(c->second->dtype, c->a[0]);
    c->d[0] = ptx_clamp(c, dt, float_from_whole(dt, w, ptx_rounding(c)));
}

static double to_integral(const PtxCall *c, double v)
{
    if (ptx_has(c, PTXQ_RNI)) return rint(v);
    if (ptx_has(c, PTXQ_RZI)) return trunc(v);
    if (ptx_has(c, PTXQ_RMI)) return floor(v);
    return ptx_has(c, PTXQ_RPI) ? ceil(v) : v;
}

/* What comes in, with subnormal fp32 numbers flushed under .ftz; not on the way to fp16, whose
   roundings up and down see them. */
static double source_number(const PtxCall *c)
{
    uint64_t x = c->a[0];
    const bool flushes = c->second->dtype == DT_F32 && c->type->dtype != DT_F16;
    if (ptx_has(c, PTXQ_FTZ) && flushes) x = ptx_flush(DT_F32, x);
    return tkc_bits_to_double(c->second->dtype, x);
}

/* Beyond the ends, the nearest end. NaN is 0, but the top bit alone where 64 bits are involved. */
void ptx_cvt_to_int(PtxCall *c)
{
    const DType dt = c->type->dtype;
    const double v = to_integral(c, source_number(c));
    if (isnan(v)) {
        bool wide = c->second->dtype == DT_F64 || tkc_dtype_info(dt)->bits == 64;
        c->d[0] = wide ? UINT64_C(1) << (tkc_dtype_info(dt)->bits - 1) : 0;
        return;
    }
    Whole w = {v < 0, fabs(v) >= 0x1p64 ? UINT64_MAX : (uint64_t)fabs(v)};
    c->d[0] = from_whole(dt, w, true);
}

/* A finite number beyond the type's is the greatest of it. */
static uint64_t limit(const PtxCall *c, DType dt, uint64_t x)
{
    if (!ptx_has(c, PTXQ_SATFINITE) || !isinf(tkc_bits_to_double(dt, x))) return x;
    return x - 1;
}

static uint64_t narrow(const PtxCall *c, DType dt, double v)
{
    uint64_t x = limit(c, dt, ptx_round(dt, v, ptx_rounding(c)));
    if (ptx_has(c, PTXQ_FTZ) && dt == DT_F32) x = ptx_flush(dt, x);
    return ptx_clamp(c, dt, x);
}

/* What a NaN becomes. Between a float and itself, and of bf16 in fp32, it is moved as bits are; to
   and from fp64 its sign and significand are kept; elsewhere, and as fp32 under .ftz, it is the
   type's one NaN. */
static uint64_t converted_nan(const PtxCall *c)
{
    const DType from = c->second->dtype, to = c->type->dtype;
    const bool ftz = ptx_has(c, PTXQ_FTZ), wide = from == DT_F64 || to == DT_F64;
    const bool integral = ptx_has(c, PTXQ_RNI) || ptx_has(c, PTXQ_RZI) || ptx_has(c, PTXQ_RMI) ||
                          ptx_has(c, PTXQ_RPI);
    if (from == to && tkc_dtype_info(to)->bits > 16 && !integral && !ftz) return c->a[0];
    if (from == DT_BF16 && to == DT_F32 && !ftz) return c->a[0] << 16;
    if (wide) return ptx_kept_nan(from, to, ftz && from == DT_F32 ? ptx_nan(from) : c->a[0]);
    return ptx_nan(to);
}

void ptx_cvt_float(PtxCall *c)
{
    const DType dt = c->type->dtype;
    if (ptx_is_nan(c->second->dtype, c->a[0])) c->d[0] = ptx_clamp(c, dt, converted_nan(c));
    else c->d[0] = narrow(c, dt, to_integral(c, source_number(c)));
}

/* The first operand above the second. */
void ptx_cvt_pair(PtxCall *c)
{
    const DType dt = c->type->dtype;
    const int bits = tkc_dtype_info(dt)->bits;
    c->d[0] = narrow(c, dt, tkc_bits_to_double(DT_F32, c->a[0])) << bits |
              narrow(c, dt, tkc_bits_to_double(DT_F32, c->a[1]));
}

void ptx_cvt_lanes(PtxCall *c)
{
    const DType from = c->second->dtype, to = c->type->dtype;
    const int from_bits = tkc_dtype_info(from)->bits, to_bits = tkc_dtype_info(to)->bits;
    c->d[0] = 0;
    for (int i = 0; i < c->type->lanes; i++) {
        uint64_t x = ptx_low(c->a[0] >> (from_bits * i), from_bits);
        c->d[0] |= narrow(c, to, tkc_bits_to_double(from, x)) << (to_bits * i);
    }
}

/* fp32 with the lower 13 bits of its significand rounded away; to nearest, ties away from zero
   (rna) or to even. rna cuts a NaN off, and its .satfinite is one step down of whatever is not
   finite; the others have one NaN. */
void ptx_cvt_tf32(PtxCall *c)
{
    const uint64_t x = c->a[0], infinity = 0x7f800000, below = 0x1fff;
    const uint64_t size = x & 0x7fffffff, sign = x & 0x80000000;
    if (size > infinity && !ptx_has(c, PTXQ_RNA)) {
        c->d[0] = ptx_nan(DT_F32) & ~below;
        return;
    }
    uint64_t half = ptx_has(c, PTXQ_RNA) ? 0x1000 : 0xfff + (size >> 13 & 1);
    uint64_t r = (ptx_has(c, PTXQ_RZ) || size >= infinity ? size : size + half) & ~below;
    if (ptx_has(c, PTXQ_SATFINITE) && r >= infinity) r -= below + 1;
    c->d[0] = ptx_has(c, PTXQ_RELU) && sign ? 0 : r | sign;
}
