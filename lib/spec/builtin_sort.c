/* Sorting, histograms and gathers. */
#include "spec/argument.h"

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
