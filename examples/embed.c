/* tkc inside a C program: a kernel held in a string is compiled when it is first launched, and
 * found again afterwards.
 *
 *     cc embed.c $(pkg-config --cflags --libs tkc) -o embed && ./embed
 *
 * It runs on the GPU if there is one, else on the CPU; "./embed cpu" or "./embed cuda" asks for one
 * of them. The program adds two arrays three times, with blocks of 256, 1024 and again 256
 * elements. The block's size is a constexpr, so it is part of the key of the compiled kernel: two
 * different sizes, two compiles; the third launch compiles nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkc/runtime.h"

static const char kernel[] =
    "import triton\n"
    "import triton.language as tl\n"
    "\n"
    "@triton.jit\n"
    "def add(x: '*fp32', y: '*fp32', z: '*fp32', n: 'i32', BLOCK: tl.constexpr):\n"
    "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
    "    inside = at < n\n"
    "    tl.store(z + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)\n";

enum { N = 98432, BYTES = N * sizeof(float) };

/* Every problem arrives here, with its place in the source and a caret: tkc prints nothing. */
static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    fputs(d->rendered, user);
}

/* What has to be freed at the end. All of it may be NULL or 0. */
typedef struct App {
    TkcContext *cx;
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcPtr x, y, z;
    float *host;
} App;

/* A context, a device, a source, and the kernel of that source on that device. Nothing is compiled
 * yet. */
static bool open_app(App *a, const char *device)
{
    a->cx = tkc_context_new();
    if (!a->cx) return false;
    tkc_context_on_diagnostic(a->cx, print_diagnostic, stderr);
    if (tkc_device_open(a->cx, device, 0, &a->dev) != TKC_OK) return false;
    if (tkc_source_from_text(a->cx, "embed.tk", kernel, strlen(kernel), TKC_LANGUAGE_TK,
                             &a->source) != TKC_OK)
        return false;
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = "add"; /* may be left out: there is only one */
    if (tkc_jit_new(a->dev, a->source, &options, &a->jit) != TKC_OK) return false;
    printf("device %s: %s\n", tkc_device_kind(a->dev), tkc_device_name(a->dev));
    return true;
}

/* x[i] = i and y[i] = 2 i, in the device's memory, and room for z. */
static bool make_arrays(App *a)
{
    a->host = malloc(BYTES);
    if (!a->host || tkc_alloc(a->dev, BYTES, &a->x) != TKC_OK ||
        tkc_alloc(a->dev, BYTES, &a->y) != TKC_OK || tkc_alloc(a->dev, BYTES, &a->z) != TKC_OK)
        return false;
    for (int i = 0; i < N; i++) a->host[i] = (float)i;
    if (tkc_copy_in(a->dev, a->x, a->host, BYTES) != TKC_OK) return false;
    for (int i = 0; i < N; i++) a->host[i] = 2 * (float)i;
    return tkc_copy_in(a->dev, a->y, a->host, BYTES) == TKC_OK;
}

/* One launch with blocks of this size; z must come out as 3 i. */
static bool add(App *a, int block)
{
    char block_text[16];
    snprintf(block_text, sizeof block_text, "%d", block);
    TkcArg args[] = {
        tkc_pointer("*fp32", a->x, BYTES), /* the size is optional: with it the CPU finds accesses
                                              past the end */
        tkc_pointer("*fp32", a->y, BYTES), tkc_pointer("*fp32", a->z, BYTES), tkc_int(N),
        tkc_constexpr(block_text), /* written as in the kernel's language */
    };
    int64_t grid[3] = {(N + block - 1) / block, 1, 1};
    TkcCacheStats stats = {.size = sizeof stats};
    if (tkc_launch(a->jit, grid, NULL, args, sizeof args / sizeof *args) != TKC_OK ||
        tkc_copy_out(a->dev, a->host, a->z, BYTES) != TKC_OK)
        return false;
    for (int i = 0; i < N; i++)
        if (a->host[i] != 3 * (float)i) {
            printf("z[%d] is %g, expected %g\n", i, (double)a->host[i], 3.0 * i);
            return false;
        }
    tkc_jit_stats(a->jit, &stats);
    printf("BLOCK=%-4d %lld programs, right; compiled so far: %llu, found: %llu\n", block,
           (long long)grid[0], (unsigned long long)stats.compiles, (unsigned long long)stats.hits);
    return true;
}

static void close_app(App *a)
{
    if (a->dev) {
        tkc_free(a->dev, a->x);
        tkc_free(a->dev, a->y);
        tkc_free(a->dev, a->z);
    }
    free(a->host);
    tkc_jit_free(a->jit);
    tkc_source_free(a->source);
    tkc_device_free(a->dev);
    tkc_context_free(a->cx);
}

int main(int argc, char **argv)
{
    App app = {0};
    bool ok = open_app(&app, argc > 1 ? argv[1] : NULL) && make_arrays(&app) && add(&app, 256) &&
              add(&app, 1024) && add(&app, 256);
    close_app(&app);
    return ok ? 0 : 1;
}
