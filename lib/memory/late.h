/* Where a block is loaded that came by way of a buffer. */
#pragma once

#include "base/vec.h"
#include "ir/ir.h"

/* Bytes of shared memory that blocks may have while ops other than `op` (NULL: any) take theirs. */
int64_t late_room(const Func *fn, const Op *op);

typedef struct Wait {
    const Op *user;
    int64_t bytes;
} Wait;

/* What waits in a function whose ops are visited in order, outer ones before inner ones. */
typedef struct Late {
    Arena *scratch;
    VEC(Wait) waits;
    bool measured; /* whether `room` is known */
    int64_t room;  /* bytes that may still wait */
} Late;
/* `op` is the next. */
void late_reach(Late *l, const Op *op);
/* Before which op the result of `op`, the one reached last, is to be loaded from its own buffer of
   so many bytes, which then waits until there; `op` itself where it may not wait. */
Op *late_place(Late *l, Op *op, int64_t bytes);
