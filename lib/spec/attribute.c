/* Attributes of values: what a block, a type or a descriptor says about itself, and the operations
   that are methods. */
#include <string.h>

#include "ir/tile.h"
#include "spec/advice.h"
#include "spec/argument.h"
#include "spec/host_args.h"
#include "spec/module.h"

static SpecValue unknown(Spec *sp, SpecValue x, Str name, unsigned where, Span at)
{
    SpecValue r = spec_error_as(sp, DIAG_UNKNOWN_ATTRIBUTE, at, "%s has no attribute '%s'",
                                spec_describe(sp, x), name);
    const char *near = where ? builtin_nearest(where, name) : NULL;
    if (sv_is_pointer(x)) advise_pointer_attribute(sp, name);
    else if (x.kind == SV_VALUE) advise_name(sp, name);
    if (near) spec_suggest(sp, at, name, near);
    else if (sv_is_pointer(x) && builtin_find(NS_DESC, name))
        spec_note(sp, at,
                  "a tensor descriptor has it: a parameter is one by an annotation, or by the "
                  "signature, such as tensordesc<fp16[64, 64]>");
    return r;
}

/* The operation of that name on x. */
static SpecValue method(Spec *sp, SpecValue x, Str name, unsigned where, Span at)
{
    const Builtin *b = builtin_find(where, name);
    if (!b) return unknown(sp, x, name, where, at);
    SpecMethod *m = arena_new(sp->arena, SpecMethod);
    *m = (SpecMethod){b, arena_copy(sp->arena, &x, sizeof x)};
    return (SpecValue){.kind = SV_METHOD, .method = m};
}

/* ---- types ---- */

static SpecValue number_type_attribute(Spec *sp, const Type *t, Str name, Span at)
{
    const DTypeInfo *info = dtype_info(type_dtype(t));
    if (strcmp(name, "name") == 0) return sv_str(intern_cstr(sp->names, type_text(sp->arena, t)));
    if (strcmp(name, "primitive_bitwidth") == 0) return sv_int(info->bits);
    if (strcmp(name, "itemsize") == 0) return sv_int(info->bytes);
    if (strcmp(name, "int_bitwidth") == 0 && info->kind != DK_FLOAT) return sv_int(info->bits);
    if (strcmp(name, "fp_mantissa_width") == 0 && info->kind == DK_FLOAT)
        return sv_int(info->man_bits);
    if (strcmp(name, "exponent_bias") == 0 && info->kind == DK_FLOAT)
        return sv_int((1 << (info->exp_bits - 1)) - 1);
    if (strcmp(name, "int_signedness") == 0 && info->kind != DK_FLOAT)
        return sv_int(info->kind != DK_INT);
    return method(sp, sv_type(t), name, NS_DTYPE, at);
}

static SpecValue type_attribute(Spec *sp, const Type *t, Str name, Span at)
{
    if (t->kind == TY_BLOCK && strcmp(name, "block_type") == 0)
        return sv_type(t); /* of a descriptor */
    if (strcmp(name, "element_ty") == 0 && t->elem) return sv_type(t->elem);
    if (strcmp(name, "dtype") == 0 || strcmp(name, "scalar") == 0)
        return sv_type(tkc_type_element(t));
    if (strcmp(name, "shape") == 0) return constant_ints(sp, t->rank, t->shape);
    if (strcmp(name, "numel") == 0) return sv_int(tkc_type_count(t));
    if (t->kind == TY_POINTER && strcmp(name, "primitive_bitwidth") == 0) return sv_int(64);
    if (t->kind == TY_POINTER && strcmp(name, "address_space") == 0) return sv_int(1);
    if (t->kind == TY_SCALAR) return number_type_attribute(sp, t, name, at);
    return method(sp, sv_type(t), name, NS_DTYPE, at);
}

/* ---- values ---- */

static SpecValue transposed(Spec *sp, SpecValue x, Span at)
{
    if (x.v->type->rank < 2)
        return spec_error(sp, at, ".T needs two dimensions, found %s", spec_describe(sp, x));
    SpecValue trans = method(sp, x, intern_cstr(sp->names, "trans"), NS_METHOD, at);
    return spec_call(sp, trans, 0, NULL, at);
}

static SpecValue value_attribute(Spec *sp, SpecValue x, Str name, Span at)
{
    const Type *t = x.v->type;
    if (strcmp(name, "dtype") == 0) return sv_type(tkc_type_element(t));
    if (strcmp(name, "type") == 0) return sv_type(t);
    if (strcmp(name, "shape") == 0) return constant_ints(sp, t->rank, t->shape);
    if (strcmp(name, "numel") == 0) return sv_int(tkc_type_count(t));
    if (strcmp(name, "T") == 0) return transposed(sp, x, at);
    return method(sp, x, name, NS_METHOD, at);
}

/* int32, as Triton has it, whatever the extents were given as. */
static SpecValue extents(Spec *sp, const SpecBlockPtr *p, Span at)
{
    Value *all[TKC_MAX_RANK];
    spec_at(sp, at);
    for (int d = 0; d < p->block.rank; d++) {
        all[d] = tile_narrow(&sp->b, p->shape[d]);
        if (!all[d]) all[d] = build_cast(&sp->b, p->shape[d], DT_I32, NULL);
    }
    return arg_results(sp, true, p->block.rank, all);
}

static SpecValue block_ptr_attribute(Spec *sp, SpecValue x, Str name, Span at)
{
    const SpecBlockPtr *p = x.block_ptr;
    const Type *elem = tkc_type_element(p->base->type)->elem;
    const Type *block = shape_type(sp, elem, &p->block);
    bool desc = x.kind == SV_DESC, is_type = strcmp(name, "type") == 0;
    if (desc && strcmp(name, "dtype") == 0) return sv_type(elem);
    if (desc && (is_type || strcmp(name, "block_type") == 0)) return sv_type(block);
    if (is_type || strcmp(name, "dtype") == 0) return sv_type(type_pointer(sp->ir->types, block));
    if (strcmp(name, "block_shape") == 0) return constant_ints(sp, p->block.rank, p->block.dims);
    if (strcmp(name, "shape") == 0 && desc) return extents(sp, p, at);
    if (strcmp(name, "strides") == 0 && desc)
        return arg_results(sp, true, p->block.rank, p->strides);
    if (strcmp(name, "base") == 0 && desc) return sv_value(p->base);
    if (desc) return method(sp, x, name, NS_DESC, at);
    return strcmp(name, "advance") == 0 ? method(sp, x, name, NS_METHOD, at)
                                        : unknown(sp, x, name, 0, at);
}

/* tl.dtype's classes of numbers, which count from 0. */
static SpecValue type_class(Spec *sp, SpecValue x, Str name, Span at)
{
    static const char *const kinds[] = {"BOOLEAN", "INTEGRAL", "FLOATING"};
    static const char *const signs[] = {"SIGNED", "UNSIGNED"};
    const SpecValue v[] = {sv_int(0), sv_int(1), sv_int(2)};
    if (strcmp(name, "KIND") == 0) return constant_record(sp, name, 3, kinds, v);
    if (strcmp(name, "SIGNEDNESS") == 0) return constant_record(sp, name, 2, signs, v);
    return unknown(sp, x, name, 0, at);
}

static SpecValue function_attribute(Spec *sp, SpecValue x, Str name, Span at)
{
    static const char *const modes[] = {"NONE", "ALL", NULL}; /* what maximum and its like take */
    if (x.kind == SV_BUILTIN && !strcmp(x.builtin->name, "PropagateNan") && str_among(name, modes))
        return sv_bool(strcmp(name, "ALL") == 0);
    if (x.kind == SV_BUILTIN && !strcmp(x.builtin->name, "dtype"))
        return type_class(sp, x, name, at);
    if (strcmp(name, "fn") == 0) return x;
    if (strcmp(name, "__name__") == 0)
        return sv_str(x.kind == SV_BUILTIN         ? intern_cstr(sp->names, x.builtin->name)
                      : x.fn->def->kind == AST_DEF ? x.fn->def->def.name
                                                   : x.fn->name);
    return unknown(sp, x, name, 0, at);
}

/* ---- what host code asks of arrays ---- */

static SpecValue array_attribute(Spec *sp, SpecValue x, Str name, Span at)
{
    const Type *elem = x.type->elem;
    const bool is_desc = elem->kind == TY_BLOCK, is_number = elem->kind == TY_SCALAR;
    if (is_number && strcmp(name, "dtype") == 0) return host_type(sp, elem->dtype);
    if (is_number && strcmp(name, "itemsize") == 0) return sv_int(dtype_info(elem->dtype)->bytes);
    if (is_number && builtin_find(NS_ARRAY, name)) return method(sp, x, name, NS_ARRAY, at);
    if (is_desc && strcmp(name, "block_shape") == 0)
        return constant_ints(sp, elem->rank, elem->shape);
    if (is_desc && strcmp(name, "base") == 0)
        return (SpecValue){.kind = SV_ARRAY, .type = type_pointer(sp->ir->types, elem->elem)};
    return spec_error(sp, at, "'%s' of %s is not known when compiling: only its type is", name,
                      is_desc ? "a descriptor" : "an array");
}

SpecValue builtin_array_element_size(Spec *sp, const Call *c)
{
    (void)sp;
    return sv_int(dtype_info(c->args[0].type->elem->dtype)->bytes);
}

unsigned op_record_methods(SpecValue x)
{
    return constant_is_dict(x) ? NS_DICT : host_args_are(x) ? NS_ARGUMENTS : 0;
}

SpecValue op_attribute(Spec *sp, SpecValue x, Str name, Span at)
{
    if (strcmp(name, "value") == 0 && sv_is_constant(x)) return x;
    if (x.kind != SV_FLOAT && sv_is_number(x) && builtin_find(NS_INT, name))
        return method(sp, x, name, NS_INT, at);
    if (sv_is_number(x)) x = sv_value(op_to_value(sp, x, at));
    switch (x.kind) {
    case SV_ERROR: return x;
    case SV_VALUE: return value_attribute(sp, x, name, at);
    case SV_TYPE: return type_attribute(sp, x.type, name, at);
    case SV_BLOCK_PTR:
    case SV_DESC: return block_ptr_attribute(sp, x, name, at);
    case SV_FUNC:
    case SV_BUILTIN: return function_attribute(sp, x, name, at);
    case SV_STR: return method(sp, x, name, NS_STR, at);
    case SV_TUPLE: case SV_LIST:
        if (strcmp(name, "values") == 0) return sv_tuple(SV_LIST, x.tuple);
        return method(sp, x, name, NS_LIST, at);
    case SV_RECORD: return method(sp, x, name, op_record_methods(x), at);
    case SV_ARRAY: return array_attribute(sp, x, name, at);
    case SV_CLASS:
        if (strcmp(name, "__name__") == 0) return sv_str(x.class_name);
        return unknown(sp, x, name, 0, at);
    default: return unknown(sp, x, name, 0, at);
    }
}
