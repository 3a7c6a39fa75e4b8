/* Floats below fp32, from and to fp32, by operations the compiler vectorizes: no tables, no
   branches.

   Up: exponent and mantissa, moved into fp32's places, are a float too small by the difference of
   the biases; one exact product puts that right, for subnormal numbers as well. Down, to nearest
   even: normal numbers by adding half of what is cut off to the bits; subnormal ones by adding a
   float whose last place is the narrow type's, so that the hardware rounds. Results are those of
   lib/ir/evaluate.h: fp8 saturates, every NaN becomes the one positive quiet NaN. */
#include "interp.h"
#include "math.h"
#include "vector.h"

/* A format: most is the largest finite code; over, what a number past it becomes; infinity, the
   code that means it (f8e4 has none: no code is 0xff without its sign). */
typedef struct Narrow {
    int bits, man, bias;
    uint32_t most, over, infinity, nan;
} Narrow;

static const Narrow f16 = {16, 10, 15, 0x7bff, 0x7c00, 0x7c00, 0x7e00};
static const Narrow f8e4 = {8, 3, 7, 0x7e, 0x7e, 0xff, 0x7f},
                    f8e5 = {8, 2, 15, 0x7b, 0x7b, 0x7c, 0x7f};
static const Narrow bf16 = {.bits = 16, .man = 7, .bias = 127, .nan = 0x7fc0};

static inline float power_of_two(int k)
{
    return f32_of((uint32_t)(k + 127) << 23);
}

static inline float widen(const Narrow *f, uint32_t code)
{
    uint32_t magnitude = code & ((1u << (f->bits - 1)) - 1), sign = (code >> (f->bits - 1)) << 31;
    uint32_t bits = f32_bits(f32_of(magnitude << (23 - f->man)) * power_of_two(127 - f->bias));
    bits = magnitude > f->most ? (magnitude == f->infinity ? 0x7f800000u : 0x7fc00000u) : bits;
    return f32_of(bits | sign);
}

static inline uint32_t shorten(const Narrow *f, float x)
{
    uint32_t b = f32_bits(x), a = b & 0x7fffffffu, sign = b >> 31 << (f->bits - 1);
    int shift = 23 - f->man;
    uint32_t normal = ((a + ((1u << (shift - 1)) - 1) + ((a >> shift) & 1)) >> shift) -
                      ((uint32_t)(127 - f->bias) << f->man);
    float last_place = power_of_two(24 - f->bias - f->man);
    uint32_t subnormal = f32_bits(f32_of(a) + last_place) - f32_bits(last_place);
    uint32_t r = a < (uint32_t)(128 - f->bias) << 23 ? subnormal : normal;
    r = r > f->most ? f->over : r;
    return a > 0x7f800000u ? f->nan : r | sign;
}

#define CONVERSIONS(NAME, T, WIDEN, SHORTEN)                                                       \
    VECTOR static void NAME##_up(float *restrict out, const void *restrict from, int64_t n)        \
    {                                                                                              \
        const T *restrict in = from;                                                               \
        for (int64_t i = 0; i < n; i++) out[i] = WIDEN(&NAME, in[i]);                              \
    }                                                                                              \
    VECTOR static void NAME##_down(void *restrict to, const float *restrict in, int64_t n)         \
    {                                                                                              \
        T *restrict out = to;                                                                      \
        for (int64_t i = 0; i < n; i++) out[i] = (T)SHORTEN(&NAME, in[i]);                         \
    }
CONVERSIONS(f16, uint16_t, widen, shorten)
CONVERSIONS(f8e4, uint8_t, widen, shorten)
CONVERSIONS(f8e5, uint8_t, widen, shorten)

/* bf16 is fp32's upper half: nothing to scale, and its subnormal numbers round like the others. */
static inline float widen_half(const Narrow *f, uint32_t code)
{
    (void)f;
    return f32_of(code << 16);
}

static inline uint32_t shorten_half(const Narrow *f, float x)
{
    uint32_t b = f32_bits(x), r = (b + 0x7fff + ((b >> 16) & 1)) >> 16;
    return (b & 0x7fffffffu) > 0x7f800000u ? f->nan : r;
}
CONVERSIONS(bf16, uint16_t, widen_half, shorten_half)

static const struct {
    void (*up)(float *restrict out, const void *restrict from, int64_t n);
    void (*down)(void *restrict to, const float *restrict in, int64_t n);
} conversions[DT_COUNT] = {[DT_F16] = {f16_up, f16_down},
                           [DT_BF16] = {bf16_up, bf16_down},
                           [DT_F8E4] = {f8e4_up, f8e4_down},
                           [DT_F8E5] = {f8e5_up, f8e5_down}};

bool dtype_is_narrow(DType dt)
{
    return conversions[dt].up;
}

void narrow_to_f32(DType dt, float *out, const void *in, int64_t n)
{
    conversions[dt].up(out, in, n);
}

void narrow_from_f32(DType dt, void *out, const float *in, int64_t n)
{
    conversions[dt].down(out, in, n);
}
