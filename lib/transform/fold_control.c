/* Control flow whose course is known: a branch on a constant becomes the branch taken, a loop of no
   round its initial values, a loop of one round its body. A carried value that every round passes
   on unchanged is the initial one; a branch result that both sides yield is that value. Slots left
   unused are dce's to remove. */
#include "transform/fold.h"

#include "analysis/range.h"
#include "tkc/carry.h"

static void replace_results(Op *op, const Op *from, int first)
{
    for (int i = 0; i < op->nresults; i++)
        ir_replace_uses(op_result(op, i), op_arg(from, first + i));
}

/* ---- branches ---- */

static bool fold_taken_branch(Op *op)
{
    uint64_t taken;
    if (!ir_const_bits(op_arg(op, 0), &taken)) return false;
    Region *r = op->regions[taken ? 0 : 1];
    ir_move_body_before(r, op);
    replace_results(op, r->last, 0);
    ir_unlink(op);
    return true;
}

static void fold_agreed_results(Op *op)
{
    for (int i = 0; i < op->nresults; i++) {
        Value *v = op_arg(op->regions[0]->last, i);
        if (v == op_arg(op->regions[1]->last, i)) ir_replace_uses(op_result(op, i), v);
    }
}

/* ---- loops ---- */

/* Rounds of a loop, as far as it matters: 0, 1, or 2 for more and for unknown. */
static int rounds_of(const Op *op)
{
    uint64_t bits[3];
    for (int i = 0; i < 3; i++)
        if (!ir_const_bits(op_arg(op, i), &bits[i])) return 2;
    bool is_signed = type_kind(op_arg(op, 0)->type) == DK_INT;
    Wide lower = is_signed ? (Wide)(int64_t)bits[0] : (Wide)bits[0];
    Wide upper = is_signed ? (Wide)(int64_t)bits[1] : (Wide)bits[1];
    Wide step = is_signed ? (Wide)(int64_t)bits[2] : (Wide)bits[2];
    bool down = tkc_op_int(op, ATTR_DOWN, 0) != 0;
    if (down ? step >= 0 : step <= 0) return 2;
    if (down ? lower <= upper : lower >= upper) return 0;
    return (down ? lower + step <= upper : lower + step >= upper) ? 1 : 2;
}

static bool fold_known_rounds(Op *op)
{
    int rounds = rounds_of(op);
    if (rounds > 1) return false;
    if (rounds == 0) {
        replace_results(op, op, carry_own_args(op));
    } else {
        Region *body = op->regions[0];
        ir_replace_uses(body->args[0], op_arg(op, 0));
        for (int i = 0; i < op->nresults; i++)
            ir_replace_uses(carry_param(body, i), carry_init(op, i));
        ir_move_body_before(body, op);
        replace_results(op, body->last, 0);
    }
    ir_unlink(op);
    return true;
}

/* What the last round passes on is what it got, or what the first round got. */
static void fold_unchanged_slots(Op *op)
{
    Region *body = op->regions[0];
    for (int i = 0; i < op->nresults; i++) {
        Value *init = carry_init(op, i), *arg = carry_param(body, i),
              *yielded = carry_passed(body, i);
        if (yielded != arg && yielded != init) continue;
        ir_replace_uses(op_result(op, i), init);
        if (yielded == arg) ir_set_arg(body->last, i, init);
        ir_replace_uses(arg, init);
    }
}

bool fold_control(Op *op)
{
    const bool gone = (op->kind == OP_IF && fold_taken_branch(op)) ||
                      (op->kind == OP_FOR && fold_known_rounds(op));
    if (!gone && op->kind == OP_IF) fold_agreed_results(op);
    if (!gone && op->kind == OP_FOR) fold_unchanged_slots(op);
    return gone;
}
