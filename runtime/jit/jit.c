/* Kernels compiled on demand: a launch packs its arguments into a key; a new key is compiled, an
   old one found. */
#include <stdlib.h>
#include <string.h>

#include "tkc/grow.h"
#include "kernels.h"
#include "tkc/float_env.h"

/* ---- making one ---- */

char *jit_own(TkcJit *jit, const char *begin, const char *end)
{
    char *copy = owned_take(&jit->owned, (size_t)(end - begin) + 1);
    if (copy) memcpy(copy, begin, (size_t)(end - begin));
    return copy;
}

static bool copy_text(TkcJit *jit, const char **field)
{
    return !*field || (*field = jit_own(jit, *field, *field + strlen(*field))) != NULL;
}

/* NULL: no memory. */
static TkcDefine *copy_values(TkcJit *jit, const TkcDefine *from, size_t n)
{
    TkcDefine *all = owned_take(&jit->owned, (n + 1) * sizeof *all);
    bool ok = all != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        all[i] = from[i];
        ok = copy_text(jit, &all[i].name) && copy_text(jit, &all[i].value);
    }
    return ok ? all : NULL;
}

static bool copy_options(TkcJit *jit, const TkcOptions *from)
{
    TkcOptions *o = &jit->options;
    *o = *from;
    if (strcmp(jit->dev->arch, "cpu")) o->arch = jit->dev->arch;
    if (!copy_text(jit, &o->arch) || !copy_text(jit, &o->kernel) ||
        !copy_text(jit, &o->signature) || !copy_text(jit, &o->passes) ||
        !copy_text(jit, &o->warnings) || !copy_text(jit, &o->remark_kinds) ||
        !copy_text(jit, &o->symbol))
        return false;
    o->line_info |= jit->dev->ops->line_info;
    if (jit->dev->ops->passes && !o->passes) o->passes = jit->dev->ops->passes;
    if (jit->dev->debugger) { /* every name has a value of its own, and keeps it */
        o->passes = "desc";
        o->debug = true;
    }
    o->defines = copy_values(jit, from->defines, o->ndefines);
    o->arguments = copy_values(jit, from->arguments, o->narguments);
    return o->defines && o->arguments;
}

static TkcStatus misuse(const TkcDevice *dev, const char *text)
{
    if (device_is(dev)) tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL, "%s", text);
    return TKC_MISUSE;
}

static bool is_jit(const TkcJit *jit)
{
    return tkc_handle_is(jit, TKC_HANDLE_JIT);
}

int tkc_jit_param_count(const TkcJit *jit)
{
    return is_jit(jit) ? jit->nopen : 0;
}

TkcStatus tkc_jit_param(const TkcJit *jit, int i, TkcParam *out)
{
    if (!is_jit(jit)) return TKC_MISUSE;
    if (!out) return misuse(jit->dev, "there is no place for the parameter: the pointer is NULL");
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
    if (!out) return "the place for the jit is NULL";
    if (!tkc_handle_is(source, TKC_HANDLE_SOURCE)) return "the source is NULL, or freed";
    if (tkc_source_context(source) != dev->cx)
        return "the source is of another context than the device";
    return tkc_options_read(options, given);
}

_Static_assert(sizeof(TkcJit) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

static TkcJit *jit_make(TkcDevice *dev, TkcSource *source)
{
    Compiled **buckets = calloc(KERNEL_BUCKETS, sizeof *buckets);
    TkcJit *jit = buckets ? tkc_handle_new(TKC_HANDLE_JIT) : NULL;
    if (!jit) {
        free(buckets);
        return NULL;
    }
    jit->buckets = buckets;
    jit->dev = dev;
    jit->source = source;
    tkc_handle_keep(dev, TKC_HANDLE_DEVICE);
    tkc_handle_keep(source, TKC_HANDLE_SOURCE);
    pthread_mutex_init(&jit->lock, NULL);
    kernels_limit(jit, 0);
    return jit;
}

TkcStatus tkc_jit_new(TkcDevice *dev, TkcSource *source, const TkcOptions *given, TkcJit **out)
{
    TkcOptions options;
    if (out) *out = NULL;
    if (!device_is(dev)) return TKC_MISUSE;
    const char *wrong = find_misuse(dev, source, given, &options, out);
    if (wrong) return misuse(dev, wrong);
    TkcJit *jit = jit_make(dev, source);
    if (!jit) return tkc_no_memory(dev->cx);
    TkcStatus status = copy_options(jit, &options) ? open_params_read(jit) : tkc_no_memory(dev->cx);
    if (status == TKC_OK) *out = jit;
    else tkc_jit_free(jit);
    return status;
}

static void jit_drop(TkcJit *jit)
{
    if (!tkc_handle_drop(jit)) return;
    kernels_clear(jit);
    owned_free(jit->owned);
    free(jit->buckets);
    pthread_mutex_destroy(&jit->lock);
    tkc_source_drop(jit->source);
    device_release(jit->dev);
    tkc_handle_free(jit);
}

void tkc_jit_free(TkcJit *jit)
{
    if (tkc_handle_close(jit, TKC_HANDLE_JIT)) jit_drop(jit);
}

/* What a jit was made from may be freed before it, which ends its use. */
static TkcStatus check_alive(const TkcJit *jit)
{
    if (!tkc_handle_is_open(jit->dev, TKC_HANDLE_DEVICE) || !tkc_handle_is_open(jit->dev->cx, TKC_HANDLE_CONTEXT) ||
        !device_may_work(jit->dev))
        return TKC_MISUSE;
    return tkc_handle_is_open(jit->source, TKC_HANDLE_SOURCE)
               ? TKC_OK
               : misuse(jit->dev, "the source of the jit is freed");
}

void tkc_jit_clear(TkcJit *jit)
{
    if (!tkc_handle_keep(jit, TKC_HANDLE_JIT)) return;
    kernels_clear(jit);
    jit_drop(jit);
}

void tkc_jit_set_limit(TkcJit *jit, size_t kernels)
{
    if (!tkc_handle_keep(jit, TKC_HANDLE_JIT)) return;
    kernels_limit(jit, kernels);
    jit_drop(jit);
}

void tkc_jit_stats(const TkcJit *jit, TkcCacheStats *stats)
{
    if (!stats || !tkc_handle_keep(jit, TKC_HANDLE_JIT)) return;
    TkcJit *locked = (TkcJit *)jit;
    pthread_mutex_lock(&locked->lock);
    TkcCacheStats now = jit->stats;
    pthread_mutex_unlock(&locked->lock);
    tkc_give(stats, &now, sizeof now);
    jit_drop(locked);
}

/* ---- finding one ---- */

/* Compiles what the key asks for, unless another thread has just done so. The context is locked. */
static TkcStatus compile_absent(TkcJit *jit, const Key *key, const TkcArg *args, Compiled **out)
{
    if ((*out = kernels_find(jit, key))) return TKC_OK;
    Compiled *c = calloc(1, sizeof *c);
    if (!c) return tkc_no_memory(jit->dev->cx);
    TkcStatus status = compiled_build(jit, args, c);
    if (status == TKC_OK &&
        !(launch_slots(c, args, (size_t)jit->nopen, key) && kernels_add(jit, key, c)))
        status = tkc_no_memory(jit->dev->cx);
    if (status == TKC_OK) *out = c;
    else compiled_free(jit, c);
    return status;
}

/* Loading code ends a capture. */
static TkcStatus refuse_captured(const TkcJit *jit)
{
    return tkc_refuse(jit->dev->cx, TKC_ERROR,
                      "the stream is captured for a graph, and the kernel is not compiled for such "
                      "arguments: launch it with them before, or call tkc_jit_prepare");
}

static TkcStatus find_by_key(TkcJit *jit, const Key *key, void *stream, const TkcArg *args,
                             size_t nargs, Compiled **out)
{
    if ((*out = kernels_find(jit, key))) return TKC_OK;
    TkcStatus status = launch_check(jit, args, nargs);
    if (status != TKC_OK) return status;
    if (jit->dev->ops->captures && jit->dev->ops->captures(jit->dev, stream))
        return refuse_captured(jit);
    tkc_context_lock(jit->dev->cx);
    status = compile_absent(jit, key, args, out);
    tkc_context_unlock(jit->dev->cx);
    return status;
}

/* The kernel for these arguments, for the caller to release. */
static TkcStatus find_compiled(TkcJit *jit, void *stream, const TkcArg *args, size_t nargs,
                               Compiled **out)
{
    Key key;
    key.data = NULL;
    TkcStatus status = key_make(&key, args, nargs)
                           ? find_by_key(jit, &key, stream, args, nargs, out)
                           : tkc_no_memory(jit->dev->cx);
    key_fini(&key);
    return status;
}

/* ---- launching ---- */

/* Room for what is packed. */
typedef struct Few {
    uint64_t values[LAUNCH_FEW + 1];
    size_t bytes[LAUNCH_FEW + 1];
} Few;

/* rest: all else is packed already. */
static TkcStatus pack_and_launch(TkcJit *jit, Compiled *c, const int64_t grid[3], void *stream,
                                 const TkcArg *args, bool rest, const LaunchPack *pack)
{
    TkcStatus status = launch_pack(jit, c, args, rest, pack);
    return status == TKC_OK ? device_call(jit->dev, launch, c->kernel, grid, stream, pack) : status;
}

static TkcStatus launch_many(TkcJit *jit, Compiled *c, const int64_t grid[3], void *stream, const TkcArg *args)
{
    const size_t n = (size_t)c->entry.manifest.nparams;
    LaunchPack pack = {malloc(c->entry.manifest.param_bytes), calloc(n, sizeof *pack.bytes)};
    TkcStatus status = pack.values && pack.bytes
                           ? pack_and_launch(jit, c, grid, stream, args, false, &pack)
                           : tkc_no_memory(jit->dev->cx);
    free(pack.values);
    free(pack.bytes);
    return status;
}

/* A kernel that is not the last launch's. */
static TkcStatus launch_other(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                              size_t nargs, const LaunchPack *few)
{
    Compiled *c;
    TkcStatus status = find_compiled(jit, stream, args, nargs, &c);
    if (status != TKC_OK) return status;
    status = c->entry.manifest.nparams > LAUNCH_FEW
                 ? launch_many(jit, c, grid, stream, args)
                 : pack_and_launch(jit, c, grid, stream, args, false, few);
    kernels_release(jit, c);
    return status;
}

static TkcStatus launch(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                        size_t nargs)
{
    Few few;
    FloatEnv callers;
    const LaunchPack pack = {(unsigned char *)few.values, few.bytes};
    if (!grid || (nargs && !args))
        return misuse(jit->dev, grid ? "the arguments are NULL" : "the grid is NULL");
    TkcStatus status = check_alive(jit);
    if (status == TKC_OK) status = launch_check_grid(jit, grid);
    if (status != TKC_OK) return status;
    Compiled *c = kernels_again(jit, args, nargs, &pack);
    const bool has_floats = !c || c->nrest || jit->dev->ops->computes;
    if (has_floats) float_env_enter(&callers);
    status = c ? pack_and_launch(jit, c, grid, stream, args, true, &pack)
               : launch_other(jit, grid, stream, args, nargs, &pack);
    if (has_floats) float_env_leave(&callers);
    if (c) kernels_release(jit, c);
    return status;
}

TkcStatus tkc_launch(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                     size_t nargs)
{
    if (!tkc_handle_keep(jit, TKC_HANDLE_JIT)) return TKC_MISUSE;
    TkcStatus status = launch(jit, grid, stream, args, nargs);
    jit_drop(jit);
    return status;
}

static bool give_info(const TkcJit *jit, Compiled *c, TkcKernelInfo *info)
{
    const Manifest *m = &c->entry.manifest;
    TkcKernelInfo ours = {.num_warps = (int)m->warps,
                          .shared_bytes = (int)m->shared,
                          .text = compiled_text(c),
                          .num_stages = (int)m->stages,
                          .config = (int)m->config,
                          .nconfigs = (int)m->nconfigs,
                          .values = m->values,
                          .nvalues = (size_t)m->nvalues};
    jit->dev->ops->info(jit->dev, c->kernel, &ours);
    return tkc_give(info, &ours, sizeof ours);
}

static TkcStatus info_of(TkcJit *jit, const TkcArg *args, size_t nargs, TkcKernelInfo *info)
{
    Compiled *c;
    if (nargs && !args) return misuse(jit->dev, "the arguments are NULL");
    TkcStatus status = check_alive(jit);
    if (status == TKC_OK) status = find_compiled(jit, NULL, args, nargs, &c);
    if (status != TKC_OK) return status;
    const bool given = !info || give_info(jit, c, info);
    kernels_release(jit, c);
    return given ? TKC_OK : misuse(jit->dev, "the size of the information is not set");
}

TkcStatus tkc_jit_info(TkcJit *jit, const TkcArg *args, size_t nargs, TkcKernelInfo *info)
{
    if (!info && is_jit(jit))
        return misuse(jit->dev, "there is no place for the information: the pointer is NULL");
    return tkc_jit_prepare(jit, args, nargs, info);
}

TkcStatus tkc_jit_prepare(TkcJit *jit, const TkcArg *args, size_t nargs, TkcKernelInfo *info)
{
    if (!tkc_handle_keep(jit, TKC_HANDLE_JIT)) return TKC_MISUSE;
    TkcStatus status = info_of(jit, args, nargs, info);
    jit_drop(jit);
    return status;
}
