/* Products of a loop that warp groups compute. */
#pragma once

#include "ir/ir.h"

/* Where no turn of a loop, whose loads come from rings, needs to wait for its own products, makes
   these asynchronous. Returns the op behind which a thread has done what the turn before reads;
   NULL: it is not such a loop. room: bytes of shared memory for operands that stay the same. */
const Op *groups_start(Arena *scratch, Func *fn, Op *loop, int64_t room);
