/* Reading operations' arguments: one function for each kind of parameter, so that every "expected,
   found" of the operations comes from here. */
#include "spec/argument.h"

#include <string.h>

#include "spec/advice.h"
#include "spec/module.h"

bool arg_is_given(const BuiltinCall *c, int i)
{
    return c->args[i].kind != SV_ABSENT && c->args[i].kind != SV_NONE;
}

const char *arg_operation(Spec *sp, const BuiltinCall *c)
{
    return builtin_title(sp->arena, c->builtin);
}

const char *arg_what(Spec *sp, const BuiltinCall *c, int i)
{
    const char *name = c->names[i] ? c->names[i] : "argument";
    return arena_printf(sp->arena, "'%s' of %s", name, arg_operation(sp, c));
}

SpecValue arg_refuse(Spec *sp, const BuiltinCall *c, int i, const char *expected)
{
    if (sv_is_error(c->args[i])) return sv_error();
    SpecValue v = c->args[i];
    spec_error(sp, c->spans[i], "%s must be %s, found %s", arg_what(sp, c, i), expected,
               spec_describe(sp, v));
    if (sv_is_pointer(v)) advise_load(sp, c->spans[i]);
    return sv_error();
}

Value *arg_value(Spec *sp, const BuiltinCall *c, int i)
{
    SpecValue v = c->args[i];
    if (v.kind == SV_VALUE) return v.v;
    if (sv_is_number(v)) return op_to_value(sp, v, c->spans[i]);
    arg_refuse(sp, c, i, "a number or a block");
    return NULL;
}

Value *arg_block(Spec *sp, const BuiltinCall *c, int i)
{
    SpecValue v = c->args[i];
    if (v.kind == SV_VALUE && type_is_block(v.v->type)) return v.v;
    arg_refuse(sp, c, i, "a block");
    return NULL;
}

Value *arg_numbers(Spec *sp, const BuiltinCall *c, bool is_block)
{
    Value *v = is_block ? arg_block(sp, c, 0) : arg_value(sp, c, 0);
    if (!v || !type_is_pointer(v->type)) return v;
    arg_refuse(sp, c, 0, "a block of numbers");
    return NULL;
}

bool arg_bool(Spec *sp, const BuiltinCall *c, int i, bool *out)
{
    SpecValue v = c->args[i];
    if (v.kind == SV_ABSENT || v.kind == SV_NONE) {
        *out = false;
        return true;
    }
    int truth = sv_is_operand(v) ? op_truth(sp, v, c->spans[i]) : -1;
    if (truth == -2) return false;
    if (truth == -1) return arg_fail(sp, c, i, "a compile-time bool");
    *out = truth;
    return true;
}

bool arg_int(Spec *sp, const BuiltinCall *c, int i, int64_t *out)
{
    return op_to_int(sp, c->args[i], out, c->spans[i], arg_what(sp, c, i));
}

bool arg_str(Spec *sp, const BuiltinCall *c, int i, const char **out)
{
    SpecValue v = c->args[i];
    *out = NULL;
    if (v.kind == SV_ABSENT || v.kind == SV_NONE) return true;
    if (v.kind != SV_STR) return arg_fail(sp, c, i, "a string");
    if (str_len(v.s)) *out = v.s;
    return true;
}

bool arg_choice(Spec *sp, const BuiltinCall *c, int i, const char *const *choices, const char **out)
{
    if (!arg_str(sp, c, i, out)) return false;
    if (!*out) return true;
    Buf list = buf_make(sp->arena);
    for (int k = 0; choices[k]; k++) {
        if (strcmp(choices[k], *out) == 0) {
            *out = choices[k];
            return true;
        }
        buf_printf(&list, "%s'%s'", k ? ", " : "", choices[k]);
    }
    return spec_fail(sp, c->spans[i], "%s must be one of %s, found '%s'", arg_what(sp, c, i),
                     buf_text(&list), *out);
}

/* A type, or the text of one: 'fp32', '*i8'. */
const Type *arg_type(Spec *sp, const BuiltinCall *c, int i)
{
    SpecValue v = c->args[i];
    if (v.kind == SV_TYPE) return v.type;
    const Type *t = v.kind == SV_STR ? type_parse(sp->ir->types, v.s, str_len(v.s)) : NULL;
    DType dt = v.kind == SV_CLASS ? host_dtype(v.class_name, strlen(v.class_name)) : DT_NONE;
    if (dt != DT_NONE) t = type_scalar(sp->ir->types, dt); /* int, float, bool */
    if (!t) arg_refuse(sp, c, i, "a type such as tl.float32");
    return t;
}

const Type *arg_dtype(Spec *sp, const BuiltinCall *c, int i)
{
    const Type *t = arg_type(sp, c, i);
    if (t && t->kind == TY_BLOCK) t = tkc_type_element(t);
    if (!t || t->kind == TY_SCALAR) return t;
    arg_refuse(sp, c, i, "a number's type such as tl.float32");
    return NULL;
}

bool arg_axis(Spec *sp, const BuiltinCall *c, int i, int rank, int *out)
{
    int64_t axis;
    if (!arg_int(sp, c, i, &axis)) return false;
    if (axis < -rank || axis >= rank)
        return spec_fail(sp, c->spans[i], "%s is %lld, but the block has %d dimension%s",
                         arg_what(sp, c, i), (long long)axis, rank, rank == 1 ? "" : "s");
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

static int ints_of(Spec *sp, SpecValue v, const char *what, int64_t *out, Span at)
{
    SpecValue *items;
    int n = sv_items(&v, &items);
    if (n > TKC_MAX_RANK) {
        spec_error(sp, at, "%s has %d items, at most %d expected", what, n, TKC_MAX_RANK);
        return -1;
    }
    for (int i = 0; i < n; i++) {
        if (!op_to_int(sp, items[i], &out[i], at, what)) return -1;
    }
    return n;
}

static bool shape_from(Spec *sp, SpecValue v, const char *what, Shape *out, Span at)
{
    int64_t dims[TKC_MAX_RANK];
    int n = ints_of(sp, v, what, dims, at);
    if (n < 0) return false;
    out->rank = n;
    for (int i = 0; i < n; i++) {
        if (dims[i] < 1 || dims[i] > INT32_MAX)
            return spec_fail(sp, at, "the extents of a block are at least 1, found %lld in %s",
                             (long long)dims[i], what);
        out->dims[i] = (int32_t)dims[i];
    }
    return shape_check(sp, out, at);
}

int arg_ints(Spec *sp, const BuiltinCall *c, int i, int64_t *out)
{
    return ints_of(sp, c->args[i], arg_what(sp, c, i), out, c->spans[i]);
}

bool arg_shape(Spec *sp, const BuiltinCall *c, int i, Shape *out)
{
    return shape_from(sp, c->args[i], arg_what(sp, c, i), out, c->spans[i]);
}

int arg_rest(const BuiltinCall *c, SpecValue **out)
{
    if (c->nrest == 1) return sv_items(c->rest, out);
    *out = c->rest;
    return c->nrest;
}

bool arg_rest_shape(Spec *sp, const BuiltinCall *c, Shape *out)
{
    SpecValue *items;
    int n = arg_rest(c, &items);
    return shape_from(sp, constant_tuple(sp, n, items),
                      arena_printf(sp->arena, "the shape of %s", arg_operation(sp, c)), out, c->at);
}

SpecValue arg_results(Spec *sp, int n, Value *const *values)
{
    SpecTuple *t = tuple_new(sp, n);
    for (int i = 0; i < n; i++) t->data[i] = sv_value(values[i]);
    return sv_tuple(SV_TUPLE, t);
}

bool arg_broadcast(Spec *sp, const BuiltinCall *c, int i, int n, const SpecValue *items,
                   Value **out)
{
    for (int k = 0; k < n; k++) {
        out[k] = op_to_value(sp, items[k], c->spans[i]);
        if (!out[k] || (k && !broadcast_pair(sp, &out[0], &out[k], c->at))) return false;
    }
    for (int k = 1; k < n; k++) {
        if (!broadcast_pair(sp, &out[0], &out[k], c->at)) return false;
    }
    return true;
}
