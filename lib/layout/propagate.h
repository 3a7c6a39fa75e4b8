/* How the layouts of an op's operands and results hang together. */
#ifndef TKC_LAYOUT_PROPAGATE_H
#define TKC_LAYOUT_PROPAGATE_H

#include <stdbool.h>
#include "ir/ir.h"

/* Elementwise ops: all blocks of the op have one layout. */
bool propagate_is_uniform(const Op *op);
/* The layout operand i must have when the results have layout `result`; NULL when that does not
   follow (any will do, or the op chooses). Memory ops, reductions and control flow are not
   asked. */
const Layout *propagate_operand(LayoutTable *t, const Op *op, int i, const Layout *result);
/* The layout of the results when operand 0 has layout `operand`; NULL when that does not follow. */
const Layout *propagate_result(LayoutTable *t, const Op *op, const Layout *operand);

/* Values that must agree because control flow carries one into the other: slot `slot` of a for,
   while or if. Calls f for each member. Operands (initial values, yields) are members too. */
void propagate_slot(const Op *op, int slot, void (*f)(Value *v, void *user), void *user);
/* Number of slots. */
int propagate_slots(const Op *op);
/* The slot that operand `arg` of `user` feeds: *owner is the for, while or if. False when it
   feeds none. */
bool propagate_slot_of_use(const Op *user, int arg, const Op **owner, int *slot);
/* The same for a region's argument. */
bool propagate_slot_of_arg(const Value *v, const Op **owner, int *slot);

#endif
