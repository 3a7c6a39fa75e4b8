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
   SHARED     by a buffer in shared memory, which memory/expand.c makes of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "linear/shared.h"
#include "tkc/ir.h"

#define CONVERT_MAX_THREAD_BITS SHARED_THREAD_BITS
#define CONVERT_SCRATCH_MAX 32768 /* bytes a buffer may take while it can be cut into pieces */

/* What moving elements costs is counted in issue slots of a multiprocessor, which has four a cycle. */
enum {
    COST_ISSUE = 1,   /* an instruction of a warp */
    COST_WAVE = 4,    /* 128 bytes of shared memory or of the first-level cache, or a shuffle */
    COST_SECTOR = 6,  /* 32 bytes that go on to memory, all of them real or not */
    COST_ATOMIC = 64, /* an atomic instruction of a warp beside what it moves */
    COST_BARRIER = 40, /* with the latency that other warps do not hide */
    COST_WARP_BARRIER = 8 /* of a program of one warp */
};

typedef enum ConvertKind {
    CONVERT_NONE, CONVERT_REGISTERS, CONVERT_SHUFFLE, CONVERT_SHARED
} ConvertKind;

typedef enum ConvertFlag {
    /* only canonical holders have the right value (what an atomic returned) */
    CONVERT_CANONICAL = 1,
    CONVERT_FORCE_SHARED = 2,
    CONVERT_WHOLE = 4 /* the buffer has room for the block */
} ConvertFlag;

/* Stage i, for i = 0, 1, …: a thread whose parity(lane & lane_mask[i]) ^ parity(warp &
   warp_mask[i]) is 1 swaps registers r and r ^ vec[i], all r at once: v'[r] = bit ? v[r ^
   vec[i]] : v[r]. */
typedef struct ConvertStages {
    int n;
    uint32_t vec[2 * CONVERT_MAX_THREAD_BITS];
    uint32_t lane_mask[2 * CONVERT_MAX_THREAD_BITS], warp_mask[2 * CONVERT_MAX_THREAD_BITS];
} ConvertStages;

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
    SharedPlan shared; /* SHARED */
    int cost;           /* of a warp, in slots as above; 0: nothing to do */
    int cost_ready;     /* the same where the buffer is there and would be read in any case */
} ConvertPlan;

/* Both layouts have one shape and reach every element. `flags`: ConvertFlag. */
void convert_plan(ConvertPlan *out, const Layout *from, const Layout *to, int elem_bytes,
                  unsigned flags);
/* Its result is a factor that is much for a thread: a product reads it step by step, and no pieces
   of it, if both factors fit the program's share of shared memory, half of it at most. */
bool convert_is_by_steps(const Op *op);
/* The plan of a `convert` op. */
void convert_plan_op(ConvertPlan *out, const Op *op);
/* What a warp pays, in slots as above, to read a block from a buffer that is there. */
int convert_read_cost(const Layout *buffer, const Layout *to, int elem_bytes);
/* It is one, and goes through shared memory. */
bool convert_is_shared(const Op *op);

/* Inside a warp: log2 of the registers that travel together, as a word of 4 bytes at most: none of
   the steps tells them apart. */
int convert_word_log2(const ConvertPlan *p);
/* In round 0 each lane reads what it has itself. */
bool convert_begins_at_own(const ConvertPlan *p);
uint32_t convert_source_reg(const ConvertPlan *p, uint32_t round);
uint32_t convert_source_lane(const ConvertPlan *p, uint32_t round, uint32_t lane, uint32_t warp);
