/* The first result of a process: softmax of the rows of a matrix, from a file, as a program of libtkc does it:
     first_result SOFTMAX.tk            writes "ok" as soon as the result is there, then what took how long, in ms
     first_result SOFTMAX.tk K.cubin    makes the cubin for first_bare.c instead
   first_result.py starts it. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tkc/runtime.h"
#include "first_result.h"

static TkcContext *cx;
static double times[8];
static int ntimes;

static void must(TkcStatus status)
{
    if (status == TKC_OK) return;
    fputs(tkc_last_error(cx), stderr);
    exit(1);
}

static void mark(void)
{
    times[ntimes++] = now_ms();
}

static void write_cubin(TkcDevice *dev, TkcSource *source, const char *path)
{
    void *cubin;
    size_t len;
    TkcArtifact *ptx;
    TkcOptions o;
    tkc_options_init(&o);
    o.kernel = "softmax_masked";
    o.arch = tkc_device_arch(dev);
    o.defines = (const TkcDefine[]){{"BLOCK", "1024"}};
    o.ndefines = 1;
    o.signature = "y=*fp32:16,x=*fp32:16,y_stride=i32:16,x_stride=i32:16,width=i32";
    must(tkc_compile(source, &o, TKC_EMIT_PTX, &ptx));
    must(tkc_device_assemble(dev, (const TkcArtifact *const *)&ptx, 1, &cubin, &len));
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(cubin, 1, len, f) != len || fclose(f)) exit(1);
    printf("%d threads, %d bytes of shared memory\n", 32 * tkc_artifact_num_warps(ptx), tkc_artifact_shared_bytes(ptx));
}

static void run(TkcDevice *dev, TkcSource *source)
{
    TkcJit *jit;
    TkcOptions o;
    TkcPtr x, y;
    static float in[ROWS * STRIDE], out[ROWS * STRIDE];
    tkc_options_init(&o);
    o.kernel = "softmax_masked";
    must(tkc_alloc(dev, sizeof in, &x));
    must(tkc_alloc(dev, sizeof out, &y));
    must(tkc_copy_in(dev, x, in, sizeof in));
    mark(); /* the context is there */
    must(tkc_jit_new(dev, source, &o, &jit));
    const TkcArg args[] = {tkc_pointer(NULL, y, sizeof out), tkc_pointer(NULL, x, sizeof in), tkc_int(STRIDE),
                           tkc_int(STRIDE), tkc_int(WIDTH), tkc_constexpr("1024")};
    must(tkc_jit_prepare(jit, args, 6, NULL));
    mark(); /* the kernel is loaded */
    must(tkc_launch(jit, (int64_t[]){ROWS, 1, 1}, NULL, args, 6));
    must(tkc_copy_out(dev, out, y, sizeof out));
    is_right(out);
    mark();
}

int main(int argc, char **argv)
{
    TkcDevice *dev;
    TkcSource *source;
    mark();
    if (argc < 2) return 2;
    cx = tkc_context_new();
    must(tkc_device_open(cx, "cuda", 0, &dev));
    mark();
    must(tkc_source_open(cx, argv[1], TKC_LANGUAGE_TK, &source));
    if (argc > 2) {
        write_cubin(dev, source, argv[2]);
        return 0;
    }
    run(dev, source);
    printf("driver %.1f, context %.1f, kernel %.1f, run %.1f\n", times[1] - times[0], times[2] - times[1],
           times[3] - times[2], times[4] - times[3]);
    return 0;
}
