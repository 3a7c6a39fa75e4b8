/* How the layouts of an op's operands and results hang together. */
#pragma once

#include <stdbool.h>
#include "ir/ir.h"

/* Of elementwise ops all blocks have one layout. */

/* The layout operand i must have when the results have layout `result`; NULL when that does not
   follow (any will do, or the op chooses). Memory ops, reductions and control flow are not
   asked. */
const Layout *propagate_operand(LayoutTable *t, const Op *op, int i, const Layout *result);
/* The layout of the results when operand 0 has layout `operand`; NULL when that does not follow. */
const Layout *propagate_result(LayoutTable *t, const Op *op, const Layout *operand);
/* A short line that every warp has as a whole, where there are several; NULL: `like` is none. */
const Layout *propagate_to_each_warp(LayoutTable *t, const Layout *like);
