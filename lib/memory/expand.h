/* What the files of `expand` give each other. */
#pragma once

#include "ir/build.h"

/* The same op once more, before it. */
Op *expand_copy(Op *op, Arena *scratch);

/* ---- elements.c ---- */
/* Each element's coordinate along a dim, as int32, for a block like `like`. */
Value *expand_coordinate(Builder *b, const Type *like, int dim);
/* A buffer of that shape, row-major with padding. */
Value *expand_row_major(Builder *b, const Type *elem, int rank, const int32_t *shape);
/* Each element is what such a buffer has `by` elements further along the dim; 0 where that is
 * outside. */
Value *expand_load_moved(Builder *b, Value *buffer, const Type *ty, int dim, int by);
bool expand_is_moving_reshape(const Op *op);
void expand_gather(Op *op);
void expand_cat(Op *op);
void expand_reshape(Op *op);
void expand_histogram(Op *op);

/* ---- scan.c ---- */
bool expand_is_scan_across_warps(const Op *op);
void expand_scan(Op *op, Arena *scratch);

/* ---- dot.c ---- */
/* Takes a dot apart whose operands are too large for registers; leaves others as they are. */
void expand_dot(Op *op);

/* ---- share.c ---- */
/* Of several buffers with one content one is left. */
void expand_share(Func *fn);
