/* dot, by what computes it. */
#pragma once

#include "ir/dot_unit.h"
#include "lower/lower.h"

/* mma.c: by the unit's instruction. */
void lower_mma(Lower *L, const Op *op, DotUnit unit);
/* The words of one operand that one instruction takes, of step `step` along k; base: the index of the
   first element of its rows (columns). Returns how many. */
typedef struct FragmentReader FragmentReader;
FragmentReader *lower_fragment_open(Lower *L, const Op *op, int operand);
int lower_fragment_words(FragmentReader *r, uint32_t base, int step, LLVMValueRef *out);

/* group.c: by a warp group's, on its way when this returns. */
void lower_group_dot(Lower *L, const Op *op);
/* True when nothing but such products, to whose end nobody in the loop waits, touches what it carries in
   this slot. Then it needs not be passed from turn to turn: it can have its registers, which begin with
   what comes in. */
bool lower_holds_sum(const Op *loop, int slot);
Regs lower_hold_sum(Lower *L, const Value *init);
/* Before a loop of `count` turns: groups begin it one behind the other, as it says; not for a few turns,
   which would not make up for that. */
void lower_stagger(Lower *L, const Op *loop, LLVMValueRef count);
