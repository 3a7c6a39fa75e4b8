/* Shapes: which are legal, which combine. */
#pragma once

#include "spec/spec.h"

Shape shape_of(const Type *t);
bool shape_is_equal(const Shape *a, const Shape *b);
int64_t shape_count(const Shape *s);
/* The type of a block of that shape; of rank 0, elem. */
const Type *shape_type(Spec *sp, const Type *elem, const Shape *s);
/* v's elements in that shape, which a scalar fills. */
Value *shape_fill(Spec *sp, Value *v, const Shape *s);
/* What a join gave, without its dimension of 2: the elements of both by turns. */
Value *shape_zip(Spec *sp, Value *v);
/* "[128, 64]", in the arena. */
const char *shape_text(Spec *sp, const Shape *s);
/* A block of this shape can exist: rank, extents and padded size are in bounds. Reports otherwise.
 */
bool shape_check(Spec *sp, const Shape *s, Span at);

/* The shape two operands share; ranks are made equal with leading extents of 1. False when they do
   not combine. */
bool broadcast_shapes(const Shape *a, const Shape *b, Shape *out);
/* v in that shape (rank 0: v itself must be a scalar). NULL after an error naming both shapes. */
Value *broadcast_value(Spec *sp, Value *v, const Shape *to, Span at);
/* Both in one shape. False after an error with a suggestion where a [:, None] would mend it. */
bool broadcast_pair(Spec *sp, Value **x, Value **y, Span at);
