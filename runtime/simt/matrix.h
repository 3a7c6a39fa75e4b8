/* Matrices of PTX's tensor core instructions as plain row-major arrays of double, which hold every
   element type exactly. */
#ifndef TKC_RUNTIME_SIMT_MATRIX_H
#define TKC_RUNTIME_SIMT_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIMT_LANES = 32 };

typedef enum MatrixType {
    MATRIX_NONE,
#define MATRIX_TYPE(NAME, TEXT, BITS, KIND) MATRIX_##NAME,
#include "matrix_types.def"
#undef MATRIX_TYPE
    MATRIX_TYPE_COUNT
} MatrixType;

/* What single-bit matrices are multiplied by; each product is then counted. */
typedef enum MatrixBits { MATRIX_BITS_NONE, MATRIX_BITS_XOR, MATRIX_BITS_AND } MatrixBits;

/* Of the name without its dot, `len` characters; MATRIX_NONE: no such type. */
MatrixType simt_matrix_type(const char *name, size_t len);
int simt_matrix_type_bits(MatrixType type);

/* n codes, each in the low bits of a word (above them anything), to numbers; not of f64. */
void simt_matrix_decode(MatrixType type, const uint32_t *codes, double *numbers, int n);
/* n numbers to codes of f16, f32 or s32, rounded once to nearest even; NaN is the one NaN that
   PTX's instructions give. s32 takes whole numbers and wraps, or stops at its ends. */
void simt_matrix_encode(MatrixType type, bool satfinite, const double *numbers, uint32_t *codes,
                        int n);

/* d[m][n] += a[m][k] b[k][n], in order of k, where products are not exact: each step is rounded once, as <fenv.h> has
   it. Of all other types the product is product_f64. */
void simt_matrix_multiply_f64(double *d, const double *a, const double *b, int m, int n, int k);
/* For matrices of bits: changes a, and adds to d, so that multiplying next counts the ones of
   a ^ b. */
void simt_matrix_prepare_xor(double *d, double *a, int m, int n, int k);

#endif
