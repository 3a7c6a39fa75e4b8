/* threads_test FOLDER: one jit, many threads: every launch gives its own thread's result, each key is compiled once, errors are told to the thread they
   concern, and kernels may be freed meanwhile. Also contexts that have nothing in common but the folder of kernels on disk. On cpu, and on simt,
   where what is compiled is PTX. Built with a thread sanitizer too. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

/* Blocks of any size: the size is the key. */
static const char text[] = "import triton\nimport triton.language as tl\n"
                           "@triton.jit\n"
                           "def shift(x: '*fp32', y: '*fp32', n: 'i32', by: 'fp32', B: tl.constexpr):\n"
                           "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
                           "    tl.static_assert(B < 100, 'too large')\n"
                           "    tl.store(y + at, tl.load(x + at, at < n) + by, at < n)\n";

enum { THREADS = 16, ROUNDS = 20, KEYS = 5, N = 200, BYTES = N * sizeof(float) };

static const char *kind, *folder;

typedef struct Shared {
    TkcContext *cx;
    TkcSource *source;
    TkcDevice *dev;
    TkcJit *jit;
} Shared;

typedef struct Worker {
    pthread_t thread;
    int number;
    Shared *shared;
    bool clears; /* frees the kernels now and then */
    int failures;
} Worker;

#define DEMAND(w, condition) ((condition) ? (void)0 : demand_failed(w, #condition))

static void demand_failed(Worker *w, const char *what)
{
    if (w->failures++ == 0)
        printf("thread %d: failed: %s: %s\n", w->number, what, tkc_last_error(w->shared->cx));
}

static void shared_open(Shared *s)
{
    TkcOptions o;
    tkc_options_init(&o);
    s->cx = tkc_context_new();
    EXPECT_INT(tkc_source_from_text(s->cx, "s.tk", text, strlen(text), TKC_LANGUAGE_TK, &s->source), TKC_OK);
    EXPECT_INT(tkc_device_open(s->cx, kind, 0, &s->dev), TKC_OK);
    EXPECT_INT(tkc_device_set_cache(s->dev, folder), TKC_OK);
    EXPECT_INT(tkc_jit_new(s->dev, s->source, &o, &s->jit), TKC_OK);
    tkc_device_set_threads(s->dev, 2);
}

static void shared_close(Shared *s)
{
    tkc_jit_free(s->jit);
    tkc_source_free(s->source);
    tkc_device_free(s->dev);
    tkc_context_free(s->cx);
}

static TkcStatus launch(Worker *w, TkcPtr x, TkcPtr y, int block, float by)
{
    char size[16];
    snprintf(size, sizeof size, "%d", block);
    TkcArg args[] = {tkc_pointer(NULL, x, BYTES), tkc_pointer(NULL, y, BYTES), tkc_int(N), tkc_float((double)by),
                     tkc_constexpr(size)};
    return tkc_launch(w->shared->jit, (int64_t[]){(N + block - 1) / block, 1, 1}, NULL, args, 5);
}

static void one_round(Worker *w, int round, TkcPtr x, TkcPtr y)
{
    float got[N], by = (float)(w->number * 100 + round);
    DEMAND(w, launch(w, x, y, 16 + (w->number + round) % KEYS, by) == TKC_OK);
    DEMAND(w, tkc_copy_out(w->shared->dev, got, y, BYTES) == TKC_OK);
    for (int i = 0; i < N; i++)
        DEMAND(w, got[i] == (float)i + by);
    if (round % 7 == w->number % 7) { /* an error of its own */
        DEMAND(w, launch(w, x, y, 1000 + w->number, 0) == TKC_ERROR);
        DEMAND(w, strstr(tkc_last_error(w->shared->cx), "too large"));
    }
    if (w->clears && round % 4 == 0)
        tkc_jit_clear(w->shared->jit);
}

static void *work(void *arg)
{
    Worker *w = arg;
    TkcDevice *dev = w->shared->dev;
    TkcPtr x, y;
    float numbers[N];
    for (int i = 0; i < N; i++)
        numbers[i] = (float)i;
    DEMAND(w, tkc_alloc(dev, BYTES, &x) == TKC_OK && tkc_alloc(dev, BYTES, &y) == TKC_OK);
    DEMAND(w, tkc_copy_in(dev, x, numbers, BYTES) == TKC_OK);
    for (int round = 0; round < ROUNDS; round++)
        one_round(w, round, x, y);
    DEMAND(w, tkc_free(dev, x) == TKC_OK && tkc_free(dev, y) == TKC_OK);
    return NULL;
}

static void *work_alone(void *arg)
{
    Worker *w = arg;
    Shared own;
    for (int i = 0; i < 3; i++) {
        shared_open(&own);
        w->shared = &own;
        work(w);
        shared_close(&own);
    }
    return NULL;
}

static void run(Shared *shared, void *(*fn)(void *), bool clears)
{
    Worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.number = i, .shared = shared, .clears = clears && i == 0};
        EXPECT_INT(pthread_create(&workers[i].thread, NULL, fn, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        EXPECT_INT(workers[i].failures, 0);
    }
}

static void one_jit(void)
{
    Shared s;
    TkcCacheStats stats = {.size = sizeof stats};
    shared_open(&s);
    run(&s, work, false);
    tkc_jit_stats(s.jit, &stats);
    EXPECT_INT(stats.compiles, KEYS);
    EXPECT_INT(stats.compiles + stats.hits, THREADS * ROUNDS);
    shared_close(&s);
}

/* Kernels go while others run them. */
static void one_jit_that_forgets(void)
{
    Shared s;
    TkcCacheStats stats = {.size = sizeof stats};
    shared_open(&s);
    tkc_jit_set_limit(s.jit, 2);
    run(&s, work, true);
    tkc_jit_stats(s.jit, &stats);
    EXPECT(stats.compiles > KEYS);
    EXPECT_INT(stats.compiles + stats.hits, THREADS * ROUNDS);
    shared_close(&s);
}

static void contexts_apart(void)
{
    run(NULL, work_alone, false);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"cpu", "simt"};
    folder = argc > 1 ? argv[1] : NULL;
    for (int i = 0; i < 2; i++) {
        kind = kinds[i];
        RUN(one_jit);
        RUN(one_jit_that_forgets);
        RUN(contexts_apart);
    }
    return expect_done();
}
