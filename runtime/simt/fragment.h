/* Which lane's register holds which element of a matrix, as data. */
#ifndef TKC_RUNTIME_SIMT_FRAGMENT_H
#define TKC_RUNTIME_SIMT_FRAGMENT_H

#include "simt/matrix.h"

enum { FRAGMENT_LANE_BITS = 5, FRAGMENT_ELEMENT_BITS = 7 };

/* A lane holds `count` elements, the first in the lowest bits of its first register. Each set bit
   of the lane's number and of the element's adds its entry to the place in the row-major matrix. */
typedef struct Fragment {
    MatrixType type;
    int count;
    uint16_t lane[FRAGMENT_LANE_BITS], element[FRAGMENT_ELEMENT_BITS];
} Fragment;

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

#endif
