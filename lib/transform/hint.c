/* What a hint says of a value holds for it, whether or not the kernel takes what the hint returns:
   uses behind a hint, in the same turn or branch, become uses of its result. */
#include "base/vec.h"
#include "ir/build.h"
#include "transform/passes.h"

typedef struct Hints {
    Arena *scratch;
    VEC(Op *) all;
} Hints;

static void collect(Op *op, void *user)
{
    Hints *h = user;
    if (op->kind == OP_HINT && op->nattrs) vec_push(h->scratch, &h->all, op);
}

/* The op, or what it is inside of, comes later in the hint's region. */
static bool is_behind(const Op *op, const Op *hint)
{
    const Op *before = hint;
    while (op && op->region != hint->region) op = op->region->parent;
    while (op && before && before != op) before = before->next;
    return op && before && op != hint;
}

static bool apply(Op *hint)
{
    bool changed = false;
    const Value *v = op_arg(hint, 0);
    for (Use *u = v->uses, *next; u; u = next) {
        next = u->next;
        if (!is_behind(u->user, hint)) continue;
        ir_set_arg(u->user, (int)(u - u->user->args), op_result(hint, 0));
        changed = true;
    }
    return changed;
}

/* needs: nothing.  keeps: what every op computes.  changes: operands that a hint is about. */
bool hint_run(Pass *p, Func *fn)
{
    Hints h = {.scratch = p->scratch};
    bool changed = false;
    ir_walk(fn->body, collect, &h);
    for (int i = 0; i < h.all.len; i++) changed |= apply(h.all.data[i]);
    return changed;
}
