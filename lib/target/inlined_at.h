/* The calls that inlined a line, in PTX. */
#ifndef TKC_TARGET_INLINED_AT_H
#define TKC_TARGET_INLINED_AT_H

#include <stddef.h>
#include "base/arena.h"
#include "tkc/ir.h"

/* The text with the calls on each .loc of a place that was inlined, and of a version that has them;
   *len is its length, before and after. locs: the places that the code is marked with. */
const char *inlined_at_add(Arena *a, const char *ptx, size_t *len, int n, const Loc *const *locs);

#endif
