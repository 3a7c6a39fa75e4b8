/* Host microseconds of one launch on a GPU: tkc_launch, which packs its arguments and finds the compiled kernel, beside the driver's
   cuLaunchKernel of the same kernel: gpu_launch EXAMPLES-FOLDER ROUNDS
   A round is BURST launches of one small program each, few enough that the driver's queue never fills; the two sides alternate, and
   each has its least round. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device/cuda_api.h"
#include "tkc/runtime.h"

enum { BURST = 400, N = 96, THREADS = 128 };

typedef struct Bench {
    TkcContext *cx;
    TkcDevice *dev;
    TkcJit *jit;
    TkcArg args[5];
    CudaApi api;
    CuContext context;
    CuFunction function;
    void *params[8];
} Bench;

static void must(Bench *b, TkcStatus status)
{
    if (status == TKC_OK)
        return;
    fputs(tkc_last_error(b->cx), stderr);
    exit(1);
}

static void must_cuda(Bench *b, CuResult result, const char *call)
{
    must(b, cuda_check(b->cx, &b->api, result, call));
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void launch_ours(Bench *b)
{
    must(b, tkc_launch(b->jit, (int64_t[]){1, 1, 1}, NULL, b->args, 5));
}

static void launch_bare(Bench *b)
{
    must_cuda(b, b->api.LaunchKernel(b->function, 1, 1, 1, THREADS, 1, 1, 0, NULL, b->params, NULL), "cuLaunchKernel");
}

/* Microseconds a launch. */
static double round_of(Bench *b, void (*launch)(Bench *b))
{
    double start = now_us();
    for (int i = 0; i < BURST; i++)
        launch(b);
    double spent = now_us() - start;
    must(b, tkc_synchronize(b->dev, NULL));
    return spent / BURST;
}

static void open_kernel(Bench *b, const char *folder)
{
    char path[4096];
    TkcSource *source;
    TkcOptions options;
    TkcPtr p;
    tkc_options_init(&options);
    must(b, tkc_device_open(b->cx, "cuda", 0, &b->dev));
    snprintf(path, sizeof path, "%s/vector_add.tk", folder);
    must(b, tkc_source_open(b->cx, path, TKC_LANGUAGE_TK, &source));
    must(b, tkc_jit_new(b->dev, source, &options, &b->jit));
    for (int i = 0; i < 3; i++) {
        must(b, tkc_alloc(b->dev, N * sizeof(float), &p));
        b->args[i] = tkc_pointer("*fp32", p, N * sizeof(float));
    }
    b->args[3] = tkc_int(N);
    b->args[4] = tkc_constexpr("128");
}

/* The PTX that the launcher uses, once more, launched with nothing in between. The kernel takes its four run-time arguments in order. */
static void open_bare(Bench *b)
{
    TkcKernelInfo info = {.size = sizeof info};
    CuModule module;
    static int32_t n = N;
    must(b, tkc_jit_info(b->jit, b->args, 5, &info));
    must(b, cuda_api_open(b->cx, &b->api));
    must_cuda(b, b->api.DevicePrimaryCtxRetain(&b->context, 0), "cuDevicePrimaryCtxRetain");
    must_cuda(b, b->api.CtxPushCurrent(b->context), "cuCtxPushCurrent");
    must_cuda(b, b->api.ModuleLoadDataEx(&module, info.text, 0, NULL, NULL), "cuModuleLoadDataEx");
    must_cuda(b, b->api.ModuleGetFunction(&b->function, module, "add"), "cuModuleGetFunction");
    for (int i = 0; i < 3; i++)
        b->params[i] = &b->args[i].pointer;
    b->params[3] = &n;
}

int main(int argc, char **argv)
{
    Bench b = {0};
    double ours = 1e9, bare = 1e9;
    if (argc != 3) {
        fputs("usage: gpu_launch EXAMPLES-FOLDER ROUNDS\n", stderr);
        return 2;
    }
    b.cx = tkc_context_new();
    open_kernel(&b, argv[1]);
    open_bare(&b);
    for (int i = 0; i < atoi(argv[2]); i++) {
        double o = round_of(&b, launch_ours), d = round_of(&b, launch_bare);
        ours = o < ours ? o : ours;
        bare = d < bare ? d : bare;
    }
    printf("tkc_launch %.2f us, cuLaunchKernel %.2f us, difference %.2f us\n", ours, bare, ours - bare);
    tkc_context_free(b.cx);
    return 0;
}
