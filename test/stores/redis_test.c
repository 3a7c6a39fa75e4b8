/* redis_test ADDRESS TIMEOUT RETRY MOST [PASSWORD [USER]]: launches a kernel that was never in memory with C=N for each line N
   on standard input, and prints what it gave, what the cache counted, what the store did, for how long, and what was wrong last. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tkc/redis.h"

#include "../unit/launch_once.h"

static const char kernel[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                             "def k(x: '*fp32', C: tl.constexpr):\n    tl.store(x, C)\n";

/* Called between the store's calls: nothing of theirs is in it. */
static double get_ms, put_ms;
static TkcStore real;

static double ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static const void *timed_get(const char *name, size_t *bytes, void *user)
{
    const double start = ms();
    const void *given = real.get(name, bytes, user);
    get_ms = ms() - start;
    return given;
}

static void timed_put(const char *name, const void *entry, size_t bytes, void *user)
{
    const double start = ms();
    real.put(name, entry, bytes, user);
    put_ms = ms() - start;
}

/* What it stored; -1: it failed, and why was printed. */
static float launch(const char *value, const TkcStore *store, TkcDiskStats *stats)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *source = NULL;
    float got = -1;
    TkcStatus status = tkc_source_from_text(cx, "k.tk", kernel, strlen(kernel), TKC_LANGUAGE_TK, &source);
    if (status == TKC_OK) status = launch_once(cx, source, NULL, store, value, &got, stats);
    if (status != TKC_OK) printf("%s", tkc_last_error(cx));
    tkc_source_free(source);
    tkc_context_free(cx);
    return got;
}

static void print(float got, const TkcDiskStats *d, const TkcRedis *redis)
{
    const TkcRedisStats s = tkc_redis_stats(redis);
    printf("%g: from_store %d, absent %d, store_wrong %d; found %d, absent %d, stored %d, too_large %d, failures %d, "
           "left_alone %d; %.0f ms, %.0f ms; %s\n",
           (double)got, (int)d->from_store, (int)d->absent, (int)d->store_wrong, (int)s.found, (int)s.absent, (int)s.stored,
           (int)s.too_large, (int)s.failures, (int)s.left_alone, get_ms, put_ms, tkc_redis_error(redis));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char line[80];
    if (argc < 5) return 2;
    const TkcRedisOptions where = {.size = sizeof where,
                                   .address = argv[1],
                                   .timeout_ms = atoi(argv[2]),
                                   .retry_ms = atoi(argv[3]),
                                   .most_bytes = (size_t)atol(argv[4]),
                                   .password = argc > 5 ? argv[5] : NULL,
                                   .user = argc > 6 ? argv[6] : NULL};
    TkcRedis *redis = tkc_redis_new(&where);
    if (!redis || tkc_redis_new(NULL) || tkc_redis_new(&(TkcRedisOptions){.address = "/x"})) return puts("no store"), 1;
    real = tkc_redis_store(redis);
    const TkcStore store = {sizeof store, timed_get, timed_put, real.user};
    while (fgets(line, sizeof line, stdin)) {
        TkcDiskStats stats = {.size = sizeof stats};
        line[strcspn(line, "\n")] = 0;
        print(launch(line, &store, &stats), &stats, redis);
    }
    tkc_redis_free(redis);
    tkc_redis_free(NULL);
    return 0;
}
