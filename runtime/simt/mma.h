/* mma.sync: d = a b + c of matrices spread over the registers of one warp. */
#ifndef TKC_RUNTIME_SIMT_MMA_H
#define TKC_RUNTIME_SIMT_MMA_H

#include "simt/matrix.h"

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

#endif
