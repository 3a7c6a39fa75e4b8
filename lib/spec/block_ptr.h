/* Block pointers and tensor descriptors: a base with shape, strides, offsets and a block's extents.
   They exist during specialization only: a load or store of a block pointer becomes pointer
   arithmetic and a mask, one of a descriptor an op that has its parts as operands. */
#ifndef TKC_SPEC_BLOCK_PTR_H
#define TKC_SPEC_BLOCK_PTR_H

#include "ir/tile.h"
#include "spec/broadcast.h"
#include "spec/spec.h"

struct SpecBlockPtr {
    Value *base;                  /* scalar pointer */
    Shape block;                  /* extents of the block; its rank is that of all below */
    Value *shape[TKC_MAX_RANK];   /* int64 scalars */
    Value *strides[TKC_MAX_RANK]; /* int64 scalars */
    Value *offsets[TKC_MAX_RANK]; /* int64 scalars; of descriptors NULL */
    Padding padding;              /* of descriptors: never PAD_NONE */
};

/* The run-time parts in a fixed order, for control flow that carries the value: base, shape,
   strides, offsets. `out` has room for BLOCK_PTR_MAX_PARTS; returns how many. */
enum { BLOCK_PTR_MAX_PARTS = 1 + 3 * TKC_MAX_RANK };
int block_ptr_parts(const SpecBlockPtr *p, Value **out);
/* A copy of p with other parts, in the same order. */
SpecBlockPtr *block_ptr_with_parts(Spec *sp, const SpecBlockPtr *p, Value *const *parts);
/* One type for values that control flow may merge: same element, block extents and padding. */
bool block_ptr_is_alike(const SpecBlockPtr *a, const SpecBlockPtr *b);

/* A scalar index of any integer type as int64; NULL after an error that calls it `what`. */
Value *block_ptr_index(Spec *sp, SpecValue v, const char *what, Span at);
/* As many of them as the block has dims. False after an error. */
bool block_ptr_indices(Spec *sp, SpecValue v, int rank, const char *what, Value **out, Span at);

/* Of a block pointer: tile_address. */
Value *block_ptr_address(Spec *sp, const SpecBlockPtr *p, unsigned bounded, Value **mask);
/* Some block of what p describes. */
Tile block_ptr_tile(const SpecBlockPtr *p, const Shape *block, Value *const *indices);

/* What is stored has the elements' type: a number, which has none of its own, or a value that needs
   no cast. False after an error that names the operation. */
bool block_ptr_takes(Spec *sp, const SpecBlockPtr *p, SpecValue v, const char *operation, Span at);

#endif
