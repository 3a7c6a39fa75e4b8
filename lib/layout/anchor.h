/* Which layout each dot would like: what computes it has its own. */
#ifndef TKC_LAYOUT_ANCHOR_H
#define TKC_LAYOUT_ANCHOR_H

#include "base/arena.h"
#include "ir/ir.h"
#include "layout/access.h"

/* What is known of a function's dots. */
typedef struct Anchors Anchors;
Anchors *anchors_find(Arena *scratch, const Func *fn, const Accesses *accesses);
/* The layout of a dot's result. */
const Layout *anchor_dot(const Anchors *x, const Op *dot);

#endif
