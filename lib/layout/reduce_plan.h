/* How a reduction along one axis goes, derived from the operand's layout alone. The lowering
   reads the plan:

     1. in each thread: for every register k of the result, the registers of reduce_group(k)
        combine into one;
     2. for every bit of lane_axis, the highest first: combine with the value of lane ^ bit (a
        butterfly: afterwards all of them have it). For the first `halvings` of them each lane gives
        away half of the results it has left, and combines the others alone;
     3. after halvings, every lane asks for each result where it is, unless they are to stay dealt;

   What warps hold of the axis stays apart: the result has a slot for each of them (memory/expand.c
   reduces these).
   A result of rank 0 is a scalar: one register, element 0, held by every thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "linear/layout.h"
#include "tkc/ir.h"

typedef struct ReducePlan {
    const Layout *operand;
    const Layout *result;   /* NULL for a scalar */
    int axis;
    uint32_t kept;          /* bits of the axis that stay, as slots */
    bool direct;            /* false: threads mix the axis with other dims; convert first */
    int result_registers;
    uint32_t register_free; /* registers with one of these bits are duplicates: skipped */
    uint32_t lane_axis;     /* of the number of a lane: those that hold nothing but the axis */
    int halvings;           /* what takes the fewest issue slots, if combining is one instruction */
    int dealt;              /* as many, after which results stay where they are (layout_deal) */
} ReducePlan;

void reduce_plan(ReducePlan *out, LayoutTable *t, const Layout *operand, int axis, uint32_t kept);
/* The registers that combine into register `result_reg`, by rising coordinate along the axis (as
   far as registers go); out has room for layout_registers(operand). Returns how many. */
int reduce_group(const ReducePlan *p, uint32_t result_reg, uint32_t *out);
/* Over how many bits of lanes results may be dealt. */
int reduce_most_dealt(const ReducePlan *p);
/* Of step 2 and, where nothing is dealt, 3, of a warp, as layout/convert.h counts. */
int reduce_cost(const ReducePlan *p, int dealt);
void reduce_plan_op(ReducePlan *out, LayoutTable *t, const Op *op);
