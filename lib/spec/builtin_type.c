/* What types answer when asked, and operations that make types. */
#include <string.h>

#include "spec/argument.h"

/* Of element types, by their kind and width; is_fp16 and the like name the type itself. */
#define KIND(k) (1u << DK_##k)
static const struct { const char *name; unsigned kinds; int min_bits, max_bits; } predicates[] = {
    {"fp8", KIND(FLOAT), 8, 8},
    {"floating", KIND(FLOAT), 0, 64},
    {"standard_floating", KIND(FLOAT), 16, 64},
    {"bool", KIND(BOOL), 0, 64},
    {"int", KIND(BOOL) | KIND(INT) | KIND(UINT), 0, 64},
    {"integer", KIND(BOOL) | KIND(INT) | KIND(UINT), 0, 64},
    {"int_signed", KIND(INT), 0, 64},
    {"int_unsigned", KIND(BOOL) | KIND(UINT), 0, 64},
};
#undef KIND

SpecValue builtin_type_is(Spec *sp, const Call *c)
{
    (void)sp;
    const Type *t = c->args[0].type;
    const char *name = c->builtin->name + strlen("is_");
    if (strcmp(name, "ptr") == 0) return sv_bool(t->kind == TY_POINTER);
    if (strcmp(name, "block") == 0) return sv_bool(t->kind == TY_BLOCK);
    if (strcmp(name, "dtype") == 0 || t->kind != TY_SCALAR) return sv_bool(t->kind == TY_SCALAR);
    const DTypeInfo *info = dtype_info(type_dtype(t));
    for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++) {
        if (strcmp(predicates[i].name, name) == 0)
            return sv_bool((predicates[i].kinds >> info->kind & 1) &&
                           info->bits >= predicates[i].min_bits &&
                           info->bits <= predicates[i].max_bits);
    }
    return sv_bool(dtype_find(name, strlen(name)) == type_dtype(t));
}

SpecValue builtin_type_limit(Spec *sp, const Call *c)
{
    const Type *t = c->args[0].type;
    if (t->kind != TY_SCALAR || type_is_float(t)) return arg_refuse(sp, c, 0, "an integer type");
    const bool max = strcmp(c->builtin->name, "get_int_max_value") == 0;
    return sv_int(max ? dtype_most(type_dtype(t)) : dtype_least(type_dtype(t)));
}

/* tl.dtype.KIND's number. */
SpecValue builtin_type_kind(Spec *sp, const Call *c)
{
    const Type *t = c->args[0].type;
    if (t->kind != TY_SCALAR) return arg_refuse(sp, c, 0, "a number's type");
    return sv_int(type_is_bool(t) ? 0 : type_is_int(t) ? 1 : 2);
}

SpecValue builtin_type_with_element(Spec *sp, const Call *c)
{
    const Shape shape = shape_of(c->args[0].type);
    return sv_type(shape_type(sp, c->args[1].type, &shape));
}

SpecValue builtin_type_shape(Spec *sp, const Call *c)
{
    return constant_ints(sp, c->args[0].type->rank, c->args[0].type->shape);
}

SpecValue builtin_get_int_dtype(Spec *sp, const Call *c)
{
    const bool is_signed = c->args[1].b;
    for (int dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        const DTypeInfo *info = dtype_info((DType)dt);
        bool fits = info->kind == DK_INT    ? is_signed
                    : info->kind == DK_UINT ? !is_signed
                                            : info->kind == DK_BOOL;
        if (info->bits == c->args[0].i && fits) return sv_type(type_scalar(sp->ir->types, (DType)dt));
    }
    return arg_refuse(sp, c, 0, "1, 8, 16, 32 or 64");
}

SpecValue builtin_pointer_type(Spec *sp, const Call *c)
{
    const Type *t = c->args[0].type;
    if (t->kind != TY_SCALAR && t->kind != TY_POINTER)
        return arg_refuse(sp, c, 0, "a number's or pointer's type");
    return sv_type(type_pointer(sp->ir->types, t));
}

SpecValue builtin_block_type(Spec *sp, const Call *c)
{
    Shape shape;
    if (!arg_shape(sp, c, 1, &shape)) return sv_error();
    return sv_type(shape_type(sp, tkc_type_element(c->args[0].type), &shape));
}
