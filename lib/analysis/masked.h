/* Warnings about reductions that count what a mask leaves out. */
#ifndef TKC_ANALYSIS_MASKED_H
#define TKC_ANALYSIS_MASKED_H

#include "base/diag.h"
#include "tkc/ir.h"

/* Of IR as specialization makes it. A lane that a load without `other` masks off is 0. That is
   right for a sum and a matrix product, and wrong for a minimum, a product, the maximum of numbers
   that may be negative, and a sum of what the zeros have become: x - mean, exp(x). */
void masked_check(Diags *dx, const Func *fn);

#endif
