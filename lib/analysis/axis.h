/* What is known of a value along each axis: how it runs, what divides it, where it is constant, and
   its bounds. One lattice decides the width of every access, drops masks and proves bounds (DESIGN
   D6). All counts are powers of two. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "tkc/ir.h"

typedef struct AxisFact {
    int rank; /* of the value; a scalar has rank 0 and uses index 0 of the arrays */
    /* contiguity[d] = c: in every aligned group of c neighbours along d the values are v, v+1, …,
       v+c-1 (pointers: elements). [10 11 12 13 | 20 21 22 23] has contiguity 4 */
    int64_t contiguity[TKC_MAX_RANK];
    /* divisibility[d] = k: the FIRST value of every such group is a multiple of k (pointers: of k
       bytes). [8 9 10 11 | 16 17 18 19] has divisibility 8, contiguity 4 */
    int64_t divisibility[TKC_MAX_RANK];
    /* constancy[d] = c: in every aligned group of c neighbours along d the values are equal. */
    int64_t constancy[TKC_MAX_RANK];
    int64_t lo, hi; /* integers: bounds that hold on every valid lane (idx_d < extent_d);
                       INT64_MIN/MAX: unknown */
    int64_t lo_all,
        hi_all;   /* bounds that hold on every lane, padding too: only these may be told to LLVM */
} AxisFact;

typedef enum AxisTrust {
    AXIS_PROVED,
    /* The facts by which accesses to memory are made. An address that is made of x % n is taken for
       one whose x is not negative, unless its bounds say otherwise: whoever indexes so has x from
       program numbers, of which little can be proved. */
    AXIS_OF_ACCESSES,
    /* To choose among ways that are all right: what would be if 16 divided every parameter, what is
       divided were not negative, and no sum wrapped. */
    AXIS_GUESSED,
} AxisTrust;
/* What would be known if more were of a parameter. */
typedef struct AxisGiven {
    int64_t divisibility; /* 0: what the parameter itself says */
    bool is_one;
} AxisGiven;
/* Facts of all values of one function, by value id. Valid until the function changes. */
typedef struct AxisFacts AxisFacts;
/* given: NULL, or one row for each parameter. */
AxisFacts *axis_analyze(Arena *a, const Func *fn, AxisTrust trust, const AxisGiven *given);
AxisTrust axis_trust(const AxisFacts *facts);
/* Never NULL; nothing known: all ones and unbounded. A fact pointer stays valid as long as the
   AxisFacts. */
const AxisFact *axis_of(const AxisFacts *facts, const Value *v);

/* How many neighbouring elements along the fastest axis of a block of pointers one access may
   cover, by contiguity and alignment, at most max_bytes; 1 when nothing is known. */
int axis_vector_width(const AxisFacts *facts, const Value *ptr, int dim, int max_bytes);
/* Neighbours along dim, in aligned groups, for which v, a mask as a rule, is one value. Of none
   (NULL) and of a scalar there is no limit: INT64_MAX. */
int64_t axis_constancy(const AxisFacts *facts, const Value *v, int dim);
/* In aligned groups of n neighbours along dim the mask is true up to some element, and false behind it. */
bool axis_is_prefix(const AxisFacts *facts, const Value *mask, int dim, int64_t n);
/* Of an integer division: neighbours along dim, in aligned groups, that count up from a multiple of
   their number, which divides their one divisor. */
int64_t axis_group_of_division(const AxisFacts *facts, const Op *op, int dim);
/* 1: true on every valid lane; 0: false on every valid lane; -1: unknown. */
int axis_truth(const AxisFacts *facts, const Value *cond);

/* For -emit=facts: the function with each value's facts as a note, what is not known left out:
   `// contiguity [1, 64], divisibility [16, 16], constancy [1, 1], range 0..63`; `all` gives bounds
   of all lanes that differ. */
void axis_print(Buf *out, const Func *fn);
