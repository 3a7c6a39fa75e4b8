/* Block pointers and tensor descriptors: a base with shape, strides, offsets and a block's extents.
   They exist during specialization only: what goes through a descriptor becomes an op that has its
   parts as operands, and so does what goes through a block pointer and is checked along all dims, but
   pointer arithmetic and a mask where it is not. */
#pragma once

#include "ir/tile.h"
#include "spec/broadcast.h"
#include "spec/builtin.h"

/* Some block of what p describes. */
Tile block_ptr_tile(const SpecBlockPtr *p, const Shape *block, Value *const *indices);

/* Loads the tile, or stores argument i to it, by an op on descriptors. */
SpecValue block_ptr_load(Spec *sp, OpKind kind, const Tile *t, bool nan);
SpecValue block_ptr_store(Spec *sp, const Call *c, OpKind kind, const Tile *t, int i);

/* What is outside may be NaN. False after an error. */
bool block_ptr_takes_nan(Spec *sp, const Value *base, Span at);

/* Argument i, which is stored to argument 0, has the elements' type: a number, which has none of its
   own, or a value that needs no cast. False after an error. */
bool block_ptr_takes(Spec *sp, const Call *c, int i);
