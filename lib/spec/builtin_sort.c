/* Sorting, histograms and gathers. */
#include "base/power.h"
#include "spec/argument.h"

/* Argument i, if it is given, names the last dimension. */
static bool is_along_last(Spec *sp, const Call *c, int i)
{
    const int axis = (int)c->args[i].i, rank = c->args[0].v->type->rank;
    if (!arg_is_given(c, i) || axis == rank - 1) return true;
    spec_error(sp, c->spans[i], "%s works along the last dimension, found %d of %d",
               arg_operation(sp, c), axis, rank);
    return false;
}

SpecValue builtin_sort(Spec *sp, const Call *c)
{
    if (!is_along_last(sp, c, 1)) return sv_error();
    return sv_value(build_sort(&sp->b, c->args[0].v, c->args[2].b, false, 0));
}

/* The first k along the last dim of x. */
static Value *first_of(Spec *sp, Value *x, int32_t k)
{
    const int last = x->type->rank - 1;
    int32_t shape[TKC_MAX_RANK], one[TKC_MAX_RANK];
    for (int d = 0; d <= last; d++) shape[d] = d < last ? x->type->shape[d] : k;
    for (int d = 0; d <= last; d++) one[d] = d < last ? 1 : k;
    if (k == x->type->shape[last]) return x;
    Value *index = build_reshape(&sp->b, build_arange(&sp->b, 0, k), last + 1, one, false);
    return build_gather(&sp->b, x, build_broadcast(&sp->b, index, last + 1, shape), last);
}

/* Few are picked out of many without sorting these. */
SpecValue builtin_topk(Spec *sp, const Call *c)
{
    Value *x = c->args[0].v;
    const int32_t n = x->type->shape[x->type->rank - 1];
    if (!is_along_last(sp, c, 2)) return sv_error();
    if (c->args[1].i < 1 || c->args[1].i > n)
        return arg_refuse(sp, c, 1, "1 to the extent of the last dimension");
    const int32_t k = (int32_t)c->args[1].i, kept = 1 << log2_floor(2 * (int64_t)k - 1);
    x = build_sort(&sp->b, x, c->args[3].b, false, kept <= n / 4 ? kept : 0);
    return sv_value(first_of(sp, x, k));
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
    const bool same_rank = src->type->rank == index->type->rank;
    bool fits = same_rank;
    for (int i = 0; fits && i < src->type->rank; i++)
        fits = i == axis || src->type->shape[i] == index->type->shape[i];
    if (!fits)
        return spec_error(
            sp, c->at, "tl.gather along dimension %d of %s with the index %s: the %s differ", axis,
            type_text(sp->arena, src->type), type_text(sp->arena, index->type),
            same_rank ? "other extents" : "ranks");
    return sv_value(build_gather(&sp->b, src, index, axis));
}
