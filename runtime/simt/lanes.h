/* What one lane computes, as functions that a compiler can vectorize: no branches, no calls where a
   processor has an instruction, nothing undefined for any bits. Floats travel as bits; a NaN that
   an instruction makes is the type's one NaN, or an operand's of fp64. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "ptx/bits.h"
#include "tkc/float_narrow.h"

/* ---- integers ---- */

static inline u64 high64(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }
static inline u64 high64s(s64 x, s64 y) { return (u64)((__int128)x * y >> 64); }

/* Quotients of 32 bits are exact in fp64: the nearest whole number below is further away than its
   rounding. Of a division by zero PTX leaves the result open; GPUs give all ones. */
static inline u32 quotient(u32 x, u32 y)
{
    double q = trunc((double)x / (double)(y ? y : 1));
    return y ? (u32)(s32)(q - 2147483648.0) ^ 0x80000000u : ~0u;
}
static inline u32 quotient_signed(s32 x, s32 y)
{
    const s32 by = y == 0 || y == -1 ? 1 : y;
    s32 q = (s32)((double)x / (double)by);
    return y == 0 ? ~0u : y == -1 ? 0 - (u32)x : (u32)q;
}
static inline u64 quotient64s(s64 x, s64 y)
{
    const s64 by = y == 0 || y == -1 ? 1 : y;
    return y == 0 ? ~UINT64_C(0) : y == -1 ? 0 - (u64)x : (u64)(x / by);
}

/* ---- fp32 and fp64 ---- */

static inline u32 bits32(float f) { return f != f ? 0x7fffffffu : f32_bits(f); }
static inline u64 bits64(double f) { return f != f ? UINT64_C(0xfff8) << 48 : f64_bits(f); }

static inline u64 quiet64(u64 x) { return x | UINT64_C(1) << 51; }

/* The lesser and the greater of two floats of W bits: as numbers of sign and size they are in
   order, -0 below +0. A NaN gives way, or wins. And a float's negative and size; NAN: what a NaN
   becomes. */
#define EXTREMA(S, W, INFINITE)                                                                    \
    static inline bool is_nan_##S(u##W x)                                                          \
    {                                                                                              \
        return (x & (u##W)(((u##W)1 << (W - 1)) - 1)) > INFINITE;                                  \
    }                                                                                              \
    static inline bool is_less_##S(u##W x, u##W y)                                                 \
    {                                                                                              \
        const u##W size = (u##W)(((u##W)1 << (W - 1)) - 1);                                        \
        const s##W a = (s##W)(x ^ ((s##W)x < 0 ? size : 0));                                       \
        const s##W b = (s##W)(y ^ ((s##W)y < 0 ? size : 0));                                       \
        return a < b;                                                                              \
    }                                                                                              \
    static inline u##W extremum_##S(u##W x, u##W y, bool least, bool nan_wins)                     \
    {                                                                                              \
        const bool nx = is_nan_##S(x), ny = is_nan_##S(y);                                         \
        const bool first = ny || (!nx && is_less_##S(x, y) == least);                              \
        const bool none = nan_wins ? nx || ny : nx && ny;                                          \
        return none ? NAN_##S(y) : first ? x : y;                                                  \
    }                                                                                              \
    static inline u##W negated_##S(u##W x)                                                         \
    {                                                                                              \
        return is_nan_##S(x) ? NAN_##S(x) : (u##W)(x ^ (u##W)1 << (W - 1));                        \
    }                                                                                              \
    static inline u##W size_##S(u##W x)                                                            \
    {                                                                                              \
        return is_nan_##S(x) ? NAN_##S(x) : (u##W)(x & (u##W)(((u##W)1 << (W - 1)) - 1));          \
    }
#define NAN_f32(x) 0x7fffffffu
#define NAN_f16(x) 0x7fff
#define NAN_bf16(x) 0x7fff
#define NAN_f64(x) quiet64(x)
EXTREMA(f32, 32, 0x7f800000u)
EXTREMA(f64, 64, UINT64_C(0x7ff) << 52)
EXTREMA(f16, 16, 0x7c00)
EXTREMA(bf16, 16, 0x7f80)
#undef EXTREMA

/* fp64: an operation's result f, or a NaN among its operands, in the order given, made quiet. */
static inline u64 result64(double f, u64 x, u64 y, u64 z)
{
    const u64 last = is_nan_f64(z) ? quiet64(z) : bits64(f);
    return is_nan_f64(x) ? quiet64(x) : is_nan_f64(y) ? quiet64(y) : last;
}

/* .ftz and .sat, of operands and of results. */
static inline u32 flush32(u32 b) { return b & 0x7f800000u ? b : b & 0x80000000u; }
static inline u32 clamp32(u32 b)
{
    const float v = f32_of(b);
    return v > 1.0f ? 0x3f800000u : v > 0.0f ? b : 0;
}
static inline float f32_flushed(u32 b) { return f32_of(flush32(b)); }
static inline u32 bits32_ftz(float f) { return flush32(bits32(f)); }
static inline u32 bits32_sat(float f) { return clamp32(bits32(f)); }
static inline u32 bits32_ftz_sat(float f) { return clamp32(bits32_ftz(f)); }

/* div.approx has no answer for a divisor above 2^126: 0, or NaN under an infinity. */
static inline float quotient_approx(float x, float y)
{
    const float size = fabsf(y), zero = copysignf(0.0f, y) * copysignf(1.0f, x);
    const bool beyond = size > 0x1p126f && size < INFINITY && x == x;
    return !beyond ? x / y : fabsf(x) == INFINITY ? NAN : zero;
}
/* With .ftz, what is below the least normal number is flushed before it is rounded. */
static inline float reciprocal_ftz(float x)
{
    return fabsf(x) > 0x1p126f ? copysignf(0.0f, x) : 1 / x;
}
static inline float reciprocal_root(float x) { return (float)(1 / sqrt((double)x)); }

/* To fp64 and from it a NaN keeps its sign and the upper bits of its significand, quiet. */
static inline u64 f64_from32(u32 x)
{
    const u64 nan = (u64)(x >> 31) << 63 | UINT64_C(0x7ff8) << 48 | (u64)(x & 0x7fffff) << 29;
    return is_nan_f32(x) ? nan : f64_bits((double)f32_of(x));
}
/* The same NaN in 16 or 32 bits, M of them the significand's. */
static inline u32 nan_from64(u64 x, int bits, int m)
{
    const u32 size = (u32)((UINT64_C(1) << (bits - 1)) - (UINT64_C(1) << (m - 1)));
    return (u32)(x >> 63) << (bits - 1) | size | (u32)((x << 12) >> (64 - m));
}
static inline u32 f32_kept64(u64 x)
{
    return is_nan_f64(x) ? nan_from64(x, 32, 23) : f32_bits((float)f64_of(x));
}
static inline u32 f16_kept64(u64 x)
{
    return is_nan_f64(x) ? nan_from64(x, 16, 10) : f16_from64(x);
}
static inline u32 bf16_kept64(u64 x)
{
    return is_nan_f64(x) ? nan_from64(x, 16, 7) : bf16_from64(x);
}

/* fp32 with the lower 13 bits of its significand rounded away. */
static inline u32 tf32_bits(u32 x, bool ties_away)
{
    const u32 infinite = 0x7f800000u, size = x & 0x7fffffffu;
    const u32 half = ties_away ? 0x1000 : 0xfff + (size >> 13 & 1);
    const u32 r = (size + half) & ~0x1fffu, nan = ties_away ? x & ~0x1fffu : 0x7fffe000u;
    return size > infinite ? nan : r | (x & 0x80000000u);
}

/* ---- floats to integers ---- */

/* Beyond the ends the nearest end; NaN is 0 or, with 64 bits anywhere, the top bit alone. One past
 * the greatest number of a signed type is a power of two, which floats have. */
#define TO_INT(NAME, F, T, S, LOW, PAST, LEAST, MOST, NOT)                                         \
    static inline T NAME(F v)                                                                      \
    {                                                                                              \
        const bool inside = v >= LOW && v < PAST;                                                  \
        const T r = (T)(S)(inside ? v : 0);                                                        \
        return inside ? r : v >= PAST ? (T)(MOST) : v < LOW ? (T)(LEAST) : (T)(NOT);               \
    }
TO_INT(s8_from_f32, float, s8, s32, -128.0f, 128.0f, INT8_MIN, INT8_MAX, 0)
TO_INT(u8_from_f32, float, u8, s32, 0.0f, 256.0f, 0, UINT8_MAX, 0)
TO_INT(s16_from_f32, float, s16, s32, -32768.0f, 32768.0f, INT16_MIN, INT16_MAX, 0)
TO_INT(u16_from_f32, float, u16, s32, 0.0f, 65536.0f, 0, UINT16_MAX, 0)
TO_INT(s32_from_f32, float, s32, s32, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX, 0)
TO_INT(u32_from_f32, float, u32, u32, 0.0f, 0x1p32f, 0, UINT32_MAX, 0)
TO_INT(s64_from_f32, float, s64, s64, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX, INT64_MIN)
TO_INT(u64_from_f32, float, u64, u64, 0.0f, 0x1p64f, 0, UINT64_MAX, UINT64_C(1) << 63)
TO_INT(s32_from_f64, double, s32, s32, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, INT32_MIN)
TO_INT(u32_from_f64, double, u32, u32, 0.0, 0x1p32, 0, UINT32_MAX, UINT32_C(1) << 31)
TO_INT(s64_from_f64, double, s64, s64, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN)
TO_INT(u64_from_f64, double, u64, u64, 0.0, 0x1p64, 0, UINT64_MAX, UINT64_C(1) << 63)
#undef TO_INT
