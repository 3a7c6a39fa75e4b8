/* What `for`, `while` and `if` carry, and where it is. A slot is one value on its way: the initial
   value and an argument of each region (a branch has neither), what the end of each region passes
   on, and the result of its number. The only place that knows which operands are the op's own. */
#ifndef TKC_CARRY_H
#define TKC_CARRY_H

#include "tkc/ir.h"

static inline bool carry_is_op(const Op *op)
{
    return op->kind == OP_FOR || op->kind == OP_WHILE || op->kind == OP_IF;
}

/* Slots of any op. */
static inline int carry_count(const Op *op) { return carry_is_op(op) ? op->nresults : 0; }

/* Operands of its own, which decide whether and how often regions run; initial values follow them.
   The same of a region's arguments, and of what its end passes on. */
static inline int carry_own_args(const Op *op)
{
    return op->kind == OP_FOR ? 3 : op->kind == OP_IF;
}
static inline int carry_own_params(const Op *op) { return op->kind == OP_FOR; }
static inline int carry_own_ends(const Op *end) { return end->kind == OP_CONDITION; }

/* The region's end goes on with slot `slot` as this. */
static inline Value *carry_passed(const Region *r, int slot)
{
    return op_arg(r->last, carry_own_ends(r->last) + slot);
}

/* Of loops. */
static inline Value *carry_init(const Op *op, int slot)
{
    return op_arg(op, carry_own_args(op) + slot);
}
static inline Value *carry_param(const Region *r, int slot)
{
    return r->args[carry_own_params(r->parent) + slot];
}

/* All values of a slot, the result first; returns how many. */
enum { CARRY_MEMBERS = 6 };
int tkc_carry_members(const Op *op, int slot, Value *members[CARRY_MEMBERS]);
/* The op and slot that a value is the result or argument of, or that an operand feeds. False:
   none. */
bool tkc_carry_of_value(const Value *v, const Op **owner, int *slot);
bool tkc_carry_of_use(const Use *use, const Op **owner, int *slot);
/* What may become v, the result or argument of a slot: one value or two; 0 for any other v. */
int tkc_carry_sources(const Value *v, const Value *from[2]);

#endif
