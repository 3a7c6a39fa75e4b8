/* Checks that cost a launch nothing it would not pay anyway: each argument is looked at once, by
   kind. The type's text of an argument is parsed only when a key is new; the second launch with a
   key compares bytes (key.c). */
#include "launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- before compiling ---- */

static const char *const kind_text[] = {"a pointer", "an integer", "a float", "a constexpr",
                                        "a tensor descriptor"};

static TkcStatus wrong(const TkcJit *jit, const OpenParam *p, const char *expected,
                       const TkcArg *arg)
{
    TkcContext *cx = jit->dev->cx;
    const ParamType type = tkc_type_of(expected);
    const bool wants_pointer = type.stars, is_type = type.dtype && !type.rank;
    tkc_report_begin(cx);
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "argument '%s': expected %s, found %s", p->decl.name,
               expected, kind_text[arg->kind]);
    if (p->decl.is_constexpr && arg->kind == TKC_ARG_INT)
        tkc_report_note(cx, NULL, "pass tkc_constexpr(\"%lld\")", (long long)arg->integer);
    else if (arg->kind == TKC_ARG_FLOAT && !wants_pointer && arg->floating == trunc(arg->floating) &&
             fabs(arg->floating) < 1e15)
        tkc_report_note(cx, NULL, "as an integer it is %.0f", arg->floating);
    else if (is_type && arg->kind == TKC_ARG_POINTER && !wants_pointer)
        tkc_report_note(cx, NULL, "it takes one number, not an array");
    else if (is_type && wants_pointer && (arg->kind == TKC_ARG_INT || arg->kind == TKC_ARG_FLOAT))
        tkc_report_note(cx, NULL, "it takes an array, of which a kernel gets the address");
    tkc_report_end(cx);
    return TKC_ERROR;
}

static TkcStatus check_pointer(const TkcJit *jit, const OpenParam *p, const TkcArg *arg)
{
    ParamType type;
    if (arg->type && (tkc_read_type(arg->type, strlen(arg->type), &type) || !type.stars))
        return refuse_argument(jit, p->decl.name, "'%s' is not a pointer type such as *fp32",
                               arg->type);
    if (p->decl.type && !p->type.stars) return wrong(jit, p, p->decl.type, arg);
    if (p->decl.type && arg->type && !tkc_same_type(&p->type, &type)) {
        TkcContext *cx = jit->dev->cx;
        tkc_report_begin(cx);
        tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "argument '%s': expected %s, found %s",
                   p->decl.name, p->decl.type, arg->type);
        tkc_report_note(cx, NULL, "convert the array, or declare the parameter %s", arg->type);
        tkc_report_end(cx);
        return TKC_ERROR;
    }
    if (!p->decl.type && !arg->type)
        return refuse_argument(jit, p->decl.name, "its pointer type is not known; give it with the argument");
    return TKC_OK;
}

static TkcStatus check_number(const TkcJit *jit, const OpenParam *p, const TkcArg *arg)
{
    const ParamType given = arg->type ? tkc_type_of(arg->type) : p->type;
    if (p->type.stars || p->type.rank) return wrong(jit, p, p->decl.type, arg);
    if (arg->type && (!given.dtype || given.stars || given.rank))
        return refuse_argument(jit, p->decl.name, "'%s' is not a number type such as i32", arg->type);
    const char *type = p->decl.type ? p->decl.type : arg->type;
    if (arg->kind == TKC_ARG_FLOAT && type &&
        tkc_dtype_info(p->decl.type ? p->type.dtype : given.dtype)->kind != DK_FLOAT)
        return wrong(jit, p, type, arg);
    if (arg->kind == TKC_ARG_FLOAT && p->decl.is_int) return wrong(jit, p, "an integer", arg);
    return TKC_OK;
}

static TkcStatus check_one(const TkcJit *jit, const OpenParam *p, const TkcArg *arg)
{
    if ((unsigned)arg->kind > TKC_ARG_DESCRIPTOR)
        return tkc_refuse(jit->dev->cx, TKC_MISUSE, "argument '%s': %d is no kind of argument",
                          p->decl.name, (int)arg->kind);
    if (p->decl.is_constexpr != (arg->kind == TKC_ARG_CONSTEXPR))
        return wrong(jit, p,
                     p->decl.is_constexpr ? "a constexpr"
                     : p->decl.type       ? p->decl.type
                                          : "a pointer or a number",
                     arg);
    switch (arg->kind) {
    case TKC_ARG_POINTER: return check_pointer(jit, p, arg);
    case TKC_ARG_INT: case TKC_ARG_FLOAT: return check_number(jit, p, arg);
    case TKC_ARG_DESCRIPTOR: return descriptor_check(jit, p, arg);
    case TKC_ARG_CONSTEXPR: break;
    }
    return TKC_OK;
}

static void wrong_count(const TkcJit *jit, size_t nargs)
{
    TkcContext *cx = jit->dev->cx;
    tkc_report_begin(cx);
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "the kernel takes %d argument%s, %zu %s given",
               jit->nopen, jit->nopen == 1 ? "" : "s", nargs, nargs == 1 ? "was" : "were");
    for (int i = 0; i < jit->nopen; i++) {
        const TkcParam *p = &jit->open[i].decl;
        tkc_report_note(cx, NULL, "argument %d is '%s': %s", i, p->name,
                        p->is_constexpr ? "a constexpr"
                        : p->type       ? p->type
                                        : "of any type");
    }
    for (size_t i = 0; i < jit->options.ndefines; i++)
        tkc_report_note(cx, NULL, "'%s' is no argument: the options give its value",
                        jit->options.defines[i].name);
    tkc_report_end(cx);
}

TkcStatus launch_check(const TkcJit *jit, const TkcArg *args, size_t nargs)
{
    TkcStatus status = TKC_OK;
    if (nargs != (size_t)jit->nopen) {
        wrong_count(jit, nargs);
        return TKC_ERROR;
    }
    tkc_report_begin(jit->dev->cx);
    for (size_t i = 0; i < nargs; i++) {
        TkcStatus one = check_one(jit, &jit->open[i], &args[i]);
        if (one != TKC_OK) status = one;
    }
    tkc_report_end(jit->dev->cx);
    return status;
}

TkcStatus launch_check_grid(const TkcJit *jit, const int64_t grid[3])
{
    for (int i = 0; i < 3; i++) {
        int64_t most = jit->dev->ops->max_grid[i];
        if (grid[i] < 1 || grid[i] > most)
            return tkc_refuse(jit->dev->cx, TKC_ERROR,
                              "the grid has %lld programs along %c; it must have from 1 to %lld",
                              (long long)grid[i], "xyz"[i], (long long)most);
    }
    return TKC_OK;
}

/* ---- with the compiled kernel's types ---- */

/* A division takes as long as the rest of an argument; a power of two, which it mostly is, needs none. */
static inline bool is_multiple(uint64_t x, uint64_t of)
{
    return of < 2 || ((of & (of - 1)) == 0 ? (x & (of - 1)) == 0 : x % of == 0);
}

static TkcStatus pack_pointer(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg, LaunchArg *out)
{
    if (!is_multiple(arg->pointer, (uint64_t)p->divisibility))
        return refuse_argument(jit, p->name,
                               "the address 0x%llx is not a multiple of %lld, as declared",
                               (unsigned long long)arg->pointer, (long long)p->divisibility);
    *out = (LaunchArg){arg->pointer, arg->bytes};
    return TKC_OK;
}

static bool int_fits(const DTypeInfo *info, const TkcArg *arg)
{
    int64_t v = arg->integer;
    bool is_u64 = arg->type && !strcmp(arg->type, "u64");
    if (info->kind == DK_BOOL) return v == 0 || v == 1;
    if (info->bits == 64) return info->kind == DK_UINT ? v >= 0 || is_u64 : v >= 0 || !is_u64;
    if (info->kind == DK_UINT) return v >= 0 && v >> info->bits == 0;
    int64_t half = (int64_t)1 << (info->bits - 1);
    return v >= -half && v < half && (v >= 0 || !is_u64);
}

static TkcStatus pack_int(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg, LaunchArg *out)
{
    const DTypeInfo *info = p->element;
    if (info->kind == DK_FLOAT) {
        *out = (LaunchArg){tkc_bits_from_double(p->is.dtype, (double)arg->integer), 0};
        return TKC_OK;
    }
    if (!int_fits(info, arg))
        return refuse_argument(jit, p->name, "%lld does not fit %s", (long long)arg->integer,
                               info->name);
    const uint64_t size = arg->integer < 0 ? -(uint64_t)arg->integer : (uint64_t)arg->integer;
    if (!is_multiple(size, (uint64_t)p->divisibility))
        return refuse_argument(jit, p->name, "%lld is not a multiple of %lld, as declared",
                               (long long)arg->integer, (long long)p->divisibility);
    *out = (LaunchArg){(uint64_t)arg->integer, 0};
    return TKC_OK;
}

static TkcStatus pack_one(const TkcJit *jit, const ManifestParam *p, const TkcArg *arg,
                          LaunchArg *out)
{
    switch (arg->kind) {
    case TKC_ARG_POINTER: return pack_pointer(jit, p, arg, out);
    case TKC_ARG_INT: return pack_int(jit, p, arg, out);
    case TKC_ARG_FLOAT:
        *out = (LaunchArg){tkc_bits_from_double(p->is.dtype, arg->floating), 0};
        return TKC_OK;
    case TKC_ARG_DESCRIPTOR: return descriptor_pack(jit, p, arg, out);
    case TKC_ARG_CONSTEXPR: break;
    }
    return TKC_INTERNAL;
}

static TkcStatus pack_param(const TkcJit *jit, const Compiled *c, int i, const TkcArg *args, const LaunchPack *out)
{
    const ManifestParam *p = &c->entry.manifest.params[i];
    LaunchArg arg;
    TkcStatus status = pack_one(jit, p, &args[c->argument[i]], &arg);
    if (status != TKC_OK) return status;
    memcpy(out->values + p->at, &arg.bits, (size_t)p->bytes);
    out->bytes[i] = arg.bytes;
    return TKC_OK;
}

TkcStatus launch_pack(const TkcJit *jit, const Compiled *c, const TkcArg *args, bool rest,
                      const LaunchPack *out)
{
    const int n = rest ? c->nrest : (int)c->entry.manifest.nparams;
    TkcStatus status = TKC_OK;
    for (int i = 0; i < n && status == TKC_OK; i++)
        status = pack_param(jit, c, rest ? c->rest[i] : i, args, out);
    return status;
}

TkcStatus launch_match(const TkcJit *jit, Compiled *c)
{
    const Manifest *m = &c->entry.manifest;
    if (!(c->argument = calloc((size_t)m->nparams + 1, sizeof *c->argument))) return tkc_no_memory(jit->dev->cx);
    for (int i = 0; i < m->nparams; i++) {
        const ManifestParam *p = &m->params[i];
        const OpenParam *open = open_param_find(jit, p->argument, strlen(p->argument));
        if (!open || p->source == PART_ITEM) {
            tkc_report_bug(jit->dev->cx, NULL, "nothing was given for parameter '%s'", p->name);
            return TKC_INTERNAL;
        }
        c->argument[i] = (int)(open - jit->open);
    }
    return TKC_OK;
}
