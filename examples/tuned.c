/* A product of matrices by the fastest of a few configurations, which a file remembers.
 *
 *     cc tuned.c $(pkg-config --cflags --libs tkc) -o tuned && ./tuned matmul.tk tuned.txt
 *
 * The second run, and every other program that reads tuned.txt, measures nothing. It runs on the GPU
 * if there is one, else on the CPU; "./tuned matmul.tk tuned.txt simt" asks for one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkc/runtime.h"

enum { M = 96, N = 80, K = 64 };

static void must(TkcStatus status)
{
    if (status != TKC_OK) exit(1);
}

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    fputs(d->rendered, user);
}

static void print_progress(const char *line, void *user)
{
    (void)user;
    puts(line);
}

static int64_t number_of(const TkcDefine *values, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(values[i].name, name)) return atoll(values[i].value);
    return 1;
}

/* A program for each tile: what a configuration needs depends on its values. */
static void tiles(int64_t grid[3], const TkcDefine *values, size_t nvalues, void *user)
{
    const int64_t bm = number_of(values, nvalues, "BM"), bn = number_of(values, nvalues, "BN");
    (void)user;
    grid[0] = (M + bm - 1) / bm;
    grid[1] = (N + bn - 1) / bn;
    grid[2] = 1;
}

/* Small whole numbers: the result is exact. */
static TkcPtr make_matrix(TkcDevice *dev, int rows, int cols, float *host)
{
    TkcPtr p;
    const size_t bytes = (size_t)rows * (size_t)cols * sizeof *host;
    for (int i = 0; i < rows * cols; i++) host[i] = (float)(i % 7 - 3);
    must(tkc_alloc(dev, bytes, &p));
    must(tkc_copy_in(dev, p, host, bytes));
    return p;
}

static int count_right(const float *a, const float *b, const float *c)
{
    int right = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            right += c[i * N + j] == sum;
        }
    return right;
}

int main(int argc, char **argv)
{
    static const char *const configs[] = {"BM=16 BN=16 BK=16", "BM=32 BN=16 BK=32", "BM=32 BN=32 BK=32 num_warps=8"};
    static float a[M * K], b[K * N], c[M * N];
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcOptions options;
    int64_t grid[3];
    int chosen;
    if (argc < 3) return 2;
    tkc_context_on_diagnostic(cx, print_diagnostic, stderr);
    must(tkc_device_open(cx, argc > 3 ? argv[3] : NULL, 0, &dev));
    must(tkc_source_open(cx, argv[1], TKC_LANGUAGE_TK, &source));
    tkc_options_init(&options);
    options.kernel = "matmul_naive";
    const TkcPtr at[] = {make_matrix(dev, M, K, a), make_matrix(dev, K, N, b), make_matrix(dev, M, N, c)};
    const TkcArg args[] = {tkc_pointer("*fp32", at[0], sizeof a), tkc_pointer("*fp32", at[1], sizeof b),
                           tkc_pointer("*fp32", at[2], sizeof c), tkc_int(M), tkc_int(N), tkc_int(K),
                           tkc_int(K), tkc_int(1), tkc_int(N), tkc_int(1), tkc_int(N), tkc_int(1)};
    const TkcTuneOptions tune = {.size = sizeof tune,
                                 .configs = configs,
                                 .nconfigs = 3,
                                 .key = "m,n,k", /* each size has a choice of its own */
                                 .file = argv[2],
                                 .warmup_ms = 1,
                                 .run_ms = 5,
                                 .progress = print_progress};
    must(tkc_tune(dev, source, &options, &tune, tiles, NULL, NULL, args, 12, &jit, &chosen));
    TkcKernelInfo info = {.size = sizeof info};
    must(tkc_jit_prepare(jit, args, 12, &info));
    tiles(grid, info.values, info.nvalues, NULL);
    must(tkc_launch(jit, grid, NULL, args, 12));
    must(tkc_copy_out(dev, c, at[2], sizeof c));
    printf("%d of %d are right, by a configuration of 3: %s\n", count_right(a, b, c), M * N,
           chosen >= 0 && chosen < 3 ? "yes" : "no");
    for (int i = 0; i < 3; i++) tkc_free(dev, at[i]);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
    return 0;
}
