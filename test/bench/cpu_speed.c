/* Milliseconds a launch on the cpu device, the least of ROUNDS, without loading or copying: cpu_speed EXAMPLES-FOLDER ROUNDS
   One line each: name, checks on, checks off. test/bench/cpu_compare.py sets numpy beside them. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tkc/runtime.h"

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void must(TkcContext *cx, TkcStatus status)
{
    if (status == TKC_OK)
        return;
    fputs(tkc_last_error(cx), stderr);
    exit(1);
}

/* Memory with some numbers in it. */
static TkcPtr filled(TkcContext *cx, TkcDevice *dev, size_t count)
{
    TkcPtr p;
    float *host = malloc(count * sizeof *host);
    for (size_t i = 0; host && i < count; i++)
        host[i] = (float)(i % 1000) * 0.001f;
    must(cx, tkc_alloc(dev, count * sizeof *host, &p));
    must(cx, tkc_copy_in(dev, p, host, count * sizeof *host));
    free(host);
    return p;
}

static double least(TkcContext *cx, TkcJit *jit, int rounds, int64_t programs, const TkcArg *args, size_t n)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        double start = now_ms();
        must(cx, tkc_launch(jit, (int64_t[]){programs, 1, 1}, NULL, args, n));
        double ms = now_ms() - start;
        best = ms < best ? ms : best;
    }
    return best;
}

static void measure(TkcContext *cx, TkcDevice *dev, const char *folder, const char *file, const char *kernel, int rounds, int64_t programs,
                    const TkcArg *args, size_t n)
{
    char path[4096];
    TkcSource *source;
    TkcJit *jit;
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = kernel;
    snprintf(path, sizeof path, "%s/%s.tk", folder, file);
    must(cx, tkc_source_open(cx, path, TKC_LANGUAGE_TK, &source));
    must(cx, tkc_jit_new(dev, source, &options, &jit));
    tkc_device_set_memory_checks(dev, true);
    double on = least(cx, jit, rounds, programs, args, n);
    tkc_device_set_memory_checks(dev, false);
    double off = least(cx, jit, rounds, programs, args, n);
    printf("%s %.3f %.3f\n", kernel, on, off);
    tkc_jit_free(jit);
    tkc_source_free(source);
}

int main(int argc, char **argv)
{
    enum { N = 10000000, ROWS = 4096, WIDTH = 1024, BLOCK = 4096 };
    if (argc != 3) {
        fputs("usage: cpu_speed EXAMPLES-FOLDER ROUNDS\n", stderr);
        return 2;
    }
    int rounds = atoi(argv[2]);
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    must(cx, tkc_device_open(cx, "cpu", 0, &dev));
    size_t bytes = N * sizeof(float);
    TkcPtr x = filled(cx, dev, N), y = filled(cx, dev, N), z = filled(cx, dev, N);
    TkcArg add[] = {tkc_pointer("*fp32", x, bytes), tkc_pointer("*fp32", y, bytes), tkc_pointer("*fp32", z, bytes), tkc_int(N), tkc_constexpr("4096")};
    measure(cx, dev, argv[1], "vector_add", "add", rounds, (N + BLOCK - 1) / BLOCK, add, 5);
    TkcArg softmax[] = {tkc_pointer("*fp32", z, bytes), tkc_pointer("*fp32", x, bytes), tkc_int(WIDTH), tkc_int(WIDTH), tkc_int(WIDTH), tkc_constexpr("1024")};
    measure(cx, dev, argv[1], "softmax", "softmax_masked", rounds, ROWS, softmax, 6);
    tkc_free(dev, x);
    tkc_free(dev, y);
    tkc_free(dev, z);
    tkc_device_free(dev);
    tkc_context_free(cx);
    return 0;
}
