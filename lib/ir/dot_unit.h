/* What computes a dot on its target, and the layouts that needs. */
#pragma once

#include "linear/fragment.h"
#include "tkc/ir.h"

/* A matrix instruction: a row of mma.def. */
typedef struct MmaRow {
    int sm, ptx;
    DType a, b, sum;
    MmaShape shape;
} MmaRow;

/* An operand is brought to the instruction's type, or, where that has fewer bits than the precision
   asked for needs, split into `parts` whose sum it is; of the pairs of parts, the `pairs` largest
   products are computed. */
typedef struct DotUnit {
    const MmaRow *mma; /* NULL: sums of products by each thread for its own elements */
    int parts, pairs;  /* 1, 1 where nothing is split */
} DotUnit;

/* For the target of the function the op is in. */
DotUnit dot_unit(const Op *op);
/* The layout of operand 0, 1 or 2 when the result has layout `result`; NULL when the unit cannot
   give that. */
const Layout *dot_operand_layout(LayoutTable *t, const Op *op, int operand, const Layout *result);

/* Registers that whole rows and columns of both factors may take of a thread where there is no
   matrix instruction; more is read from shared memory (memory/dot.c). */
enum { DOT_MOST_ROWS = 64 };

/* log2 of the neighbours along k that a thread has of both factors (linear/fragment.h), of a product
   by a matrix instruction: as the instruction has them, or what ATTR_RUN says, which is no more than
   dot_most_run_log2. */
int dot_run_log2(const Op *op);
int dot_most_run_log2(const Op *op);

/* ---- by a warp group: four warps in a row read operands from shared memory (wgmma) ---- */

enum { GROUP_WARPS = 4, GROUP_ROWS = 64 /* of one instruction */,
       GROUP_MOST_PENDING = 7, /* products that a wait can leave under way */
       GROUP_APART_WORDS = 64 /* of a tile that is summed apart, at most */ };

/* The instruction; its m is a warp's share of the rows. NULL: the target has none for these types,
   or none of the precision asked for. */
const MmaRow *dot_group_row(const Op *op);
/* True when there is one, and for its shape. */
bool dot_fits_group(const Op *op);
/* How groups share its sum: along rows as far as these go, then along columns. False: it does not
   fit a group, or so many. */
bool dot_splits_in_groups(const Op *op, WarpSplit *out);
/* Turns of a 'for' whose loads are at hand at once: as the loop says, or its kernel. With one products
   would wait for each block that is loaded, and threads would hold it: where the kernel says one, its
   loops of products get two. */
int64_t dot_stages(const Op *loop);
/* True when its sum has the layout for that, too. */
bool dot_is_of_group(const Op *op);
/* Whether operand 0 or 1 can be read from memory where it lies along dim `dim` of its buffer, or of
   the transposed (flipped): along k, if not of 16 bits. */
bool dot_lies_along(const Op *op, int operand, bool flipped, int dim);
/* What operand 0 or 1 is before changes of layout and transpositions; flipped (or
   NULL, here and below): by way of these. */
Value *dot_base(const Op *op, int operand, bool *flipped);
/* The dot, or the outermost loop around it that does not change the value. */
Op *dot_home(Op *dot, const Value *v);
/* No turn of the innermost loop around changes it. */
bool dot_operand_stays(const Op *op, int operand);
/* Where a product alone uses what an op gives, as a factor, transposed or not; NULL: none of its
   region does. */
const Use *dot_factor_use(const Op *op);
/* Warps would have it in more registers than it is worth: what stays is read from memory in each turn. */
bool dot_holds_much(const Op *op, int operand);
/* True when the operand is where an asynchronous dot can have it: in a ring of swizzled tiles, or
   the first in registers, if it is not the same in every turn of a loop: ptxas up to CUDA 13.2 gives
   such registers to others, while the next turn needs them. */
bool dot_group_reads(const Op *op, int operand);
/* Products of 8-bit floats are summed with 13 bits behind the point of the largest. So many along k
   may be, before they are added to the sum in fp32: as max_num_imprecise_acc says, or 128; of one dot at most. 0: any
   number. */
int dot_together(const Op *op);
/* Of any op: a dot that only begins where it stands; a dot_wait is for its end. */
static inline bool dot_is_async(const Op *op)
{
    return op->kind == OP_DOT && tkc_op_int(op, ATTR_ASYNC, 0);
}
/* Of a dot_wait: its own sum is among those that it waits for; else that is under way behind it. */
bool dot_is_waited_for(const Op *wait);
/* It is one, or has one inside. */
bool dot_begins_in(const Op *op);
/* Its sum begins at 0. */
bool dot_begins_at_0(const Op *op);
/* Of a transposition: not of [0, 1]. */
static inline bool dot_flips(const Op *trans) { return tkc_op_attr(trans, ATTR_PERM)->v[0] == 1; }
/* The op of that kind that gives operand 0 or 1, transposed (flipped) or not; NULL: it is another.
 */
const Op *dot_source(const Op *op, int operand, OpKind kind, bool *flipped);
/* The ring_load whose buffer an asynchronous dot reads operand 0 or 1 from; NULL: it is in
   registers. flipped: by way of a transposition. */
static inline const Op *dot_ring(const Op *op, int operand, bool *flipped)
{
    return dot_source(op, operand, OP_RING_LOAD, flipped);
}
/* True for a ring_load, or a transposition of one, that only asynchronous dots use: no thread holds
   the block. */
bool dot_reads_alone(const Op *op);
