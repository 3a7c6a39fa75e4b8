/* In: the arguments of a launch whose key is new. Out: a kernel for them, from disk or compiled, and loaded. What was
   compiled goes to disk. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"

/* ---- what to compile ---- */

/* What the arguments say, as options: types, known divisibility, constexpr values. */
typedef struct Ask {
    Bytes signature;
    TkcDefine *defines;
    size_t ndefines;
} Ask;

static const char *arg_type(const OpenParam *p, const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_DESCRIPTOR) return descriptor_type(p, arg);
    if (p->decl.type) return p->decl.type;
    return arg->type ? arg->type : launch_number_type(arg);
}

/* What the last extent has. */
static void put_extent(Ask *a, const OpenParam *p, const TkcArg *arg)
{
    if (arg->kind == TKC_ARG_DESCRIPTOR && key_fact(arg) == FACT_DIV16)
        bytes_put(&a->signature, ",%s.shape%d=i32:16", p->decl.name, arg->descriptor->rank - 1);
}

/* The larger of what the declaration promises and what this key's arguments have. */
static void put_fact(Ask *a, const OpenParam *p, const TkcArg *arg)
{
    const KeyFact fact = arg->kind == TKC_ARG_DESCRIPTOR ? FACT_NONE : key_fact(arg);
    int64_t known = fact == FACT_DIV16 ? 16 : 1;
    if (!p->type.stars && !p->type.rank && tkc_dtype_info(p->type.dtype)->kind == DK_FLOAT)
        return; /* nothing is known of a float, however it is given */
    if (p->decl.divisibility > known) known = p->decl.divisibility;
    if (known > 1 || fact == FACT_ONE) bytes_put(&a->signature, ":%lld", (long long)known);
}

static bool ask_make(Ask *a, const TkcJit *jit, const TkcArg *args)
{
    *a = (Ask){.defines =
                   calloc(jit->options.ndefines + (size_t)jit->nopen + 1, sizeof *a->defines)};
    if (!a->defines) return false;
    for (size_t i = 0; i < jit->options.ndefines; i++)
        a->defines[a->ndefines++] = jit->options.defines[i];
    for (int i = 0; i < jit->nopen; i++) {
        const OpenParam *p = &jit->open[i];
        if (p->decl.is_constexpr && args[i].constexpr_value)
            a->defines[a->ndefines++] = (TkcDefine){p->decl.name, args[i].constexpr_value};
        if (p->decl.is_constexpr) continue;
        bytes_put(&a->signature, "%s%s=%s", a->signature.len ? "," : "", p->decl.name,
                  arg_type(p, &args[i]));
        put_fact(a, p, &args[i]);
        put_extent(a, p, &args[i]);
    }
    return !a->signature.no_memory;
}

static void ask_fini(Ask *a)
{
    free(a->signature.data);
    free(a->defines);
}

/* ---- what becomes of it ---- */

/* Takes the artifact. What runs IR keeps it, without what only compiling needed. */
static TkcStatus open_compiled(TkcJit *jit, TkcArtifact *a, const DiskAsk *ask, Compiled *c)
{
    size_t len;
    Bytes bytes = {0};
    const bool is_ptx = jit->dev->ops->emit == TKC_EMIT_PTX;
    const char *text = tkc_artifact_text(a, &len);
    entry_make(&bytes, &ask->key, a, text, is_ptx ? len : 0);
    if (is_ptx) tkc_artifact_free(a);
    else tkc_artifact_shrink(c->artifact = a);
    if (!bytes.no_memory && entry_open(&c->entry, bytes.data, bytes.len, NULL) == HIT)
        return TKC_OK;
    if (bytes.no_memory) free(bytes.data);
    return tkc_no_memory(jit->dev->cx);
}

const char *compiled_text(const Compiled *c)
{
    return c->artifact ? tkc_artifact_text(c->artifact, NULL) : c->entry.ptx;
}

typedef enum Origin { FOUND, COMPILED, WARNED } Origin;

/* Loads it, and keeps what is new for other processes; not what the device does not take. */
static TkcStatus load_and_put(TkcJit *jit, DiskAsk *ask, Origin from, Compiled *c)
{
    const Entry *e = &c->entry;
    const DeviceCode code = {&e->manifest, compiled_text(c), tkc_artifact_func(c->artifact)};
    TkcStatus status = jit->dev->ops->load(jit->dev, &code, &c->kernel);
    if (from == WARNED && !ask->is_off) jit->dev->cache->stats.warned++;
    if (from == COMPILED && status == TKC_OK) disk_put(ask, jit->dev, e->bytes, e->len);
    return status;
}

/* From disk, or compiled. */
static TkcStatus obtain(TkcJit *jit, const TkcOptions *o, Compiled *c)
{
    DiskAsk ask;
    TkcArtifact *a;
    Origin from = FOUND;
    TkcStatus status = TKC_OK;
    if (!disk_find(&ask, jit->dev, jit->source, o, &c->entry)) {
        status = tkc_compile(jit->source, o, jit->dev->ops->emit, &a);
        from = status == TKC_OK && tkc_artifact_is_warned(a) ? WARNED : COMPILED;
        if (status == TKC_OK) status = open_compiled(jit, a, &ask, c);
    }
    if (status == TKC_OK) status = launch_match(jit, c);
    if (status == TKC_OK) status = load_and_put(jit, &ask, from, c);
    disk_end(&ask, jit->dev);
    return status;
}

TkcStatus compiled_build(TkcJit *jit, const TkcArg *args, Compiled *c)
{
    Ask ask;
    TkcOptions o = jit->options;
    const bool has_memory = ask_make(&ask, jit, args);
    o.signature = ask.signature.data;
    o.defines = ask.defines;
    o.ndefines = ask.ndefines;
    TkcStatus status = has_memory ? obtain(jit, &o, c) : tkc_no_memory(jit->dev->cx);
    ask_fini(&ask);
    return status;
}
