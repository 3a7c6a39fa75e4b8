/* Bytes of shared memory, before buffers have places. */
#pragma once

#include "ir/ir.h"

/* A block's, with what pads it. */
int64_t room_of_block(const Type *ty);
/* What `expand` will make for the op, at most; of ops in it nothing. */
int64_t room_of_op(const Op *op);
/* Buffers of the op's region and those around, made before it, that are accessed at it or later;
   not the one that `but` makes, if not NULL. */
int64_t room_around(const Op *at, const Op *but);
/* Buffers made in the op. */
int64_t room_inside(const Op *op);
