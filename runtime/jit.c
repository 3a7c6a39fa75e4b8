/* Kernels compiled on demand: a launch packs its arguments into a key; a new key is compiled, an
   old one found. */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.h"

/* ---- making one ---- */

char *jit_own(TkcJit *jit, const char *begin, const char *end)
{
    char **all = realloc(jit->owned, sizeof *all * (size_t)(jit->nowned + 1));
    if (!all)
        return NULL;
    jit->owned = all;
    char *copy = strndup(begin, (size_t)(end - begin));
    if (copy)
        all[jit->nowned++] = copy;
    return copy;
}

static bool copy_text(TkcJit *jit, const char **field)
{
    return !*field || (*field = jit_own(jit, *field, *field + strlen(*field))) != NULL;
}

static bool copy_options(TkcJit *jit, const TkcOptions *from)
{
    TkcOptions *o = &jit->options;
    *o = *from;
    if (strcmp(jit->dev->arch, "cpu"))
        o->arch = jit->dev->arch;
    if (!copy_text(jit, &o->arch) || !copy_text(jit, &o->kernel) ||
        !copy_text(jit, &o->signature) || !copy_text(jit, &o->passes))
        return false;
    if (jit->dev->ops->passes && !o->passes)
        o->passes = jit->dev->ops->passes;
    if (jit->dev->debugger) { /* every name has a value of its own, and keeps it */
        o->passes = "";
        o->debug = true;
    }
    jit->defines = calloc(o->ndefines + 1, sizeof *jit->defines);
    for (size_t i = 0; jit->defines && i < o->ndefines; i++) {
        jit->defines[i] = from->defines[i];
        if (!copy_text(jit, &jit->defines[i].name) || !copy_text(jit, &jit->defines[i].value))
            return false;
    }
    o->defines = jit->defines;
    return jit->defines != NULL;
}

static TkcStatus misuse(const TkcDevice *dev, const char *text)
{
    if (dev)
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL, "%s", text);
    return TKC_MISUSE;
}

int tkc_jit_param_count(const TkcJit *jit)
{
    return jit ? jit->nopen : 0;
}

TkcStatus tkc_jit_param(const TkcJit *jit, int i, TkcParam *out)
{
    if (!jit || !out)
        return misuse(jit ? jit->dev : NULL,
                      "there is no place for the parameter: the pointer is NULL");
    if (i < 0 || i >= jit->nopen)
        return misuse(jit->dev, "a launch has no argument of that number");
    if (!tkc_give(out, &jit->open[i].decl, sizeof *out))
        return misuse(jit->dev, "the size of the parameter is not set");
    return TKC_OK;
}

/* What is wrong with a call; NULL: nothing, and the options are read. */
static const char *find_misuse(const TkcDevice *dev, const TkcSource *source,
                               const TkcOptions *given, TkcOptions *options, TkcJit **out)
{
    if (!dev || !out)
        return "the device, or the place for the jit, is NULL";
    return source ? tkc_options_read(options, given) : "the source is NULL";
}

TkcStatus tkc_jit_new(TkcDevice *dev, TkcSource *source, const TkcOptions *given, TkcJit **out)
{
    TkcOptions options;
    const char *wrong = find_misuse(dev, source, given, &options, out);
    if (out)
        *out = NULL;
    if (wrong)
        return misuse(dev, wrong);
    TkcJit *jit = calloc(1, sizeof *jit);
    if (!jit)
        return tkc_no_memory(dev->cx);
    jit->dev = dev;
    jit->source = source;
    TkcStatus status = copy_options(jit, &options) ? open_params_read(jit)
                                                   : tkc_no_memory(dev->cx);
    if (status == TKC_OK)
        *out = jit;
    else
        tkc_jit_free(jit);
    return status;
}

static void drop_compiled(void *value, void *user)
{
    TkcJit *jit = user;
    Compiled *c = value;
    jit->dev->ops->unload(jit->dev, c->kernel);
    tkc_artifact_free(c->artifact);
    free(c->from);
    free(c);
}

void tkc_jit_free(TkcJit *jit)
{
    if (!jit)
        return;
    cache_mem_fini(&jit->cache, drop_compiled, jit);
    key_fini(&jit->key);
    for (int i = 0; i < jit->nowned; i++)
        free(jit->owned[i]);
    free(jit->owned);
    free(jit->defines);
    free(jit->open);
    free(jit->packed);
    free(jit);
}

void tkc_jit_stats(const TkcJit *jit, TkcCacheStats *stats)
{
    if (!jit || !stats)
        return;
    tkc_give(stats, &jit->stats, sizeof *stats);
}

/* ---- compiling for a key ---- */

/* What the arguments say, as options: types, known divisibility, constexpr values. */
typedef struct Ask {
    char *signature;   /* malloc'ed */
    size_t len, cap;
    TkcDefine *defines;
    size_t ndefines;
    bool no_memory;
} Ask;

static void ask_put(Ask *a, const char *text)
{
    size_t n = strlen(text);
    if (a->len + n + 1 > a->cap) {
        size_t cap = (a->len + n + 1) * 2;
        char *bigger = realloc(a->signature, cap);
        if (!bigger) {
            a->no_memory = true;
            return;
        }
        a->signature = bigger;
        a->cap = cap;
    }
    memcpy(a->signature + a->len, text, n + 1);
    a->len += n;
}

static const char *arg_type(const OpenParam *p, const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_DESCRIPTOR)
        return descriptor_type(p, arg);
    if (p->decl.type)
        return p->decl.type;
    if (arg->type)
        return arg->type;
    if (arg->kind == TKC_ARG_FLOAT)
        return "fp32";
    return arg->integer >= INT32_MIN && arg->integer <= INT32_MAX ? "i32" : "i64";
}

/* The alignment that the declaration promises, and what its last extent has. */
static void ask_descriptor_fact(Ask *a, const OpenParam *p, const TkcArg *arg)
{
    char text[40];
    if (p->decl.divisibility > 1) {
        snprintf(text, sizeof text, ":%lld", (long long)p->decl.divisibility);
        ask_put(a, text);
    }
    if (key_fact(arg) != FACT_DIV16)
        return;
    ask_put(a, ",");
    ask_put(a, p->decl.name);
    snprintf(text, sizeof text, ".shape%d=i32:16", arg->descriptor->rank - 1);
    ask_put(a, text);
}

/* The larger of what the declaration promises and what this key's arguments have. */
static void ask_fact(Ask *a, const OpenParam *p, const TkcArg *arg)
{
    if (tkc_dtype_info(p->dtype)->kind == DK_FLOAT)
        return; /* nothing is known of a float, however it is given */
    if (arg->kind == TKC_ARG_DESCRIPTOR) {
        ask_descriptor_fact(a, p, arg);
        return;
    }
    KeyFact fact = key_fact(arg);
    int64_t known = fact == FACT_DIV16 ? 16 : 1;
    char text[32];
    if (fact == FACT_ONE && p->decl.divisibility <= 1) {
        ask_put(a, ":1");
        return;
    }
    if (p->decl.divisibility > known)
        known = p->decl.divisibility;
    if (known > 1) {
        snprintf(text, sizeof text, ":%lld", (long long)known);
        ask_put(a, text);
    }
}

static bool ask_make(Ask *a, const TkcJit *jit, const TkcArg *args)
{
    *a = (Ask){0};
    a->defines = calloc(jit->options.ndefines + (size_t)jit->nopen + 1, sizeof *a->defines);
    if (!a->defines)
        return false;
    for (size_t i = 0; i < jit->options.ndefines; i++)
        a->defines[a->ndefines++] = jit->defines[i];
    for (int i = 0; i < jit->nopen; i++) {
        const OpenParam *p = &jit->open[i];
        if (p->decl.is_constexpr && args[i].constexpr_value)
            a->defines[a->ndefines++] = (TkcDefine){p->decl.name, args[i].constexpr_value};
        if (p->decl.is_constexpr)
            continue;
        ask_put(a, a->len ? "," : "");
        ask_put(a, p->decl.name);
        ask_put(a, "=");
        ask_put(a, arg_type(p, &args[i]));
        ask_fact(a, p, &args[i]);
    }
    return !a->no_memory;
}

static void ask_fini(Ask *a)
{
    free(a->signature);
    free(a->defines);
}

/* "x", or of a descriptor "x.shape0", "x.stride0": the argument of that name; arg -1: none. */
static ParamSource find_source(const TkcJit *jit, const char *name)
{
    size_t len = strcspn(name, ".");
    const OpenParam *p = open_param_find(jit, name, len);
    ParamSource s = {.arg = p ? (int)(p - jit->open) : -1};
    if (!name[len])
        return s;
    s.part = !strncmp(name + len, ".shape", 6) ? PART_SHAPE : PART_STRIDE;
    s.dim = name[strlen(name) - 1] - '0';
    return s;
}

/* Which argument each run-time parameter of the compiled kernel takes. */
static TkcStatus match_params(const TkcJit *jit, Compiled *c)
{
    const Func *fn = tkc_artifact_func(c->artifact);
    c->params = fn->params;
    c->nparams = fn->nparams;
    c->from = calloc((size_t)c->nparams + 1, sizeof *c->from);
    if (!c->from)
        return tkc_no_memory(jit->dev->cx);
    for (int i = 0; i < c->nparams; i++) {
        c->from[i] = find_source(jit, c->params[i].name);
        if (c->from[i].arg < 0) {
            tkc_report(jit->dev->cx, TKC_SEVERITY_ERROR, NULL,
                       "internal error: nothing was given for parameter '%s'", c->params[i].name);
            return TKC_INTERNAL;
        }
    }
    return TKC_OK;
}

static TkcStatus compile_key(TkcJit *jit, const TkcArg *args, Compiled *c)
{
    Ask ask;
    TkcOptions o = jit->options;
    TkcStatus status;
    if (ask_make(&ask, jit, args)) {
        o.signature = ask.signature;
        o.defines = ask.defines;
        o.ndefines = ask.ndefines;
        status = tkc_compile(jit->source, &o, jit->dev->ops->emit, &c->artifact);
    } else {
        status = tkc_no_memory(jit->dev->cx);
    }
    ask_fini(&ask);
    if (status == TKC_OK)
        status = match_params(jit, c);
    return status == TKC_OK ? jit->dev->ops->load(jit->dev, c->artifact, &c->kernel) : status;
}

/* The kernel for these arguments. */
static TkcStatus find_compiled(TkcJit *jit, const TkcArg *args, size_t nargs, Compiled **out)
{
    if (!key_make(&jit->key, args, nargs))
        return tkc_no_memory(jit->dev->cx);
    *out = cache_mem_get(&jit->cache, &jit->key);
    if (*out) {
        jit->stats.hits++;
        return TKC_OK;
    }
    TkcStatus status = launch_check(jit, args, nargs);
    if (status != TKC_OK)
        return status;
    Compiled *c = calloc(1, sizeof *c);
    if (!c)
        return tkc_no_memory(jit->dev->cx);
    status = compile_key(jit, args, c);
    if (status == TKC_OK && !cache_mem_put(&jit->cache, &jit->key, c))
        status = tkc_no_memory(jit->dev->cx);
    if (status != TKC_OK) {
        drop_compiled(c, jit);
        return status;
    }
    jit->stats.compiles++;
    *out = c;
    return TKC_OK;
}

/* ---- launching ---- */

static TkcStatus launch(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                        size_t nargs)
{
    Compiled *c;
    TkcStatus status = launch_check_grid(jit, grid);
    if (status == TKC_OK)
        status = find_compiled(jit, args, nargs, &c);
    if (status == TKC_OK)
        status = launch_pack(jit, c, args, jit->packed);
    return status == TKC_OK ? jit->dev->ops->launch(jit->dev, c->kernel, grid, stream, jit->packed)
                            : status;
}

/* Numbers are converted, and on cpu computed with, as IEEE has it: rounding and subnormals are not
   the caller's while this lasts. */
TkcStatus tkc_launch(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                     size_t nargs)
{
    if (!jit || !grid || (nargs && !args))
        return misuse(jit ? jit->dev : NULL, grid ? "the arguments are NULL" : "the grid is NULL");
    fenv_t callers;
    fegetenv(&callers);
    fesetenv(FE_DFL_ENV);
    TkcStatus status = launch(jit, grid, stream, args, nargs);
    fesetenv(&callers);
    return status;
}

TkcStatus tkc_jit_info(TkcJit *jit, const TkcArg *args, size_t nargs, TkcKernelInfo *info)
{
    Compiled *c;
    if (!jit || !info || (nargs && !args))
        return misuse(jit ? jit->dev : NULL,
                      info ? "the arguments are NULL"
                           : "there is no place for the information: the pointer is NULL");
    TkcStatus status = find_compiled(jit, args, nargs, &c);
    if (status != TKC_OK)
        return status;
    TkcKernelInfo ours = {.num_warps = tkc_artifact_num_warps(c->artifact),
                          .shared_bytes = tkc_artifact_shared_bytes(c->artifact),
                          .text = tkc_artifact_text(c->artifact, NULL)};
    jit->dev->ops->info(c->kernel, &ours);
    return tkc_give(info, &ours, sizeof ours)
               ? TKC_OK
               : misuse(jit->dev, "the size of the information is not set");
}
