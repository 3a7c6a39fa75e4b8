/* Ops that move elements and compute nothing: which element of the operand each one of the result
   is, from which all else follows (tkc_moved_dim). Indices are those of the padded shapes
   (linear/layout.h). */
#pragma once

#include <stdbool.h>
#include "linear/layout.h"
#include "tkc/ir.h"

/* The rank and extents of the results of expand_dims, trans, join, split, cat and gather, and of
   what reductions and scans leave of an axis; -1 when `slots` are no bits of it. */
int shape_of_result(const Op *op, int32_t *shape);
/* The index in the operand (layout `from`) of element `index` of the result (layout `to`), of
   expand_dims, broadcast, trans, a free reshape, join (in operand `index & 1`) and split (of its
   first result; the second's is 1 more). Linear over F2, so it maps basis vectors, too. */
uint32_t shape_source(const Op *op, const Layout *from, const Layout *to, uint32_t index);
/* The layout of the result when an operand has layout l, or, `back`, that of operands when results
   have it; NULL when that does not follow. */
const Layout *shape_layout(LayoutTable *t, const Op *op, const Layout *l, bool back);
/* True when a reshape moves nothing: in every merged or split group of dims all but the outermost
   are powers of two (on both sides), so the padded indices agree. */
bool shape_reshape_is_free(const Type *from, const Type *to);
