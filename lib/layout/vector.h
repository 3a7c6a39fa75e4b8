/* How many elements an access to global memory moves at once. */
#pragma once

#include "analysis/axis.h"

#define VECTOR_MAX_BYTES 16 /* that one thread moves at once */

/* A thread's registers that hold neighbours along a dim, and are accessed together. */
typedef struct VectorBits {
    int dim, log2;
    uint32_t bit[5]; /* the register bits whose combinations are the neighbours, least first */
    int run;         /* neighbours that share mask and validity, at most the vector */
} VectorBits;

/* Of an access, if its block lay in the layout `in`. */
VectorBits vector_if(const AxisFacts *facts, const Op *op, const Layout *in);
/* Of an access, as its attribute says (the pass `access`). */
VectorBits vector_of(const Op *op);
/* Bytes that one instruction can move for it; 0: one element each. */
int vector_most_bytes(const Op *op);
/* The register of element i of the vector that begins with `head`. */
uint32_t vector_register(const VectorBits *v, uint32_t head, int i);
bool vector_begins(const VectorBits *v, uint32_t reg);
/* Of a load, for each dim: neighbours, in aligned groups, that are read from one place, or not at
   all; 1 of any other access. */
void vector_groups(const AxisFacts *facts, const Op *op, int64_t *groups);
/* Register bits that lead to others of such a group (the pass `access`). */
uint32_t vector_equal(const Op *op);
/* Its mask; NULL: none. */
const Value *vector_mask(const Op *op);
