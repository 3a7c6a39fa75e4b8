/* Scans, sorting, histograms and gathers. */
#include "spec/argument.h"
#include "spec/combine.h"

/* A running sum or product along an axis, in the type asked for or the one it has by itself. */
SpecValue builtin_running(Spec *sp, const Call *c)
{
    const OpKind kind = c->builtin->op;
    Value *x = c->args[0].v;
    DType dt = type_dtype(x->type);
    dt = dt == DT_BF16 ? DT_F32 : kind == OP_ADD ? combine_sum_dtype(dt) : dt;
    if (arg_is_given(c, 3)) dt = type_dtype(c->args[3].type);
    x = build_cast(&sp->b, x, dt, NULL);
    Op *op = build_scan(&sp->b, (int)c->args[1].i, c->args[2].b, 1, &x);
    combine_by_op(sp, op, kind);
    return sv_value(op_result(op, 0));
}

SpecValue builtin_scan(Spec *sp, const Call *c)
{
    Value *xs[COMBINE_MAX];
    int n = combine_operands(sp, c, 0, xs);
    if (n < 0) return sv_error();
    Op *op = build_scan(&sp->b, (int)c->args[1].i, c->args[3].b, n, xs);
    if (!combine_by_function(sp, op, c->args[2], c->at)) return sv_error();
    return arg_results(sp, sv_is_sequence(c->args[0]), n, op->results);
}

SpecValue builtin_sort(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    const int axis = (int)c->args[1].i;
    if (arg_is_given(c, 1) && axis != v->type->rank - 1)
        return spec_error(sp, c->spans[1], "%s works along the last dimension, found %d of %d",
                          arg_operation(sp, c), axis, v->type->rank);
    Op *op = build_op(&sp->b, OP_SORT, 1, &v, 1, &v->type);
    if (c->args[2].b) ir_set_int(sp->fn, op, ATTR_DESCENDING, 1);
    return sv_value(op_result(op, 0));
}

SpecValue builtin_histogram(Spec *sp, const Call *c)
{
    Value *args[2] = {c->args[0].v, NULL};
    const __int128 bins = c->args[1].i;
    if (args[0]->type->rank != 1 || !type_is_int(args[0]->type))
        return arg_refuse(sp, c, 0, "a 1-D block of integers");
    if (bins < 1 || bins > INT32_MAX) return arg_refuse(sp, c, 1, "1 to 1048576");
    Shape shape = {.rank = 1, .dims = {(int32_t)bins}};
    if (!shape_check(sp, &shape, c->spans[1])) return sv_error();
    if (arg_is_given(c, 2)) {
        Shape like = shape_of(args[0]->type);
        Value *mask = c->args[2].v;
        if (!type_is_bool(mask->type)) return arg_refuse(sp, c, 2, "int1");
        args[1] = broadcast_value(sp, mask, &like, c->spans[2]);
        if (!args[1]) return sv_error();
    }
    const Type *t = shape_type(sp, type_scalar(sp->ir->types, DT_I32), &shape);
    return sv_value(op_result(build_op(&sp->b, OP_HISTOGRAM, args[1] ? 2 : 1, args, 1, &t), 0));
}

SpecValue builtin_gather(Spec *sp, const Call *c)
{
    Value *src = c->args[0].v, *index = c->args[1].v;
    const int axis = (int)c->args[2].i;
    if (!type_is_int(index->type)) return arg_refuse(sp, c, 1, "a block of integers");
    bool fits = src->type->rank == index->type->rank;
    for (int i = 0; fits && i < src->type->rank; i++)
        fits = i == axis || src->type->shape[i] == index->type->shape[i];
    if (!fits)
        return spec_error(
            sp, c->at,
            "tl.gather along dimension %d of %s with the index %s: the other extents differ", axis,
            type_text(sp->arena, src->type), type_text(sp->arena, index->type));
    return sv_value(build_gather(&sp->b, src, index, axis));
}
