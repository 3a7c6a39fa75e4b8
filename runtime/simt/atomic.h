/* What atomics do, and reductions of tensors with them. */
#pragma once

#include "ptx/ptx.h"
#include "tensormap.h"

/* In the order of their names (ATOM_NAMES). Reductions of tensors have none of the last two. */
typedef enum AtomOp {
    ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH,
    ATOM_CAS
} AtomOp;
#define ATOM_REDUCTIONS "add min max inc dec and or xor"
#define ATOM_NAMES ATOM_REDUCTIONS " exch cas"

/* What becomes of `old`, an integer; above the type's width anything. y: of CAS. */
uint64_t atom_combine(AtomOp op, const PtxType *t, uint64_t old, uint64_t x, uint64_t y);
/* cp.reduce.async.bulk.tensor: elements of shared memory combined with those in global memory. */
bool atom_can_reduce(AtomOp op, TensorType type);
/* By an op that the type has, each element in one atomic step; `global` is aligned to the element,
   bytes a multiple of it. */
void atom_reduce(AtomOp op, TensorType type, void *global, const void *shared, uint32_t bytes);
