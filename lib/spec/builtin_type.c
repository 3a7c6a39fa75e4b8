/* What types and strings answer when asked, and operations that make types. */
#include <stdlib.h>
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
    const DTypeInfo *info = dtype_info(type_dtype(t));
    bool is_signed = info->kind == DK_INT, max = strcmp(c->builtin->name, "get_int_max_value") == 0;
    __int128 half = (__int128)1 << (info->bits - 1);
    if (is_signed) return sv_int(max ? half - 1 : -half);
    return sv_int(max ? 2 * half - 1 : 0);
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

/* ---- strings ---- */

SpecValue builtin_string_case(Spec *sp, const Call *c)
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

SpecValue builtin_string_affix(Spec *sp, const Call *c)
{
    (void)sp;
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

SpecValue builtin_string_split(Spec *sp, const Call *c)
{
    if (str_len(c->args[1].s) == 0) return arg_refuse(sp, c, 1, "a string that is not empty");
    Str s = c->args[0].s, by = c->args[1].s;
    size_t n = str_len(by);
    SpecTuple *t = tuple_new(sp, (int)(str_len(s) / n + 1));
    t->len = 0;
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
    return sv_tuple(SV_LIST, t);
}

/* "{} of {1}": the values in order or by number, without format specifications. */
SpecValue builtin_string_format(Spec *sp, const Call *c)
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
