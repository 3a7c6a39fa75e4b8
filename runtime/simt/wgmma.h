/* wgmma.mma_async: d = a b (+ d) of four warps, 16 rows of d and a each, b from shared memory. */
#ifndef TKC_RUNTIME_SIMT_WGMMA_H
#define TKC_RUNTIME_SIMT_WGMMA_H

#include "simt/fragment.h"
#include "simt/shared_matrix.h"

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

#endif
