/* Conditions that the axis facts decide become constants, and masks that became constant go: a mask
   that is true on every valid lane is dropped (with the load's `other`), an access that is masked
   off everywhere is not made.

   Facts are about valid lanes. That suffices: an invalid lane's mask does not matter, because
   accesses are predicated by validity anyway. A mask that is partly decided, `a & b` with a true,
   loses that part in fold. */
#include "transform/passes.h"

#include "analysis/axis.h"
#include "ir/build.h"

/* As axis_truth, also of constants made since. */
static int truth_of(const AxisFacts *facts, const Value *cond)
{
    uint64_t bits;
    return ir_const_bits(cond, &bits) ? bits != 0 : axis_truth(facts, cond);
}

/* Places of the operands of an access; -1: it has none. */
typedef struct Access {
    int mask, other;
} Access;

static Access access_of(const Op *op)
{
    switch (op->kind) {
    case OP_LOAD: return (Access){op->nargs > 1 ? 1 : -1, op->nargs > 2 ? 2 : -1};
    case OP_ATOMIC_LOAD: return (Access){op->nargs > 1 ? 1 : -1, -1};
    case OP_STORE:
    case OP_ATOMIC_STORE:
    case OP_ATOMIC_RMW: return (Access){op->nargs > 2 ? 2 : -1, -1};
    case OP_ASSERT: return (Access){op->nargs > 1 ? 1 : -1, -1};
    default: return (Access){-1, -1};
    }
}

static Value *zero_of(Builder *b, const Type *ty)
{
    if (!type_is_pointer(ty)) return build_const(b, ty, 0);
    TypeTable *types = ir_of(b->fn)->types;
    Value *bits = build_const(b, type_with_dtype(types, ty, DT_I64), 0);
    return build_bitcast(b, bits, tkc_type_element(ty));
}

/* What lanes that are masked off read. */
static void drop_access(Op *op, Access a)
{
    Builder b = build_before(op);
    if (op->nresults > 0) {
        Value *instead = a.other >= 0 ? op_arg(op, a.other) : zero_of(&b, op_result(op, 0)->type);
        ir_replace_uses(op_result(op, 0), instead);
    }
    ir_unlink(op);
}

static void drop_mask(Op *op, Access a)
{
    if (a.other >= 0) ir_remove_arg(op, a.other);
    ir_remove_arg(op, a.mask);
}

static void decide_access(const AxisFacts *facts, Op *op)
{
    if ((op->kind == OP_ASSERT || op->kind == OP_ASSUME) && truth_of(facts, op_arg(op, 0)) == 1) {
        ir_unlink(op);
        return;
    }
    Access a = access_of(op);
    int truth = a.mask >= 0 ? truth_of(facts, op_arg(op, a.mask)) : -1;
    if (truth < 0) return;
    if (truth) drop_mask(op, a);
    else drop_access(op, a);
}

/* A condition that is decided but is still computed. */
static bool is_decided(const AxisFacts *facts, const Op *op)
{
    if (op->nresults != 1 || op->nregions > 0 || op->kind == OP_CONST || !ir_has(op, OT_PURE))
        return false;
    const Value *v = op_result(op, 0);
    return v->uses && type_is_bool(v->type) && axis_truth(facts, v) >= 0;
}

static void decide_condition(const AxisFacts *facts, Op *op)
{
    Builder b = build_before(op);
    Value *v = op_result(op, 0);
    ir_replace_uses(v, build_const(&b, v->type, (uint64_t)axis_truth(facts, v)));
}

static void mask_op(Op *op, void *user)
{
    const AxisFacts *facts = user;
    if (is_decided(facts, op)) decide_condition(facts, op);
    else decide_access(facts, op);
}

/* needs: nothing; it makes its own axis facts.  keeps: layouts.  changes: masks of accesses;
   removes accesses that are masked off; conditions become constants (dce removes what computed
   them). */
void mask_run(Pass *p, Func *fn)
{
    ir_walk(fn->body, mask_op, axis_analyze(p->scratch, fn, AXIS_PROVED, NULL));
}
