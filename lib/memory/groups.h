/* Products of a loop that warp groups compute. */
#ifndef TKC_MEMORY_GROUPS_H
#define TKC_MEMORY_GROUPS_H

#include "ir/ir.h"

/* Makes asynchronous what it can of the dots in a loop whose loads come from rings. Returns the op
   behind which all that the turn before has read can be overwritten; NULL: the beginning of a turn,
   since each turn waits for its products. room: bytes of shared memory for operands that stay the
   same. */
Op *groups_start(Arena *scratch, Func *fn, Op *loop, int64_t room);

#endif
