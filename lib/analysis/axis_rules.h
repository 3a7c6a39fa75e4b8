/* What each op does to axis facts; axis.c drives it. */
#pragma once

#include "analysis/axis.h"
#include "analysis/range.h"

#define AXIS_MAX_DIVISOR ((int64_t)1 << 62) /* what divides 0 */

static inline int64_t min_of(int64_t x, int64_t y) { return x < y ? x : y; }
static inline int64_t max_of(int64_t x, int64_t y) { return x > y ? x : y; }

/* ---- parts of facts, by the type of the value ---- */
int axis_dims(const Type *ty); /* how many entries of the arrays count: the rank, 1 for a scalar */
int64_t axis_extent(const Type *ty, int dim);                        /* padded; 1 for a scalar */
Range axis_range(const AxisFact *f, const Type *ty, bool all_lanes); /* of an integer */
void axis_set_range(AxisFact *f, Range r, bool all_lanes);
/* What divides the first of every group of c neighbours; c may be less than the contiguity, or
   more. */
int64_t axis_divisor(const AxisFact *f, const Type *ty, int dim, int64_t c);

/* ---- whole facts ---- */
AxisFact axis_unknown(const Type *ty); /* only the bounds of the type */
/* What follows from the facts as they are: constants by bounds, divisors shared between dims. Last
   step of each rule. */
void axis_settle(AxisFact *f, const Type *ty);
/* Only what holds of both. */
AxisFact axis_join(const AxisFact *a, const AxisFact *b, const Type *ty);

/* ---- rules ---- */
/* What a rule sees. x and y are the facts of the first two operands, where there are such. */
typedef struct AxisSite {
    const AxisFacts *facts;
    const Op *op;
    const Type *type; /* of the result */
    const AxisFact *x, *y;
    const Type *tx, *ty;
} AxisSite;
/* Fills what it knows into `out`, which comes with axis_unknown(type). */
typedef void (*AxisRule)(const AxisSite *s, AxisFact *out);

/* The facts of a result of an op other than for, while, if, by those of its operands. */
AxisFact axis_of_result(const AxisFacts *facts, const Op *op, int result);
/* What all operands have in common as elementwise ops see it: constancy. */
void axis_rule_elementwise(const AxisSite *s, AxisFact *out);
/* Rules of ops that make, move or combine elements (axis_shape.c); NULL for others. */
AxisRule axis_shape_rule(OpKind kind);
