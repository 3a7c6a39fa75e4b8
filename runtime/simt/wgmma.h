/* wgmma.mma_async: d = a b (+ d) of four warps, 16 rows of d and a each, b from shared memory. */
#pragma once

#include "simt/matrix.h"

/* ---- a matrix operand in shared memory, as 64-bit descriptors describe it: shared_matrix.c ---- */

/* Byte distances; what `leading` and `stride` separate depends on the layout: shared_matrix.c. */
typedef struct SharedMatrix {
    uint32_t start, leading, stride;
    int span;      /* of the swizzle in bytes: 32, 64, 128; 0: none */
    int phase;     /* rows of 128 bytes before the swizzle's pattern begins: the base offset */
    bool mn_major; /* neighbours along m (or n) are neighbours in memory, not those along k */
} SharedMatrix;

SharedMatrix simt_shared_matrix(uint64_t descriptor, bool mn_major);

/* Shared memory and who is told of each read; read may be NULL. */
typedef struct SharedBytes {
    const uint8_t *bytes;
    size_t size;
    void (*read)(void *user, uint32_t at, uint32_t size);
    void *user;
} SharedBytes;

/* The eight rows 8 group … 8 group + 7 of a, or columns of b, each 256 bits along k: the element of
   row r and place l along k goes to out[r * row_step + l * k_step]. False: the 16 bytes at *fault
   are not in shared memory. mn_major is for elements of 16 bits. */
bool simt_shared_matrix_load(const SharedMatrix *m, const SharedBytes *shared, MatrixType type,
                             int group, double *out, int row_step, int k_step, uint32_t *fault);

/* ---- the instruction ---- */

enum { WGMMA_WARPS = 4, WGMMA_A_REGISTERS = 4 };

/* What the instruction says of itself; m is 64. */
typedef struct WgmmaSpec {
    int n, k;
    MatrixType d, a, b;
    bool satfinite;
    MatrixBits bits;
    bool a_in_registers;
    bool a_transposed, b_transposed; /* imm-trans-a, -b of 1: mn-major */
    bool a_negated, b_negated;       /* imm-scale-a, -b of -1 */
} WgmmaSpec;

typedef struct WgmmaForm {
    WgmmaSpec spec;
    int d_registers;
    Fragment a, d; /* of 16 x k; of 16 x 8 */
} WgmmaForm;

/* One warp's part. */
typedef struct WgmmaCall {
    int warp;                    /* in the warp group */
    bool accumulate;             /* scale-d; false: what d holds is not read */
    uint64_t a, b;               /* descriptors */
    const uint32_t *a_registers; /* [WGMMA_A_REGISTERS][32 lanes], where a is in registers */
    uint32_t *d;                 /* [d_registers][32 lanes] */
    SharedBytes shared;
} WgmmaCall;

/* Where a descriptor led out of shared memory: 'a' or 'b', the first of 16 bytes. */
typedef struct WgmmaFault {
    char operand;
    uint32_t address;
} WgmmaFault;

/* False: PTX has no such instruction, *form is unchanged. */
bool simt_wgmma_form(WgmmaForm *form, const WgmmaSpec *spec);
/* False: *fault says why; d then holds what it did before, or results, or some of each. */
bool simt_wgmma(const WgmmaForm *form, const WgmmaCall *call, WgmmaFault *fault);
