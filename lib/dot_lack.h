/* Why a warp group does not compute a matrix product that it has an instruction for. */
#ifndef TKC_DOT_LACK_H
#define TKC_DOT_LACK_H

#include "analysis/axis.h"
#include "base/buf.h"
#include "ir/ir.h"

typedef struct DotLack {
    const Op *at;       /* what the reason is about, beside the dot; NULL: nothing */
    const char *advice; /* what to write there; NULL: nothing */
    const char *option; /* a field of TkcOptions that mends it, NULL: none */
    int value;          /* for it */
} DotLack;

/* False: a group computes it, or the target has no such instruction. Else writes the reason. fn is
   as it is lowered. */
bool dot_lack(const AxisFacts *facts, const Op *dot, Buf *reason, DotLack *lack);

#endif
