/* Blocks out of nothing, casts, and where the program is in its grid. */
#include "spec/argument.h"

SpecValue builtin_program_id(Spec *sp, const Call *c)
{
    const __int128 axis = c->args[0].i;
    if (axis < 0 || axis > 2)
        return spec_error(sp, c->spans[0], "%s axis must be 0, 1, or 2 but got %lld",
                          arg_operation(sp, c), (long long)axis);
    return sv_value(build_grid(&sp->b, c->builtin->op, (int)axis));
}

SpecValue builtin_arange(Spec *sp, const Call *c)
{
    const int64_t start = (int64_t)c->args[0].i, end = (int64_t)c->args[1].i;
    if (start < INT32_MIN || start > INT32_MAX || end < INT32_MIN || end > INT32_MAX)
        return spec_error(sp, c->at, "tl.arange must fit into int32, found %lld to %lld",
                          (long long)start, (long long)end);
    if (end <= start)
        return spec_error(sp, c->at, "tl.arange must end after it starts, found %lld to %lld",
                          (long long)start, (long long)end);
    Shape shape = {.rank = 1,
                   .dims = {end - start > INT32_MAX ? INT32_MAX : (int32_t)(end - start)}};
    if (!shape_check(sp, &shape, c->at)) return sv_error();
    return sv_value(build_arange(&sp->b, (int32_t)start, (int32_t)end));
}

SpecValue builtin_full(Spec *sp, const Call *c)
{
    Shape shape;
    const Type *t = c->args[2].type;
    if (!arg_shape(sp, c, 0, &shape)) return sv_error();
    SpecValue value = c->args[1];
    if (sv_is_number(value) && t->kind == TY_SCALAR) {
        Value *number = cast_number(sp, value, type_dtype(t), c->spans[1]);
        return number ? sv_value(shape_fill(sp, number, &shape)) : sv_error();
    }
    Value *v = arg_value(sp, c, 1);
    if (!v) return sv_error();
    if (tkc_type_count(v->type) != 1) return arg_refuse(sp, c, 1, "one number");
    v = op_cast(sp, shape_fill(sp, v, &(Shape){0}), t, false, NULL, c->spans[1]);
    return v ? sv_value(shape_fill(sp, v, &shape)) : sv_error();
}

SpecValue builtin_zeros(Spec *sp, const Call *c)
{
    Shape shape;
    if (!arg_shape(sp, c, 0, &shape)) return sv_error();
    return sv_value(build_const(&sp->b, shape_type(sp, c->args[1].type, &shape), 0));
}

SpecValue builtin_zeros_like(Spec *sp, const Call *c)
{
    return sv_value(build_const(&sp->b, c->args[0].v->type, 0));
}

SpecValue builtin_cast(Spec *sp, const Call *c)
{
    const Type *t = c->args[1].type;
    const char *rounding = c->args[2].s;
    const bool bitcast = c->args[3].b;
    if (sv_is_number(c->args[0]) && !bitcast && !rounding &&
        tkc_type_element(t)->kind == TY_SCALAR) {
        return sv_value(cast_number(sp, c->args[0], type_dtype(t), c->spans[0]));
    }
    return sv_value(op_cast(sp, arg_value(sp, c, 0), t, bitcast, rounding, c->at));
}

/* What only asks for a kind of argument, which it gives back. */
SpecValue builtin_same(Spec *sp, const Call *c)
{
    (void)sp;
    return c->args[0];
}

SpecValue builtin_item(Spec *sp, const Call *c)
{
    if (tkc_type_count(c->args[0].v->type) != 1) return arg_refuse(sp, c, 0, "a block of one element");
    return sv_value(shape_fill(sp, c->args[0].v, &(Shape){0}));
}
