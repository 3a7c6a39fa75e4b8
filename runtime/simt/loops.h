/* Instructions on registers for all 32 lanes of a warp at once: the fast way beside the evaluators
   of one lane (ptx.h), with the same results bit for bit.

   A register is 32 lanes side by side in its own width: uint16_t[32], uint32_t[32], uint64_t[32]; a
   predicate is one uint32_t, a bit a lane. Numbers are given as such arrays too, those of 8 bits
   and fewer in 16. */
#pragma once

#include "ptx/ptx.h"

/* One destination from up to four sources. All lanes are computed, whatever they hold; a
   destination may be a source of its own width. Sources that the instruction lacks are not read. */
typedef void SimtLoop(void *d, const void *a, const void *b, const void *c, const void *e);

/* The loop for one destination of an instruction (of `mov {d0, d1}, a` and `setp p|q` there are
   two), by its evaluator, types, qualifiers and the widths of its registers. NULL: there is none,
   the evaluator is to be called for each lane. Negated predicates are the caller's to negate. */
SimtLoop *simt_loop_of(const PtxInsn *in, int dest);

/* A row of the tables of loops: one table for each kind of processor, in the same order. */
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
