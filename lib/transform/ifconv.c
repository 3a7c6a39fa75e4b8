/* Small branches become selects: both sides are computed and each result is chosen by the
   condition. That is legal when neither side has an effect or reads memory, and pays when both are
   cheaper than a branch, which every warp of the program takes together. */
#include "transform/passes.h"

#include "ir/build.h"

/* In elementwise ops on scalars; a branch and its join are some ten instructions. */
enum { MAX_COST = 10, BLOCK_COST = 4, SLOW_COST = 8 };

/* Of one op; more than MAX_COST when it must stay behind its branch. */
static int cost_of(const Op *op)
{
    if (ir_has(op, OT_CONST)) return 0;
    if (op->nregions > 0 || !ir_has(op, OT_PURE) ||
        !(ir_has(op, OT_EW) || ir_has(op, OT_SHAPE) || op->nargs == 0)) {
        return MAX_COST + 1;
    }
    bool moves = op->kind == OP_CAT || op->kind == OP_CONVERT || op->kind == OP_RESHAPE;
    bool is_block = op->nresults > 0 && type_is_block(op_result(op, 0)->type);
    bool is_slow = ir_has(op, OT_SPECIAL) || ir_has(op, OT_LONG);
    return moves && is_block ? MAX_COST + 1
                             : (is_slow ? SLOW_COST : 1) * (is_block ? BLOCK_COST : 1);
}

static bool is_cheap(const Op *branch)
{
    int cost = 0;
    for (int i = 0; i < branch->nresults; i++)
        cost += type_is_block(op_result(branch, i)->type) ? BLOCK_COST : 1;
    for (int i = 0; i < 2; i++) {
        for (const Op *op = branch->regions[i]->first; op != branch->regions[i]->last;
             op = op->next) {
            cost += cost_of(op);
            if (cost > MAX_COST) return false;
        }
    }
    return cost <= MAX_COST;
}

static void convert_branch(Op *branch)
{
    Builder b = build_before(branch);
    for (int i = 0; i < 2; i++) ir_move_body_before(branch->regions[i], branch);
    for (int i = 0; i < branch->nresults; i++) {
        Value *yes = op_arg(branch->regions[0]->last, i), *no = op_arg(branch->regions[1]->last, i);
        Value *chosen = yes == no ? yes : build_select(&b, op_arg(branch, 0), yes, no);
        ir_replace_uses(op_result(branch, i), chosen);
    }
    ir_unlink(branch);
}

/* Inner branches first: one that became selects may make the outer one small. */
static void convert_region(Region *r)
{
    for (Op *op = r->first, *next; op; op = next) {
        next = op->next;
        for (int i = 0; i < op->nregions; i++) convert_region(op->regions[i]);
        if (op->kind == OP_IF && is_cheap(op)) convert_branch(op);
    }
}

/* needs: nothing.  keeps: layouts.  changes: replaces `if` ops by selects. */
void ifconv_run(Pass *p, Func *fn)
{
    (void)p;
    convert_region(fn->body);
}
