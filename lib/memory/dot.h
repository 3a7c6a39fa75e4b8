/* Products that threads sum for themselves. */
#ifndef TKC_MEMORY_DOT_H
#define TKC_MEMORY_DOT_H

#include "ir/ir.h"

/* Takes a dot apart whose operands are too large for registers; leaves others as they are. */
void memory_dot(Func *fn, Op *op);

#endif
