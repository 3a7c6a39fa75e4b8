/* dot, by what computes it. */
#ifndef TKC_LOWER_DOT_H
#define TKC_LOWER_DOT_H

#include "ir/dot_unit.h"
#include "lower/lower.h"

/* mma.c: by the unit's instruction. */
void lower_mma(Lower *L, const Op *op, DotUnit unit);

#endif
