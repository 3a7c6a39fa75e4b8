/* What a hint says of a value holds for it, whether or not the kernel takes what the hint returns:
   uses behind a hint, in the same turn or branch, become uses of its result. */
#include "ir/build.h"
#include "transform/passes.h"

/* The op, or what it is inside of, comes later in the hint's region. */
static bool is_behind(const Op *op, const Op *hint)
{
    op = ir_op_of(op, hint->region);
    return op && op != hint && ir_is_before(hint, op);
}

static void apply(Op *hint)
{
    const Value *v = op_arg(hint, 0);
    for (Use *u = v->uses, *next; u; u = next) {
        next = u->next;
        if (is_behind(u->user, hint))
            ir_set_arg(u->user, (int)(u - u->user->args), op_result(hint, 0));
    }
}

/* needs: nothing.  keeps: what every op computes.  changes: operands that a hint is about. */
void hint_run(Pass *p, Func *fn)
{
    (void)p;
    for (Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (op->kind == OP_HINT && op->nattrs) apply(op);
}
