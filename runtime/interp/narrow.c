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
enum { BF16_NAN = 0x7fc0 };

static inline float power_of_two(int k)
{
    return f32_of((uint32_t)(k + 127) << 23);
}

static inline float widen(const Narrow *f, uint32_t code)
{
    uint32_t magnitude = code & ((1u << (f->bits - 1)) - 1), sign = (code >> (f->bits - 1)) << 31;
    uint32_t bits =
        f32_bits(f32_of(magnitude << (23 - f->man)) * power_of_two(127 - f->bias));
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

#define CONVERSIONS(NAME, T)                                                                       \
    VECTOR static void NAME##_up(float *restrict out, const T *restrict in, int64_t n)             \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) out[i] = widen(&NAME, in[i]);                              \
    }                                                                                              \
    VECTOR static void NAME##_down(T *restrict out, const float *restrict in, int64_t n)           \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) out[i] = (T)shorten(&NAME, in[i]);                         \
    }
CONVERSIONS(f16, uint16_t)
CONVERSIONS(f8e4, uint8_t)
CONVERSIONS(f8e5, uint8_t)

/* bf16 is fp32's upper half: nothing to scale, and its subnormal numbers round like the others. */
VECTOR static void bf16_up(float *restrict out, const uint16_t *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = f32_of((uint32_t)in[i] << 16);
}

VECTOR static void bf16_down(uint16_t *restrict out, const float *restrict in, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t b = f32_bits(in[i]), r = (b + 0x7fff + ((b >> 16) & 1)) >> 16;
        out[i] = (uint16_t)((b & 0x7fffffffu) > 0x7f800000u ? BF16_NAN : r);
    }
}

bool dtype_is_narrow(DType dt)
{
    return dt == DT_F16 || dt == DT_BF16 || dt == DT_F8E4 || dt == DT_F8E5;
}

void narrow_to_f32(DType dt, float *out, const void *in, int64_t n)
{
    switch (dt) {
    case DT_F16: f16_up(out, in, n); break;
    case DT_BF16: bf16_up(out, in, n); break;
    case DT_F8E4: f8e4_up(out, in, n); break;
    default: f8e5_up(out, in, n); break;
    }
}

void narrow_from_f32(DType dt, void *out, const float *in, int64_t n)
{
    switch (dt) {
    case DT_F16: f16_down(out, in, n); break;
    case DT_BF16: bf16_down(out, in, n); break;
    case DT_F8E4: f8e4_down(out, in, n); break;
    default: f8e5_down(out, in, n); break;
    }
}
