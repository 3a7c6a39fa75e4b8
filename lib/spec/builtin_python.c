/* Python's own functions on compile-time values, and the few that also work at run time. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "spec/argument.h"
#include "spec/record.h"

/* ---- conversions ---- */

static SpecValue int_of_text(Spec *sp, const Call *c)
{
    char *end;
    errno = 0;
    long long n = strtoll(c->args[0].s, &end, 10);
    if (end == c->args[0].s || *end || errno)
        return arg_refuse(sp, c, 0, "the digits of an integer");
    return sv_int(n);
}

SpecValue builtin_int(Spec *sp, const Call *c)
{
    SpecValue v = weaken(c->args[0]);
    if (v.kind == SV_INT || v.kind == SV_BOOL) return sv_int(sv_integer(v));
    if (v.kind == SV_STR) return int_of_text(sp, c);
    if (v.kind == SV_FLOAT) {
        if (!(fabs(v.f) < 0x1p126))
            return spec_error(sp, c->at, "%s does not fit an integer", spec_describe(sp, v));
        return sv_int((__int128)v.f);
    }
    Value *x = arg_value(sp, c, 0);
    if (!x) return sv_error();
    if (type_is_pointer(x->type)) return arg_refuse(sp, c, 0, "a number");
    return sv_value(
        type_is_int(x->type) && !type_is_bool(x->type) ? x : build_cast(&sp->b, x, DT_I32, NULL));
}

static SpecValue float_of_text(Spec *sp, const Call *c)
{
    char *end;
    double f = strtod(c->args[0].s, &end);
    if (end == c->args[0].s || *end) return arg_refuse(sp, c, 0, "the text of a number");
    return sv_float(f);
}

SpecValue builtin_float(Spec *sp, const Call *c)
{
    SpecValue v = weaken(c->args[0]);
    if (sv_is_number(v)) return sv_float(constant_to_double(v));
    if (v.kind == SV_STR) return float_of_text(sp, c);
    Value *x = arg_value(sp, c, 0);
    if (!x) return sv_error();
    if (type_is_pointer(x->type)) return arg_refuse(sp, c, 0, "a number");
    return sv_value(type_is_float(x->type) ? x : build_cast(&sp->b, x, DT_F32, NULL));
}

SpecValue builtin_bool(Spec *sp, const Call *c)
{
    SpecValue v = c->args[0];
    int truth = op_truth(sp, v, c->at);
    if (truth == -2) return sv_error();
    if (truth >= 0) return sv_bool(truth);
    return sv_value(op_cast(sp, v.v, type_scalar(sp->ir->types, DT_I1), false, NULL, c->at));
}

/* str and repr. */
SpecValue builtin_str(Spec *sp, const Call *c)
{
    Str s = op_format(sp, c->args[0], c->builtin->name[0] == 'r' ? 'r' : 0, NULL, c->at);
    return s ? sv_str(s) : sv_error();
}

SpecValue builtin_pow(Spec *sp, const Call *c)
{
    return op_binary(sp, AOP_POW, c->args[0], c->args[1], c->at);
}

SpecValue builtin_divmod(Spec *sp, const Call *c)
{
    SpecValue parts[] = {op_binary(sp, AOP_FLOORDIV, c->args[0], c->args[1], c->at), sv_error()};
    if (!sv_is_error(parts[0])) parts[1] = op_binary(sp, AOP_MOD, c->args[0], c->args[1], c->at);
    return sv_is_error(parts[1]) ? sv_error() : constant_tuple(sp, 2, parts);
}

/* bit_length and bit_count, which leave out the sign. */
SpecValue builtin_int_bits(Spec *sp, const Call *c)
{
    (void)sp;
    bool is_count = strcmp(c->builtin->name, "bit_count") == 0;
    const __int128 i = sv_integer(c->args[0]);
    int n = 0;
    for (unsigned __int128 u = i < 0 ? -(unsigned __int128)i : (unsigned __int128)i; u; n++)
        u = is_count ? u & (u - 1) : u >> 1;
    return sv_int(n);
}

SpecValue builtin_round(Spec *sp, const Call *c)
{
    SpecValue v = c->args[0];
    const __int128 digits = c->args[1].i;
    if (!sv_is_number(v)) return arg_refuse(sp, c, 0, "a compile-time number");
    if (v.kind != SV_FLOAT) return v;
    if (digits < 0 || digits > 22) return arg_refuse(sp, c, 1, "0 to 22");
    double scale = pow(10, (double)digits), r = nearbyint(v.f * scale) / scale;
    return arg_is_given(c, 1) || !(fabs(r) < 0x1p126) ? sv_float(r) : sv_int((__int128)r);
}

SpecValue builtin_constexpr(Spec *sp, const Call *c)
{
    SpecValue v = weaken(c->args[0]);
    return sv_is_constant(v) ? v : arg_refuse(sp, c, 0, "known while compiling");
}

/* triton.cdiv, which hosts share: of numbers, not of what tl.cdiv divides at run time. */
SpecValue builtin_known_cdiv(Spec *sp, const Call *c)
{
    SpecValue n[2];
    for (int i = 0; i < 2; i++) {
        n[i] = weaken(c->args[i]);
        if (sv_is_number(n[i])) continue;
        arg_refuse(sp, c, i, "a compile-time number");
        if (n[i].kind == SV_VALUE) spec_note(sp, SPAN_NONE, "at run time write tl.cdiv(x, div)");
        return sv_error();
    }
    const SpecValue sum = op_binary(sp, AOP_ADD, n[0], n[1], c->at);
    return op_binary(sp, AOP_FLOORDIV, op_binary(sp, AOP_SUB, sum, sv_int(1), c->at), n[1], c->at);
}

SpecValue builtin_next_power_of_2(Spec *sp, const Call *c)
{
    (void)sp;
    const __int128 n = c->args[0].i;
    __int128 power = n > 0;
    while (power < n) power *= 2;
    return sv_int(power);
}

/* Triton's own helpers, which users' sorts call. */
SpecValue builtin_is_power_of_2(Spec *sp, const Call *c)
{
    (void)sp;
    return sv_bool(is_power_of_two((int64_t)c->args[0].i));
}

SpecValue builtin_log2(Spec *sp, const Call *c)
{
    (void)sp;
    return sv_int(log2_floor((int64_t)c->args[0].i));
}

/* ---- sequences ---- */

SpecValue builtin_len(Spec *sp, const Call *c)
{
    SpecValue v = c->args[0], *items;
    if (v.kind == SV_STR) return sv_int((__int128)str_len(v.s));
    if (v.kind == SV_VALUE) {
        arg_refuse(sp, c, 0, "a tuple, a list or a string");
        return type_is_block(v.v->type) ? spec_note(sp, SPAN_NONE, "its extents are its 'shape'") : sv_error();
    }
    int n = op_items(sp, v, &items, c->at);
    return n < 0 ? sv_error() : sv_int(n);
}

SpecValue builtin_sequence(Spec *sp, const Call *c)
{
    SpecValue *items;
    int n = op_items(sp, c->args[0], &items, c->at);
    const SvKind kind = strcmp(c->builtin->name, "list") == 0 ? SV_LIST : SV_TUPLE;
    return n < 0 ? sv_error() : constant_sequence(sp, kind, n, items);
}

/* sum, and math's prod. */
SpecValue builtin_python_sum(Spec *sp, const Call *c)
{
    const AstOp op = c->builtin->op == OP_ADD ? AOP_ADD : AOP_MUL;
    SpecValue *items, r = c->args[1];
    int n = op_items(sp, c->args[0], &items, c->at);
    if (n < 0 && c->args[0].kind == SV_VALUE)
        spec_note(sp, SPAN_NONE, "tl.sum(x, axis) adds the elements of a block");
    if (n < 0) return sv_error();
    for (int i = 0; i < n && !sv_is_error(r); i++) r = op_binary(sp, op, r, items[i], c->at);
    return r;
}

/* zip and map: the i-th items of the sequences, as far as the shortest goes, or what the function gives
   of them. */
SpecValue builtin_zip(Spec *sp, const Call *c)
{
    bool is_map = c->builtin->name[0] == 'm';
    SpecValue **columns = arena_array(sp->arena, SpecValue *, c->nrest + 1);
    int shortest = 0;
    for (int k = 0; k < c->nrest; k++) {
        int n = op_items(sp, c->rest[k], &columns[k], c->at);
        if (n < 0) return sv_error();
        if (k == 0 || n < shortest) shortest = n;
    }
    SpecValue *rows = arena_array(sp->arena, SpecValue, shortest + 1);
    SpecValue *row = arena_array(sp->arena, SpecValue, c->nrest + 1);
    for (int i = 0; i < shortest; i++) {
        for (int k = 0; k < c->nrest; k++) row[k] = columns[k][i];
        rows[i] = is_map ? spec_call(sp, c->args[0], c->nrest, row, c->at)
                         : constant_tuple(sp, c->nrest, row);
        if (sv_is_error(rows[i])) return sv_error();
    }
    return constant_tuple(sp, shortest, rows);
}

/* Those of the items that the function takes; without one, those that are true. */
SpecValue builtin_filter(Spec *sp, const Call *c)
{
    SpecValue *items;
    const int n = op_items(sp, c->args[1], &items, c->spans[1]);
    if (n < 0) return sv_error();
    SpecTuple *t = tuple_new(sp, n);
    t->len = 0;
    for (int i = 0; i < n; i++) {
        SpecValue v = items[i];
        if (c->args[0].kind != SV_NONE) v = spec_call(sp, c->args[0], 1, &items[i], c->at);
        const int truth = sv_is_error(v) || !spec_step(sp, c->at) ? -2 : op_truth(sp, v, c->at);
        if (truth < 0) return truth == -1 ? arg_refuse(sp, c, 0, "known while compiling") : sv_error();
        if (truth) t->data[t->len++] = items[i];
    }
    return sv_tuple(SV_LIST, t);
}

/* Tuples with an item of each sequence; the last changes fastest. */
SpecValue builtin_itertools_product(Spec *sp, const Call *c)
{
    enum { MOST = 1 << 16 };
    const __int128 repeat = c->args[1].i;
    if (repeat < 0 || repeat * c->nrest > MOST) return arg_refuse(sp, c, 1, "0 to some thousands");
    const int columns = c->nrest * (int)repeat;
    SpecValue *items, *row = arena_array(sp->arena, SpecValue, columns + 1);
    SpecTuple *t = tuple_new(sp, 1);
    t->data[0] = constant_tuple(sp, 0, row);
    for (int k = 0; k < columns; k++) {
        const SpecTuple *before = t;
        const int n = op_items(sp, c->rest[k % c->nrest], &items, c->at);
        if (n < 0 || !spec_step_items(sp, (long)before->len * n * (k + 1), c->at)) return sv_error();
        t = tuple_new(sp, before->len * n);
        for (int i = 0; i < t->len; i++) {
            for (int j = 0; j < k; j++) row[j] = before->data[i / n].tuple->data[j];
            row[k] = items[i % n];
            t->data[i] = constant_tuple(sp, k + 1, row);
        }
    }
    return sv_tuple(SV_LIST, t);
}

SpecValue builtin_enumerate(Spec *sp, const Call *c)
{
    SpecValue *items;
    int n = op_items(sp, c->args[0], &items, c->at);
    if (n < 0) return sv_error();
    SpecValue *rows = arena_array(sp->arena, SpecValue, n + 1);
    for (int i = 0; i < n; i++)
        rows[i] = constant_tuple(sp, 2, (SpecValue[]){sv_int(c->args[1].i + i), items[i]});
    return constant_tuple(sp, n, rows);
}

SpecValue builtin_reversed(Spec *sp, const Call *c)
{
    SpecValue *items;
    int n = op_items(sp, c->args[0], &items, c->at);
    if (n < 0) return sv_error();
    SpecValue r = constant_tuple(sp, n, items);
    for (int i = 0; i < n; i++) r.tuple->data[i] = items[n - 1 - i];
    return r;
}

/* Each goes before those that come after it, so that equal ones keep their order. */
SpecValue builtin_sorted(Spec *sp, const Call *c)
{
    SpecValue *items, key = c->args[1];
    const int n = op_items(sp, c->args[0], &items, c->spans[0]);
    if (n < 0) return sv_error();
    SpecTuple *t = tuple_new(sp, n);
    SpecValue *keys = arena_array(sp->arena, SpecValue, n + 1);
    for (int i = 0; i < n; i++) {
        SpecValue own = items[i];
        if (key.kind != SV_NONE) own = spec_call(sp, key, 1, &items[i], c->at);
        int k = i;
        for (; k > 0; k--) {
            SpecValue is_less = c->args[2].b ? op_compare(sp, AOP_LT, keys[k - 1], own, c->at)
                                             : op_compare(sp, AOP_LT, own, keys[k - 1], c->at);
            if (sv_is_error(is_less) || !spec_step(sp, c->at)) return sv_error();
            if (is_less.kind != SV_BOOL) return arg_refuse(sp, c, 0, "known while compiling");
            if (!is_less.b) break;
            keys[k] = keys[k - 1], t->data[k] = t->data[k - 1];
        }
        keys[k] = own, t->data[k] = items[i];
    }
    return sv_tuple(SV_LIST, t);
}

/* Where a value is in a sequence first, or how often. */
SpecValue builtin_list_index(Spec *sp, const Call *c)
{
    const SpecTuple *t = c->args[0].tuple;
    bool is_count = c->builtin->name[0] == 'c';
    int n = 0;
    for (int i = 0; i < t->len; i++) {
        if (!constant_is_equal(t->data[i], c->args[1])) continue;
        if (!is_count) return sv_int(i);
        n++;
    }
    return is_count ? sv_int(n)
                    : spec_error(sp, c->at, "%s is not in %s", spec_describe(sp, c->args[1]),
                                 spec_describe(sp, c->args[0]));
}

SpecValue builtin_any_all(Spec *sp, const Call *c)
{
    SpecValue *items;
    bool all = strcmp(c->builtin->name, "all") == 0;
    int n = op_items(sp, c->args[0], &items, c->at);
    if (n < 0) return sv_error();
    for (int i = 0; i < n; i++) {
        int truth = op_truth(sp, items[i], c->at);
        if (truth == -2) return sv_error();
        if (truth == -1)
            return spec_error(sp, c->at, "%s is for compile-time values, found %s",
                              c->builtin->name, spec_describe(sp, items[i]));
        if (truth != all) return sv_bool(truth);
    }
    return sv_bool(all);
}

/* ---- kinds of values ---- */

/* The class behind int, tl.tensor, tl.constexpr, …, as a value; NULL when it is none. */
static const char *class_name(SpecValue cls)
{
    if (cls.kind == SV_CLASS) return cls.class_name;
    if (cls.kind == SV_RECORD_CLASS) return cls.record_class->name;
    if (cls.kind == SV_BUILTIN) return cls.builtin->name;
    return cls.kind == SV_NONE ? "NoneType" : NULL;
}

/* In functions no value is a tl.constexpr: what Python's own are given there is unwrapped. */
static bool is_instance(const Spec *sp, SpecValue v, const char *name)
{
    const char *own = sv_class(v);
    if (v.kind == SV_TYPE && strcmp(name, "pointer_type") == 0) return v.type->kind == TY_POINTER;
    if (v.kind == SV_TYPE && strcmp(name, "block_type") == 0) return v.type->kind == TY_BLOCK;
    if (strcmp(own, name) == 0 || strcmp(name, "object") == 0) return true;
    if (strcmp(name, "constexpr") == 0) return !sp->frame->fn && sv_is_constant(v);
    if (strcmp(name, "int") == 0) return v.kind == SV_BOOL;
    if (strcmp(name, "tuple") == 0) return v.kind == SV_RECORD;
    return strcmp(name, "tensor_descriptor_base") == 0 && v.kind == SV_DESC;
}

SpecValue builtin_isinstance(Spec *sp, const Call *c)
{
    SpecValue *items;
    int n = sv_items(&c->args[1], &items);
    for (int i = 0; i < n; i++) {
        const char *name = class_name(items[i]);
        if (!name) return arg_refuse(sp, c, 1, "a class");
        if (is_instance(sp, c->args[0], name)) return sv_bool(true);
    }
    return sv_bool(false);
}

/* ---- members by name ---- */

static SpecValue member(Spec *sp, const Call *c)
{
    return spec_member(sp, c->args[0], c->args[1].s, c->at, c->spans[1]);
}

static bool has_member(Spec *sp, const Call *c)
{
    SpecValue v;
    diag_quietly(sp->dx, v = member(sp, c));
    return !sv_is_error(v);
}

/* What the host's modules and arrays have is not known: neither is the answer. */
SpecValue builtin_hasattr(Spec *sp, const Call *c)
{
    SpecValue x = c->args[0];
    if (module_is_host(x)) return sv_module(module_named(x.module->program, "builtins.hasattr()"));
    if (x.kind == SV_ARRAY && !has_member(sp, c)) return member(sp, c);
    return sv_bool(has_member(sp, c));
}

SpecValue builtin_getattr(Spec *sp, const Call *c)
{
    if (c->nrest > 1)
        return spec_error(sp, c->at, "getattr takes at most 3 arguments, but %d are given",
                          c->nrest + 2);
    bool is_known = c->nrest == 0 || c->args[0].kind == SV_ARRAY || has_member(sp, c);
    return is_known ? member(sp, c) : c->rest[0];
}

SpecValue builtin_type(Spec *sp, const Call *c)
{
    SpecValue x = c->args[0];
    if (x.kind == SV_RECORD && x.tuple->record_class)
        return (SpecValue){.kind = SV_RECORD_CLASS, .record_class = x.tuple->record_class};
    return (SpecValue){.kind = SV_CLASS, .class_name = intern_cstr(sp->names, sv_class(x))};
}
