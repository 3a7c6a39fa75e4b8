/* A host has arithmetic and stacks of its own: no result depends on how it rounds or what it makes of subnormal numbers,
   which it finds as it left them, and its threads may have small stacks. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "expect.h"
#include "tkc/runtime.h"

/* Constants that are folded, elementwise operations, a reduction, and (`add`) programs that take turns. */
static const char text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def map(x: '*fp32', y: '*fp32', n: 'i32', third: 'fp32', B: tl.constexpr):\n"
    "    a: tl.constexpr = 0.1 + 0.2\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    v = tl.load(x + at, at < n, 0.0)\n"
    "    v = tl.exp(v) / 3 + tl.sin(v) * (a / 7) + v * 1e-39 * third\n"
    "    tl.store(y + at, v + tl.sum(v) + v.to(tl.float16), at < n)\n"
    "@triton.jit\n"
    "def add(x: '*fp32', y: '*fp32', n: 'i32', third: 'fp32', B: tl.constexpr):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.atomic_add(y + at % 8, tl.load(x + at, at < n, 0.0) / 3 * 1e-37, at < n)\n";

enum { N = 1000, BLOCK = 64 };

typedef struct Result { char *ptx; float y[N]; } Result;

static void must(TkcContext *cx, TkcStatus status)
{
    if (status != TKC_OK)
        printf("%s", tkc_last_error(cx));
    EXPECT_INT(status, TKC_OK);
}

static char *compile(TkcContext *cx, TkcSource *source, const char *kernel)
{
    TkcArtifact *a;
    TkcOptions o;
    tkc_options_init(&o);
    o.kernel = kernel;
    o.defines = &(TkcDefine){"B", "64"};
    o.ndefines = 1;
    must(cx, tkc_compile(source, &o, TKC_EMIT_PTX, &a));
    char *ptx = strdup(tkc_artifact_text(a, NULL));
    tkc_artifact_free(a);
    return ptx;
}

static void launch(TkcContext *cx, TkcDevice *dev, TkcJit *jit, float *y)
{
    float numbers[N];
    TkcPtr x, out;
    for (int i = 0; i < N; i++)
        numbers[i] = (float)(i - 500) / 16; /* exact, however it is rounded */
    must(cx, tkc_alloc(dev, sizeof numbers, &x));
    must(cx, tkc_alloc(dev, sizeof numbers, &out));
    must(cx, tkc_copy_in(dev, x, numbers, sizeof numbers));
    memset(numbers, 0, sizeof numbers);
    must(cx, tkc_copy_in(dev, out, numbers, sizeof numbers));
    TkcArg args[] = {tkc_pointer(NULL, x, sizeof numbers), tkc_pointer(NULL, out, sizeof numbers), tkc_int(N),
                     tkc_float(0.1), tkc_constexpr("64")};
    must(cx, tkc_launch(jit, (int64_t[]){(N + BLOCK - 1) / BLOCK, 1, 1}, NULL, args, 5));
    must(cx, tkc_copy_out(dev, y, out, sizeof numbers));
    must(cx, tkc_free(dev, x));
    must(cx, tkc_free(dev, out));
}

static Result run(const char *kernel)
{
    Result r = {0};
    TkcContext *cx = tkc_context_new();
    TkcSource *source;
    TkcDevice *dev;
    TkcJit *jit;
    TkcOptions o;
    tkc_options_init(&o);
    o.kernel = kernel;
    must(cx, tkc_source_from_text(cx, "h.tk", text, strlen(text), TKC_LANGUAGE_TK, &source));
    must(cx, tkc_device_open(cx, "cpu", 0, &dev));
    tkc_device_set_threads(dev, 4);
    must(cx, tkc_jit_new(dev, source, &o, &jit));
    r.ptx = compile(cx, source, kernel);
    launch(cx, dev, jit, r.y);
    tkc_jit_free(jit);
    tkc_device_free(dev);
    tkc_source_free(source);
    tkc_context_free(cx);
    return r;
}

/* ---- arithmetic ---- */

static void expect_same(const Result *want, const char *kernel)
{
    Result r = run(kernel);
    EXPECT(!strcmp(r.ptx, want->ptx));
    EXPECT(!memcmp(r.y, want->y, sizeof r.y));
    free(r.ptx);
}

static void test_rounding(const Result *want, const char *kernel)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int i = 0; i < 3; i++) {
        fesetround(modes[i]);
        expect_same(want, kernel);
        EXPECT_INT(fegetround(), modes[i]);
    }
    fesetround(FE_TONEAREST);
}

static void test_subnormals(const Result *want, const char *kernel)
{
#if defined(__SSE__)
    const unsigned callers = _mm_getcsr(), both = 0x8040; /* results and operands count as 0 */
    _mm_setcsr(callers | both);
    expect_same(want, kernel);
    EXPECT((_mm_getcsr() & both) == both);
    _mm_setcsr(callers);
#else
    (void)want, (void)kernel;
#endif
}

/* What a host asks its flags is about its own work. */
static void test_flags(const char *kernel)
{
    feclearexcept(FE_ALL_EXCEPT);
    Result r = run(kernel);
    free(r.ptx);
    EXPECT_INT(fetestexcept(FE_ALL_EXCEPT), 0);
}

/* ---- stacks ---- */

/* AddressSanitizer has no stacks but its own, and larger frames. */
#if defined(__SANITIZE_ADDRESS__)
enum { SMALL_STACK = 8 << 20 };
#else
enum { SMALL_STACK = 128 << 10 };
#endif

static void *on_small_stack(void *arg)
{
    expect_same(arg, "map");
    return NULL;
}

static void *too_deep(void *arg)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *source = NULL;
    TkcStatus status = tkc_source_from_text(cx, "deep.tk", arg, strlen(arg), TKC_LANGUAGE_TK, &source);
    TkcArtifact *a = NULL;
    TkcOptions o;
    tkc_options_init(&o);
    if (status == TKC_OK)
        status = tkc_compile(source, &o, TKC_EMIT_PTX, &a);
    EXPECT_INT(status, TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "nested too deeply"));
    tkc_source_free(source);
    tkc_context_free(cx);
    return NULL;
}

static void on_thread(size_t stack_bytes, void *(*fn)(void *), void *arg)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    EXPECT_INT(pthread_attr_setstacksize(&attr, stack_bytes), 0);
    EXPECT_INT(pthread_create(&thread, &attr, fn, arg), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
}

/* "store(x, ---…1)", deeper than any budget. */
static char *deep_text(void)
{
    enum { DEPTH = 20000 };
    static const char head[] = "import triton\nimport triton.language as tl\n"
                               "@triton.jit\ndef k(x: '*fp32'):\n    tl.store(x, ";
    char *all = malloc(sizeof head + 2 * DEPTH + 10), *p = all + sprintf(all, "%s", head);
    memset(p, '-', DEPTH);
    strcpy(p + DEPTH, "1)\n");
    return all;
}

int main(void)
{
    const char *const kernels[] = {"map", "add"};
    for (int i = 0; i < 2; i++) {
        Result want = run(kernels[i]);
        test_rounding(&want, kernels[i]);
        test_subnormals(&want, kernels[i]);
        test_flags(kernels[i]);
        if (i == 0)
            on_thread(SMALL_STACK, on_small_stack, &want);
        free(want.ptx);
    }
    char *deep = deep_text();
    on_thread(SMALL_STACK, too_deep, deep);
    free(deep);
    return expect_done();
}
