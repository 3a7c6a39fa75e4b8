/* A graph of launches: they are captured once, and launched together from then on. While a stream is
 * captured nothing is compiled: what is launched into it is prepared before.
 *
 *     cc graph.c $(pkg-config --cflags --libs tkc) -lcuda -o graph && ./graph vector_add.tk
 */
#include <stdio.h>
#include <stdlib.h>

#include "tkc/runtime.h"

/* What a program with the CUDA toolkit has from <cuda.h>. */
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(CUcontext context);
int cuStreamCreate(CUstream *stream, unsigned flags);
int cuStreamDestroy_v2(CUstream stream);
int cuStreamBeginCapture_v2(CUstream stream, int mode);
int cuStreamEndCapture(CUstream stream, CUgraph *graph);
int cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
int cuGraphLaunch(CUgraphExec exec, CUstream stream);
int cuGraphExecDestroy(CUgraphExec exec);
int cuGraphDestroy(CUgraph graph);

enum { N = 50000, BYTES = N * sizeof(float), BLOCK = 1024, NON_BLOCKING = 1, RELAXED = 2, TIMES = 5 };

static void must(int status)
{
    if (status) exit(1);
}

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    fputs(d->rendered, user);
}

/* z = x + y, with the block's size as it is written in a kernel. */
static TkcStatus add(TkcJit *jit, CUstream stream, TkcPtr x, TkcPtr y, TkcPtr z, const char *block, bool only_prepare)
{
    const TkcArg args[] = {tkc_pointer(NULL, x, BYTES), tkc_pointer(NULL, y, BYTES), tkc_pointer(NULL, z, BYTES),
                           tkc_int(N), tkc_constexpr(block)};
    const int64_t grid[] = {(N + BLOCK - 1) / BLOCK, 1, 1};
    return only_prepare ? tkc_jit_prepare(jit, args, 5, NULL) : tkc_launch(jit, grid, stream, args, 5);
}

/* y = y + x, twice. */
static CUgraphExec capture(TkcContext *cx, TkcJit *jit, CUstream stream, TkcPtr x, TkcPtr y)
{
    CUgraph graph;
    CUgraphExec exec;
    must(add(jit, stream, y, x, y, "1024", true));
    must(cuStreamBeginCapture_v2(stream, RELAXED));
    must(add(jit, stream, y, x, y, "1024", false));
    tkc_context_on_diagnostic(cx, NULL, NULL);
    const TkcStatus other = add(jit, stream, y, x, y, "512", false);
    tkc_context_on_diagnostic(cx, print_diagnostic, stderr);
    printf("a launch into the capture that is not prepared: %s\n", other == TKC_OK ? "taken" : "refused");
    must(add(jit, stream, y, x, y, "1024", false));
    must(cuStreamEndCapture(stream, &graph));
    must(cuGraphInstantiateWithFlags(&exec, graph, 0));
    must(cuGraphDestroy(graph));
    return exec;
}

int main(int argc, char **argv)
{
    static float host[N];
    CUcontext context;
    CUstream stream;
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcOptions options;
    TkcPtr x, y;
    int right = 0;
    if (argc < 2) return 2;
    tkc_options_init(&options);
    tkc_context_on_diagnostic(cx, print_diagnostic, stderr);
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
    must(cuStreamCreate(&stream, NON_BLOCKING));
    must(tkc_device_open(cx, "cuda", 0, &dev));
    must(tkc_source_open(cx, argv[1], TKC_LANGUAGE_TK, &source));
    must(tkc_jit_new(dev, source, &options, &jit));
    must(tkc_alloc(dev, BYTES, &x));
    must(tkc_alloc(dev, BYTES, &y));
    for (int i = 0; i < N; i++) host[i] = (float)i;
    must(tkc_copy_in(dev, x, host, BYTES));
    for (int i = 0; i < N; i++) host[i] = 0;
    must(tkc_copy_in(dev, y, host, BYTES));
    CUgraphExec exec = capture(cx, jit, stream, x, y);
    for (int i = 0; i < TIMES; i++) must(cuGraphLaunch(exec, stream));
    must(tkc_synchronize(dev, stream));
    must(tkc_copy_out(dev, host, y, BYTES));
    for (int i = 0; i < N; i++) right += host[i] == 2 * TIMES * (float)i;
    printf("after %d launches of 2 kernels each: %d of %d are right\n", TIMES, right, N);
    must(cuGraphExecDestroy(exec));
    must(cuStreamDestroy_v2(stream));
    tkc_free(dev, x);
    tkc_free(dev, y);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
    must(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
