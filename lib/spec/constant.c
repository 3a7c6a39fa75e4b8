/* Compile-time values follow Python: integers are exact (within 128 bits; leaving them is an
   error), `//` and `%` floor, `/` gives a float, strings and tuples concatenate, repeat and
   compare. Nothing here makes IR.

   Comparison and arithmetic of two numbers go through one path a kind: both int (bool counts as
   int), else both double. */
#include "spec/constant.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "spec/host_args.h"
#include "spec/eval.h"

static bool is_integral(SpecValue v)
{
    return v.kind == SV_BOOL || v.kind == SV_INT;
}

double constant_to_double(SpecValue v)
{
    return v.kind == SV_FLOAT ? v.f : (double)sv_integer(v);
}

SpecTuple *tuple_new(Spec *sp, int n)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->data = arena_array(sp->arena, SpecValue, n + 1);
    t->len = n;
    return t;
}

SpecTuple *tuple_copy(Spec *sp, const SpecTuple *t, int n)
{
    SpecTuple *copy = arena_copy(sp->arena, t, sizeof *t);
    copy->len = n;
    copy->size = 0; /* not counted yet */
    copy->data = arena_array(sp->arena, SpecValue, n + 1);
    for (int i = 0; i < n; i++) copy->data[i] = i < t->len ? t->data[i] : sv_none();
    return copy;
}

SpecTuple *record_new(Spec *sp, const char *type, int n)
{
    SpecTuple *t = tuple_new(sp, n);
    t->names = arena_array(sp->arena, Str, n + 1);
    t->type_name = intern_cstr(sp->names, type);
    return t;
}

SpecValue constant_sequence(Spec *sp, SvKind kind, int n, const SpecValue *items)
{
    SpecTuple *t = tuple_new(sp, n);
    if (n) memcpy(t->data, items, (size_t)n * sizeof *items);
    return sv_tuple(kind, t);
}

SpecValue constant_record(Spec *sp, const char *type, int n, const char *const *names,
                          const SpecValue *values)
{
    SpecTuple *t = record_new(sp, type, n);
    for (int i = 0; i < n; i++) t->names[i] = intern_cstr(sp->names, names[i]);
    memcpy(t->data, values, (size_t)n * sizeof *values);
    return sv_tuple(SV_RECORD, t);
}

SpecValue constant_ints(Spec *sp, int n, const int32_t *values)
{
    SpecTuple *t = tuple_new(sp, n);
    for (int i = 0; i < n; i++) t->data[i] = sv_int(values[i]);
    return sv_tuple(SV_TUPLE, t);
}

bool constant_is_true(SpecValue v)
{
    switch (v.kind) {
    case SV_NONE: return false;
    case SV_BOOL: return v.b;
    case SV_INT: return v.i != 0;
    case SV_FLOAT: return v.f != 0;
    case SV_STR: return str_len(v.s) > 0;
    case SV_TUPLE:
    case SV_LIST:
    case SV_RECORD: return v.tuple->len > 0;
    default: return true;
    }
}

/* ---- equality and order ---- */

bool constant_is_equal(SpecValue a, SpecValue b)
{
    a = weaken(a);
    b = weaken(b);
    if (sv_is_number(a) && sv_is_number(b)) {
        if (is_integral(a) && is_integral(b)) return sv_integer(a) == sv_integer(b);
        return constant_to_double(a) == constant_to_double(b);
    }
    if (sv_is_sequence(a) && sv_is_sequence(b))
        return sv_all_pairs(a.tuple, b.tuple, constant_is_equal);
    return sv_is_same(a, b);
}

/* Sign of a - b for two numbers, strings or sequences of them; false when they have no order. NaN
   gives *unordered. */
static bool order_of(SpecValue a, SpecValue b, int *order, bool *unordered)
{
    *unordered = false;
    if (is_integral(a) && is_integral(b)) {
        __int128 x = sv_integer(a), y = sv_integer(b);
        *order = (x > y) - (x < y);
        return true;
    }
    if (sv_is_number(a) && sv_is_number(b)) {
        double x = constant_to_double(a), y = constant_to_double(b);
        *order = (x > y) - (x < y);
        *unordered = isnan(x) || isnan(y);
        return true;
    }
    if (a.kind == SV_STR && b.kind == SV_STR) {
        size_t n = str_len(a.s), m = str_len(b.s);
        int c = memcmp(a.s, b.s, n < m ? n : m);
        *order = c ? c : (n > m) - (n < m);
        return true;
    }
    if (!sv_is_sequence(a) || !sv_is_sequence(b)) return false;
    for (int i = 0; i < a.tuple->len && i < b.tuple->len; i++) {
        if (constant_is_equal(a.tuple->data[i], b.tuple->data[i])) continue;
        return order_of(a.tuple->data[i], b.tuple->data[i], order, unordered);
    }
    *order = (a.tuple->len > b.tuple->len) - (a.tuple->len < b.tuple->len);
    return true;
}

/* PyTorch's attributes are not what is known by another name. */
static bool is_of_torch(SpecValue v)
{
    return strncmp(v.module->path, "torch.", 6) == 0 && !strpbrk(v.module->path + 6, ".([");
}

static bool may_equal_host(Spec *sp, SpecValue host, SpecValue other, Span at)
{
    if (other.kind == SV_NONE || (other.kind == SV_TYPE && is_of_torch(host))) return true;
    module_refuse(sp, host.module, at, "a host value that is not known here");
    return false;
}

/* False, after an error, where only the host knows whether they are equal, or Python has them differ
   that are one here. */
static bool may_equal(Spec *sp, SpecValue a, SpecValue b, Span at)
{
    const bool are_types = a.kind == SV_TYPE && b.kind == SV_TYPE;
    if (module_is_host(a)) return may_equal_host(sp, a, b, at);
    if (module_is_host(b)) return may_equal_host(sp, b, a, at);
    if ((a.kind == SV_ARRAY || b.kind == SV_ARRAY) && a.kind != SV_NONE && b.kind != SV_NONE)
        return spec_fail(sp, at, "what an array equals is not known when compiling");
    if (are_types && a.type == b.type && a.is_torch != b.is_torch && sp->frame->is_host)
        return spec_fail(sp, at, "%s is PyTorch's type, which equals none of Triton's",
                         host_type_text(sp, a.type->dtype));
    return true;
}

static SpecValue contains(Spec *sp, SpecValue item, SpecValue in, bool negate, Span at)
{
    bool found = false;
    SpecValue *items;
    if (host_args_are(in)) {
        const SpecValue is_there = host_args_contain(sp, in, item, at);
        return sv_is_error(is_there) ? is_there : sv_bool(is_there.b != negate);
    }
    if (constant_is_dict(in)) {
        if (module_is_host(item)) return may_equal_host(sp, item, in, at), sv_error();
        found = dict_find(sp, in, item) >= 0;
    } else if (sv_is_sequence(in) || in.kind == SV_RANGE) {
        const int n = op_items(sp, in, &items, at);
        if (n < 0) return sv_error();
        for (int i = 0; i < n && !found; i++) {
            if (!may_equal(sp, item, items[i], at)) return sv_error();
            found = constant_is_equal(item, items[i]);
        }
    } else if (in.kind == SV_STR && item.kind == SV_STR) {
        found = strstr(in.s, item.s) != NULL;
    } else {
        return spec_error(
            sp, at, "'in' looks into a tuple, a list, a dict, a range or a string, not into %s",
            spec_describe(sp, in));
    }
    return sv_bool(found != negate);
}

SpecValue constant_compare(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    const bool negate = op == AOP_NE || op == AOP_IS_NOT || op == AOP_NOT_IN;
    int order;
    bool unordered;
    const bool is_equality = op == AOP_EQ || op == AOP_NE || op == AOP_IS || op == AOP_IS_NOT;
    if (is_equality && !may_equal(sp, a, b, at)) return sv_error();
    switch (op) {
    case AOP_EQ: case AOP_NE: return sv_bool(constant_is_equal(a, b) != negate);
    case AOP_IS: case AOP_IS_NOT:
        return sv_bool((a.kind == b.kind && constant_is_equal(a, b)) != negate);
    case AOP_IN: case AOP_NOT_IN: return contains(sp, a, b, negate, at);
    default: break;
    }
    if (!order_of(a, b, &order, &unordered))
        return spec_error(sp, at, "%s and %s have no order for '%s'", spec_describe(sp, a),
                          spec_describe(sp, b), ast_op_text(op));
    if (unordered) return sv_bool(false);
    if (order == 0) return sv_bool(op == AOP_LE || op == AOP_GE);
    return sv_bool((order < 0) == (op == AOP_LT || op == AOP_LE));
}

/* ---- integers ---- */

static SpecValue overflow(Spec *sp, AstOp op, Span at)
{
    return spec_error(sp, at, "the result of '%s' does not fit into 128 bits", ast_op_text(op));
}

static SpecValue zero_division(Spec *sp, AstOp op, Span at)
{
    return spec_error(sp, at, "%s by zero while compiling", op == AOP_MOD ? "modulo" : "division");
}

static SpecValue int_power(Spec *sp, __int128 base, __int128 exponent, Span at)
{
    if (exponent < 0) {
        if (base == 0) return zero_division(sp, AOP_POW, at);
        return sv_computed(pow((double)base, (double)exponent));
    }
    if (base >= -1 && base <= 1)
        return sv_int(base == -1 ? (exponent & 1 ? -1 : 1) : exponent ? base : 1);
    __int128 r = 1;
    for (__int128 i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(r, base, &r)) return overflow(sp, AOP_POW, at);
    return sv_int(r);
}

/* Python's shifts: a count below 0 is an error, any other is fine as long as the result fits. */
static SpecValue int_shift(Spec *sp, AstOp op, __int128 a, __int128 count, Span at)
{
    if (count < 0) return spec_error(sp, at, "negative shift count");
    if (op == AOP_SHR) return sv_int(count > 127 ? (a < 0 ? -1 : 0) : a >> (int)count);
    if (a == 0) return sv_int(0);
    __int128 r = a;
    if (count > 126) return overflow(sp, op, at);
    for (int i = 0; i < (int)count; i++)
        if (__builtin_add_overflow(r, r, &r)) return overflow(sp, op, at);
    return sv_int(r);
}

/* The quotient rounded down; b is not 0. */
static bool floor_divide(__int128 a, __int128 b, __int128 *q)
{
    if (b == -1) return !__builtin_sub_overflow((__int128)0, a, q);
    *q = a / b;
    if (a % b != 0 && (a < 0) != (b < 0)) --*q;
    return true;
}

static SpecValue int_division(Spec *sp, AstOp op, __int128 a, __int128 b, Span at)
{
    if (b == 0) return zero_division(sp, op, at);
    if (op == AOP_DIV) return sv_float((double)a / (double)b);
    __int128 q;
    if (!floor_divide(a, b, &q)) return op == AOP_MOD ? sv_int(0) : overflow(sp, op, at);
    return sv_int(op == AOP_MOD ? a - q * b : q);
}

static SpecValue int_binary(Spec *sp, AstOp op, __int128 a, __int128 b, Span at)
{
    __int128 r = 0;
    bool wide = false;
    switch (op) {
    case AOP_ADD: wide = __builtin_add_overflow(a, b, &r); break;
    case AOP_SUB: wide = __builtin_sub_overflow(a, b, &r); break;
    case AOP_MUL: wide = __builtin_mul_overflow(a, b, &r); break;
    case AOP_AND: r = a & b; break;
    case AOP_OR: r = a | b; break;
    case AOP_XOR: r = a ^ b; break;
    case AOP_SHL:
    case AOP_SHR: return int_shift(sp, op, a, b, at);
    case AOP_POW: return int_power(sp, a, b, at);
    case AOP_DIV:
    case AOP_FLOORDIV:
    case AOP_MOD: return int_division(sp, op, a, b, at);
    default:
        return spec_error(sp, at, "'%s' does not work on compile-time integers", ast_op_text(op));
    }
    return wide ? overflow(sp, op, at) : sv_int(r);
}

/* ---- floats ---- */

static double float_modulo(double a, double b)
{
    double r = fmod(a, b);
    if (r != 0 && (r < 0) != (b < 0)) r += b;
    return r == 0 ? copysign(0.0, b) : r;
}

/* From the exact rest, as Python has it: a / b may be rounded up to the next integer. */
static double float_floor_divide(double a, double b)
{
    double rest = fmod(a, b), q = (a - rest) / b;
    if (rest != 0 && (rest < 0) != (b < 0)) q -= 1;
    return round(q);
}

static SpecValue float_binary(Spec *sp, AstOp op, double a, double b, Span at)
{
    bool divides = op == AOP_DIV || op == AOP_FLOORDIV || op == AOP_MOD;
    if (b == 0 && divides) return zero_division(sp, op, at);
    switch (op) {
    case AOP_ADD: return sv_computed(a + b);
    case AOP_SUB: return sv_computed(a - b);
    case AOP_MUL: return sv_computed(a * b);
    case AOP_DIV: return sv_computed(a / b);
    case AOP_FLOORDIV: return sv_computed(float_floor_divide(a, b));
    case AOP_MOD: return sv_computed(float_modulo(a, b));
    case AOP_POW:
        if (a == 0 && b < 0) return zero_division(sp, op, at);
        if (a < 0 && isfinite(b) && b != floor(b))
            return spec_error(sp, at, "a negative number to a fractional power is complex");
        return sv_computed(pow(a, b));
    default:
        return spec_error(sp, at, "'%s' does not work on compile-time floats", ast_op_text(op));
    }
}

/* ---- strings and sequences ---- */

/* A sequence may hold another one twice, and so forth: counted once, since it never changes. */
static void count_items(SpecTuple *t)
{
    const long enough = LONG_MAX / 4;
    int deepest = 0;
    t->size = 1;
    for (int i = 0; i < t->len; i++) {
        int nesting;
        long size = constant_size(t->data[i], &nesting);
        t->size = t->size < enough - size ? t->size + size : enough;
        if (nesting > deepest) deepest = nesting;
    }
    t->nesting = deepest + 1;
}

long constant_size(SpecValue v, int *nesting)
{
    if (v.kind == SV_METHOD) return constant_size(*v.method->self, nesting);
    if (sv_is_sequence(v) && !v.tuple->size) count_items(v.tuple);
    if (nesting) *nesting = sv_is_sequence(v) ? v.tuple->nesting : 0;
    if (sv_is_sequence(v)) return v.tuple->size;
    return v.kind == SV_STR && *v.s ? (long)str_len(v.s) : 1;
}

static bool fits(Spec *sp, __int128 len, Span at)
{
    return spec_fits(sp, len, "a string or tuple", "items", at);
}

static __int128 length_of(SpecValue v)
{
    return v.kind == SV_STR ? (__int128)str_len(v.s) : v.tuple->len;
}

/* The string or sequence a, so many times, and what is of its kind and comes then, or NULL. */
static SpecValue join(Spec *sp, SpecValue a, __int128 times, const SpecValue *then, Span at)
{
    const __int128 unit = length_of(a), rest = then ? length_of(*then) : 0;
    if (times < 0 || unit == 0) times = 0;
    if (!fits(sp, times > sp->limits.length ? times : unit * times + rest, at)) return sv_error();
    const int n = (int)unit, before = (int)(unit * times);
    if (a.kind == SV_STR) {
        Buf out = buf_make(sp->arena);
        for (int i = 0; i < (int)times; i++) buf_put(&out, a.s, (size_t)n);
        if (then) buf_put(&out, then->s, (size_t)rest);
        return sv_str(intern(sp->names, buf_text(&out), out.len));
    }
    SpecTuple *t = tuple_new(sp, before + (int)rest);
    for (int i = 0; i < t->len; i++)
        t->data[i] = i < before ? a.tuple->data[i % n] : then->tuple->data[i - before];
    return sv_tuple(a.kind == SV_LIST ? SV_LIST : SV_TUPLE, t);
}

SpecValue constant_binary(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    if (is_integral(a) && is_integral(b)) {
        SpecValue r = int_binary(sp, op, sv_integer(a), sv_integer(b), at);
        bool bits = op == AOP_AND || op == AOP_OR || op == AOP_XOR;
        return bits && a.kind == SV_BOOL && b.kind == SV_BOOL ? sv_bool(r.i != 0) : r;
    }
    if (sv_is_number(a) && sv_is_number(b))
        return float_binary(sp, op, constant_to_double(a), constant_to_double(b), at);
    if (op == AOP_MOD && a.kind == SV_STR) return format_values(sp, a.s, b, at);
    const bool are_texts = a.kind == SV_STR && b.kind == SV_STR;
    if (op == AOP_ADD && (are_texts || (sv_is_sequence(a) && sv_is_sequence(b))))
        return join(sp, a, 1, &b, at);
    SpecValue unit = is_integral(b) ? a : b, times = is_integral(b) ? b : a;
    if (op == AOP_MUL && is_integral(times) && (unit.kind == SV_STR || sv_is_sequence(unit)))
        return join(sp, unit, sv_integer(times), NULL, at);
    return spec_error(sp, at, "'%s' does not work on %s and %s", ast_op_text(op),
                      spec_describe(sp, a), spec_describe(sp, b));
}

SpecValue constant_unary(Spec *sp, AstOp op, SpecValue a, Span at)
{
    if (op == AOP_NOT) return sv_bool(!constant_is_true(a));
    if (a.kind == SV_FLOAT && op == AOP_NEG) return sv_float(-a.f);
    if (a.kind == SV_FLOAT && op == AOP_POS) return a;
    if (is_integral(a)) {
        __int128 x = sv_integer(a), r;
        if (op == AOP_POS) return sv_int(x);
        if (op == AOP_INVERT) return sv_int(~x);
        if (op == AOP_NEG)
            return __builtin_sub_overflow((__int128)0, x, &r) ? overflow(sp, op, at) : sv_int(r);
    }
    return spec_error(sp, at, "'%s' does not work on %s", ast_op_text(op), spec_describe(sp, a));
}
