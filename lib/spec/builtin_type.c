/* What types and strings answer when asked, and operations that make types. */
#include <stdlib.h>
#include <string.h>

#include "base/unwind.h"
#include "ir/type.h"
#include "spec/argument.h"
#include "spec/builtin_fns.h"
#include "spec/constant.h"
#include "spec/operator.h"

/* A predicate is true of element types: one of them, or those of a kind. */
typedef struct TypePredicate {
    const char *name;
    DType dtype;    /* or DT_NONE: by `kinds` and `bits` */
    unsigned kinds; /* bits of DTypeKind */
    int max_bits;   /* 0: any */
    int min_bits;
} TypePredicate;

#define KIND(k) (1u << DK_##k)
static const TypePredicate predicates[] = {
    {"is_int1", DT_I1, 0, 0, 0},
    {"is_bool", DT_I1, 0, 0, 0},
    {"is_int8", DT_I8, 0, 0, 0},
    {"is_int16", DT_I16, 0, 0, 0},
    {"is_int32", DT_I32, 0, 0, 0},
    {"is_int64", DT_I64, 0, 0, 0},
    {"is_uint8", DT_U8, 0, 0, 0},
    {"is_uint16", DT_U16, 0, 0, 0},
    {"is_uint32", DT_U32, 0, 0, 0},
    {"is_uint64", DT_U64, 0, 0, 0},
    {"is_fp8e4nv", DT_F8E4, 0, 0, 0},
    {"is_fp8e5", DT_F8E5, 0, 0, 0},
    {"is_fp16", DT_F16, 0, 0, 0},
    {"is_bf16", DT_BF16, 0, 0, 0},
    {"is_fp32", DT_F32, 0, 0, 0},
    {"is_fp64", DT_F64, 0, 0, 0},
    {"is_fp8", DT_NONE, KIND(FLOAT), 8, 0},
    {"is_floating", DT_NONE, KIND(FLOAT), 0, 0},
    {"is_standard_floating", DT_NONE, KIND(FLOAT), 0, 16},
    {"is_int", DT_NONE, KIND(BOOL) | KIND(INT) | KIND(UINT), 0, 0},
    {"is_integer", DT_NONE, KIND(BOOL) | KIND(INT) | KIND(UINT), 0, 0},
    {"is_int_signed", DT_NONE, KIND(BOOL) | KIND(INT), 0, 0},
    {"is_int_unsigned", DT_NONE, KIND(UINT), 0, 0},
};
#undef KIND

static bool holds(const TypePredicate *p, DType dt)
{
    const DTypeInfo *info = dtype_info(dt);
    if (p->dtype != DT_NONE) return p->dtype == dt;
    return (p->kinds >> info->kind & 1) && (!p->max_bits || info->bits <= p->max_bits) &&
           info->bits >= p->min_bits;
}

SpecValue builtin_type_is(Spec *sp, const BuiltinCall *c)
{
    (void)sp;
    const Type *t = c->args[0].type;
    const char *name = c->builtin->name;
    if (strcmp(name, "is_ptr") == 0) return sv_bool(t->kind == TY_POINTER);
    if (strcmp(name, "is_block") == 0) return sv_bool(t->kind == TY_BLOCK);
    if (strcmp(name, "is_dtype") == 0) return sv_bool(t->kind == TY_SCALAR);
    for (size_t i = 0; t->kind == TY_SCALAR && i < sizeof predicates / sizeof *predicates; i++) {
        if (strcmp(predicates[i].name, name) == 0)
            return sv_bool(holds(&predicates[i], type_dtype(t)));
    }
    return sv_bool(false);
}

SpecValue builtin_type_limit(Spec *sp, const BuiltinCall *c)
{
    const Type *t = c->args[0].type;
    if (t->kind != TY_SCALAR || type_is_float(t)) return arg_refuse(sp, c, 0, "an integer type");
    const DTypeInfo *info = dtype_info(type_dtype(t));
    bool is_signed = info->kind == DK_INT, max = strcmp(c->builtin->name, "get_int_max_value") == 0;
    __int128 half = (__int128)1 << (info->bits - 1);
    if (is_signed) return sv_int(max ? half - 1 : -half);
    return sv_int(max ? 2 * half - 1 : 0);
}

SpecValue builtin_type_shape(Spec *sp, const BuiltinCall *c)
{
    const Type *t = c->args[0].type;
    SpecValue items[TKC_MAX_RANK];
    for (int i = 0; i < t->rank; i++) items[i] = sv_int(t->shape[i]);
    return constant_tuple(sp, t->rank, items);
}

SpecValue builtin_get_int_dtype(Spec *sp, const BuiltinCall *c)
{
    int64_t bits;
    bool is_signed;
    if (!arg_int(sp, c, 0, &bits) || !arg_bool(sp, c, 1, &is_signed)) return sv_error();
    for (int dt = DT_NONE + 1; dt < DT_COUNT; dt++) {
        const DTypeInfo *info = dtype_info((DType)dt);
        bool fits = info->kind == DK_INT    ? is_signed
                    : info->kind == DK_UINT ? !is_signed
                                            : info->kind == DK_BOOL;
        if (info->bits == bits && fits) return sv_type(type_scalar(sp->ir->types, (DType)dt));
    }
    return arg_refuse(sp, c, 0, "1, 8, 16, 32 or 64");
}

SpecValue builtin_pointer_type(Spec *sp, const BuiltinCall *c)
{
    const Type *t = arg_type(sp, c, 0);
    if (!t) return sv_error();
    if (t->kind != TY_SCALAR && t->kind != TY_POINTER)
        return arg_refuse(sp, c, 0, "a number's or pointer's type");
    return sv_type(type_pointer(sp->ir->types, t));
}

SpecValue builtin_block_type(Spec *sp, const BuiltinCall *c)
{
    const Type *t = arg_type(sp, c, 0);
    Shape shape;
    if (!t || !arg_shape(sp, c->args[1], arg_what(sp, c, 1), &shape, c->spans[1]))
        return sv_error();
    t = tkc_type_element(t);
    return sv_type(shape.rank ? type_block(sp->ir->types, t, shape.rank, shape.dims, NULL) : t);
}

SpecValue builtin_dtype(Spec *sp, const BuiltinCall *c)
{
    const Type *t = arg_type(sp, c, 0);
    return t ? sv_type(t) : sv_error();
}

/* ---- strings ---- */

SpecValue builtin_string_case(Spec *sp, const BuiltinCall *c)
{
    bool up = strcmp(c->builtin->name, "upper") == 0;
    Str s = c->args[0].s;
    Buf out = buf_make(sp->arena);
    for (size_t i = 0; i < str_len(s); i++) {
        bool change = up ? s[i] >= 'a' && s[i] <= 'z' : s[i] >= 'A' && s[i] <= 'Z';
        buf_putc(&out, change ? (char)(s[i] ^ 0x20) : s[i]);
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}

SpecValue builtin_string_affix(Spec *sp, const BuiltinCall *c)
{
    if (c->args[1].kind != SV_STR) return arg_refuse(sp, c, 1, "a string");
    Str s = c->args[0].s, affix = c->args[1].s;
    size_t n = str_len(s), m = str_len(affix);
    if (m > n) return sv_bool(false);
    bool start = strcmp(c->builtin->name, "startswith") == 0;
    return sv_bool(memcmp(start ? s : s + n - m, affix, m) == 0);
}

static SpecValue substring(Spec *sp, const char *begin, const char *end)
{
    return sv_str(intern(sp->names, begin, (size_t)(end - begin)));
}

SpecValue builtin_string_split(Spec *sp, const BuiltinCall *c)
{
    if (c->args[1].kind != SV_STR || str_len(c->args[1].s) == 0)
        return arg_refuse(sp, c, 1, "a string that is not empty");
    Str s = c->args[0].s, by = c->args[1].s;
    size_t n = str_len(by);
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->data = arena_array(sp->arena, SpecValue, str_len(s) / n + 1);
    const char *begin = s, *end = s + str_len(s);
    for (const char *p = s; p + n <= end;) {
        if (memcmp(p, by, n) != 0) {
            p++;
            continue;
        }
        t->data[t->len++] = substring(sp, begin, p);
        begin = p += n;
    }
    t->data[t->len++] = substring(sp, begin, end);
    return (SpecValue){.kind = SV_LIST, .tuple = t};
}

/* "{} of {1}": the values in order or by number, without format specifications. */
SpecValue builtin_string_format(Spec *sp, const BuiltinCall *c)
{
    Buf out = buf_make(sp->arena);
    long next = 0;
    for (const char *p = c->args[0].s; *p; p++) {
        if ((*p == '{' || *p == '}') && p[1] == *p) {
            buf_putc(&out, *p++);
            continue;
        }
        if (*p != '{') {
            buf_putc(&out, *p);
            continue;
        }
        char *end;
        long n = strtol(p + 1, &end, 10);
        if (end == p + 1) n = next++;
        if (*end != '}' || n < 0 || n >= c->nrest)
            return spec_error(
                sp, c->at,
                "'{' of this string has no value, or says how to format it; use an f-string");
        Str text = op_format(sp, c->rest[n], 0, NULL, c->at);
        if (!text) return sv_error();
        buf_put(&out, text, str_len(text));
        p = end;
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}
