/* Folding: what can be computed now, simplified by identities that hold for every value, or moved
   to where it is cheaper. One walk, operands before users, so a rule sees simplified operands; ops
   a rule makes are looked at too.

   Why it ends: each rule makes fewer ops, or ops of a lower class in constant < scalar < block, or
   puts a constant to the right, or turns <= and > into < and >=; none undoes another. A rule for
   floats must be exact for every value, NaN and both zeros included: x + 0 is not x (for -0), x * 0
   is not 0, x - x is not 0. */
#include "transform/fold.h"

#include "transform/passes.h"

static Value *fold_op(Builder *b, Op *op)
{
    if (op->nresults != 1 || op->nregions > 0 || !ir_has(op, OT_PURE)) return NULL;
    const Type *ty = op_result(op, 0)->type;
    Value *v = type_is_pointer(ty) ? NULL : build_folded(b, op, ty);
    if (!v) v = fold_arithmetic(b, op);
    return v ? v : fold_shape(b, op);
}

static void fold_region(Region *r);

/* An op with regions, after what is in them. */
static bool fold_nested(Op *op)
{
    for (int i = 0; i < op->nregions; i++) fold_region(op->regions[i]);
    return fold_control(op);
}

static bool fold_single(Op *op)
{
    Builder b = build_before(op);
    Value *v = fold_op(&b, op);
    if (v) ir_replace(op, &v);
    return v != NULL;
}

/* Where an op was replaced the walk goes on at the first op that was put in its place. */
static void fold_region(Region *r)
{
    for (Op *op = r->first, *next; op; op = next) {
        Op *before = op->prev, *after = op->next;
        const bool gone = op->nregions > 0 ? fold_nested(op) : fold_single(op);
        next = !gone ? after : before ? before->next : r->first;
    }
}

/* needs: nothing.  keeps: layouts.  changes: ops without effect, `if` and `for` whose course is
   known. */
void fold_run(Pass *p, Func *fn)
{
    (void)p;
    fold_region(fn->body);
}
