/* Which arrays a pointer may point into. */
#pragma once

#include <stdbool.h>
#include "base/bitset.h"
#include "tkc/ir.h"

/* Adds the numbers of the kernel's parameters that a pointer, or a block of them, is an offset from.
   False: there may be others. */
bool alias_params(Arena *scratch, const Func *fn, const Value *pointer, Bitset *params);
/* Adds the ids of the values that it is an offset from: parameters, and pointers that are loaded or
   made of integers, each a base of its own. */
void alias_bases(Arena *scratch, const Func *fn, const Value *pointer, Bitset *bases);
