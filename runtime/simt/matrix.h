/* Matrices of PTX's tensor core instructions as plain row-major arrays of double, which hold every
   element type exactly. */
#pragma once

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

/* ---- fragments: which lane's register holds which element, as data: fragment.c ---- */

enum { FRAGMENT_MOST = 128, FRAGMENT_ELEMENT_BITS = 7 };

/* A lane holds `count` elements, the first in the lowest bits of its first register. Lane l's
   element i is at lane[l] plus element[b] for every bit b set in i, in the row-major matrix. */
typedef struct Fragment {
    MatrixType type;
    int count;
    uint16_t lane[SIMT_LANES], element[FRAGMENT_ELEMENT_BITS];
} Fragment;

/* Each bit set in the lane's number adds its step. */
void simt_fragment_set_lanes(Fragment *f, const uint16_t steps[5]);

/* The layouts that all shapes but m8n8k4 of f16 share: a of m x k and b of k x n, m 8 or 16, n 8;
   c and d of m x n, n a multiple of 8. */
Fragment simt_fragment_a(MatrixType type, int m, int k);
Fragment simt_fragment_b(MatrixType type, int k, int n);
Fragment simt_fragment_c(MatrixType type, int m, int n);

/* The registers of a lane: of 32 bits, of 64 for f64. */
int simt_fragment_registers(const Fragment *f);
/* Between [registers][32 lanes] of uint32_t (uint64_t for f64) and a matrix. */
void simt_fragment_load(const Fragment *f, const void *registers, double *matrix);
void simt_fragment_store(const Fragment *f, bool satfinite, const double *matrix, void *registers);

/* ---- mma.sync: d = a b + c of matrices spread over the registers of one warp: mma.c ---- */

typedef enum MmaRound { MMA_NEAREST, MMA_TO_ZERO, MMA_DOWN, MMA_UP } MmaRound;

/* What the instruction says of itself. */
typedef struct MmaSpec {
    int m, n, k;
    MatrixType d, a, b, c;
    bool a_column, b_row; /* .col of a, .row of b; the usual .row.col is false, false */
    bool satfinite;
    MatrixBits bits;
    MmaRound round; /* of f64 */
} MmaSpec;

typedef struct MmaForm {
    MmaSpec spec;
    int least_chip;      /* 80: sm_80 */
    int products;        /* separate ones, stacked: 4 in m8n8k4 of f16, else 1 */
    Fragment d, a, b, c; /* simt_fragment_registers() of each: the operand's registers */
} MmaForm;

/* False: PTX has no such instruction, *form is unchanged. */
bool simt_mma_form(MmaForm *form, const MmaSpec *spec);
/* Operands are [registers][32 lanes] of uint32_t, of uint64_t for f64; d may be c. */
void simt_mma(const MmaForm *form, void *d, const void *a, const void *b, const void *c);

/* ---- ldmatrix, stmatrix: 8 x 8 matrices of 16-bit elements, rows in memory or registers ---- */

enum { LDMATRIX_MOST = 4, LDMATRIX_ROWS = 8, LDMATRIX_ROW_BYTES = 16 };

/* `count` 1, 2 or 4 (.x1 .x2 .x4); rows[8 i + r]: the 16 bytes that are row r of matrix i, whose
   address lane 8 i + r gave. Registers are [count][32 lanes]. */
void simt_move_matrices(uint32_t *registers, uint8_t *const *rows, int count, bool transposed,
                        bool to_rows);
