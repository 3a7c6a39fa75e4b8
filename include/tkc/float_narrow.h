/* Floats below fp32 as their codes and back, as functions that a compiler can vectorize: EXP bits of exponent, MAN of
   significand. A NaN becomes the type's one NaN, all ones but the sign, and comes back as fp32's. */
#ifndef TKC_FLOAT_NARROW_H
#define TKC_FLOAT_NARROW_H

#include "tkc/float_bits.h"

enum { BIAS32 = 127 };
/* TOP: the greatest finite number. Of a type without infinities what would be one is NaN. */
#define WIDEN(S, EXP, MAN, TOP, HAS_INFINITY)                                                      \
    static inline float f32_from_##S(uint32_t b)                                                   \
    {                                                                                              \
        enum { BIAS = (1 << (EXP - 1)) - 1 };                                                      \
        const uint32_t size = b & ((1u << (EXP + MAN)) - 1);                                       \
        const uint32_t normal = (size << (23 - MAN)) + ((uint32_t)(BIAS32 - BIAS) << 23);          \
        const float unit = f32_of((uint32_t)(BIAS32 + 1 - BIAS - MAN) << 23);                      \
        uint32_t r = size >> MAN ? normal : f32_bits((float)(int32_t)size * unit);                 \
        r = size <= TOP ? r : HAS_INFINITY && size == TOP + 1 ? 0x7f800000u : 0x7fffffffu;         \
        return f32_of(r | (size <= TOP + HAS_INFINITY ? b >> (EXP + MAN) << 31 : 0));              \
    }
WIDEN(f16, 5, 10, 0x7bff, 1)
WIDEN(e4m3, 4, 3, 0x7e, 0)
WIDEN(e5m2, 5, 2, 0x7b, 1)
#undef WIDEN
static inline float f32_from_bf16(uint32_t b)
{
    return f32_of((b & 0x7fff) > 0x7f80 ? 0x7fffffffu : b << 16);
}

/* Rounded once, to the nearest, ties to even. Normal numbers are rounded as whole numbers, a carry
   moving into the exponent by itself; to subnormal ones a power of two is added whose last place is
   their unit. W: bits of what comes in, F its float, M its significand, B its bias. */
#define NARROW(NAME, S, EXP, MAN, TOP, OVER, W, F, M, B)                                           \
    static inline uint32_t NAME(uint##W##_t x)                                                     \
    {                                                                                              \
        enum { BIAS = (1 << (EXP - 1)) - 1, DROP = M - MAN };                                      \
        const uint##W##_t infinite = (uint##W##_t)(2 * B + 1) << M;                                \
        const uint##W##_t size = x & (((uint##W##_t)1 << (W - 1)) - 1);                            \
        const uint##W##_t magic = (uint##W##_t)(B + 1 - BIAS - MAN + M) << M;                      \
        const uint##W##_t odd = (((uint##W##_t)1 << (DROP - 1)) - 1) + (size >> DROP & 1);         \
        const uint##W##_t normal = (size - ((uint##W##_t)(B - BIAS) << M) + odd) >> DROP;          \
        const uint##W##_t small = f##W##_bits(F##_of(size) + F##_of(magic)) - magic;               \
        uint##W##_t r = size < (uint##W##_t)(B - BIAS + 1) << M ? small : normal;                  \
        r = r > TOP ? OVER : r;                                                                    \
        const uint32_t signed_r = (uint32_t)r | (uint32_t)(x >> (W - 1)) << (EXP + MAN);           \
        return size > infinite ? (1u << (EXP + MAN)) - 1 : signed_r;                               \
    }
NARROW(f16_from32, f16, 5, 10, 0x7bff, 0x7c00, 32, f32, 23, 127)
NARROW(bf16_from32, bf16, 8, 7, 0x7f7f, 0x7f80, 32, f32, 23, 127)
NARROW(e4m3_from32, e4m3, 4, 3, 0x7e, 0x7e, 32, f32, 23, 127)
NARROW(e5m2_from32, e5m2, 5, 2, 0x7b, 0x7b, 32, f32, 23, 127)
NARROW(f16_from64, f16, 5, 10, 0x7bff, 0x7c00, 64, f64, 52, 1023)
NARROW(bf16_from64, bf16, 8, 7, 0x7f7f, 0x7f80, 64, f64, 52, 1023)
NARROW(e4m3_from64, e4m3, 4, 3, 0x7e, 0x7e, 64, f64, 52, 1023)
NARROW(e5m2_from64, e5m2, 5, 2, 0x7b, 0x7b, 64, f64, 52, 1023)
#undef NARROW

#define BITS(S)                                                                                    \
    static inline uint32_t S##_bits(float f)                                                       \
    {                                                                                              \
        return S##_from32(f32_bits(f));                                                            \
    }
BITS(f16)
BITS(bf16)
BITS(e4m3)
BITS(e5m2)
#undef BITS

#endif
