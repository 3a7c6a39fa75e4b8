/* Handles that are freed, were never any, are of another kind or of another context: TKC_MISUSE, and nothing that was freed is looked
   at (which the address sanitizer watches). */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "tkc/edge.h"
#include "tkc/runtime.h"

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def fill(x: '*fp32', v: 'fp32', B: tl.constexpr):\n"
                           "    tl.store(x + tl.arange(0, B), v)\n";

enum { BYTES = 16 * sizeof(float) };

/* One of each. */
typedef struct World {
    TkcContext *cx;
    TkcSource *source;
    TkcArtifact *artifact;
    TkcDevice *dev;
    TkcJit *jit;
    TkcPtr x;
    int told;
} World;

static const int64_t grid[3] = {1, 1, 1};

static void count(const TkcDiagnostic *d, void *user)
{
    (void)d;
    ((World *)user)->told++;
}

static TkcSource *source_of(TkcContext *cx)
{
    TkcSource *s = NULL;
    EXPECT_INT(tkc_source_from_text(cx, "fill.tk", text, strlen(text), TKC_LANGUAGE_TK, &s), TKC_OK);
    return s;
}

static TkcStatus compile(TkcSource *source, TkcArtifact **out)
{
    TkcOptions o;
    tkc_options_init(&o);
    o.defines = &(TkcDefine){"B", "16"};
    o.ndefines = 1;
    return tkc_compile(source, &o, TKC_EMIT_IR, out);
}

static TkcStatus jit_of(TkcDevice *dev, TkcSource *source, TkcJit **out)
{
    TkcOptions o;
    tkc_options_init(&o);
    return tkc_jit_new(dev, source, &o, out);
}

static TkcStatus launch(TkcJit *jit, TkcPtr x, size_t bytes)
{
    TkcArg args[] = {tkc_pointer("*fp32", x, bytes), tkc_float(1), tkc_constexpr("16")};
    return tkc_launch(jit, grid, NULL, args, 3);
}

static void world_open(World *w)
{
    *w = (World){.cx = tkc_context_new()};
    tkc_context_on_diagnostic(w->cx, count, w);
    w->source = source_of(w->cx);
    EXPECT_INT(compile(w->source, &w->artifact), TKC_OK);
    EXPECT_INT(tkc_device_open(w->cx, "cpu", 0, &w->dev), TKC_OK);
    EXPECT_INT(jit_of(w->dev, w->source, &w->jit), TKC_OK);
    EXPECT_INT(tkc_alloc(w->dev, BYTES, &w->x), TKC_OK);
    EXPECT_INT(launch(w->jit, w->x, BYTES), TKC_OK);
    EXPECT_INT(w->told, 0);
}

static void world_close(World *w)
{
    tkc_jit_free(w->jit);
    tkc_artifact_free(w->artifact);
    tkc_source_free(w->source);
    tkc_device_free(w->dev);
    tkc_context_free(w->cx);
}

/* ---- every function, of handles that are none ---- */

static void refuse_context(TkcContext *cx)
{
    TkcSource *s = (TkcSource *)&s;
    TkcDevice *dev = (TkcDevice *)&dev;
    EXPECT_INT(tkc_source_open(cx, "a.tk", TKC_LANGUAGE_TK, &s), TKC_MISUSE);
    EXPECT_INT(tkc_source_from_text(cx, "a", "", 0, TKC_LANGUAGE_TK, &s), TKC_MISUSE);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_MISUSE);
    EXPECT_INT(tkc_device_open_cuda_context(cx, cx, &dev), TKC_MISUSE);
    EXPECT(!s && !dev);
    EXPECT_INT(tkc_context_add_include(cx, "."), TKC_MISUSE);
    tkc_context_on_diagnostic(cx, count, NULL);
    tkc_context_on_import(cx, NULL, NULL);
    EXPECT_STR(tkc_last_error(cx), "");
    tkc_context_free(cx);
}

static void refuse_source(TkcSource *s)
{
    TkcArtifact *a = (TkcArtifact *)&a;
    TkcOptions o;
    TkcParam p = {.size = sizeof p};
    const char *const *texts;
    int n;
    tkc_options_init(&o);
    EXPECT_INT(compile(s, &a), TKC_MISUSE);
    EXPECT(!a);
    EXPECT_INT(tkc_check(s, &o, NULL, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_source_kernel_count(s), 0);
    EXPECT(!tkc_source_kernel_name(s, 0));
    EXPECT_INT(tkc_source_param_count(s, NULL, &n), TKC_MISUSE);
    EXPECT_INT(tkc_source_param(s, NULL, 0, &p), TKC_MISUSE);
    EXPECT_INT(tkc_source_configs(s, NULL, &texts, &n), TKC_MISUSE);
    tkc_source_free(s);
}

static void refuse_artifact(TkcArtifact *a)
{
    size_t len = 7;
    int count = 7;
    EXPECT(!tkc_artifact_text(a, &len) && len == 0);
    EXPECT_STR(tkc_artifact_kernel(a), "");
    EXPECT_INT(tkc_artifact_num_warps(a), 0);
    EXPECT_INT(tkc_artifact_num_stages(a), 0);
    EXPECT_INT(tkc_artifact_shared_bytes(a), 0);
    EXPECT_INT(tkc_artifact_param_count(a), 0);
    EXPECT(!tkc_artifact_value(a, 0));
    EXPECT_INT(tkc_artifact_config(a, &count), -1);
    EXPECT_INT(count, 0);
    EXPECT(!tkc_artifact_param_name(a, 0) && !tkc_artifact_param_type(a, 0) && !tkc_artifact_time(a, 0, NULL));
    tkc_artifact_free(a);
}

static void refuse_device_options(TkcDevice *dev)
{
    tkc_device_set_seed(dev, 1);
    tkc_device_set_timeout(dev, 1);
    tkc_device_set_threads(dev, 1);
    tkc_device_set_memory_checks(dev, false);
    tkc_device_on_print(dev, NULL, NULL);
    tkc_device_on_stop(dev, NULL, NULL);
    EXPECT_INT(tkc_device_trace(dev, "x"), TKC_MISUSE);
    EXPECT_INT(tkc_device_break(dev, "1"), TKC_MISUSE);
}

static void refuse_device(TkcDevice *dev, TkcSource *source)
{
    TkcPtr p;
    char byte = 0;
    TkcJit *jit = (TkcJit *)&jit;
    EXPECT(!tkc_device_kind(dev) && !tkc_device_name(dev) && !tkc_device_arch(dev));
    EXPECT_INT(tkc_alloc(dev, 1, &p), TKC_MISUSE);
    EXPECT_INT(tkc_free(dev, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_in(dev, 1, &byte, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_out(dev, &byte, 1, 1), TKC_MISUSE);
    EXPECT_INT(tkc_synchronize(dev, NULL), TKC_MISUSE);
    EXPECT_INT(jit_of(dev, source, &jit), TKC_MISUSE);
    EXPECT(!jit);
    refuse_device_options(dev);
    tkc_device_free(dev);
}

static void refuse_jit(TkcJit *jit)
{
    TkcParam p = {.size = sizeof p};
    TkcKernelInfo info = {.size = sizeof info};
    TkcCacheStats stats = {.size = sizeof stats, .hits = 77};
    EXPECT_INT(launch(jit, 0, 0), TKC_MISUSE);
    EXPECT_INT(tkc_jit_info(jit, NULL, 0, &info), TKC_MISUSE);
    EXPECT_INT(tkc_jit_param_count(jit), 0);
    EXPECT_INT(tkc_jit_param(jit, 0, &p), TKC_MISUSE);
    tkc_jit_stats(jit, &stats);
    EXPECT_INT(stats.hits, 77);
    tkc_jit_set_limit(jit, 1);
    tkc_jit_clear(jit);
    tkc_jit_free(jit);
}

static void never_handles(void)
{
    World w;
    world_open(&w);
    long own[200] = {0};
    void *const none[] = {NULL, own, own + 100, (void *)8, (void *)(uintptr_t)-1, (char *)w.source + 1, (char *)w.jit + 16,
                          malloc(64)};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        refuse_context(none[i]);
        refuse_source(none[i]);
        refuse_artifact(none[i]);
        refuse_device(none[i], w.source);
        refuse_jit(none[i]);
    }
    free(none[7]);
    refuse_context((TkcContext *)w.source); /* one kind for another */
    refuse_source((TkcSource *)w.jit);
    refuse_artifact((TkcArtifact *)w.dev);
    refuse_device((TkcDevice *)w.cx, w.source);
    refuse_jit((TkcJit *)w.artifact);
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_OK);
    world_close(&w);
}

static void freed_handles(void)
{
    World w;
    world_open(&w);
    world_close(&w);
    refuse_context(w.cx);
    refuse_source(w.source);
    refuse_artifact(w.artifact);
    refuse_device(w.dev, w.source);
    refuse_jit(w.jit);
}

/* A freed handle is not one of those made after it. */
static void not_used_again_at_once(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *freed = source_of(cx);
    tkc_source_free(freed);
    for (int i = 0; i < 100; i++) {
        TkcSource *s = source_of(cx);
        EXPECT(s != freed);
        tkc_source_free(s);
    }
    refuse_source(freed);
    tkc_context_free(cx);
}

/* ---- what stands on what was freed ---- */

static void source_before_jit(void)
{
    World w;
    world_open(&w);
    tkc_source_free(w.source);
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_MISUSE); /* though it is compiled already */
    EXPECT_STR(tkc_last_error(w.cx), "error: the source of the jit is freed\n");
    EXPECT(tkc_artifact_text(w.artifact, NULL) && !strcmp(tkc_artifact_param_name(w.artifact, 0), "x"));
    EXPECT_INT(tkc_jit_param_count(w.jit), 3);
    world_close(&w);
}

static void device_before_jit(void)
{
    World w;
    world_open(&w);
    tkc_device_free(w.dev);
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_MISUSE);
    EXPECT_INT(w.told, 0);
    world_close(&w);
}

static void context_first(void)
{
    World w;
    world_open(&w);
    tkc_context_free(w.cx);
    refuse_source(w.source);
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_MISUSE);
    refuse_device(w.dev, w.source);
    EXPECT(tkc_artifact_text(w.artifact, NULL));
    EXPECT_INT(w.told, 0); /* there is nobody to tell */
    tkc_artifact_free(w.artifact);
    tkc_jit_free(w.jit);
}

static void other_context(void)
{
    World w, other;
    TkcJit *jit;
    world_open(&w);
    world_open(&other);
    EXPECT_INT(jit_of(w.dev, other.source, &jit), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(w.cx), "error: the source is of another context than the device\n");
    EXPECT_INT(other.told, 0);
    world_close(&w);
    world_close(&other);
}

/* ---- memory ---- */

static void freed_memory(void)
{
    World w;
    TkcPtr large;
    char byte = 0;
    world_open(&w);
    EXPECT_INT(tkc_alloc(w.dev, 1 << 20, &large), TKC_OK);
    EXPECT_INT(tkc_free(w.dev, w.x), TKC_OK);
    EXPECT_INT(tkc_free(w.dev, large), TKC_OK);
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(w.cx), "error: argument 'x': tkc_free has freed the memory it points to\n");
    EXPECT_INT(launch(w.jit, w.x, 0), TKC_MISUSE);
    EXPECT_INT(launch(w.jit, large + (1 << 19), BYTES), TKC_MISUSE);
    EXPECT_INT(tkc_copy_in(w.dev, w.x, &byte, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_out(w.dev, &byte, large, 1), TKC_MISUSE);
    EXPECT_INT(tkc_free(w.dev, w.x), TKC_MISUSE);
    for (int i = 0; i < 1000; i++) { /* it is given back one day */
        EXPECT_INT(tkc_alloc(w.dev, BYTES, &w.x), TKC_OK);
        EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_OK);
        EXPECT_INT(tkc_free(w.dev, w.x), TKC_OK);
    }
    EXPECT_INT(launch(w.jit, w.x, BYTES), TKC_MISUSE);
    world_close(&w);
}

/* The host's own memory is vouched for by a size, which may be wrong. */
static void host_memory(void)
{
    World w;
    float own[16] = {0};
    world_open(&w);
    EXPECT_INT(launch(w.jit, (TkcPtr)(uintptr_t)own, sizeof own), TKC_OK);
    EXPECT(own[0] == 1 && own[15] == 1);
    EXPECT_INT(launch(w.jit, 0x1000, BYTES), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(w.cx), "error: argument 'x': there is no memory where it points to\n");
    EXPECT_INT(launch(w.jit, (TkcPtr)(uintptr_t)own, (size_t)-1), TKC_MISUSE);
    world_close(&w);
}

int main(void)
{
    RUN(never_handles);
    RUN(freed_handles);
    RUN(not_used_again_at_once);
    RUN(source_before_jit);
    RUN(device_before_jit);
    RUN(context_first);
    RUN(other_context);
    RUN(freed_memory);
    RUN(host_memory);
    return expect_done();
}
