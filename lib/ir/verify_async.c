/* Asynchronous dots: which ones there may be, and that a sum which is under way goes nowhere but to
   the next such dot, to a wait and around a loop. No code may lie between them that touches it. One
   that is summed apart goes on where it is waited for, before any other begins. */
#include "ir/verify_op.h"

#include "ir/dot_unit.h"
#include "tkc/carry.h"

/* Of an op that gives one, or waits for others than it. */
static bool gives_under_way(const Op *op)
{
    return op && (dot_is_async(op) || (op->kind == OP_DOT_WAIT && !dot_is_waited_for(op)));
}

static bool is_under_way(const Value *v)
{
    const Op *owner;
    int slot;
    if (gives_under_way(v->def)) return true;
    return tkc_carry_of_value(v, &owner, &slot) && owner->kind == OP_FOR &&
           gives_under_way(carry_passed(owner->regions[0], slot)->def);
}

static bool may_take(const Use *u)
{
    const Op *op = u->user;
    return (dot_is_async(op) && u == &op->args[2]) || op->kind == OP_DOT_WAIT ||
           (op->kind == OP_YIELD && op->region->parent->kind == OP_FOR);
}

static bool check_uses(Verifier *v, const Op *op, const Value *sum)
{
    if (!is_under_way(sum)) return true;
    for (const Use *u = sum->uses; u; u = u->next)
        if (!may_take(u))
            return verify_fail(v, op, "'%s' takes a sum that is under way; a dot_wait comes first",
                               tkc_op_info(u->user->kind)->name);
    return true;
}

static bool check_operand(Verifier *v, const Op *op, int operand)
{
    return dot_group_reads(op, operand) ||
           verify_fail(v, op,
                       "operand %d of an asynchronous dot is in no ring of swizzled tiles that a "
                       "group reads",
                       operand);
}

static bool check_dot(Verifier *v, const Op *op)
{
    if (!dot_is_async(op)) return true;
    if (!op_result(op, 0)->type->layout || !dot_is_of_group(op))
        return verify_fail(v, op, "no warp group of the target computes this");
    return check_operand(v, op, 0) && check_operand(v, op, 1);
}

static bool check_apart(Verifier *v, const Op *dot)
{
    if (!dot_is_async(dot) || !dot_together(dot)) return true;
    const Op *op = dot->next;
    while (op && op->kind != OP_DOT_WAIT && !dot_begins_in(op)) op = op->next;
    return (op && op->kind == OP_DOT_WAIT && op_arg(op, 0) == op_result(dot, 0)) ||
           verify_fail(v, dot,
                       "what is summed apart is waited for before another asynchronous dot begins "
                       "or is waited for");
}

bool verify_async(Verifier *v, const Op *op)
{
    if (!check_dot(v, op) || !check_apart(v, op)) return false;
    for (int i = 0; i < op->nresults; i++) {
        if (!check_uses(v, op, op_result(op, i))) return false;
        if (op->kind == OP_FOR && !check_uses(v, op, carry_param(op->regions[0], i))) return false;
    }
    return true;
}
