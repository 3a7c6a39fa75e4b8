/* The host's world as far as kernels reach into it: numbers of `math`, element types and limits of
   torch, versions, and the few functions whose result does not depend on the machine. Anything else
   of the host is opaque. */
#include <math.h>
#include <string.h>

#include "ir/evaluate.h"
#include "spec/eval.h"

/* What tkc stands for towards host code: Triton 3.6 on a CUDA machine, under Python 3.12. */
static const struct Fact { const char *path; SpecValue value; } facts[] = {
    {"math.pi", {.kind = SV_FLOAT, .f = M_PI}},
    {"math.e", {.kind = SV_FLOAT, .f = M_E}},
    {"math.tau", {.kind = SV_FLOAT, .f = 2 * M_PI}},
    {"math.inf", {.kind = SV_FLOAT, .f = INFINITY}},
    {"math.nan", {.kind = SV_FLOAT, .f = NAN}},
    {"numpy.pi", {.kind = SV_FLOAT, .f = M_PI}},
    {"numpy.e", {.kind = SV_FLOAT, .f = M_E}},
    {"numpy.inf", {.kind = SV_FLOAT, .f = INFINITY}},
    {"torch.pi", {.kind = SV_FLOAT, .f = M_PI}},
    {"torch.inf", {.kind = SV_FLOAT, .f = INFINITY}},
    {"triton.__version__", {.kind = SV_STR, .s = "3.6.0"}},
    {"torch.__version__", {.kind = SV_STR, .s = "2.9.0"}},
    {"torch.version.cuda", {.kind = SV_STR, .s = "12.8"}},
    {"torch.version.hip", {.kind = SV_NONE}},
    {"torch.cuda.is_available()", {.kind = SV_BOOL, .b = true}},
    {"torch.xpu.is_available()", {.kind = SV_BOOL, .b = false}},
    {"torch.backends.mps.is_available()", {.kind = SV_BOOL, .b = false}},
    {"triton.runtime.driver.active.get_current_target().backend", {.kind = SV_STR, .s = "cuda"}},
    {"typing.TYPE_CHECKING", {.kind = SV_BOOL, .b = false}},
};

DType host_dtype(const char *name, size_t n)
{
    static const struct { const char *name; DType dtype; } aliases[] = {
        {"half", DT_F16}, {"float", DT_F32}, {"double", DT_F64},         {"long", DT_I64},
        {"int", DT_I32},  {"short", DT_I16}, {"float8_e4m3fn", DT_F8E4}, {"float8_e5m2", DT_F8E5},
        {"bool", DT_I1},
    };
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (strlen(aliases[i].name) == n && !memcmp(aliases[i].name, name, n))
            return aliases[i].dtype;
    }
    DType dt = dtype_find(name, n);
    return dt != DT_NONE && strlen(dtype_info(dt)->name) == n ? dt : DT_NONE;
}

SpecValue host_type(Spec *sp, DType dt)
{
    return (SpecValue){.kind = SV_TYPE, .is_torch = true, .type = type_scalar(sp->ir->types, dt)};
}

Str host_type_text(Spec *sp, DType dt)
{
    static const char *const others[DT_COUNT] = {
        [DT_I1] = "bool", [DT_F8E4] = "float8_e4m3fn", [DT_F8E5] = "float8_e5m2"};
    return intern_printf(sp->names, "torch.%s", others[dt] ? others[dt] : dtype_info(dt)->name);
}

/* sys.version_info of Python 3.12. */
static SpecValue python_version(Spec *sp)
{
    static const char *const names[] = {"major", "minor", "micro", "releaselevel", "serial"};
    SpecValue v[] = {sv_int(3), sv_int(12), sv_int(0), sv_str(intern_cstr(sp->names, "final")),
                     sv_int(0)};
    return constant_record(sp, "version_info", 5, names, v);
}

SpecValue host_value(Spec *sp, SpecModule *m)
{
    if (strcmp(m->path, "sys.version_info") == 0) return python_version(sp);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const SpecValue v = facts[i].value;
        if (strcmp(facts[i].path, m->path) != 0) continue;
        return v.kind == SV_STR ? sv_str(intern_cstr(sp->names, v.s)) : v;
    }
    if (!strcmp(m->path, "triton.language.semantic.builder.options.num_warps"))
        return sv_int(sp->fn->num_warps);
    if (strncmp(m->path, "torch.", 6) != 0) return sv_absent();
    DType dt = host_dtype(m->path + 6, strlen(m->path + 6));
    return dt != DT_NONE ? host_type(sp, dt) : sv_absent();
}

/* ---- functions ---- */

/* "3.6.0+cu128" as the tuple of its leading numbers. */
static SpecValue parse_version(Spec *sp, Str text)
{
    SpecTuple *t = tuple_new(sp, 4);
    const char *s = text;
    for (t->len = 0; t->len < 4 && *s >= '0' && *s <= '9';) {
        int64_t n = 0;
        while (*s >= '0' && *s <= '9' && n < INT32_MAX) n = n * 10 + (*s++ - '0');
        t->data[t->len++] = sv_int(n);
        if (*s == '.') s++;
    }
    while (t->len < 3) t->data[t->len++] = sv_int(0); /* 3.6 is 3.6.0 */
    return sv_tuple(SV_TUPLE, t);
}

static bool has_end(const char *path, const char *end)
{
    size_t n = strlen(path), k = strlen(end);
    return n >= k && strcmp(path + n - k, end) == 0;
}

/* torch.finfo and torch.iinfo. */
static SpecValue call_limits(Spec *sp, DType dt)
{
    const DTypeInfo *d = dtype_info(dt);
    if (d->kind == DK_FLOAT) {
        static const char *const names[] = {"max", "min", "eps", "tiny", "smallest_normal", "bits"};
        const double most = bits_to_double(dt, bits_infinity(dt) - 1),
                     tiny = bits_to_double(dt, UINT64_C(1) << d->man_bits);
        SpecValue v[] = {sv_float(most), sv_float(-most), sv_float(ldexp(1, -d->man_bits)),
                         sv_float(tiny), sv_float(tiny),  sv_int(d->bits)};
        return constant_record(sp, "finfo", 6, names, v);
    }
    static const char *const names[] = {"max", "min", "bits"};
    SpecValue v[] = {sv_int(dtype_most(dt)), sv_int(dtype_least(dt)), sv_int(d->bits)};
    return constant_record(sp, "iinfo", 3, names, v);
}

/* Wrappers that leave a function what it is: triton.jit(f), triton.jit(noinline=True)(f),
   triton.autotune(…)(f). */
static bool is_wrapper(const char *path)
{
    static const char *const wrappers[] = {"triton.jit", "triton.jit()", "triton.autotune()",
                                           "triton.heuristics()", NULL};
    return str_among(path, wrappers) || has_end(path, ".constexpr_function");
}

SpecValue host_call(Spec *sp, SpecModule *callee, int n, const SpecValue *args, Span at)
{
    const char *path = callee->path;
    if (n == 1 && args[0].kind == SV_FUNC && is_wrapper(path)) {
        SpecFunc *fn = arena_copy(sp->arena, args[0].fn, sizeof *fn);
        return fn->is_wrapped = true, sv_func(fn);
    }
    if (n == 1 && args[0].kind == SV_STR && (has_end(path, "Version") || has_end(path, ".parse")))
        return parse_version(sp, args[0].s);
    if (n == 1 && args[0].kind == SV_TYPE && args[0].type->kind == TY_SCALAR &&
        (has_end(path, "torch.finfo") || has_end(path, "torch.iinfo")))
        return call_limits(sp, args[0].type->dtype);
    if (n == 1 && args[0].kind == SV_STR && has_end(path, "importlib.util.find_spec"))
        return module_find(sp, sp->frame->module, args[0].s, at);
    if (has_end(path, "os.environ.get") || has_end(path, "os.getenv"))
        return n > 1 ? args[1] : sv_none();
    return sv_absent();
}
