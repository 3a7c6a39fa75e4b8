/* Reading operations' arguments: one function for each kind of parameter, by the names that
   builtins.def has for them, so that every "expected, found" of the operations comes from here. */
#include "spec/argument.h"

#include <string.h>

#include "ir/rule.h"
#include "spec/advice.h"
#include "spec/module.h"

bool arg_is_given(const Call *c, int i)
{
    return c->args[i].kind != SV_ABSENT && c->args[i].kind != SV_NONE;
}

const char *arg_operation(Spec *sp, const Call *c)
{
    return c->builtin ? builtin_title(sp->arena, c->builtin)
                      : arena_printf(sp->arena, "'%s'", c->name);
}

const char *arg_what(Spec *sp, const Call *c, int i)
{
    return arena_printf(sp->arena, "'%s' of %s", c->params->data[i]->param.name, arg_operation(sp, c));
}

SpecValue arg_refuse(Spec *sp, const Call *c, int i, const char *expected)
{
    if (sv_is_error(c->args[i])) return sv_error();
    SpecValue v = c->args[i];
    spec_error(sp, c->spans[i], "%s must be %s, found %s", arg_what(sp, c, i), expected,
               spec_describe(sp, weaken(v)));
    if (sv_is_pointer(v)) advise_load(sp, c->spans[i]);
    if (v.kind == SV_DESC) spec_note(sp, SPAN_NONE, "a descriptor has methods: d.load([i, j]), d.store([i, j], x)");
    return sv_error();
}

/* ---- kinds of parameters ---- */

/* What v, which argument i is, stands for: another value, or v as it is. Poison after an error. */
typedef SpecValue ReadArg(Spec *sp, const Call *c, int i, SpecValue v);

struct ArgKind {
    const char *name;
    SvKind is;                   /* as which it is read; ABSENT: whatever it is read as */
    ReadArg *read;               /* NULL: it is taken as it is */
    bool (*fits)(const Type *t); /* then, of its type; NULL: any does */
    const char *expected;        /* as messages call it */
    OpKind op;                   /* of a choice: one of what that attribute of that op may be */
    AttrKey key;
};

static SpecValue read_value(Spec *sp, const Call *c, int i, SpecValue v)
{
    return strengthen(sp, v, c->spans[i]);
}

static bool is_no_pointer(const Type *t)
{
    return !type_is_pointer(t);
}

static bool is_block_of_numbers(const Type *t)
{
    return type_is_block(t) && !type_is_pointer(t);
}

static SpecValue read_bool(Spec *sp, const Call *c, int i, SpecValue v)
{
    int truth = sv_is_operand(v) ? op_truth(sp, v, c->spans[i]) : -1;
    return truth == -2 ? sv_error() : truth == -1 ? v : sv_bool(truth);
}

static SpecValue read_int(Spec *sp, const Call *c, int i, SpecValue v)
{
    int64_t n;
    if (op_to_int(sp, v, &n, c->spans[i], arg_what(sp, c, i))) return sv_int(n);
    if (i == 0 && v.kind == SV_VALUE && c->builtin && !strcmp(c->builtin->name, "arange"))
        spec_note(sp, SPAN_NONE, "what begins elsewhere is written start + tl.arange(0, N)");
    return sv_error();
}

static SpecValue read_real(Spec *sp, const Call *c, int i, SpecValue v)
{
    (void)sp, (void)c, (void)i;
    v = weaken(v);
    return sv_is_number(v) ? sv_float(constant_to_double(v)) : v;
}

/* Made positive. Of what has no dims there is no axis, which is told of that. */
static SpecValue read_axis(Spec *sp, const Call *c, int i, SpecValue v)
{
    SpecValue *blocks, x = c->args[0];
    if (sv_items(&x, &blocks) < 1 || blocks->kind != SV_VALUE) return v;
    v = read_int(sp, c, i, v);
    if (sv_is_error(v)) return advise_pair(sp, c, i), v;
    const int rank = blocks->v->type->rank;
    const int64_t axis = (int64_t)v.i;
    if (axis >= -rank && axis < rank) return sv_int(axis < 0 ? axis + rank : axis);
    return spec_error(sp, c->spans[i], "%s is %lld, but the block has %d dimension%s",
                      arg_what(sp, c, i), (long long)axis, rank, rank == 1 ? "" : "s");
}

/* None is all of them. */
static SpecValue read_axes(Spec *sp, const Call *c, int i, SpecValue v)
{
    return v.kind == SV_NONE ? v : read_axis(sp, c, i, v);
}

/* A type, or the text of one: 'fp32', '*i8'. */
static SpecValue read_type(Spec *sp, const Call *c, int i, SpecValue v)
{
    (void)c, (void)i;
    const Type *t = v.kind == SV_STR ? type_parse(sp->ir->types, v.s, str_len(v.s)) : NULL;
    DType dt = v.kind == SV_CLASS ? host_dtype(v.class_name, strlen(v.class_name)) : DT_NONE;
    if (dt != DT_NONE) t = type_scalar(sp->ir->types, dt); /* int, float, bool */
    return t ? sv_type(t) : v;
}

static SpecValue read_dtype(Spec *sp, const Call *c, int i, SpecValue v)
{
    v = read_type(sp, c, i, v);
    if (v.kind != SV_TYPE) return v;
    const Type *t = v.type->kind == TY_BLOCK ? tkc_type_element(v.type) : v.type;
    return t->kind == TY_SCALAR ? sv_type(t) : sv_none();
}

static SpecValue read_padding(Spec *sp, const Call *c, int i, SpecValue v)
{
    (void)sp, (void)c, (void)i;
    static const char *const words[] = {"", "zero", "nan", NULL};
    return v.kind == SV_STR && str_among(v.s, words) ? v : sv_none();
}

static const ArgKind kinds[] = {
#define KIND(name, is, read, fits, expected)                                                       \
    {#name, SV_##is, read, fits, expected, OP_NONE, ATTR_NONE}
    KIND(value, VALUE, read_value, NULL, "a number or a block"),
    KIND(number, VALUE, read_value, is_no_pointer, "a number or a block of numbers"),
    KIND(float, VALUE, read_value, type_is_float, "a float"),
    KIND(integer, VALUE, read_value, type_is_int, "an integer"),
    KIND(block, VALUE, NULL, type_is_block, "a block"),
    KIND(numbers, VALUE, NULL, is_block_of_numbers, "a block of numbers"),
    KIND(bool, BOOL, read_bool, NULL, "a compile-time bool"),
    KIND(int, INT, read_int, NULL, NULL),
    KIND(real, FLOAT, read_real, NULL, "a compile-time number"),
    KIND(axis, ABSENT, read_axis, NULL, NULL),
    KIND(axes, ABSENT, read_axes, NULL, NULL),
    KIND(str, STR, NULL, NULL, "a string"),
    KIND(padding, STR, read_padding, NULL, "'zero' or 'nan'"),
    KIND(type, TYPE, read_type, NULL, "a type such as tl.float32"),
    KIND(dtype, TYPE, read_dtype, NULL, "a number's type such as tl.float32"),
    KIND(descriptor, DESC, NULL, NULL, "a tensor descriptor"),
#undef KIND
#define CHOICE(name, op, key) {#name, SV_STR, NULL, NULL, "a string", OP_##op, ATTR_##key}
    CHOICE(load_cache, LOAD, CACHE),
    CHOICE(store_cache, STORE, CACHE),
    CHOICE(eviction, LOAD, EVICT),
    CHOICE(rmw_order, ATOMIC_RMW, SEM),
    CHOICE(load_order, ATOMIC_LOAD, SEM),
    CHOICE(store_order, ATOMIC_STORE, SEM),
    CHOICE(scope, ATOMIC_RMW, SCOPE),
    CHOICE(precision, DOT, PRECISION),
    CHOICE(rounding, CAST, ROUNDING),
#undef CHOICE
};

const ArgKind *arg_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, name)) return &kinds[i];
    return NULL;
}

/* One of the words, in capitals, too; "" is None. */
static bool choose(Spec *sp, const Call *c, int i, const char *words)
{
    const Str found = c->args[i].s;
    const Span at = c->spans[i];
    Buf list = buf_make(sp->arena);
    if (!*found) return c->args[i] = sv_none(), true;
    for (size_t n; *words; words += n + strspn(words + n, " ")) {
        n = strcspn(words, " ");
        if (strlen(found) == n && !strncasecmp(words, found, n))
            return c->args[i] = sv_str(intern(sp->names, words, n)), true;
        buf_printf(&list, "%s'%.*s'", list.len ? ", " : "", (int)n, words);
    }
    /* a constexpr that goes to many calls is told of once */
    if (found == sp->told_word && at.source && char_is_word(at.source->text[at.end - 1])) return false;
    if (!sp->dx->muted) sp->told_word = found;
    return spec_fail(sp, at, "%s must be one of %s, found '%s'", arg_what(sp, c, i), buf_text(&list),
                     found);
}

bool arg_read(Spec *sp, const Call *c, int i, const ArgKind *kind, SpecValue otherwise)
{
    SpecValue v = c->args[i];
    if (!kind || (v.kind == SV_NONE && otherwise.kind == SV_NONE)) return true;
    if (v.kind == SV_NONE && (otherwise.kind == SV_BOOL || otherwise.kind == SV_STR)) v = otherwise;
    if (sv_is_error(v)) return false;
    if (kind->read) v = kind->read(sp, c, i, v);
    bool is_it = kind->is == SV_ABSENT ? !sv_is_error(v) : v.kind == kind->is;
    if (is_it && (!kind->fits || kind->fits(v.v->type))) {
        c->args[i] = v;
        return !kind->op || choose(sp, c, i, rule_words(kind->op, kind->key));
    }
    if (!sv_is_error(v)) arg_refuse(sp, c, i, kind->expected);
    if (kind->fits == type_is_float && v.kind == SV_VALUE && type_is_int(v.v->type))
        spec_note(sp, c->spans[i], "convert it first with .to(tl.float32)");
    return false;
}

Value *arg_value(Spec *sp, const Call *c, int i)
{
    return arg_read(sp, c, i, &kinds[0], sv_error()) ? c->args[i].v : NULL;
}

static int ints_of(Spec *sp, SpecValue v, const char *what, int64_t *out, Span at)
{
    SpecValue *items;
    int n = sv_items(&v, &items);
    if (n > TKC_MAX_RANK)
        return spec_count(sp, at, "%s has %d items, at most %d expected", what, n, TKC_MAX_RANK);
    for (int i = 0; i < n; i++)
        if (!op_to_int(sp, items[i], &out[i], at, what)) return -1;
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

int arg_ints(Spec *sp, const Call *c, int i, int64_t *out)
{
    return ints_of(sp, c->args[i], arg_what(sp, c, i), out, c->spans[i]);
}

bool arg_shape(Spec *sp, const Call *c, int i, Shape *out)
{
    return shape_from(sp, c->args[i], arg_what(sp, c, i), out, c->spans[i]);
}

bool arg_pair(Spec *sp, const Call *c, unsigned rules, Value **x, Value **y)
{
    return unify(sp, strengthen(sp, c->args[0], c->at), strengthen(sp, c->args[1], c->at), rules, x,
                 y, arg_operation(sp, c), c->at);
}

int arg_rest(const Call *c, SpecValue **out)
{
    if (c->nrest == 1) return sv_items(c->rest, out);
    *out = c->rest;
    return c->nrest;
}

bool arg_rest_shape(Spec *sp, const Call *c, Shape *out)
{
    SpecValue *items;
    int n = arg_rest(c, &items);
    return shape_from(sp, constant_tuple(sp, n, items),
                      arena_printf(sp->arena, "the shape of %s", arg_operation(sp, c)), out, c->at);
}

SpecValue arg_results(Spec *sp, bool is_tuple, int n, Value *const *values)
{
    if (!is_tuple) return sv_value(values[0]);
    SpecTuple *t = tuple_new(sp, n);
    for (int i = 0; i < n; i++) t->data[i] = sv_value(values[i]);
    return sv_tuple(SV_TUPLE, t);
}

bool arg_broadcast(Spec *sp, const Call *c, int i, int n, const SpecValue *items, Value **out)
{
    for (int k = 0; k < n; k++) {
        out[k] = op_to_value(sp, items[k], c->spans[i]);
        if (!out[k] || (k && !broadcast_pair(sp, &out[0], &out[k], c->at))) return false;
    }
    for (int k = 1; k < n; k++)
        if (!broadcast_pair(sp, &out[0], &out[k], c->at)) return false;
    return true;
}
