/* Which lane's register holds which element of a matrix, as data. */
#ifndef TKC_RUNTIME_SIMT_FRAGMENT_H
#define TKC_RUNTIME_SIMT_FRAGMENT_H

#include "simt/matrix.h"

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

/* ---- ldmatrix, stmatrix: 8 x 8 matrices of 16-bit elements, rows in memory or registers ---- */

enum { LDMATRIX_MOST = 4, LDMATRIX_ROWS = 8, LDMATRIX_ROW_BYTES = 16 };

/* `count` 1, 2 or 4 (.x1 .x2 .x4); rows[8 i + r]: the 16 bytes that are row r of matrix i, whose
   address lane 8 i + r gave. Registers are [count][32 lanes]. */
void simt_ldmatrix(uint32_t *registers, const uint8_t *const *rows, int count, bool transposed);
void simt_stmatrix(uint8_t *const *rows, const uint32_t *registers, int count, bool transposed);

#endif
