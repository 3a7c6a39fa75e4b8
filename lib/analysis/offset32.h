/* Warnings about offsets that do not reach the end of the array they are for. */
#ifndef TKC_ANALYSIS_OFFSET32_H
#define TKC_ANALYSIS_OFFSET32_H

#include "base/diag.h"
#include "tkc/ir.h"

/* Of IR as specialization makes it: an index times the stride of a declared dimension, in 32 bits or
   fewer, where the last index of that dimension gives more than the type holds. Silent where an
   extent is not known while compiling, or where the index is proved to stay small. */
void offset32_check(Diags *dx, const Func *fn);

#endif
