/* The regions of reductions and scans. */
#ifndef TKC_SPEC_COMBINE_H
#define TKC_SPEC_COMBINE_H

#include "spec/builtin.h"

enum { COMBINE_MAX = 16 }; /* operands of one reduction */

/* Parameter i as blocks of one shape: one, or a tuple of them. Their count, or -1 after an error.
 */
int combine_operands(Spec *sp, const Call *c, int i, Value **xs);

/* Fills the region of a reduce or scan just built, with its terminator. */
void combine_by_op(Spec *sp, Op *op, OpKind kind);
/* Operands value and index: the larger (smaller) value, of equals the smaller index; NaN loses. */
void combine_by_order(Spec *sp, Op *op, bool max);
/* A function of 2n scalars with n results. False after an error; the op is then removed. */
bool combine_by_function(Spec *sp, Op *op, SpecValue fn, Span at);

/* int32 positions along the axis, in x's shape. */
Value *combine_index_along(Spec *sp, const Value *x, int axis);
/* What a sum of that type is computed in. */
DType combine_sum_dtype(DType dt);

#endif
