/* Functions of a header (scale.h) under every circumstance: ahead.c CASE. The driver is found as the
   header finds it. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "scale.h" /* twice is as good as once */

enum { N = 64, THREADS = 8, TURNS = 40 };

typedef int (*Call)(void *, void *, void *, void *);

/* Any function of the driver, with at most 4 arguments of 8 bytes. */
static int driver(const char *name, void *a, void *b, void *c, void *d)
{
    static void *library;
    Call call;
    void *symbol;
    if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
    symbol = library ? dlsym(library, name) : NULL;
    if (!symbol) {
        printf("no %s\n", name);
        exit(1);
    }
    memcpy(&call, &symbol, sizeof call);
    return call(a, b, c, d);
}

#define AS(x) ((void *)(uintptr_t)(x))

static void *new_context(void)
{
    void *context = NULL;
    driver("cuInit", NULL, NULL, NULL, NULL);
    if (driver("cuCtxCreate_v2", &context, NULL, NULL, NULL)) puts("no context");
    return context;
}

static uint64_t new_array(float value)
{
    float host[N];
    uint64_t at = 0;
    int i;
    for (i = 0; i < N; i++) host[i] = value;
    if (driver("cuMemAlloc_v2", &at, AS(sizeof host), NULL, NULL) ||
        driver("cuMemcpyHtoD_v2", AS(at), host, AS(sizeof host), NULL))
        puts("no memory");
    return at;
}

static float item(uint64_t array, int i)
{
    float value = -1;
    driver("cuMemcpyDtoH_v2", &value, AS(array + 4 * (unsigned)i), AS(4), NULL);
    return value;
}

static int start(uint64_t x, uint64_t z, int n)
{
    return scale(NULL, 1, 1, 1, x, z, n, 3);
}

/* Each variant's arguments. */
static void variants(void)
{
    static const int lengths[] = {1, 16, 17};
    const uint64_t x = new_array(2), z = new_array(0);
    int i, off;
    for (i = 0; i < 3; i++)
        for (off = 0; off < 8; off += 4) {
            const int status = start(x + (unsigned)off, z + (unsigned)off, lengths[i]);
            printf("n=%d off %d: status %d, %g %g\n", lengths[i], off, status,
                   (double)item(z, lengths[i] - 1 + off / 4), (double)item(z, lengths[i] + off / 4));
        }
}

static void *context_of_threads;
static uint64_t thread_x;
static void *launch_many(void *arg)
{
    const uint64_t z = *(uint64_t *)arg;
    long wrong = driver("cuCtxSetCurrent", context_of_threads, NULL, NULL, NULL);
    int i;
    for (i = 0; i < TURNS; i++) wrong += start(thread_x, z, 1 + i % 48) != 0;
    wrong += item(z, 47) != 6 && TURNS > 47;
    return AS(wrong);
}

static void threads(void)
{
    pthread_t all[THREADS];
    uint64_t z[THREADS];
    long wrong = 0;
    int i;
    thread_x = new_array(2);
    for (i = 0; i < THREADS; i++) z[i] = new_array(0);
    for (i = 0; i < THREADS; i++) pthread_create(&all[i], NULL, launch_many, &z[i]);
    for (i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(all[i], &result);
        wrong += (long)(uintptr_t)result;
    }
    printf("%d threads: %ld wrong\n", THREADS, wrong);
}

/* In a context that follows another, at the same address perhaps, and in two at once. */
static void contexts(void *first)
{
    void *second;
    uint64_t x, z;
    int i;
    start(new_array(2), new_array(0), 5);
    second = new_context();
    x = new_array(2), z = new_array(0);
    i = start(x, z, 5);
    printf("second context: status %d, %g\n", i, (double)item(z, 4));
    driver("cuCtxDestroy_v2", first, NULL, NULL, NULL);
    driver("cuCtxDestroy_v2", second, NULL, NULL, NULL);
    for (i = 0; i < 3; i++) {
        void *next = new_context();
        int status;
        x = new_array(2), z = new_array(0);
        status = start(x, z, 5);
        printf("next context: status %d, %g\n", status, (double)item(z, 4));
        driver("cuCtxDestroy_v2", next, NULL, NULL, NULL);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    void *context = strcmp(what, "bare") ? new_context() : NULL;
    context_of_threads = context;
    if (!strcmp(what, "bare")) {
        printf("status %d %d\n", start(0, 0, 1), scale_load());
        driver("cuInit", NULL, NULL, NULL, NULL);
        printf("status %d %d\n", start(0, 0, 1), scale_load());
    }
    if (!strcmp(what, "load")) printf("loaded: status %d\n", scale_load());
    if (!strcmp(what, "variants")) variants();
    if (!strcmp(what, "threads")) threads();
    if (!strcmp(what, "contexts")) contexts(context);
    return 0;
}
