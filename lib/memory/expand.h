/* What the files of `expand` give each other. */
#ifndef TKC_MEMORY_EXPAND_H
#define TKC_MEMORY_EXPAND_H

#include "ir/build.h"

/* New ops go before `op` and are at its place. */
Builder expand_before(Func *fn, Op *op);
/* The op's results are these from now on; it goes. */
void expand_replace(Op *op, Value *const *with);

/* ---- elements.c ---- */
/* Each element's coordinate along a dim, as int32, for a block like `like`. */
Value *expand_coordinate(Builder *b, const Type *like, int dim);
/* A buffer of that shape, row-major with padding. */
Value *expand_row_major(Builder *b, const Type *elem, int rank, const int32_t *shape);
/* Each element is what such a buffer has `by` elements further along the dim; 0 where that is
 * outside. */
Value *expand_load_moved(Builder *b, Value *buffer, const Type *ty, int dim, int by);
bool expand_is_moving_reshape(const Op *op);
void expand_gather(Func *fn, Op *op);
void expand_cat(Func *fn, Op *op);
void expand_reshape(Func *fn, Op *op);
void expand_histogram(Func *fn, Op *op);

/* ---- scan.c ---- */
bool expand_is_scan_across_warps(const Op *op);
void expand_scan(Func *fn, Op *op, Arena *scratch);

/* ---- dot.c ---- */
/* Takes a dot apart whose operands are too large for registers; leaves others as they are. */
void expand_dot(Func *fn, Op *op);

#endif
