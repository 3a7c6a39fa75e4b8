/* Intervals of integers: what an op can give, exactly or too widely, never too narrowly. */
#pragma once

#include <stdbool.h>
#include "tkc/ir.h"

/* Wide enough for every integer type and the sum or product of two. */
typedef __int128 Wide;

typedef struct Range {
    Wide lo, hi;
} Range; /* lo <= hi */

/* Every value of an integer type (int1: 0 and 1). */
Range range_of_dtype(DType dt);
bool range_is_within(Range inner, Range outer);
static inline bool range_has(Range r, Wide v) { return r.lo <= v && v <= r.hi; }
Range range_join(Range a, Range b);

/* The mathematical result of an integer op on operands of dtype dt: it may lie outside dt where the
   op would wrap. Ops it does not know, and bounds too large to compute, give
   range_of_dtype(result). `in`: one for each operand. */
Range range_of_op(OpKind kind, DType dt, DType result, const Range *in);
/* What the values are once they are stored in dt: r itself, or all of dt when some do not fit. */
Range range_wrap(Range r, DType dt);
