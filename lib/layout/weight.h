/* Issue slots of a warp that arithmetic takes, for each register of its result. */
#pragma once

#include "ir/ir.h"

enum {
    WEIGHT_NEVER = 1 << 28, /* it must not be repeated; more than anything else costs */
    WEIGHT_TURNS = 8        /* that a loop is taken to have */
};

int weight_of(const Op *op);
/* Of the function by which a scan or a reduction joins two elements; what must not be repeated does
   not count. */
int weight_of_joining(const Op *op);
