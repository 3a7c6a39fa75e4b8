/* Timing launches, and what there is to know before one: on `cpu` and `simt`, and on `cuda` under the emulated
   driver or a real one, where streams can be captured. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def count(x: '*i32', B: tl.constexpr):\n"
                           "    tl.atomic_add(x, 1)\n"
                           "    tl.debug_barrier()\n";

typedef struct Bed {
    TkcContext *cx;
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcPtr x;
    TkcArg args[2];
} Bed;

static const int64_t one[3] = {1, 1, 1};

static Bed bed_new(const char *kind)
{
    Bed b = {.cx = tkc_context_new()};
    TkcOptions o;
    const int zero = 0;
    tkc_options_init(&o);
    EXPECT_INT(tkc_device_open(b.cx, kind, 0, &b.dev), TKC_OK);
    EXPECT_INT(tkc_source_from_text(b.cx, "count.tk", text, strlen(text), TKC_LANGUAGE_TK, &b.source),
               TKC_OK);
    EXPECT_INT(tkc_jit_new(b.dev, b.source, &o, &b.jit), TKC_OK);
    EXPECT_INT(tkc_alloc(b.dev, sizeof(int), &b.x), TKC_OK);
    EXPECT_INT(tkc_copy_in(b.dev, b.x, &zero, sizeof zero), TKC_OK);
    b.args[0] = tkc_pointer("*i32", b.x, sizeof(int));
    b.args[1] = tkc_constexpr("32");
    return b;
}

static void bed_free(Bed *b)
{
    EXPECT_INT(tkc_free(b->dev, b->x), TKC_OK);
    tkc_jit_free(b->jit);
    tkc_source_free(b->source);
    tkc_device_free(b->dev);
    tkc_context_free(b->cx);
}

/* Launches so far. */
static int counted(const Bed *b)
{
    int n = -1;
    EXPECT_INT(tkc_copy_out(b->dev, &n, b->x, sizeof n), TKC_OK);
    return n;
}

enum { PAUSE_MS = 30 };
static void pause_before(void *user)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    ++*(int *)user;
}

/* As many runs as were asked for, none of them with what goes before it. */
static void times_of(const char *kind)
{
    Bed b = bed_new(kind);
    int before = 0;
    TkcBenchOptions o = {.size = sizeof o, .warmup_ms = 1e-6, .run_ms = 1e-6, .runs = 5,
                         .before = pause_before, .user = &before};
    TkcTimes t = {.size = sizeof t};
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, &o, &t), TKC_OK);
    EXPECT_INT(t.runs, 5);
    EXPECT_INT(before, 6); /* the first one says how long one takes */
    EXPECT_INT(counted(&b), 6);
    EXPECT(t.min > 0 && t.min < PAUSE_MS);
    EXPECT(t.min <= t.p20 && t.p20 <= t.median && t.median <= t.p80 && t.p80 <= t.max);
    EXPECT(t.min <= t.mean && t.mean <= t.max);
    o = (TkcBenchOptions){.size = sizeof o, .warmup_ms = 1e-6, .run_ms = 1e-6, .before = pause_before,
                          .user = &before};
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, &o, &t), TKC_OK);
    EXPECT_INT(t.runs, 3);
    EXPECT_STR(tkc_last_error(b.cx), "");
    bed_free(&b);
}

static void times_on_cpu(void) { times_of("cpu"); }
static void times_on_simt(void) { times_of("simt"); }
static void times_on_cuda(void) { times_of("cuda"); }

/* By time, without options. */
static void runs_by_time(void)
{
    Bed b = bed_new("cpu");
    TkcTimes t = {.size = sizeof t};
    tkc_device_set_memory_checks(b.dev, false);
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, NULL, &t), TKC_OK);
    EXPECT(t.runs >= 3 && t.runs <= 2000);
    EXPECT(counted(&b) > t.runs);
    bed_free(&b);
}

static void misuse(void)
{
    Bed b = bed_new("cpu");
    TkcTimes t = {.size = sizeof t}, none = {0};
    TkcBenchOptions few = {.size = sizeof few, .runs = -1}, unset = {0};
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, &few, &t), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: runs are from 0 to 2000, and times not below 0\n");
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, &unset, &t), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the options are not initialized: their size is not set\n");
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, NULL, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: there is no place for the times: NULL, or without a size\n");
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 2, NULL, &none), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: there is no place for the times: NULL, or without a size\n");
    EXPECT_INT(tkc_bench(b.jit, one, NULL, b.args, 1, NULL, &t), TKC_ERROR);
    EXPECT_INT(tkc_bench(NULL, one, NULL, b.args, 2, NULL, &t), TKC_MISUSE);
    EXPECT_INT(tkc_jit_prepare(NULL, b.args, 2, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_device_info(NULL, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_device_info(b.dev, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx),
               "error: there is no place for what the device is: NULL, or without a size\n");
    EXPECT_INT(counted(&b), 0);
    bed_free(&b);
}

/* Nothing runs; the launch that follows finds the kernel. */
static void prepared(const char *kind, bool is_gpu)
{
    Bed b = bed_new(kind);
    TkcKernelInfo info = {.size = sizeof info};
    TkcDeviceInfo dev = {.size = sizeof dev};
    TkcCacheStats stats = {.size = sizeof stats};
    EXPECT_INT(tkc_jit_prepare(b.jit, b.args, 2, NULL), TKC_OK);
    EXPECT_INT(counted(&b), 0);
    EXPECT_INT(tkc_jit_prepare(b.jit, b.args, 2, &info), TKC_OK);
    EXPECT_INT(tkc_launch(b.jit, one, NULL, b.args, 2), TKC_OK);
    EXPECT_INT(counted(&b), 1);
    tkc_jit_stats(b.jit, &stats);
    EXPECT_INT(stats.compiles, 1);
    EXPECT_INT(tkc_device_info(b.dev, &dev), TKC_OK);
    EXPECT(dev.units >= 1 && dev.memory_bytes > 0 && dev.unit_programs >= 1);
    EXPECT_INT(info.programs, info.unit_programs * dev.units);
    EXPECT(info.unit_programs >= 1 && info.unit_programs <= dev.unit_programs);
    EXPECT((info.max_threads > 0) == is_gpu && (dev.shared_bytes > 0) == is_gpu);
    EXPECT((dev.cache_bytes > 0) == is_gpu);
    bed_free(&b);
}

static void prepared_everywhere(void)
{
    prepared("cpu", false);
    prepared("simt", true);
    prepared("cuda", true);
}

/* The driver's, by its documentation. */
typedef struct Capture {
    int (*stream_new)(void **stream, unsigned flags), (*stream_free)(void *stream);
    int (*begin)(void *stream, int mode), (*end)(void *stream, void **graph);
    int (*nodes)(void *graph, void **nodes, size_t *count), (*free)(void *graph);
    int (*make)(void **exec, void *graph, unsigned long long flags), (*launch)(void *exec, void *stream);
    int (*unmake)(void *exec);
    int (*push)(void *cx), (*pop)(void **cx), (*retain)(void **cx, int device), (*release)(int device);
} Capture;

static Capture capture_open(void)
{
    Capture c;
    const struct { const char *name; void *to; } rows[] = {
        {"cuStreamCreate", &c.stream_new}, {"cuStreamDestroy_v2", &c.stream_free},
        {"cuStreamBeginCapture_v2", &c.begin}, {"cuStreamEndCapture", &c.end},
        {"cuGraphGetNodes", &c.nodes}, {"cuGraphDestroy", &c.free},
        {"cuGraphInstantiateWithFlags", &c.make}, {"cuGraphLaunch", &c.launch},
        {"cuGraphExecDestroy", &c.unmake},
        {"cuCtxPushCurrent_v2", &c.push}, {"cuCtxPopCurrent_v2", &c.pop},
        {"cuDevicePrimaryCtxRetain", &c.retain}, {"cuDevicePrimaryCtxRelease_v2", &c.release}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *symbol = library ? dlsym(library, rows[i].name) : NULL;
        EXPECT(symbol != NULL);
        memcpy(rows[i].to, &symbol, sizeof symbol);
    }
    return c;
}

/* While a stream is captured nothing is compiled, by a launch into it or into another, and the capture is as good
   as before; what is prepared is recorded, and does not run until the graph is launched. */
static void captured(void)
{
    enum { GLOBAL = 0, NON_BLOCKING = 1 };
    Bed b = bed_new("cuda");
    Capture c = capture_open();
    void *stream = NULL, *graph = NULL, *exec = NULL, *cx = NULL;
    size_t nodes = 99;
    TkcTimes t = {.size = sizeof t};
    TkcArg other[2] = {b.args[0], tkc_constexpr("64")}, third[2] = {b.args[0], tkc_constexpr("128")};
    TkcArg fourth[2] = {b.args[0], tkc_constexpr("256")};
    EXPECT_INT(c.retain(&cx, 0), 0);
    EXPECT_INT(c.push(cx), 0);
    EXPECT_INT(c.stream_new(&stream, NON_BLOCKING), 0);
    EXPECT_INT(tkc_jit_prepare(b.jit, b.args, 2, NULL), TKC_OK);
    EXPECT_INT(c.begin(stream, GLOBAL), 0);
    EXPECT_INT(tkc_launch(b.jit, one, stream, b.args, 2), TKC_OK);
    EXPECT_INT(tkc_launch(b.jit, one, stream, other, 2), TKC_ERROR);
    EXPECT_STR(tkc_last_error(b.cx),
               "error: the stream is captured for a graph, and the kernel is not compiled for such "
               "arguments: launch it with them before, or call tkc_jit_prepare\n");
    EXPECT_INT(tkc_bench(b.jit, one, stream, b.args, 2, NULL, &t), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx),
               "error: the stream is captured for a graph: nothing runs there to be timed\n");
    EXPECT_INT(tkc_launch(b.jit, one, stream, b.args, 2), TKC_OK);
    EXPECT_INT(tkc_jit_prepare(b.jit, third, 2, NULL), TKC_OK); /* of a stream that has no part in it */
    EXPECT_INT(c.end(stream, &graph), 0);
    EXPECT_INT(c.nodes(graph, NULL, &nodes), 0);
    EXPECT_INT(nodes, 2);
    EXPECT_INT(counted(&b), 0);
    EXPECT_INT(c.make(&exec, graph, 0), 0);
    EXPECT_INT(c.launch(exec, stream), 0);
    EXPECT_INT(tkc_synchronize(b.dev, stream), TKC_OK);
    EXPECT_INT(counted(&b), 2);
    EXPECT_INT(c.unmake(exec), 0);
    EXPECT_INT(tkc_launch(b.jit, one, stream, other, 2), TKC_OK);
    EXPECT_INT(tkc_synchronize(b.dev, stream), TKC_OK);
    EXPECT_INT(counted(&b), 3);
    EXPECT_INT(c.free(graph), 0);
    EXPECT_INT(c.stream_free(stream), 0);
    /* One that the default stream waits for: then that can be given nothing, either. */
    EXPECT_INT(c.stream_new(&stream, 0), 0);
    EXPECT_INT(c.begin(stream, GLOBAL), 0);
    EXPECT_INT(tkc_launch(b.jit, one, NULL, fourth, 2), TKC_ERROR);
    EXPECT_INT(tkc_launch(b.jit, one, stream, third, 2), TKC_OK);
    EXPECT_INT(c.end(stream, &graph), 0);
    EXPECT_INT(c.nodes(graph, NULL, &nodes), 0);
    EXPECT_INT(nodes, 1);
    EXPECT_INT(c.free(graph), 0);
    EXPECT_INT(c.stream_free(stream), 0);
    EXPECT_INT(c.pop(&cx), 0);
    EXPECT_INT(c.release(0), 0);
    bed_free(&b);
}

int main(void)
{
    RUN(times_on_cpu);
    RUN(times_on_simt);
    RUN(runs_by_time);
    RUN(misuse);
    RUN(times_on_cuda);
    RUN(prepared_everywhere);
    RUN(captured);
    return expect_done();
}
