/* Which layout each memory access would like. */
#pragma once

#include <stdbool.h>
#include "analysis/axis.h"
#include "ir/ir.h"

/* The choices of one function. Valid until its memory ops change. */
typedef struct Accesses Accesses;
Accesses *access_choose(Arena *scratch, const Func *fn);

/* True for a load, store or atomic on a block of pointers. */
bool access_is_block(const Op *op);
/* The best layout of such an op. */
const Layout *access_layout(const Accesses *x, const Op *op);
/* The dim along which its pointers run on. */
int access_dim(const Accesses *x, const Op *op);
/* All of them, those first for which most is at stake: that another access of their shape, which runs
   along other dims, does not give them its layout. NULL behind the last. */
Op *access_seed(const Accesses *x, int i);
/* For a block no memory op touches: that of the accesses in its padded shape, else a plain one. */
const Layout *access_default(const Accesses *x, const Type *block);
/* True when doing the access in `offered`, the layout its neighbours have, is no worse than the
   best one and a conversion. */
bool access_accepts(const Accesses *x, const Op *op, const Layout *offered);

/* What it costs to load that once more, in layout l, in slots of a warp as conversions are counted;
   WEIGHT_NEVER where another program may have changed it in between, and where there is one warp,
   for which moving takes no barrier. Twice what a load costs: the barrier is often there for others. */
int access_again(const Accesses *x, const Op *load, const Layout *l);
