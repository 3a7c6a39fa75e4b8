/* What makes a kernel slow, told to a person. */
#ifndef TKC_REMARK_H
#define TKC_REMARK_H

#include "base/diag.h"
#include "ir/ir.h"

/* Reports the kinds of remarks that dx has not off. fn is ready for code. */
void remark_func(Arena *scratch, Diags *dx, const Func *fn);

#endif
