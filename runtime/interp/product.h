/* c[m][n] += a[m][k] b[k][n]: every element's sum is in order of k, a product is rounded before it is added. */
#pragma once

#include <stdint.h>

void product_f32(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k);
void product_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k);
void product_u32(uint32_t *c, const uint32_t *a, const uint32_t *b, int64_t m, int64_t n, int64_t k); /* int32 wraps */
