#include "layout/weight.h"

int weight_of(const Op *op)
{
    switch (op->kind) {
    case OP_CONST:
    case OP_SPLAT:
    case OP_EXPAND_DIMS:
    case OP_BROADCAST:
    case OP_TRANS:
    case OP_RESHAPE:
    case OP_HINT: return 0;
    case OP_ARANGE: return 1;
    default:
        if (!ir_has(op, OT_EW) || !ir_has(op, OT_PURE)) return WEIGHT_NEVER;
        return ir_has(op, OT_LONG) ? 16 : ir_has(op, OT_SPECIAL) ? 4 : 1;
    }
}

int weight_of_joining(const Op *op)
{
    int weight = 0;
    for (const Op *step = op->regions[0]->first; step; step = step->next) {
        const int own = weight_of(step);
        if (own != WEIGHT_NEVER) weight += own;
    }
    return weight;
}
