/* The host's world as far as kernels reach into it: numbers of `math`, element types and limits of
   torch, versions, and the few functions whose result does not depend on the machine. Anything else
   of the host is opaque. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "spec/eval.h"

typedef enum FactKind {
    FACT_NUMBER,
    FACT_TEXT,
    FACT_TYPE,
    FACT_TRUE,
    FACT_FALSE,
    FACT_NONE
} FactKind;

/* What tkc stands for towards host code: Triton 3.6 on a CUDA machine. */
static const struct Fact {
    const char *path;
    FactKind kind;
    double number;
    const char *text;
} facts[] = {
    {"math.pi", FACT_NUMBER, 3.14159265358979323846, NULL},
    {"math.e", FACT_NUMBER, 2.7182818284590452354, NULL},
    {"math.tau", FACT_NUMBER, 6.28318530717958647692, NULL},
    {"math.inf", FACT_NUMBER, INFINITY, NULL},
    {"math.nan", FACT_NUMBER, NAN, NULL},
    {"numpy.pi", FACT_NUMBER, 3.14159265358979323846, NULL},
    {"numpy.e", FACT_NUMBER, 2.7182818284590452354, NULL},
    {"numpy.inf", FACT_NUMBER, INFINITY, NULL},
    {"torch.pi", FACT_NUMBER, 3.14159265358979323846, NULL},
    {"torch.inf", FACT_NUMBER, INFINITY, NULL},
    {"triton.__version__", FACT_TEXT, 0, "3.6.0"},
    {"torch.__version__", FACT_TEXT, 0, "2.9.0"},
    {"torch.version.cuda", FACT_TEXT, 0, "12.8"},
    {"torch.version.hip", FACT_NONE, 0, NULL},
    {"torch.cuda.is_available()", FACT_TRUE, 0, NULL},
    {"torch.xpu.is_available()", FACT_FALSE, 0, NULL},
    {"torch.backends.mps.is_available()", FACT_FALSE, 0, NULL},
    {"triton.runtime.driver.active.get_current_target().backend", FACT_TEXT, 0, "cuda"},
    {"typing.TYPE_CHECKING", FACT_FALSE, 0, NULL},
    {"torch.float16", FACT_TYPE, 0, "fp16"},
    {"torch.half", FACT_TYPE, 0, "fp16"},
    {"torch.bfloat16", FACT_TYPE, 0, "bf16"},
    {"torch.float32", FACT_TYPE, 0, "fp32"},
    {"torch.float", FACT_TYPE, 0, "fp32"},
    {"torch.float64", FACT_TYPE, 0, "fp64"},
    {"torch.double", FACT_TYPE, 0, "fp64"},
    {"torch.int8", FACT_TYPE, 0, "i8"},
    {"torch.int16", FACT_TYPE, 0, "i16"},
    {"torch.int32", FACT_TYPE, 0, "i32"},
    {"torch.int", FACT_TYPE, 0, "i32"},
    {"torch.int64", FACT_TYPE, 0, "i64"},
    {"torch.long", FACT_TYPE, 0, "i64"},
    {"torch.uint8", FACT_TYPE, 0, "u8"},
    {"torch.bool", FACT_TYPE, 0, "i1"},
    {"torch.float8_e4m3fn", FACT_TYPE, 0, "fp8e4nv"},
    {"torch.float8_e5m2", FACT_TYPE, 0, "fp8e5"},
    {"torch.uint16", FACT_TYPE, 0, "u16"},
    {"torch.uint32", FACT_TYPE, 0, "u32"},
    {"torch.uint64", FACT_TYPE, 0, "u64"},
};

bool host_value(Spec *sp, SpecModule *m, SpecValue *out)
{
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const struct Fact *f = &facts[i];
        if (strcmp(f->path, m->path) != 0) continue;
        switch (f->kind) {
        case FACT_NUMBER: *out = sv_float(f->number); break;
        case FACT_TEXT: *out = sv_str(intern_cstr(sp->names, f->text)); break;
        case FACT_TYPE: *out = sv_type(type_parse(sp->ir->types, f->text, strlen(f->text))); break;
        case FACT_TRUE: *out = sv_bool(true); break;
        case FACT_FALSE: *out = sv_bool(false); break;
        case FACT_NONE: *out = sv_none(); break;
        }
        return true;
    }
    return false;
}

/* ---- functions ---- */

static double number_of(SpecValue v)
{
    return v.kind == SV_FLOAT ? v.f : v.kind == SV_INT ? (double)v.i : v.b;
}

static const struct { const char *name; double (*fn)(double);
} unary[] = {
    {"sqrt", sqrt},   {"exp", exp},     {"exp2", exp2}, {"log2", log2},    {"log10", log10},
    {"log1p", log1p}, {"expm1", expm1}, {"sin", sin},   {"cos", cos},      {"tan", tan},
    {"tanh", tanh},   {"sinh", sinh},   {"cosh", cosh}, {"atan", atan},    {"asin", asin},
    {"acos", acos},   {"erf", erf},     {"fabs", fabs}, {"radians", NULL},
};

static bool whole(double v, SpecValue *out)
{
    if (!(fabs(v) < 1e30)) return false;
    return *out = sv_int((__int128)v), true;
}

static bool call_math(const char *name, int n, const SpecValue *args, SpecValue *out)
{
    for (int i = 0; i < n; i++) {
        if (!sv_is_number(args[i])) return false;
    }
    if (n == 1) {
        double x = number_of(args[0]);
        if (strcmp(name, "ceil") == 0) return whole(ceil(x), out);
        if (strcmp(name, "floor") == 0) return whole(floor(x), out);
        if (strcmp(name, "trunc") == 0) return whole(trunc(x), out);
        if (strcmp(name, "log") == 0) return *out = sv_computed(log(x)), true;
        if (strcmp(name, "isinf") == 0) return *out = sv_bool(isinf(x)), true;
        if (strcmp(name, "isnan") == 0) return *out = sv_bool(isnan(x)), true;
        for (size_t i = 0; i < sizeof unary / sizeof *unary; i++) {
            if (unary[i].fn && strcmp(unary[i].name, name) == 0)
                return *out = sv_computed(unary[i].fn(x)), true;
        }
    }
    if (n == 2 && strcmp(name, "log") == 0)
        return *out = sv_computed(log(number_of(args[0])) / log(number_of(args[1]))), true;
    if (n == 2 && strcmp(name, "pow") == 0)
        return *out = sv_computed(pow(number_of(args[0]), number_of(args[1]))), true;
    return false;
}

/* "3.6.0+cu128" as the tuple of its leading numbers. */
static SpecValue parse_version(Spec *sp, Str text)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->data = arena_array(sp->arena, SpecValue, 4);
    const char *s = text;
    while (t->len < 4 && *s >= '0' && *s <= '9') {
        int64_t n = 0;
        while (*s >= '0' && *s <= '9' && n < INT32_MAX) n = n * 10 + (*s++ - '0');
        t->data[t->len++] = sv_int(n);
        if (*s == '.') s++;
    }
    while (t->len < 3) t->data[t->len++] = sv_int(0); /* 3.6 is 3.6.0 */
    return (SpecValue){.kind = SV_TUPLE, .tuple = t};
}

static bool has_end(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n >= k && strcmp(path + n - k, end) == 0;
}

static SpecValue record(Spec *sp, const char *name, int n, const char *const *names,
                        const SpecValue *values)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->len = n;
    t->data = arena_copy(sp->arena, values, sizeof *values * (size_t)n);
    t->names = arena_array(sp->arena, Str, n);
    t->type_name = intern_cstr(sp->names, name);
    for (int i = 0; i < n; i++) t->names[i] = intern_cstr(sp->names, names[i]);
    return (SpecValue){.kind = SV_RECORD, .tuple = t};
}

static double largest(DType dt)
{
    if (dt == DT_F8E4) return 448; /* no infinity: one more binade, less the NaN */
    const DTypeInfo *d = dtype_info(dt);
    int bias = (1 << (d->exp_bits - 1)) - 1;
    return ldexp(2 - ldexp(1, -d->man_bits), bias);
}

/* torch.finfo and torch.iinfo. */
static bool call_limits(Spec *sp, DType dt, SpecValue *out)
{
    const DTypeInfo *d = dtype_info(dt);
    if (d->kind == DK_FLOAT) {
        static const char *const names[] = {"max", "min", "eps", "tiny", "smallest_normal", "bits"};
        int bias = (1 << (d->exp_bits - 1)) - 1;
        double tiny = ldexp(1, 1 - bias);
        SpecValue v[] = {
            sv_float(largest(dt)), sv_float(-largest(dt)), sv_float(ldexp(1, -d->man_bits)),
            sv_float(tiny),        sv_float(tiny),         sv_int(d->bits)};
        return *out = record(sp, "finfo", 6, names, v), true;
    }
    static const char *const names[] = {"max", "min", "bits"};
    __int128 one = 1;
    bool is_signed = d->kind == DK_INT;
    SpecValue v[] = {sv_int((one << (d->bits - is_signed)) - 1),
                     sv_int(is_signed ? -(one << (d->bits - 1)) : 0), sv_int(d->bits)};
    return *out = record(sp, "iinfo", 3, names, v), true;
}

static SpecValue tuple_of(Spec *sp, int n, const SpecValue *items)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->len = n;
    t->data = n ? arena_copy(sp->arena, items, sizeof *items * (size_t)n) : NULL;
    return (SpecValue){.kind = SV_TUPLE, .tuple = t};
}

static bool call_map(Spec *sp, int n, const SpecValue *args, SpecValue *out)
{
    if (n != 2 || (args[1].kind != SV_TUPLE && args[1].kind != SV_LIST)) return false;
    int len = args[1].tuple->len;
    SpecValue *items = arena_array(sp->arena, SpecValue, len + 1);
    for (int i = 0; i < len; i++)
        items[i] = spec_call(sp, args[0], 1, &args[1].tuple->data[i], SPAN_NONE);
    return *out = tuple_of(sp, len, items), true;
}

/* Wrappers that leave a function what it is: triton.jit(f), triton.jit(noinline=True)(f),
   triton.autotune(…)(f). */
static bool is_wrapper(const char *path)
{
    static const char *const wrappers[] = {"triton.jit",
                                           "triton.jit()",
                                           "triton.autotune()",
                                           "triton.heuristics()",
                                           "triton.constexpr_function",
                                           "triton.language.constexpr_function"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        if (strcmp(wrappers[i], path) == 0) return true;
    }
    return has_end(path, ".constexpr_function");
}

static SpecValue wrapped(Spec *sp, const SpecFunc *fn)
{
    SpecFunc *copy = arena_copy(sp->arena, fn, sizeof *fn);
    copy->is_wrapped = true;
    return (SpecValue){.kind = SV_FUNC, .fn = copy};
}

bool host_call(Spec *sp, SpecModule *callee, int n, const SpecValue *args, SpecValue *out)
{
    const char *path = callee->path;
    if (strncmp(path, "math.", 5) == 0) return call_math(path + 5, n, args, out);
    if (strcmp(path, "builtins.map") == 0) return call_map(sp, n, args, out);
    if (n == 1 && args[0].kind == SV_FUNC && is_wrapper(path))
        return *out = wrapped(sp, args[0].fn), true;
    if (n == 1 && args[0].kind == SV_STR &&
        (has_end(path, "version.parse") || has_end(path, "Version") || has_end(path, ".parse"))) {
        return *out = parse_version(sp, args[0].s), true;
    }
    if (n == 1 && args[0].kind == SV_TYPE && args[0].type->kind == TY_SCALAR &&
        (has_end(path, "torch.finfo") || has_end(path, "torch.iinfo"))) {
        return call_limits(sp, args[0].type->dtype, out);
    }
    if (has_end(path, "os.environ.get") || has_end(path, "os.getenv"))
        return *out = n > 1 ? args[1] : sv_none(), true;
    return false;
}
