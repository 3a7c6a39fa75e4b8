/* Along which dim of a block of pointers neighbours lie nearest in memory. */
#pragma once

#include "analysis/axis.h"

typedef struct Near {
    Arena *arena;
    const Func *fn;
    const AxisFacts *facts;
    const AxisFacts *guessed; /* NULL: not asked for yet */
} Near;

/* The dims, nearest first: by falling contiguity; where nothing runs, by what would if sizes that
   are not known were round; then by what divides the steps, which are the shorter the less does;
   among equals the last dim first. Dims of extent 1 come last. True: along the first, neighbours
   run, or would. */
bool near_order(Near *n, const Value *ptr, int order[TKC_MAX_RANK]);

/* What divides the steps of v, a block of integers or pointers, along dim d, in elements; INT64_MAX
   where it stays. */
int64_t near_step(const Near *n, const Value *v, int d);
