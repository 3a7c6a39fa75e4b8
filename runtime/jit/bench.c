/* How long a launch takes. In: a jit and a launch's arguments. Out: what the times of many launches
   are, each between two marks, after as many that only warm up; how many they are, the first ones
   decide. */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { LEAST_RUNS = 3, MOST_RUNS = 2000 };

typedef struct Bench {
    TkcJit *jit;
    TkcDevice *dev;
    const int64_t *grid;
    void *stream;
    const TkcArg *args;
    size_t nargs;
    TkcBenchOptions o;
} Bench;

static TkcStatus launch_between(const Bench *b, Timer *t, size_t mark)
{
    TkcStatus status = TKC_OK;
    if (b->o.before) b->o.before(b->o.user);
    if (!b->o.keeps_cache) status = timer_flush(b->dev, t, b->stream);
    if (status == TKC_OK) status = timer_mark(b->dev, t, mark, b->stream);
    if (status == TKC_OK) status = tkc_launch(b->jit, b->grid, b->stream, b->args, b->nargs);
    return status == TKC_OK ? timer_mark(b->dev, t, mark + 1, b->stream) : status;
}

/* n launches, and how long each took. */
static TkcStatus measure(const Bench *b, size_t n, double *ms)
{
    Timer *t = NULL;
    if (!n) return TKC_OK;
    TkcStatus status = timer_new(b->dev, 2 * n, &t);
    for (size_t i = 0; status == TKC_OK && i < n; i++) status = launch_between(b, t, 2 * i);
    if (status == TKC_OK) status = b->dev->ops->synchronize(b->dev, b->stream);
    for (size_t i = 0; status == TKC_OK && i < n; i++)
        status = timer_between(b->dev, t, 2 * i, 2 * i + 1, &ms[i]);
    timer_free(b->dev, t);
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of sorted times, between the two nearest. */
static double quantile(const double *ms, size_t n, double q)
{
    const double at = q * (double)(n - 1);
    const size_t below = (size_t)at, above = below + (below + 1 < n);
    return ms[below] + (ms[above] - ms[below]) * (at - (double)below);
}

static TkcTimes sum_up(double *ms, size_t n)
{
    TkcTimes t = {.size = sizeof t, .runs = (int)n};
    for (size_t i = 0; i < n; i++) t.mean += ms[i] / (double)n;
    qsort(ms, n, sizeof *ms, compare);
    t.min = ms[0];
    t.p20 = quantile(ms, n, 0.2);
    t.median = quantile(ms, n, 0.5);
    t.p80 = quantile(ms, n, 0.8);
    t.max = ms[n - 1];
    return t;
}

static size_t runs_in(double ms, double each, size_t least)
{
    const double n = each > 0 ? ms / each : MOST_RUNS;
    return n > MOST_RUNS ? MOST_RUNS : n < (double)least ? least : (size_t)n;
}

/* The first launch may be slow for reasons of its own; where there is time, others are asked. */
static TkcStatus estimate(const Bench *b, double *ms, double *each)
{
    enum { MORE = 4 };
    TkcStatus status = measure(b, 1, ms);
    *each = ms[0];
    if (status != TKC_OK || *each * MORE > b->o.run_ms) return status;
    status = measure(b, MORE, ms);
    for (int i = 0; i < MORE; i++) *each = fmin(*each, ms[i]);
    return status;
}

/* ---- ranges for NVIDIA's profilers, where libnvToolsExt.so.1 is there; else nothing ---- */

/* One of that name begins, or the newest ends, where the name is NULL. */
static void set_range(void *nvtx, const char *name)
{
    int (*push)(const char *), (*pop)(void);
    void *symbol = nvtx ? dlsym(nvtx, name ? "nvtxRangePushA" : "nvtxRangePop") : NULL;
    memcpy(&push, &symbol, sizeof push);
    memcpy(&pop, &symbol, sizeof pop);
    if (symbol) (void)(name ? push(name) : pop());
}

/* ---- the whole ---- */

static TkcStatus run(const Bench *b, double *ms, TkcTimes *times)
{
    double each = 0;
    void *nvtx = dlopen("libnvToolsExt.so.1", RTLD_NOW | RTLD_LOCAL);
    set_range(nvtx, "tkc: warming up");
    TkcStatus status = estimate(b, ms, &each);
    if (status == TKC_OK) status = measure(b, runs_in(b->o.warmup_ms, each, 0), ms);
    set_range(nvtx, NULL);
    const size_t n = b->o.runs ? (size_t)b->o.runs : runs_in(b->o.run_ms, each, LEAST_RUNS);
    set_range(nvtx, "tkc: measuring");
    if (status == TKC_OK) status = measure(b, n, ms);
    set_range(nvtx, NULL);
    if (nvtx) dlclose(nvtx);
    if (status == TKC_OK) *times = sum_up(ms, n);
    return status;
}

/* What is wrong with a call; NULL: nothing, and the options are read. */
static const char *find_misuse(Bench *b, const TkcBenchOptions *options, TkcTimes *times)
{
    const char *wrong = options ? tkc_take(&b->o, sizeof b->o, options) : NULL;
    if (wrong) return wrong;
    if (b->o.runs < 0 || b->o.runs > MOST_RUNS || !(b->o.warmup_ms >= 0) || !(b->o.run_ms >= 0))
        return "runs are from 0 to 2000, and times not below 0";
    if (!times || !tkc_give(times, &(TkcTimes){.runs = 0}, sizeof *times))
        return "there is no place for the times: NULL, or without a size";
    return b->dev->ops->captures && b->dev->ops->captures(b->dev, b->stream)
               ? "the stream is captured for a graph: nothing runs there to be timed"
               : NULL;
}

/* Compiles first; the jit is kept. */
TkcStatus tkc_bench(TkcJit *jit, const int64_t grid[3], void *stream, const TkcArg *args,
                    size_t nargs, const TkcBenchOptions *options, TkcTimes *times)
{
    TkcTimes ours;
    if (!tkc_handle_is(jit, TKC_HANDLE_JIT) || !device_is(jit->dev)) return TKC_MISUSE;
    Bench b = {.jit = jit, .dev = jit->dev, .grid = grid, .stream = stream, .args = args, .nargs = nargs};
    const char *wrong = find_misuse(&b, options, times);
    if (wrong) return tkc_refuse(b.dev->cx, TKC_MISUSE, "%s", wrong);
    b.o.warmup_ms = b.o.warmup_ms > 0 ? b.o.warmup_ms : 25;
    b.o.run_ms = b.o.run_ms > 0 ? b.o.run_ms : 100;
    double *ms = calloc(MOST_RUNS, sizeof *ms);
    TkcStatus status = ms ? tkc_jit_prepare(jit, args, nargs, NULL) : tkc_no_memory(b.dev->cx);
    if (status == TKC_OK) status = run(&b, ms, &ours);
    free(ms);
    if (status == TKC_OK) tkc_give(times, &ours, sizeof ours);
    return status;
}
