/* All GPUs, two streams of each: one context, a device and a jit for each GPU, and launches that wait
 * for nobody but their own stream.
 *
 *     cc streams.c $(pkg-config --cflags --libs tkc) -lcuda -o streams && ./streams vector_add.tk
 */
#include <stdio.h>
#include <stdlib.h>

#include "tkc/runtime.h"

/* What a program with the CUDA toolkit has from <cuda.h>. */
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(CUcontext context);
int cuStreamCreate(CUstream *stream, unsigned flags);
int cuStreamDestroy_v2(CUstream stream);

enum { STREAMS = 2, N = 50000, BYTES = N * sizeof(float), BLOCK = 1024, NON_BLOCKING = 1 };

static void must(int status)
{
    if (status) exit(1);
}

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    fputs(d->rendered, user);
}

typedef struct Gpu {
    TkcDevice *dev;
    TkcJit *jit;
    CUcontext context;
    CUstream streams[STREAMS];
    TkcPtr x, z[STREAMS];
} Gpu;

/* tkc works in the primary context of a device; so do the streams. */
static void open_gpu(Gpu *g, int number, TkcContext *cx, TkcSource *source)
{
    static float host[N];
    TkcOptions options;
    tkc_options_init(&options);
    must(cuDevicePrimaryCtxRetain(&g->context, number));
    must(cuCtxSetCurrent(g->context));
    must(tkc_device_open(cx, "cuda", number, &g->dev));
    must(tkc_jit_new(g->dev, source, &options, &g->jit));
    for (int i = 0; i < N; i++) host[i] = (float)i;
    must(tkc_alloc(g->dev, BYTES, &g->x));
    must(tkc_copy_in(g->dev, g->x, host, BYTES));
    for (int s = 0; s < STREAMS; s++) {
        must(tkc_alloc(g->dev, BYTES, &g->z[s]));
        must(cuStreamCreate(&g->streams[s], NON_BLOCKING));
    }
}

/* Enqueues z = x + x, and does not wait. */
static void launch(Gpu *g, int s)
{
    const TkcArg args[] = {tkc_pointer(NULL, g->x, BYTES), tkc_pointer(NULL, g->x, BYTES),
                           tkc_pointer(NULL, g->z[s], BYTES), tkc_int(N), tkc_constexpr("1024")};
    must(tkc_launch(g->jit, (int64_t[]){(N + BLOCK - 1) / BLOCK, 1, 1}, g->streams[s], args, 5));
}

static int count_right(Gpu *g, int s)
{
    static float host[N];
    int right = 0;
    must(tkc_synchronize(g->dev, g->streams[s]));
    must(tkc_copy_out(g->dev, host, g->z[s], BYTES));
    for (int i = 0; i < N; i++) right += host[i] == 2 * (float)i;
    return right;
}

static void close_gpu(Gpu *g, int number)
{
    must(cuCtxSetCurrent(g->context));
    for (int s = 0; s < STREAMS; s++) {
        tkc_free(g->dev, g->z[s]);
        must(cuStreamDestroy_v2(g->streams[s]));
    }
    tkc_free(g->dev, g->x);
    tkc_jit_free(g->jit);
    tkc_device_free(g->dev);
    must(cuDevicePrimaryCtxRelease_v2(number));
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    Gpu gpus[MOST];
    int count;
    TkcSource *source;
    TkcContext *cx = tkc_context_new();
    if (argc < 2) return 2;
    tkc_context_on_diagnostic(cx, print_diagnostic, stderr);
    must(cuInit(0));
    must(cuDeviceGetCount(&count));
    if (count > MOST) count = MOST;
    must(tkc_source_open(cx, argv[1], TKC_LANGUAGE_TK, &source));
    for (int i = 0; i < count; i++) open_gpu(&gpus[i], i, cx, source);
    for (int i = 0; i < count * STREAMS; i++) launch(&gpus[i / STREAMS], i % STREAMS);
    for (int i = 0; i < count * STREAMS; i++)
        printf("GPU %d, stream %d: %d of %d are right\n", i / STREAMS, i % STREAMS,
               count_right(&gpus[i / STREAMS], i % STREAMS), N);
    for (int i = 0; i < count; i++) close_gpu(&gpus[i], i);
    tkc_source_free(source);
    tkc_context_free(cx);
    return 0;
}
