/* How a reduction along one axis goes, derived from the operand's layout alone. The lowering
   reads the plan:

     1. in each thread: for every register k of the result, the registers of reduce_group(k)
        combine into one;
     2. for every bit of lane_axis: combine with the value of lane ^ bit (a butterfly: afterwards
        all of them have it);
     3. when warp_axis is not 0: writers put their values into the scratch at their slot,
        barrier, everybody reads the slots of its elements and combines them.

   A result of rank 0 is a scalar: one register, element 0, held by every thread. */
#ifndef TKC_LAYOUT_REDUCE_PLAN_H
#define TKC_LAYOUT_REDUCE_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "linear/layout.h"
#include "tkc/ir.h"

typedef struct ReducePlan {
    const Layout *operand;
    const Layout *result;   /* NULL for a scalar */
    int axis;
    bool direct;            /* false: threads mix the axis with other dims; convert first */
    int result_registers;
    uint32_t register_free; /* registers with one of these bits are duplicates: skipped */
    uint32_t lane_axis, warp_axis;
    /* Scratch: element y of the result has `1 << slots_log2` partial results, at (slot <<
       results_log2) + y. */
    int slots_log2, results_log2;
    uint32_t writer_lane, writer_warp; /* threads with one of these bits set do not write */
} ReducePlan;

void reduce_plan(ReducePlan *out, LayoutTable *t, const Layout *operand, int axis);
/* The registers that combine into register `result_reg`, by rising coordinate along the axis (as
   far as registers go); out has room for layout_registers(operand). Returns how many. */
int reduce_group(const ReducePlan *p, uint32_t result_reg, uint32_t *out);
/* A warp's slot: its axis bits moved together. */
uint32_t reduce_slot(const ReducePlan *p, uint32_t warp);
/* Element offset in the scratch of one operand: XOR of the parts of the result's register, lane
   and warp, plus the slot's. */
uint32_t reduce_offset(const ReducePlan *p, uint32_t result_reg, uint32_t lane, uint32_t warp,
                       uint32_t slot);
/* Elements of scratch one operand takes; 0 when no warps are crossed. */
uint32_t reduce_scratch(const ReducePlan *p);
/* Bytes of a whole reduce op, and where each operand's part begins (offsets may be NULL). */
uint32_t reduce_scratch_op(const ReducePlan *p, const Op *op, uint32_t *offsets);
void reduce_plan_op(ReducePlan *out, LayoutTable *t, const Op *op);

#endif
