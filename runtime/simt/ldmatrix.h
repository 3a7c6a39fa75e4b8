/* ldmatrix and stmatrix: 8 x 8 matrices of 16-bit elements between rows in memory and the registers
   of a warp. */
#ifndef TKC_RUNTIME_SIMT_LDMATRIX_H
#define TKC_RUNTIME_SIMT_LDMATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum { LDMATRIX_MOST = 4, LDMATRIX_ROWS = 8, LDMATRIX_ROW_BYTES = 16 };

/* `count` 1, 2 or 4 (.x1 .x2 .x4); rows[8 i + r]: the 16 bytes that are row r of matrix i, whose
   address lane 8 i + r gave. Registers are [count][32 lanes]. */
void simt_ldmatrix(uint32_t *registers, const uint8_t *const *rows, int count, bool transposed);
void simt_stmatrix(uint8_t *const *rows, const uint32_t *registers, int count, bool transposed);

#endif
