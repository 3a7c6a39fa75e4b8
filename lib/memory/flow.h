/* Which accesses to shared memory, and to global memory where that is asked for, may have happened
   since all threads last met, at each point of a function, along every path. */
#pragma once

#include "base/bitset.h"
#include "base/vec.h"
#include "ir/ir.h"
#include "linear/shared_matrix.h"

typedef enum AccessKind { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC } AccessKind;

AccessKind memory_access(const Op *op);
/* The buffer of an op that accesses one. */
static inline const Value *memory_buffer(const Op *op)
{
    return op_arg(op, tkc_buffer_operand(op));
}
/* What an alloc takes. */
static inline uint32_t memory_bytes(const Op *alloc)
{
    return type_smem_bytes(op_result(alloc, 0)->type) * (uint32_t)tkc_op_int(alloc, ATTR_COPIES, 1);
}
/* Its place is a multiple of so many bytes. */
uint32_t memory_align(const Op *alloc);
/* How threads with a block of that layout get at the buffer of an op that moves all of it: each for itself
   if it copies, or reads what it has copied; else as a warp, which has no instruction to write matrices before
   MACHINE_MATRIX_STORES. False: threads have elements of different pieces in one register. */
bool memory_block_access(SharedAccess *out, const Op *op, const Layout *block);
/* They may not happen at once where their buffers overlap; who uses a ring of several copies has
   waits for that. */
bool memory_conflict(const Op *a, const Op *b);

/* Ops with which an access may end: itself, or, where products of warp groups read the buffer by
   way of it, the waits for these. */
void memory_each_end(const Op *access, void (*visit)(const Op *end, void *user), void *user);

typedef struct MemoryFlow MemoryFlow;
struct MemoryFlow {
    Arena *scratch;
    bool (*overlap)(const Value *a, const Value *b, void *user); /* buffers */
    /* At each access, once more whenever there may be more before it; NULL: nobody asks. pending:
       numbers in ops, without those that it waits for. */
    void (*visit)(MemoryFlow *f, const Op *op, const Bitset *pending, void *user);
    void *user;
    struct Global *global; /* NULL: of shared memory alone */
    const Op *again;       /* the loop, just found to wait, that is looked at anew; NULL: none */
    VEC(Op *) ops; /* accesses, barriers and, for global memory, loops, in order */
    Map index;     /* op to its number in ops */
    Bitset waits;  /* found: accesses, and loops with such, that must wait for others, where no
                      barrier makes them */
};
void memory_flow(MemoryFlow *f, Func *fn);
