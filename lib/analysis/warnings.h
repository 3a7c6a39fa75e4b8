/* Warnings about IR as specialization makes it. */
#pragma once

#include "base/diag.h"
#include "tkc/ir.h"

/* About reductions that count what a mask leaves out. A lane that a load without `other` masks off
   is 0. That is right for a sum and a matrix product, and wrong for a minimum, a product, the
   maximum of numbers that may be negative, and a sum of what the zeros have become: x - mean,
   exp(x). */
void masked_check(Diags *dx, const Func *fn);
/* About offsets that do not reach the end of the array they are for: an index times the stride of a
   declared dimension, in 32 bits or fewer, where the last index of that dimension gives more than
   the type holds. Silent where an extent is not known while compiling, or where the index is proved
   to stay small. */
void offset32_check(Diags *dx, const Func *fn);
