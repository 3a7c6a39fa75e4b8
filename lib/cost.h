/* What the ops of a function cost on the GPU, as they are lowered, and who tells of it: remarks and
   TKC_EMIT_EXPLAIN. The function is ready for code: it has layouts, buffers with places, and
   barriers. */
#pragma once

#include "ir/ir.h"
#include "layout/vector.h"

/* A load, store or atomic on a block of pointers. */
typedef struct AccessCost {
    const Op *op;
    VectorBits vec;
    int elem_bytes, bytes; /* what a thread's instruction moves */
    int count;             /* a thread's instructions, where the mask lets all through */
    int most_log2;         /* elements that it could move at once, with the best of addresses */
    int used;              /* percent that it moves of the 32-byte sectors which a warp touches */
    bool at_least;         /* more, where neighbours are nearer than is known */
} AccessCost;
bool cost_is_access(const Op *op);
AccessCost cost_access(const AxisFacts *facts, const Op *op);

/* A buffer in shared memory. */
typedef struct BufferCost {
    const char *what;      /* "a change of layout goes", … */
    const Type *from, *to; /* the blocks that go in and come out, where they do */
    bool has_elements;     /* single elements go in or come out */
    int bytes, barriers;   /* before its accesses */
    int write_turns, read_turns; /* of the banks for what they could do in one; 0: not known */
} BufferCost;
BufferCost cost_buffer(const Op *alloc);

/* The dim along which addresses run on. */
int cost_running_dim(const AxisFact *f);

/* Where a person wrote it: the innermost place that is not in the standard library. */
const Loc *cost_place(const Op *op);

/* ---- dot_lack.c: why a warp group does not compute a product that it has an instruction for ---- */
typedef struct DotLack {
    const Op *at;       /* what the reason is about, beside the dot; NULL: nothing */
    const char *advice; /* what to write there; NULL: nothing */
    const char *option; /* a field of TkcOptions that mends it, NULL: none */
    int value;          /* for it */
} DotLack;
/* False: a group computes it, or the target has no such instruction. Else writes the reason. */
bool dot_lack(const AxisFacts *facts, const Op *dot, Buf *reason, DotLack *lack);

/* ---- remark.c: what makes a kernel slow ---- */
/* Reports the kinds of remarks that dx has not off. */
void remark_func(Arena *scratch, Diags *dx, const Func *fn);

/* ---- explain.c: a kernel's lines with what they cost beside them ---- */
void explain_print(Buf *out, Arena *scratch, const Func *fn);
