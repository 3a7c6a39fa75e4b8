#pragma once

#include "lower/lower.h"

/* A value on its way into a loop. */
typedef struct CarriedIn {
    Regs regs;
    bool keeps_constants;
    bool is_held; /* in registers of its own: no phi passes it on */
    LLVMValueRef step; /* bytes that pointers move each turn; NULL: not known before */
} CarriedIn;

/* The phis of one carried value. */
typedef struct Carried {
    const Type *ty;
    const CarriedIn *in;
    Regs regs;   /* what the value is inside: phis plus constants */
    int *phi_of; /* register to phi */
    LLVMValueRef *phis;
    int nphis;
} Carried;

/* Every register without its constant. */
Regs carried_elements(Lower *L, const Value *v);
/* Before the loop, where init comes in as `in` and `passed` comes back (NULL: element by element).
   apart: pointers and how they move are not mixed. */
CarriedIn carried_before(Lower *L, const Value *init, const Value *in, const Value *passed,
                         bool apart);
CarriedIn carried_held(Regs regs);
/* At the builder's place, with what comes in over the edge from `from`. */
Carried carried_phis(Lower *L, const Type *ty, const CarriedIn *before, LLVMBasicBlockRef from);
/* What v brings back into each phi, at the builder's place (before the branch is made). */
LLVMValueRef *carried_back(Lower *L, const Carried *c, const Value *v);
void carried_edge(const Carried *c, LLVMValueRef *values, LLVMBasicBlockRef from);
