/* Floats as their bits and back, and what is rounded by them. */
#ifndef TKC_FLOAT_BITS_H
#define TKC_FLOAT_BITS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline float f32_of(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint32_t f32_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static inline double f64_of(uint64_t bits)
{
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline uint64_t f64_bits(double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* x * y + z of types whose products are exact in fp64: the sum is rounded to odd (where it is
   inexact, the neighbour with an odd significand), which rounds on to them as the exact sum does. */
static inline double fma_to_odd(double x, double y, double z)
{
    const double product = x * y, sum = product + z;
    const double back = sum - product, error = (product - (sum - back)) + (z - back);
    const uint64_t b = f64_bits(sum), away = (error > 0) == (sum > 0) ? 1 : ~UINT64_C(0);
    const bool exact = !(error > 0 || error < 0) || !(fabs(sum) < INFINITY);
    return f64_of(exact || (b & 1) ? b : b + away);
}

#endif
