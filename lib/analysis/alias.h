/* Which arrays a pointer may point into. */
#ifndef TKC_ANALYSIS_ALIAS_H
#define TKC_ANALYSIS_ALIAS_H

#include <stdbool.h>
#include "base/bitset.h"
#include "tkc/ir.h"

/* Adds the numbers of the kernel's parameters that a pointer, or a block of them, is an offset from.
   False: there may be others. */
bool alias_params(Arena *scratch, const Func *fn, const Value *pointer, Bitset *params);

#endif
