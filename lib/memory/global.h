/* Which accesses to global memory must not pass one another: one of them writes, both go through
   pointers that come from one base, and the thread that has an element in the one may not have it in
   the other. */
#pragma once

#include "ir/ir.h"

typedef struct Global Global;
/* Valid until the function changes. */
Global *global_new(Arena *scratch, const Func *fn);
/* A load, store, atomic or copy of global memory; its pointers, of a box its base, are operand 0. */
bool global_access(const Op *op);
bool global_conflict(Global *g, const Op *earlier, const Op *later);
/* The loop changes what the pointers of the access are. */
bool global_is_moved(Global *g, const Op *access, const Op *loop);
