/* fp32 functions that the compiler can vectorize: no calls, no branches. Bounds are measured over
   all inputs by test/unit/interp_math_test.c. Every one takes and gives NaN for NaN. */
#pragma once

#include <stdint.h>

#include "tkc/float_bits.h"

/* 2^k for k in [-252, 254], as two factors so that subnormal and huge results round and overflow by
   themselves. */
static inline float math_scale(float x, int k)
{
    int half = k >> 1;
    return x * f32_of((uint32_t)(half + 127) << 23) * f32_of((uint32_t)(k - half + 127) << 23);
}

/* e^r for |r| <= ln2 / 2 + a little: the series to degree 7. */
static inline float math_exp_core(float r)
{
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return (p * r) * r + r + 1.0f;
}

/* At most 2 ulp. x = k ln2 + r, ln2 in two parts so that k ln2 is exact enough. */
static inline float math_exp(float x)
{
    float c = x < -104.0f ? -104.0f
              : x > 89.0f ? 89.0f
                          : x; /* e^-104 is 0, e^89 is infinite; NaN passes both tests */
    float kf = (c * 1.44269504f + 12582912.0f) -
               12582912.0f; /* 1.5 * 2^23: rounds to the nearest integer */
    float r = (c - kf * 0.693359375f) - kf * -2.12194440e-4f;
    int k = (int)(c == c ? kf : 0.0f);
    return math_scale(math_exp_core(r), k);
}

/* At most 2 ulp. x = k + f, e^(f ln2). */
static inline float math_exp2(float x)
{
    float c = x < -151.0f ? -151.0f : x > 129.0f ? 129.0f : x;
    float kf = (c + 12582912.0f) - 12582912.0f;
    int k = (int)(c == c ? kf : 0.0f);
    return math_scale(math_exp_core((c - kf) * 0.693147181f), k);
}

/* log(m) for m in [sqrt(1/2), sqrt(2)]: with s = (m-1)/(m+1), 2 (s + s^3/3 + s^5/5 + …); the linear
   part is kept apart. */
static inline float math_log_core(float m)
{
    float f = m - 1.0f, s = f / (2.0f + f), z = s * s;
    float p = 2.0f / 11;
    p = p * z + 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    float h = 0.5f * f * f;
    /* log(1+f) = f - s f + s^3 (…), and s f = h - s h */
    return f - (h - s * (h + p * z));
}

/* Splits a positive number into m in [sqrt(1/2), sqrt(2)] and 2^k; subnormal ones are scaled
   first. */
static inline float math_split(float x, int *k)
{
    int low = x < 0x1p-126f;
    uint32_t b = f32_bits(low ? x * 0x1p23f : x);
    int e = (int)((b - 0x3f3504f3u) >> 23 << 23) >> 23;
    *k = e - (low ? 23 : 0);
    return f32_of(b - ((uint32_t)e << 23));
}

/* What log gives at the ends: -inf at 0, NaN below, itself at +inf and NaN. */
static inline float math_log_ends(float x, float r)
{
    float inf = f32_of(0x7f800000u);
    r = x == inf ? x : r;
    r = x == 0.0f ? -inf : r;
    return x >= 0.0f ? r : f32_of(0x7fc00000u);
}

/* At most 2 ulp. */
static inline float math_log(float x)
{
    int k;
    float m = math_split(x, &k), l = math_log_core(m);
    return math_log_ends(x, ((float)k * -2.12194440e-4f + l) + (float)k * 0.693359375f);
}

/* At most 2 ulp. log(m) / ln2 with 1/ln2 = 1 + 0.4427…: the large part is not rounded. */
static inline float math_log2(float x)
{
    int k;
    float m = math_split(x, &k), l = math_log_core(m);
    return math_log_ends(x, (l * 0.44269504f + l) + (float)k);
}
