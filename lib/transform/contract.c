/* A sum of what two blocks give that are broadcast against each other is a matrix product, written
   out: sum(a[:, :, None] * b[None, :, :], 1). As such it has its factors from shared memory, loaded
   ahead in loops, and no thread has the block of all products. Nothing is rounded more: fp32 is
   multiplied as such, but for what has been fp16 or bf16, whose products are exact. Floats are added
   in another order, so `cpu` does without. What is too small to be shared out stays. */
#include "ir/build.h"
#include "transform/passes.h"

enum { RANK = 3, FEWEST = 8 /* rows, columns and steps */ };

/* A block of two dims that is repeated along a third, before it was cast to fp32. */
typedef struct Factor {
    Value *block;
    int repeats; /* along which */
} Factor;

/* What was cast from 16 bits to fp32, or v. */
static Value *narrow(Value *v)
{
    const Op *cast = ir_def(v, OP_CAST);
    const bool widens = cast && type_dtype(v->type) == DT_F32 &&
                        type_is_float(op_arg(cast, 0)->type) && type_bits(op_arg(cast, 0)->type) == 16;
    return widens ? op_arg(cast, 0) : v;
}

static bool find_factor(Value *v, Factor *f)
{
    const Op *all = ir_def(narrow(v), OP_BROADCAST),
             *one = all ? ir_def(narrow(op_arg(all, 0)), OP_EXPAND_DIMS) : NULL;
    if (!one) return false;
    *f = (Factor){narrow(op_arg(one, 0)), (int)tkc_op_int(one, ATTR_AXIS, 0)};
    return true;
}

/* The factors in the order of the sum's dims; false: it is no product of matrices, or a small one. */
static bool find_factors(const Op *sum, Factor f[2])
{
    const Value *all = op_arg(sum, 0);
    const Op *product = ir_def(all, OP_MUL);
    if (!product || sum->nargs != 1 || ir_combine_kind(sum->regions[0]) != OP_ADD ||
        all->type->rank != RANK || type_dtype(all->type) != DT_F32 || all->uses->next)
        return false;
    for (int d = 0; d < RANK; d++)
        if (all->type->shape[d] < FEWEST) return false;
    const int axis = ir_axis(sum);
    if (!find_factor(op_arg(product, 0), &f[0]) || !find_factor(op_arg(product, 1), &f[1]) ||
        f[0].repeats == axis || f[1].repeats == axis || f[0].repeats == f[1].repeats)
        return false;
    if (f[0].repeats < f[1].repeats) { /* what repeats along columns has rows */
        const Factor second = f[0];
        f[0] = f[1];
        f[1] = second;
    }
    return true;
}

/* Rows have the summed dim last, columns first. */
static Value *as_operand(Builder *b, const Factor *f, DType type, bool turns)
{
    static const int flip[] = {1, 0};
    Value *v = build_cast(b, f->block, type, NULL);
    return turns ? build_trans(b, v, flip) : v;
}

static void contract(Op *sum, void *user)
{
    Factor f[2];
    (void)user;
    if (sum->kind != OP_REDUCE || !find_factors(sum, f)) return;
    const int axis = ir_axis(sum);
    const DType first = type_dtype(f[0].block->type),
                type = first == type_dtype(f[1].block->type) ? first : DT_F32;
    Builder b = build_before(sum);
    Value *rows = as_operand(&b, &f[0], type, f[1].repeats > axis),
          *columns = as_operand(&b, &f[1], type, f[0].repeats < axis),
          *zero = build_const(&b, op_result(sum, 0)->type, 0),
          *product = build_dot(&b, rows, columns, zero, type == DT_F32 ? "ieee" : NULL);
    ir_replace(sum, &product);
}

/* needs: no layouts.  keeps: nothing.  changes: sums that are matrix products. */
void contract_run(Pass *p, Func *fn)
{
    (void)p;
    ir_walk(fn->body, contract, NULL);
}
