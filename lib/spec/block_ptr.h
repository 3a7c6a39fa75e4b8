/* Block pointers and tensor descriptors: a base with shape, strides, offsets and a block's extents.
   They exist during specialization only: a load or store of a block pointer becomes pointer
   arithmetic and a mask, one of a descriptor an op that has its parts as operands. */
#ifndef TKC_SPEC_BLOCK_PTR_H
#define TKC_SPEC_BLOCK_PTR_H

#include "ir/tile.h"
#include "spec/broadcast.h"
#include "spec/builtin.h"

enum { BLOCK_PTR_PARTS = 1 + 3 * TKC_MAX_RANK };
struct SpecBlockPtr {
    union {
        struct {
            Value *base;                  /* scalar pointer */
            Value *shape[TKC_MAX_RANK];   /* int64 scalars */
            Value *strides[TKC_MAX_RANK]; /* int64 scalars */
            Value *offsets[TKC_MAX_RANK]; /* int64 scalars; of descriptors NULL */
        };
        Value *parts[BLOCK_PTR_PARTS]; /* the same, for control flow that carries them; NULL: none */
    };
    Shape block;     /* extents of the block; its rank is that of all above */
    Padding padding; /* of descriptors: never PAD_NONE */
};

/* One type for values that control flow may merge: same element, block extents and padding. */
bool block_ptr_is_alike(const SpecBlockPtr *a, const SpecBlockPtr *b);

/* Argument i, a scalar index of any integer type, as int64; NULL after an error. */
Value *block_ptr_index(Spec *sp, const BuiltinCall *c, int i);
/* As many of them as the block has dims; what: how messages call them, or NULL. False after an error. */
bool block_ptr_indices(Spec *sp, const BuiltinCall *c, int i, int rank, const char *what, Value **out);

/* Some block of what p describes. */
Tile block_ptr_tile(const SpecBlockPtr *p, const Shape *block, Value *const *indices);

/* Argument i, which is stored to argument 0, has the elements' type: a number, which has none of its
   own, or a value that needs no cast. False after an error. */
bool block_ptr_takes(Spec *sp, const BuiltinCall *c, int i);

#endif
