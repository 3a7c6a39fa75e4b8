/* Host microseconds of one launch on a GPU, by how many arguments: tkc_launch, which packs them and finds the compiled kernel, beside the
   driver's cuLaunchKernel of the same kernel, and beside Triton's launch: gpu_launch ROUNDS [PYTHON launch_triton.py]
   Kernels do nothing. `plain` has declared types, no constexprs and one code for all integers; of `special` the types are the arguments',
   integers that are 1 or multiples of 16 have code of their own, and three arguments are constexprs, beside the number that is told.
   A round is BURST launches of one small program each, few enough that the driver's queue never fills; the sides alternate, and
   each has its least round. The last line is a kernel of no compiler's, as it may be in PTX. */
#include <stdint.h>
#include <time.h>

#include "driver.h"
#include "tkc/runtime.h"

enum { BURST = 400, THREADS = 128, MOST = 64, CONSTEXPRS = 3, CASES = 4 };

/* Pointers come first, and are a part of all. */
static const struct { int args, pointers; } cases[CASES] = {{0, 0}, {7, 5}, {19, 6}, {58, 8}};

static const char nothing[] =
    ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry nothing(.param .u64 a,.param .u64 b,"
    ".param .u64 c,.param .u64 d,.param .u64 e,.param .u32 n,.param .u32 m)\n{\nret;\n}\n";

typedef struct Bench {
    TkcContext *cx;
    TkcDevice *dev;
    TkcPtr memory;
} Bench;

/* One kernel, as tkc launches it and as the driver alone does. */
typedef struct Side {
    Bench *b;
    TkcJit *jit; /* NULL: the driver alone */
    TkcArg args[MOST];
    size_t nargs;
    CuFunction function;
    void *params[MOST];
    uint64_t values[MOST];
    double least;
} Side;

static void must(Bench *b, TkcStatus status)
{
    if (status == TKC_OK)
        return;
    fputs(tkc_last_error(b->cx), stderr);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void launch(Side *s)
{
    if (s->jit) must(s->b, tkc_launch(s->jit, (int64_t[]){1, 1, 1}, NULL, s->args, s->nargs));
    else DRIVER_MUST(LaunchKernel, s->function, 1, 1, 1, THREADS, 1, 1, 0, NULL, s->params, NULL);
}

static void round_of(Side *s)
{
    double start = now_us();
    for (int i = 0; i < BURST; i++)
        launch(s);
    double spent = (now_us() - start) / BURST;
    must(s->b, tkc_synchronize(s->b->dev, NULL));
    if (spent < s->least) s->least = spent;
}

static void find_function(Side *s, const char *ptx, const char *name)
{
    CuModule module;
    DRIVER_MUST(ModuleLoadDataEx, &module, ptx, 0, NULL, NULL);
    DRIVER_MUST(ModuleGetFunction, &s->function, module, name);
}

/* The kernel's text: its parameters are p0, p1, …, with their types where it is plain. */
static char *write_kernel(int n, int pointers, bool is_special)
{
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fputs("import triton\nimport triton.language as tl\n@triton.jit\ndef k(", f);
    for (int i = 0; i < n; i++)
        fprintf(f, is_special ? "p%d, " : "p%d: '%s', ", i, i < pointers ? "*fp32" : "i32");
    for (int i = 0; is_special && i < CONSTEXPRS; i++)
        fprintf(f, "C%d: tl.constexpr, ", i);
    fputs("):\n    pass\n", f);
    return fclose(f) == 0 ? text : NULL;
}

static void open_ours(Bench *b, Side *s, int c, bool is_special)
{
    TkcSource *source;
    TkcOptions options;
    const int n = cases[c].args, pointers = cases[c].pointers;
    char *text = write_kernel(n, pointers, is_special);
    *s = (Side){.b = b, .least = 1e9};
    tkc_options_init(&options);
    must(b, tkc_source_from_text(b->cx, "k.tk", text, strlen(text), TKC_LANGUAGE_TK, &source));
    must(b, tkc_jit_new(b->dev, source, &options, &s->jit));
    free(text);
    for (int i = 0; i < n; i++) {
        const bool points = i < pointers;
        s->args[i] = points ? tkc_pointer("*fp32", b->memory, 256) : tkc_int(7 + i);
        if (!points && !is_special) s->args[i].bytes = TKC_ANY_INT;
    }
    for (int i = 0; is_special && i < CONSTEXPRS; i++)
        s->args[n + i] = tkc_constexpr("128");
    s->nargs = (size_t)(n + (is_special ? CONSTEXPRS : 0));
    must(b, tkc_jit_prepare(s->jit, s->args, s->nargs, NULL));
}

/* The PTX that the launcher uses, once more, launched with nothing in between. */
static void open_bare(const Side *ours, Side *s)
{
    TkcKernelInfo info = {.size = sizeof info};
    *s = (Side){.b = ours->b, .least = 1e9};
    must(s->b, tkc_jit_info(ours->jit, ours->args, ours->nargs, &info));
    find_function(s, info.text, "k");
    for (size_t i = 0; i < ours->nargs; i++) {
        s->values[i] = ours->args[i].kind == TKC_ARG_POINTER ? ours->args[i].pointer : (uint64_t)ours->args[i].integer;
        s->params[i] = &s->values[i];
    }
}

static void open_nothing(Bench *b, Side *s)
{
    *s = (Side){.b = b, .least = 1e9};
    find_function(s, nothing, "nothing");
    for (int i = 0; i < 7; i++) {
        s->values[i] = i < 5 ? b->memory : 7;
        s->params[i] = &s->values[i];
    }
}

static void open_device(Bench *b)
{
    CuContext context;
    b->cx = tkc_context_new();
    must(b, tkc_device_open(b->cx, "cuda", 0, &b->dev));
    must(b, tkc_alloc(b->dev, 256, &b->memory));
    driver_open();
    DRIVER_MUST(DevicePrimaryCtxRetain, &context, 0);
    DRIVER_MUST(CtxPushCurrent, context);
}

/* What Triton takes: a line "ARGS MICROSECONDS" for each case. */
static void ask_triton(const char *python, const char *script, double us[CASES])
{
    char command[8192];
    int n;
    double took;
    snprintf(command, sizeof command, "'%s' '%s' 0 7 19 58", python, script);
    FILE *f = popen(command, "r");
    while (f && fscanf(f, "%d %lf", &n, &took) == 2)
        for (int c = 0; c < CASES; c++)
            if (cases[c].args == n) us[c] = took;
    if (f) pclose(f);
}

static void tell(int args, double bare, double plain, double special, double triton)
{
    printf("%4d %8.2f %8.2f %6.2f %8.2f %6.2f", args, bare, plain, plain / bare, special, special / bare);
    if (triton > 0) printf(" %8.2f %6.2f", triton, triton / bare);
    puts("");
}

int main(int argc, char **argv)
{
    Bench b = {0};
    double triton[CASES] = {0};
    static Side bare[CASES], plain[CASES], special[CASES], floor_of;
    if (argc != 2 && argc != 4) {
        fputs("usage: gpu_launch ROUNDS [PYTHON launch_triton.py]\n", stderr);
        return 2;
    }
    if (argc == 4) ask_triton(argv[2], argv[3], triton);
    open_device(&b);
    for (int c = 0; c < CASES; c++) {
        open_ours(&b, &plain[c], c, false);
        open_ours(&b, &special[c], c, true);
        open_bare(&plain[c], &bare[c]);
    }
    open_nothing(&b, &floor_of);
    for (int i = 0; i < atoi(argv[1]); i++) {
        for (int c = 0; c < CASES; c++) {
            round_of(&bare[c]);
            round_of(&plain[c]);
            round_of(&special[c]);
        }
        round_of(&floor_of);
    }
    printf("microseconds a launch, and over cuLaunchKernel's, on %s\n", tkc_device_name(b.dev));
    printf("args     bare    plain  ratio  special  ratio%s\n", triton[0] > 0 ? "   triton  ratio" : "");
    for (int c = 0; c < CASES; c++)
        tell(cases[c].args, bare[c].least, plain[c].least, special[c].least, triton[c]);
    printf("   7 %8.2f  an empty kernel, by cuLaunchKernel\n", floor_of.least);
    tkc_context_free(b.cx);
    return 0;
}
