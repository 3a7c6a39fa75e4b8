/* What a reduction and a scan do with two partial results: run the op's region on them. Padded
   elements never count: where the region has no neutral element for them, a bit says whether a
   partial result holds any real one. */
#pragma once

#include "lower/lower.h"

/* A partial result: one value an operand; valid NULL: there is a real element in it. */
typedef struct Partial {
    LLVMValueRef *x;
    LLVMValueRef valid;
} Partial;

typedef struct Combine {
    const Op *op;
    const Region *region;
    int n;        /* operands */
    int first;    /* the first of them */
    int axis;
    OpKind known; /* the one op that the region is, or OP_NONE */
    DType dt;     /* of the first operand */
} Combine;

/* For operands first, first + 1, … of the op. */
Combine combine_of(const Op *op, int first, int n);
/* What a register holds of the operands. */
Partial combine_element(Lower *L, const Combine *c, uint32_t reg);
/* The same where padding cannot meet a real element. */
Partial combine_element_as_is(Lower *L, const Combine *c, uint32_t reg);
/* p where the condition holds (NULL: always), else nothing. */
Partial combine_where(Lower *L, const Combine *c, Partial p, LLVMValueRef condition);
/* The region's value for (a, b); a or b where the other is not valid. */
Partial combine_two(Lower *L, const Combine *c, Partial a, Partial b);
/* What another lane has. */
Partial combine_shuffle(Lower *L, const Combine *c, Partial p, Lane from);
/* Register k of each result, from `first` on, is what parts[k] says; n registers. */
void combine_set_results(Lower *L, const Combine *c, int first, const Partial *parts, int n);
