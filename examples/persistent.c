/* As many programs as the device holds at a time, each doing every so-many-th row: tkc_jit_prepare
 * says how many that are before anything runs.
 *
 *     cc persistent.c $(pkg-config --cflags --libs tkc) -lm -o persistent && ./persistent softmax.tk
 *
 * It runs on the GPU if there is one, else on the CPU; "./persistent softmax.tk simt" asks for one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tkc/runtime.h"

enum { ROWS = 500, WIDTH = 781, STRIDE = 784, BYTES = ROWS * STRIDE * sizeof(float) };

/* Each call reports to the context's handler what is wrong; here nothing goes on then. */
static void must(TkcStatus status)
{
    if (status != TKC_OK) exit(1);
}

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    fputs(d->rendered, user);
}

static float input(int row, int i)
{
    return (float)((row * 7 + i * 3) % 11) * 0.25F;
}

/* Rows whose softmax is what it should be. */
static int count_right(const float *out)
{
    int right = 0;
    for (int r = 0; r < ROWS; r++) {
        float sum = 0, worst = 0;
        for (int i = 0; i < WIDTH; i++) sum += expf(input(r, i));
        for (int i = 0; i < WIDTH; i++)
            worst = fmaxf(worst, fabsf(out[r * STRIDE + i] * sum / expf(input(r, i)) - 1));
        right += worst < 1e-4F;
    }
    return right;
}

int main(int argc, char **argv)
{
    static float host[ROWS * STRIDE];
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcPtr x, y;
    TkcOptions options;
    TkcKernelInfo info = {.size = sizeof info};
    TkcDeviceInfo facts = {.size = sizeof facts};
    if (argc < 2) return 2;
    tkc_context_on_diagnostic(cx, print_diagnostic, stderr);
    must(tkc_device_open(cx, argc > 2 ? argv[2] : NULL, 0, &dev));
    must(tkc_source_open(cx, argv[1], TKC_LANGUAGE_TK, &source));
    tkc_options_init(&options);
    options.kernel = "softmax_persistent";
    must(tkc_jit_new(dev, source, &options, &jit));
    must(tkc_alloc(dev, BYTES, &x));
    must(tkc_alloc(dev, BYTES, &y));
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < WIDTH; i++) host[r * STRIDE + i] = input(r, i);
    must(tkc_copy_in(dev, x, host, BYTES));
    const TkcArg args[] = {tkc_pointer(NULL, y, BYTES), tkc_pointer(NULL, x, BYTES), tkc_int(STRIDE),
                           tkc_int(STRIDE), tkc_int(ROWS), tkc_int(WIDTH), tkc_constexpr("1024"),
                           tkc_constexpr(NULL) /* its default */};
    must(tkc_jit_prepare(jit, args, 8, &info));
    must(tkc_device_info(dev, &facts));
    const int programs = info.programs < 1 ? 1 : info.programs < ROWS ? info.programs : ROWS;
    printf("%s: %d units, %d programs each\n", tkc_device_name(dev), facts.units, info.unit_programs);
    must(tkc_launch(jit, (int64_t[]){programs, 1, 1}, NULL, args, 8));
    must(tkc_copy_out(dev, host, y, BYTES));
    printf("%d of %d rows are right, by %d programs\n", count_right(host), ROWS, programs);
    tkc_free(dev, x);
    tkc_free(dev, y);
    tkc_jit_free(jit);
    tkc_source_free(source);
    tkc_device_free(dev);
    tkc_context_free(cx);
    return 0;
}
