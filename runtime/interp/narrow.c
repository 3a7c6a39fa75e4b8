/* Floats below fp32, from and to fp32, as lanes of the emulated GPU have them but for NaNs. Results
   are those of lib/ir/evaluate.h: fp8 saturates, every NaN becomes the one positive quiet NaN; on
   its way up it keeps its sign. */
#include "interp.h"
#include "tkc/float_narrow.h"
#include "tkc/vector.h"

static inline float quiet(float x, uint32_t sign)
{
    return x != x ? f32_of(0x7fc00000u | sign << 31) : x;
}

/* S: the type's name in float_narrow.h; UP: of the code x; NOT: the code of a NaN. */
#define CONVERSIONS(S, T, UP, NOT)                                                                 \
    VECTOR static void S##_up(float *restrict out, const void *restrict from, int64_t n)           \
    {                                                                                              \
        const T *restrict in = from;                                                               \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const uint32_t x = in[i];                                                              \
            out[i] = UP;                                                                           \
        }                                                                                          \
    }                                                                                              \
    VECTOR static void S##_down(void *restrict to, const float *restrict in, int64_t n)            \
    {                                                                                              \
        T *restrict out = to;                                                                      \
        for (int64_t i = 0; i < n; i++) out[i] = (T)(in[i] != in[i] ? NOT : S##_bits(in[i]));      \
    }
CONVERSIONS(f16, uint16_t, quiet(f32_from_f16(x), x >> 15), 0x7e00)
CONVERSIONS(bf16, uint16_t, f32_of(x << 16), 0x7fc0)
CONVERSIONS(e4m3, uint8_t, quiet(f32_from_e4m3(x), x >> 7), 0x7f)
CONVERSIONS(e5m2, uint8_t, quiet(f32_from_e5m2(x), x >> 7), 0x7f)

const NarrowFloat narrow_floats[DT_COUNT] = {[DT_F16] = {f16_up, f16_down},
                                             [DT_BF16] = {bf16_up, bf16_down},
                                             [DT_F8E4] = {e4m3_up, e4m3_down},
                                             [DT_F8E5] = {e5m2_up, e5m2_down}};
