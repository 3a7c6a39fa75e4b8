/* What atomics make of an element of memory, and reductions of tensors with them. */
#ifndef TKC_SIMT_ATOMIC_H
#define TKC_SIMT_ATOMIC_H

#include "ptx/ptx.h"

/* In the order of TensorReduction, which has none of the last two. */
typedef enum AtomOp {
    ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_INC, ATOM_DEC, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_EXCH,
    ATOM_CAS
} AtomOp;

typedef struct AtomForm {
    PtxInsn of_floats;
    const PtxType *type;
    AtomOp op;
    bool returns;
} AtomForm;

AtomForm atom_form(AtomOp op, const PtxType *t);
/* What is at that address becomes what the form says, in one step; gives what was there. y: of CAS. */
uint64_t atom_exchange(const AtomForm *f, void *at, uint64_t x, uint64_t y);

#endif
