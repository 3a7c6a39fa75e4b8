/* A box of elements in memory: where it begins, by base, shape, strides and indices, as block
   pointers and tensor descriptors have them, and as the ops on descriptors have them as operands.
 */
#pragma once

#include "ir/build.h"

typedef struct Tile {
    Value *base; /* scalar pointer */
    int rank;
    int outer; /* the first dims, of which the box has one index each: no dims of the block */
    const int32_t *block;                                  /* extents of the box in the others */
    Value *const *shape, *const *strides, *const *indices; /* int64 scalars; of a gather's rows a block */
} Tile;

/* Dims of extent 1 become outer ones as long as a matrix is left: a matrix of several is loaded,
   multiplied and stored as any other. The tile's parts are in `room` then, for as many values as an op
   on descriptors has operands, and its extents in `block`. */
enum { TILE_PARTS = 1 + 3 * TKC_MAX_RANK };
void tile_squeeze(Tile *t, Value **room, int32_t *block);

/* An extent or index as int32; NULL: it may need more bits. */
Value *tile_narrow(Builder *b, Value *v);

/* Pointers to the elements, and the mask of those inside the shape in the dims of `bounded` (a bit
   each); *mask is NULL when there is none. */
Value *tile_address(Builder *b, const Tile *t, unsigned bounded, Value **mask);

/* The pointers, with what they are to: who can copy a box as a whole needs them no more. */
Value *build_tile(Builder *b, Value *pointers, const Tile *t);

/* ---- ops on descriptors ---- */

/* Of gather and scatter the indices are rows, a 1-D block of integers, and the first column; the
   block is all that is moved. What is stored is in the block's shape, NULL for loads. The word is
   a load's padding, or an atomic's rmw; NULL: none. */
Op *build_desc(Builder *b, OpKind kind, const Tile *t, Value *stored, const char *word);
static inline bool desc_is_rows(const Op *op)
{
    return op->kind == OP_DESC_GATHER || op->kind == OP_DESC_SCATTER;
}
/* What is stored; NULL: nothing. */
static inline Value *desc_stored(const Op *op)
{
    return op->nresults ? NULL : op_arg(op, op->nargs - 1);
}
/* The operands, of copy_box and store_box too; `parts` has room for them and is pointed to. */
Tile tile_of_op(const Op *op, Value **parts);
/* Of pointers that build_tile gave; false: they are none. */
bool tile_of_pointers(const Value *pointers, Value **parts, Tile *out);
