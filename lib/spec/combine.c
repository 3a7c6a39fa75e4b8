/* Building combine regions. While one is filled the builder points into it; whatever happens it is
   put back. */
#include "spec/combine.h"

#include "spec/argument.h"

int combine_operands(Spec *sp, const Call *c, int i, Value **xs)
{
    SpecValue *items;
    int n = sv_items(&c->args[i], &items);
    if (n < 1 || n > COMBINE_MAX)
        return spec_count(sp, c->spans[i], "%s has %d blocks, 1 to %d expected", arg_what(sp, c, i),
                          n, COMBINE_MAX);
    for (int k = 0; k < n; k++) {
        xs[k] = items[k].kind == SV_VALUE && type_is_block(items[k].v->type) ? items[k].v : NULL;
        if (!xs[k]) {
            if (!sv_is_error(items[k]))
                spec_error(sp, c->spans[i], "%s must be blocks, found %s", arg_what(sp, c, i),
                           spec_describe(sp, items[k]));
            return -1;
        }
        if (!type_same_shape(xs[0]->type, xs[k]->type))
            return spec_count(sp, c->spans[i],
                              "the blocks of %s must have one shape, found %s and %s",
                              arg_operation(sp, c), type_text(sp->arena, xs[0]->type),
                              type_text(sp->arena, xs[k]->type));
    }
    return n;
}

static Builder region_builder(Spec *sp, Op *op)
{
    Builder b = build_at_end(sp->fn, op->regions[0]);
    b.loc = sp->b.loc;
    return b;
}

void combine_by_op(Spec *sp, Op *op, OpKind kind)
{
    Builder b = region_builder(sp, op);
    Value *const *args = op->regions[0]->args;
    build_yield(&b, 1, (Value *[]){build_binary(&b, kind, args[0], args[1])});
}

/* Is the left of (value, index) x with values a, b and indices i, j the one to keep?
     a > b                     yes
     a < b                     no
     neither, both numbers     the smaller index
     neither, one is NaN       the number
     neither, both NaN         the smaller index
   As (a >= b or b is NaN) and (i < j or a differs from b and is a number): where i < j is known, as
   of a thread's own elements, two comparisons are left. */
static Value *keeps_left(Builder *b, Value *const *args, bool max)
{
    Value *no_less = build_binary(b, max ? OP_GE : OP_LE, args[0], args[2]);
    Value *first = build_binary(b, OP_LT, args[1], args[3]);
    Value *differs = build_binary(b, OP_NE, args[0], args[2]);
    if (type_is_float(args[0]->type)) {
        Value *right_nan = build_binary(b, OP_NE, args[2], args[2]);
        no_less = build_binary(b, OP_OR, no_less, right_nan);
        Value *left_number = build_binary(b, OP_EQ, args[0], args[0]);
        differs = build_binary(b, OP_AND, left_number, differs);
    }
    return build_binary(b, OP_AND, no_less, build_binary(b, OP_OR, first, differs));
}

void combine_by_order(Spec *sp, Op *op, bool max)
{
    Builder b = region_builder(sp, op);
    Value *const *args = op->regions[0]->args;
    Value *left = keeps_left(&b, args, max);
    build_yield(&b, 2,
                (Value *[]){build_select(&b, left, args[0], args[2]),
                            build_select(&b, left, args[1], args[3])});
}

/* ---- functions ---- */

/* Integers of one width: to the combine functions of Triton their signs are no difference. */
static bool alike_but_for_sign(const Type *a, const Type *b)
{
    return type_is_int(a) && type_is_int(b) && type_bits(a) == type_bits(b);
}

/* The function's results as values of the operands' types. */
static bool results_of(Spec *sp, Op *op, SpecValue r, Value **out, Span at)
{
    SpecValue *items;
    int n = op->nargs, found = sv_items(&r, &items);
    if (sv_is_error(r)) return false;
    if (found != n)
        return spec_fail(sp, at, "the combine function gives %d value%s, expected %d", found,
                         found == 1 ? "" : "s", n);
    for (int i = 0; i < n; i++) {
        const Type *elem = tkc_type_element(op_arg(op, i)->type);
        Value *v = op_to_value(sp, items[i], at);
        if (v && (sv_is_number(items[i]) || alike_but_for_sign(v->type, elem)))
            v = op_cast(sp, v, elem, false, NULL, at);
        if (!v) return false;
        if (v->type != elem)
            return spec_fail(sp, at, "the combine function gives %s for an operand of %s",
                             type_text(sp->arena, v->type), type_text(sp->arena, elem));
        out[i] = v;
    }
    return true;
}

/* What a function computed on the way and did not need, such as a block made to ask for its
   type. */
static void drop_unused(Region *r)
{
    for (Op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        if (!ir_is_terminator(op) && ir_is_unused(op) && ir_can_erase(op)) ir_unlink(op);
    }
}

/* A combine computes on scalars, without memory and without effects but assertions. */
static bool is_of_combine(const Op *op)
{
    bool is_pure = ir_may_combine(op);
    for (int i = 0; i < op->nresults; i++) is_pure &= !type_is_block(op_result(op, i)->type);
    return is_pure;
}

static bool fill(Spec *sp, Op *op, SpecValue fn, Span at)
{
    Region *r = op->regions[0];
    SpecValue args[2 * COMBINE_MAX];
    Value *results[COMBINE_MAX];
    for (int i = 0; i < r->nargs; i++) args[i] = sv_value(r->args[i]);
    SpecValue result = spec_call(sp, fn, r->nargs, args, at);
    if (!results_of(sp, op, result, results, at)) return false;
    build_yield(&sp->b, op->nargs, results);
    drop_unused(r);
    if (ir_holds_for_all(r, is_of_combine)) return true;
    return spec_fail(sp, at,
                     "a combine function computes on scalars, without loads, stores or blocks");
}

bool combine_by_function(Spec *sp, Op *op, SpecValue fn, Span at)
{
    if (fn.kind != SV_FUNC && fn.kind != SV_BUILTIN) {
        if (!sv_is_error(fn))
            spec_error(sp, at, "a combine function is expected, found %s", spec_describe(sp, fn));
        ir_unlink(op);
        return false;
    }
    Builder outside = sp->b;
    sp->b = region_builder(sp, op);
    bool ok = fill(sp, op, fn, at);
    sp->b = outside;
    if (!ok) ir_unlink(op);
    return ok;
}

Value *combine_index_along(Spec *sp, const Value *x, int axis)
{
    const Type *t = x->type;
    Value *v = build_arange(&sp->b, 0, t->shape[axis]);
    for (int i = 0; i < t->rank; i++)
        if (i != axis) v = build_expand_dims(&sp->b, v, i);
    return build_broadcast(&sp->b, v, t->rank, t->shape);
}

DType combine_sum_dtype(DType dt)
{
    const DTypeInfo *info = dtype_info(dt);
    if (info->kind == DK_FLOAT || info->bits >= 32) return dt;
    return info->kind == DK_INT ? DT_I32 : DT_U32; /* int1 counts as unsigned */
}
