/* acc + dot(a, b, 0) becomes dot(a, b, acc): what multiplies matrices adds to what there is, and needs
   no registers for a sum of its own. Floats are added in another order then, so it is no rule of
   folding, and `cpu` does without. */
#include "base/vec.h"
#include "ir/build.h"
#include "transform/passes.h"

typedef struct Sums {
    Arena *scratch;
    VEC(Op *) all;
} Sums;

/* A product that only the sum uses, as often as it is computed, and that begins at 0. */
static bool is_fresh(const Op *sum, int operand)
{
    const Value *v = op_arg(sum, operand);
    const Op *op = v->def;
    uint64_t start;
    return op && op->kind == OP_DOT && op->region == sum->region && !v->uses->next &&
           ir_const_bits(op_arg(op, 2), &start) && !start && !tkc_op_int(op, ATTR_IMPRECISE, 0) &&
           type_bits(v->type) >= 32;
}

static void collect(Op *op, void *user)
{
    Sums *s = user;
    if (op->kind == OP_ADD && (is_fresh(op, 0) || is_fresh(op, 1)))
        vec_push(s->scratch, &s->all, op);
}

static void accumulate(Func *fn, Op *sum)
{
    const int i = is_fresh(sum, 0) ? 0 : 1;
    Op *dot = op_arg(sum, i)->def;
    Builder b = build_before_at(sum, dot->loc);
    Value *all = build_dot(&b, op_arg(dot, 0), op_arg(dot, 1), op_arg(sum, 1 - i), NULL);
    ir_copy_attrs(fn, all->def, dot);
    ir_replace(sum, &all);
    ir_unlink(dot);
}

/* needs: nothing.  keeps: layouts.  changes: sums of a product and something else. */
void accumulate_run(Pass *p, Func *fn)
{
    Sums s = {.scratch = p->scratch};
    ir_walk(fn->body, collect, &s);
    for (int i = 0; i < s.all.len; i++) {
        Op *sum = s.all.data[i];
        if (is_fresh(sum, 0) || is_fresh(sum, 1)) accumulate(fn, sum);
    }
}
