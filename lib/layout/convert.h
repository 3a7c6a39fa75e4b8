/* How a block goes from one layout to another, derived from the two maps alone. The lowering
   reads the plan.

   REGISTERS  register k of the result is register source_reg(k) of the operand, in the same
              thread.
   SHUFFLE    three steps, each may be empty:
              1. send stages permute the operand's registers inside each lane (ConvertStages);
              2. for every register k of the result, t[k] = shfl(v[source_reg(k)], source lane);
                 the source lane is source_lane(k, lane, warp), and without `moves_lanes` it is
                 the own lane, so that no shuffle is needed;
              3. receive stages permute t.
   SHARED     in 2^pieces_log2 rounds: holders write their elements of the piece, barrier,
              everybody reads; between two rounds another barrier. Element offsets are XORs of
              the columns in ConvertSide.

   Duplicates: only canonical holders write to shared memory (their free bits are 0), everybody
   reads. */
#ifndef TKC_LAYOUT_CONVERT_H
#define TKC_LAYOUT_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include "linear/layout.h"
#include "tkc/ir.h"

#define CONVERT_MAX_THREAD_BITS 8  /* of a lane or of a warp number */
#define CONVERT_SCRATCH_MAX 32768  /* bytes a conversion may take while it can be cut into pieces */

typedef enum ConvertKind {
    CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_SHARED
} ConvertKind;

typedef enum ConvertFlag {
    /* only canonical holders have the right value (what an atomic returned) */
    CONVERT_CANONICAL = 1,
    CONVERT_FORCE_SHARED = 2
} ConvertFlag;

/* Stage i, for i = 0, 1, …: a thread whose parity(lane & lane_mask[i]) ^ parity(warp &
   warp_mask[i]) is 1 swaps registers r and r ^ vec[i], all r at once: v'[r] = bit ? v[r ^
   vec[i]] : v[r]. */
typedef struct ConvertStages {
    int n;
    uint32_t vec[2 * CONVERT_MAX_THREAD_BITS];
    uint32_t lane_mask[2 * CONVERT_MAX_THREAD_BITS], warp_mask[2 * CONVERT_MAX_THREAD_BITS];
} ConvertStages;

/* One side of the way through shared memory. Bits [0, offset_log2) of a column are the element
   offset, those above are the piece. Lane and warp columns have neither vector bits nor piece
   bits. */
typedef struct ConvertSide {
    uint32_t reg[LAYOUT_MAX_BITS], lane[CONVERT_MAX_THREAD_BITS], warp[CONVERT_MAX_THREAD_BITS];
    uint32_t vector_reg[4]; /* element e is in register head ^ XOR of these at its bits */
    uint32_t free_reg, free_lane, free_warp; /* holders with one of these bits set do not write */
} ConvertSide;

typedef struct ConvertPlan {
    ConvertKind kind;
    const Layout *from, *to;
    int elem_bytes;
    /* REGISTERS, SHUFFLE */
    uint32_t reg_of_round[LAYOUT_MAX_BITS];
    bool moves_lanes;
    uint32_t lane_of_round[LAYOUT_MAX_BITS];
    uint32_t lane_of_lane[CONVERT_MAX_THREAD_BITS], lane_of_warp[CONVERT_MAX_THREAD_BITS];
    ConvertStages send, receive;
    /* SHARED */
    int vector_log2;    /* elements an access moves */
    int offset_log2;    /* the scratch holds 1 << offset_log2 elements */
    int pieces_log2;
    ConvertSide write, read;
    uint32_t scratch_bytes;
    int cost;           /* estimated issue slots of a warp, for choosing; 0: nothing to do */
} ConvertPlan;

/* Both layouts have one shape and reach every element. `flags`: ConvertFlag. */
void convert_plan(ConvertPlan *out, const Layout *from, const Layout *to, int elem_bytes,
                  unsigned flags);
/* The plan of a `convert` op, or of handing an atomic's result to all holders. */
void convert_plan_op(ConvertPlan *out, const Op *op);
/* True when an atomic's result must go from canonical holders to others. */
bool convert_atomic_spreads(const Op *op);

uint32_t convert_source_reg(const ConvertPlan *p, uint32_t round);
uint32_t convert_source_lane(const ConvertPlan *p, uint32_t round, uint32_t lane, uint32_t warp);
/* A register's part of the offset (with piece bits above), without the thread's part. */
uint32_t convert_reg_offset(const ConvertSide *s, uint32_t reg);
/* True when `reg` is the first of a vector in that piece; the others are convert_vector_reg(…, 1
   … (1 << vector_log2) - 1). */
bool convert_is_head(const ConvertPlan *p, const ConvertSide *s, uint32_t reg, uint32_t piece);
uint32_t convert_vector_reg(const ConvertPlan *p, const ConvertSide *s, uint32_t head,
                            uint32_t element);

#endif
