/* Linear algebra over F2. A matrix is an array of columns, each a bit pattern of up to 32 rows. */
#ifndef TKC_LINEAR_F2_H
#define TKC_LINEAR_F2_H

#include <stdbool.h>
#include <stdint.h>

#define F2_MAX 64
typedef struct F2Matrix { int rows, cols; uint32_t col[F2_MAX]; } F2Matrix;

uint32_t f2_apply(const F2Matrix *m, uint64_t x);              /* XOR of the columns at the set bits of x */
void f2_compose(F2Matrix *out, const F2Matrix *a, const F2Matrix *b); /* out(x) = a(b(x)) */
int f2_rank(const F2Matrix *m);
/* Right inverse: out(y) is an x with m(x) = y, free bits 0. False when m is not surjective on its rows. */
bool f2_invert(F2Matrix *out, const F2Matrix *m);
/* Basis of the kernel into out[], returns its dimension. */
int f2_kernel(const F2Matrix *m, uint64_t *out);
/* Solves m(x) = y with free bits 0. */
bool f2_solve(const F2Matrix *m, uint32_t y, uint64_t *x);

#endif
