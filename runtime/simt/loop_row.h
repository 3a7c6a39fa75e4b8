/* A row of the tables of loops: one table for each kind of processor, in the same order. */
#ifndef TKC_SIMT_LOOP_ROW_H
#define TKC_SIMT_LOOP_ROW_H

#include "loops.h"

typedef struct LoopRow {
    PtxEval *eval;
    uint64_t qualifiers;
    const char *types, *second;     /* names, apart by blanks; second "": there is none */
    uint8_t dest, ndests, nsources; /* which destination of how many; of 0, any number */
    uint8_t widths[1 + 4];          /* of the registers: the destination's, the sources' */
    SimtLoop *loop;
} LoopRow;

/* Ended by a row without an evaluator. */
extern const LoopRow simt_loops_any[];  /* for every processor */
extern const LoopRow simt_loops_wide[]; /* for those of x86-64-v3; empty elsewhere */

#endif
