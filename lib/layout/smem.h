/* Shared memory: what each op needs there and how it uses it. */
#ifndef TKC_LAYOUT_SMEM_H
#define TKC_LAYOUT_SMEM_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/ir.h"

/* Bytes of scratch an op needs; 0 for most. Its place is ATTR_OFFSET once allocated. */
uint32_t smem_need(const Op *op);

typedef struct SmemRange { uint32_t begin, end; bool writes; } SmemRange;

/* How an op uses shared memory, as others see it: what it touches before its own first barrier,
   and after its last. The op itself takes care of what lies between. Without a barrier
   everything is `before`. Every op that touches shared memory says so here, asynchronous ones
   too. */
typedef struct SmemUse {
    int nbefore, nafter;
    SmemRange before[2], after[2];
    bool has_barrier;
} SmemUse;
SmemUse smem_use(const Op *op);

/* The ops that use shared memory, in order, and a walk along control flow: at each such op (and
   each barrier), which of them may have been executed since the last barrier. An op may be
   visited several times, the last time with all of them. */
typedef struct SmemFlow SmemFlow;
struct SmemFlow {
    Arena *scratch;
    VEC(Op *) ops;
    Map index;       /* op to its number in ops, plus 1 */
    void (*visit)(SmemFlow *f, int op, const Bitset *pending, void *user);
    void *user;
};
void smem_flow(SmemFlow *f, Func *fn);

#endif
