/* What the files of `expand` give each other. */
#ifndef TKC_MEMORY_EXPAND_H
#define TKC_MEMORY_EXPAND_H

#include "ir/build.h"

/* New ops go before `op` and are at its place. */
Builder expand_before(Func *fn, Op *op);
/* The op's results are these from now on; it goes. */
void expand_replace(Op *op, Value *const *with);

/* ---- elements.c ---- */
bool expand_is_moving_reshape(const Op *op);
void expand_gather(Func *fn, Op *op);
void expand_cat(Func *fn, Op *op);
void expand_reshape(Func *fn, Op *op);
void expand_histogram(Func *fn, Op *op);

#endif
