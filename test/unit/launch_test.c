/* Launches through the public API on the cpu device: what is compiled, what is found, and every argument or grid that is refused. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def scale(x: '*fp32', y, n: 'i32', f: 'fp32', k, B: tl.constexpr, C: tl.constexpr = 0):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + at, tl.load(x + at, mask=at < n) * f + k + C, mask=at < n)\n";

typedef struct Bench {
    TkcContext *cx;
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcPtr x, y;
    char messages[4000];
} Bench;

static void add_line(Bench *b, const char *lead, const char *line)
{
    size_t used = strlen(b->messages);
    snprintf(b->messages + used, sizeof b->messages - used, "%s%s\n", lead, line);
}

static void collect(const TkcDiagnostic *d, void *user)
{
    add_line(user, "", d->text);
    for (const TkcDiagnostic *n = d->notes; n; n = n->next)
        add_line(user, "note: ", n->text);
}

static void bench_open_on(Bench *b, const TkcOptions *given, const char *device)
{
    *b = (Bench){.cx = tkc_context_new()};
    TkcOptions o;
    tkc_options_init(&o);
    tkc_context_on_diagnostic(b->cx, collect, b);
    EXPECT(tkc_device_open(b->cx, device, 0, &b->dev) == TKC_OK);
    EXPECT(tkc_source_from_text(b->cx, "s.tk", text, strlen(text), TKC_LANGUAGE_TK, &b->source) == TKC_OK);
    EXPECT(tkc_jit_new(b->dev, b->source, given ? given : &o, &b->jit) == TKC_OK);
    EXPECT(tkc_alloc(b->dev, 4000, &b->x) == TKC_OK && tkc_alloc(b->dev, 4000, &b->y) == TKC_OK);
    float ones[1000];
    for (int i = 0; i < 1000; i++)
        ones[i] = (float)i;
    EXPECT(tkc_copy_in(b->dev, b->x, ones, sizeof ones) == TKC_OK);
}

static void bench_open(Bench *b, const TkcOptions *given)
{
    bench_open_on(b, given, "cpu");
}

static void bench_close(Bench *b)
{
    tkc_jit_free(b->jit);
    tkc_source_free(b->source);
    tkc_device_free(b->dev);
    tkc_context_free(b->cx);
}

enum { ARGS = 7 };
typedef struct Args { TkcArg a[ARGS]; } Args;

static Args good_args(const Bench *b)
{
    return (Args){{tkc_pointer("*fp32", b->x, 4000), tkc_pointer("*fp32", b->y, 4000), tkc_int(1000), tkc_float(2), tkc_int(3), tkc_constexpr("64"), tkc_constexpr(NULL)}};
}

static const int64_t grid[3] = {16, 1, 1};

static void expect_stats(const Bench *b, uint64_t compiles, uint64_t hits)
{
    TkcCacheStats s = {.size = sizeof s};
    tkc_jit_stats(b->jit, &s);
    EXPECT_INT(s.compiles, compiles);
    EXPECT_INT(s.hits, hits);
}

static void expect_launch(Bench *b, Args args, float factor, float offset)
{
    float y[1000];
    if (tkc_launch(b->jit, grid, NULL, args.a, ARGS) != TKC_OK)
        printf("%s", b->messages), expect_failed(__FILE__, __LINE__, "launches");
    EXPECT(tkc_copy_out(b->dev, y, b->y, sizeof y) == TKC_OK);
    for (int i = 0; i < 1000; i++)
        EXPECT(y[i] == (float)i * factor + offset);
}

static void one_compile_per_key(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    expect_launch(&b, a, 2, 3);
    expect_stats(&b, 1, 0);
    a.a[3] = tkc_float(-5);
    a.a[4] = tkc_int(7);
    expect_launch(&b, a, -5, 7);
    expect_stats(&b, 1, 1);
    a.a[4] = tkc_int(1); /* a fact of its own, and so is a multiple of 16 */
    expect_launch(&b, a, -5, 1);
    a.a[4] = tkc_int(32);
    expect_launch(&b, a, -5, 32);
    a.a[4] = tkc_float(0.5); /* another type for what the kernel leaves open */
    expect_launch(&b, a, -5, 0.5f);
    expect_stats(&b, 4, 1);
    a.a[5] = tkc_constexpr("100");
    expect_launch(&b, a, -5, 0.5f);
    expect_launch(&b, good_args(&b), 2, 3);
    expect_stats(&b, 5, 2);
    a = good_args(&b);
    a.a[6] = tkc_constexpr("10");
    expect_launch(&b, a, 2, 13);
    bench_close(&b);
}

static void one_code_for_all_integers(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    static const int values[] = {3, 1, 32};
    for (int i = 0; i < 3; i++) {
        a.a[4] = tkc_int(values[i]);
        a.a[4].bytes = TKC_ANY_INT;
        expect_launch(&b, a, 2, (float)values[i]);
    }
    expect_stats(&b, 1, 2);
    for (int i = 0; i < 3; i++) {
        a.a[4] = tkc_int(values[i]);
        a.a[4].bytes = TKC_ANY_INT_BUT_ONE;
        expect_launch(&b, a, 2, (float)values[i]);
    }
    expect_stats(&b, 2, 4);
    bench_close(&b);
}

static void expect_refusal(Args args, size_t n, const char *part)
{
    Bench b;
    bench_open(&b, NULL);
    args.a[0].pointer += args.a[0].kind == TKC_ARG_POINTER ? b.x : 0;
    args.a[1].pointer += args.a[1].kind == TKC_ARG_POINTER ? b.y : 0;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, args.a, n), TKC_ERROR);
    if (!strstr(b.messages, part))
        EXPECT_STR(b.messages, part);
    expect_stats(&b, 0, 0);
    bench_close(&b);
}

static void refusals(void)
{
    Bench none = {0};
    Args good = good_args(&none), a;
    expect_refusal(good, 5, "the kernel takes 7 arguments, 5 were given");
    a = good, a.a[2] = tkc_float(1000);
    expect_refusal(a, ARGS, "argument 'n': expected i32, found a float\nnote: as an integer it is 1000\n");
    a = good, a.a[0].type = "*fp16";
    expect_refusal(a, ARGS, "argument 'x': expected *fp32, found *fp16\n"
                            "note: convert the array, or declare the parameter *fp16\n");
    a = good, a.a[0] = tkc_int(5);
    expect_refusal(a, ARGS, "argument 'x': expected *fp32, found an integer");
    a = good, a.a[1].type = "*fp33";
    expect_refusal(a, ARGS, "argument 'y': '*fp33' is not a pointer type such as *fp32");
    a = good, a.a[1].type = NULL;
    expect_refusal(a, ARGS, "argument 'y': its pointer type is not known");
    a = good, a.a[2] = tkc_float(1.5);
    expect_refusal(a, ARGS, "argument 'n': expected i32, found a float");
    a = good, a.a[2] = tkc_pointer("*i32", 0, 0);
    expect_refusal(a, ARGS, "argument 'n': expected i32, found a pointer");
    a = good, a.a[4].type = "i33";
    expect_refusal(a, ARGS, "argument 'k': 'i33' is not a number type such as i32");
    a = good, a.a[5] = tkc_int(64);
    expect_refusal(a, ARGS, "argument 'B': expected a constexpr, found an integer\n"
                            "note: pass tkc_constexpr(\"64\")\n");
    a = good, a.a[5] = tkc_constexpr(NULL);
    expect_refusal(a, ARGS, "kernel 'scale' needs the value of 'B'");
    a = good, a.a[4] = tkc_constexpr("3");
    expect_refusal(a, ARGS, "argument 'k': expected a pointer or a number, found a constexpr");
}

/* Constexprs of the options are counted apart. */
static void counted(void)
{
    Bench b;
    TkcOptions o;
    tkc_options_init(&o);
    o.defines = &(TkcDefine){.name = "B", .value = "64"};
    o.ndefines = 1;
    bench_open(&b, &o);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, good_args(&b).a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "the kernel takes 6 arguments, 7 were given"));
    EXPECT(strstr(b.messages, "note: 'B' is no argument: the options give its value"));
    bench_close(&b);
}

/* What the declaration promises is checked too, and the kind is one of the kinds. */
static void promises(void)
{
    Bench b;
    TkcOptions o;
    tkc_options_init(&o);
    o.signature = "y=*fp32:16,k=i32:8";
    bench_open(&b, &o);
    Args a = good_args(&b);
    a.a[1].pointer += 4, a.a[4] = tkc_int(16);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'y': the address 0x") &&
           strstr(b.messages, "4 is not a multiple of 16, as declared"));
    a = good_args(&b), a.a[4] = tkc_int(12);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'k': 12 is not a multiple of 8, as declared"));
    a = good_args(&b), a.a[4].kind = (TkcArgKind)77;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_MISUSE);
    EXPECT(strstr(b.messages, "argument 'k': 77 is no kind of argument"));
    a = good_args(&b), a.a[2] = tkc_constexpr("3");
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'n': expected i32, found a constexpr"));
    bench_close(&b);
    o.signature = "k=i32:12";
    bench_open(&b, &o);
    a = good_args(&b), a.a[4] = tkc_int(18);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'k': 18 is not a multiple of 12, as declared"));
    bench_close(&b);
}

/* Numbers are checked against the type at every launch, the first and those that find their kernel. */
static void numbers_that_do_not_fit(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    expect_launch(&b, a, 2, 3);
    a.a[2] = tkc_int(1ll << 35 | 8);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'n': 34359738376 does not fit int32") != NULL);
    bench_close(&b);
}

static void grids(void)
{
    static const int64_t bad[][3] = {{0, 1, 1}, {1, 0, 1}, {1, 1, -1}, {1ll << 31, 1, 1}, {1, 65536, 1}, {1, 1, 65536}};
    Bench b;
    bench_open(&b, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        b.messages[0] = 0;
        EXPECT_INT(tkc_launch(b.jit, bad[i], NULL, good_args(&b).a, ARGS), TKC_ERROR);
        EXPECT(strstr(b.messages, "the grid has ") != NULL);
    }
    bench_close(&b);
}

/* Options hold what launches need not say; strings given to tkc_jit_new may go. */
static void options_are_copied(void)
{
    Bench b;
    char name[] = "B", value[] = "128", kernel[] = "scale", signature[] = "y=*fp32,k=i64";
    TkcDefine define = {name, value};
    TkcOptions o;
    tkc_options_init(&o);
    o.kernel = kernel;
    o.signature = signature;
    o.defines = &define;
    o.ndefines = 1;
    bench_open(&b, &o);
    memset(name, 'x', 1), memset(value, 'x', 3), memset(kernel, 'x', 5), memset(signature, 'x', 13);
    TkcArg args[] = {tkc_pointer("*fp32", b.x, 0), tkc_pointer(NULL, b.y, 0), tkc_int(1000), tkc_float(4), tkc_int(5), tkc_constexpr(NULL)};
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, args, 6), TKC_OK);
    TkcKernelInfo info = {.size = sizeof info};
    EXPECT_INT(tkc_jit_info(b.jit, args, 6, &info), TKC_OK);
    EXPECT(info.num_warps == 4 && info.registers == -1 && strstr(info.text, "func @scale") && strstr(info.text, "block<128xfp32>"));
    expect_stats(&b, 1, 1);
    printf("%s", b.messages);
    bench_close(&b);
}

/* A kernel that does not compile says so at each launch, and counts as none. */
static void kernels_that_fail(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    a.a[5] = tkc_constexpr("'text'");
    for (int i = 0; i < 2; i++) {
        b.messages[0] = 0;
        EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
        EXPECT(*b.messages);
    }
    expect_stats(&b, 0, 0);
    expect_launch(&b, good_args(&b), 2, 3);
    bench_close(&b);
}

static void memory(void)
{
    Bench b;
    bench_open(&b, NULL);
    char bytes[16], many[8000] = {0};
    TkcPtr p;
    EXPECT_INT(tkc_copy_in(b.dev, b.x, many, sizeof many), TKC_MISUSE);
    EXPECT(strstr(b.messages, "a copy of 8000 bytes, but the allocation has 4000 bytes\n"
                              "note: tkc_alloc takes a number of bytes, not of elements\n"));
    EXPECT_INT(tkc_copy_in(b.dev, b.x + 3992, bytes, 16), TKC_MISUSE);
    EXPECT(strstr(b.messages, "a copy of 16 bytes from byte 3992 of an allocation of 4000 bytes"));
    EXPECT_INT(tkc_copy_out(b.dev, bytes, b.x - 8, 16), TKC_MISUSE);
    EXPECT_INT(tkc_copy_out(b.dev, bytes, b.x + 3984, 16), TKC_OK);
    EXPECT_INT(tkc_free(b.dev, b.x + 8), TKC_MISUSE);
    EXPECT_INT(tkc_free(b.dev, 0), TKC_OK);
    EXPECT_INT(tkc_alloc(b.dev, 0, &p), TKC_OK);
    EXPECT(p % 256 == 0 && p);
    EXPECT_INT(tkc_copy_in(b.dev, p, bytes, 1), TKC_MISUSE);
    EXPECT_INT(tkc_free(b.dev, p), TKC_OK);
    EXPECT_INT(tkc_free(b.dev, p), TKC_MISUSE);
    EXPECT_INT(tkc_alloc(b.dev, SIZE_MAX - 5, &p), TKC_NO_MEMORY);
    TkcDevice *none;
    EXPECT_INT(tkc_device_open(b.cx, "cpu", 1, &none), TKC_NO_DEVICE);
    EXPECT_INT(tkc_device_open(b.cx, "tpu", 0, &none), TKC_NO_DEVICE);
    bench_close(&b);
}

/* Written by tkc_copy_in and by stores, to the byte; elements across two pages too. */
static void unwritten_memory(void)
{
    Bench b;
    bench_open(&b, NULL);
    enum { N = 100 };
    float host[N] = {0};
    bool elements[N];
    size_t count;
    TkcPtr p;
    EXPECT_INT(tkc_alloc(b.dev, sizeof host, &p), TKC_OK);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 4, N, elements, &count), TKC_OK);
    EXPECT_INT((int)count, N);
    EXPECT_INT(tkc_copy_in(b.dev, p + 8, host, 5), TKC_OK);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 4, N, elements, &count), TKC_OK);
    EXPECT_INT((int)count, N - 1);
    EXPECT(elements[1] && !elements[2] && elements[3]);
    EXPECT_INT(tkc_copy_in(b.dev, p + 254, host, 4), TKC_OK);
    EXPECT_INT(tkc_device_unwritten(b.dev, p + 254, 4, 1, NULL, &count), TKC_OK);
    EXPECT_INT((int)count, 0);
    EXPECT_INT(tkc_device_unwritten(b.dev, p + 252, 4, 1, NULL, &count), TKC_OK);
    EXPECT_INT((int)count, 1);
    EXPECT_INT(tkc_copy_in(b.dev, p, host, sizeof host), TKC_OK);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 1, sizeof host, NULL, &count), TKC_OK);
    EXPECT_INT((int)count, 0);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 4, N + 1, NULL, &count), TKC_MISUSE);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 3, 1, NULL, &count), TKC_MISUSE);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 8, SIZE_MAX / 4, NULL, &count), TKC_MISUSE);
    EXPECT_INT(tkc_device_unwritten(b.dev, p, 4, N, elements, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_device_unwritten(NULL, p, 4, N, elements, &count), TKC_MISUSE);
    EXPECT_INT(tkc_free(b.dev, p), TKC_OK);
    bench_close(&b);
}

/* What the caller says of an address is not believed where it cannot be. */
static void sizes_that_cannot_be(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    a.a[0].bytes = SIZE_MAX;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_MISUSE);
    EXPECT(strstr(b.messages,
                  "argument 'x': it is told to have more bytes than its memory has from there on"));
    a.a[0].pointer = 0, a.a[0].bytes = 4000;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "load through 'x', which is a null pointer"));
    bench_close(&b);
}

/* Elements for bytes: the kernel reaches what there is, but is not told. */
static void sizes_that_are_too_small(void)
{
    Bench b;
    bench_open(&b, NULL);
    Args a = good_args(&b);
    a.a[0].bytes = 1000;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_ERROR);
    EXPECT(strstr(b.messages, "load outside 'x': element 250 of 250 (fp32)"));
    EXPECT(strstr(b.messages, "note: the argument is told to have 1000 bytes; its memory has 4000 from "
                              "there on (tkc_pointer takes bytes)\n"));
    bench_close(&b);
}

/* The emulated GPU knows all its memory. */
static void memory_of_simt(void)
{
    Bench b;
    bench_open_on(&b, NULL, "simt");
    Args a = good_args(&b);
    static float host[1000];
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_OK);
    a.a[0].pointer = (TkcPtr)(uintptr_t)host;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_MISUSE);
    EXPECT(strstr(b.messages, "argument 'x': it points to no memory of this device; tkc_alloc gives "
                              "some, tkc_copy_in fills it\n"));
    a.a[0].pointer = b.x, a.a[0].bytes = 4004;
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_MISUSE);
    EXPECT(strstr(b.messages, "it is told to have more bytes than its memory has from there on"));
    a.a[0].bytes = 4000;
    EXPECT_INT(tkc_free(b.dev, b.x), TKC_OK);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_MISUSE);
    EXPECT(strstr(b.messages, "argument 'x': tkc_free has freed the memory it points to\n"));
    bench_close(&b);
}

/* A line of device_print comes in the middle of a launch, which has the device. */
typedef struct Printing {
    Bench *b;
    TkcJit *jit;
    int lines, refused;
} Printing;

static const char printing[] = "import triton\nimport triton.language as tl\n"
                               "@triton.jit\n"
                               "def tell(y: '*fp32'):\n"
                               "    tl.device_print('at', tl.program_id(0))\n"
                               "    tl.store(y + tl.program_id(0), 1.0)\n";

static void use_device(const char *line, void *user)
{
    Printing *p = user;
    TkcPtr more;
    float y;
    const TkcArg a = tkc_pointer(NULL, p->b->y, 4000);
    p->lines += strstr(line, "at") != NULL && tkc_device_kind(p->b->dev) != NULL;
    p->refused += tkc_alloc(p->b->dev, 64, &more) == TKC_MISUSE;
    p->refused += tkc_free(p->b->dev, p->b->y) == TKC_MISUSE;
    p->refused += tkc_copy_in(p->b->dev, p->b->y, &y, sizeof y) == TKC_MISUSE;
    p->refused += tkc_copy_out(p->b->dev, &y, p->b->y, sizeof y) == TKC_MISUSE;
    p->refused += tkc_synchronize(p->b->dev, NULL) == TKC_MISUSE;
    p->refused += tkc_launch(p->jit, grid, NULL, &a, 1) == TKC_MISUSE;
}

static void use_while_printing(const char *device)
{
    Bench b;
    Printing p = {.b = &b};
    TkcSource *source = NULL;
    TkcOptions o;
    float y[16] = {0};
    tkc_options_init(&o);
    bench_open_on(&b, NULL, device);
    EXPECT_INT(tkc_source_from_text(b.cx, "t.tk", printing, strlen(printing), TKC_LANGUAGE_TK, &source), TKC_OK);
    EXPECT_INT(tkc_jit_new(b.dev, source, &o, &p.jit), TKC_OK);
    tkc_device_on_print(b.dev, use_device, &p);
    const TkcArg a = tkc_pointer(NULL, b.y, 4000);
    EXPECT_INT(tkc_launch(p.jit, grid, NULL, &a, 1), TKC_OK);
    EXPECT_INT(tkc_copy_out(b.dev, y, b.y, sizeof y), TKC_OK);
    EXPECT(y[0] == 1 && y[15] == 1);
    EXPECT_INT(p.lines, 16);
    EXPECT_INT(p.refused, 6 * 16);
    EXPECT(strstr(b.messages, "the function of tkc_device_on_print is called in the middle of a launch, and may "
                              "not use the device\n"));
    tkc_jit_free(p.jit);
    tkc_source_free(source);
    bench_close(&b);
}

static void calls_while_printing(void)
{
    use_while_printing("cpu");
    use_while_printing("simt");
}

/* A child has the emulated GPU without the thread that does its work. */
static void simt_after_fork(void)
{
    Bench b;
    bench_open_on(&b, NULL, "simt");
    Args a = good_args(&b);
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, a.a, ARGS), TKC_OK);
    EXPECT_INT(tkc_synchronize(b.dev, NULL), TKC_OK);
    const pid_t child = fork();
    if (!child) {
        alarm(60);
        bool refused = tkc_launch(b.jit, grid, NULL, a.a, ARGS) != TKC_OK && tkc_synchronize(b.dev, NULL) != TKC_OK;
        bench_close(&b);
        _exit(refused && strstr(b.messages, "note: the process forked after it had used the emulated GPU") ? 0 : 1);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT_INT(status, 0);
    expect_launch(&b, a, 2, 3);
    bench_close(&b);
}

int main(void)
{
    RUN(one_compile_per_key);
    RUN(one_code_for_all_integers);
    RUN(refusals);
    RUN(counted);
    RUN(promises);
    RUN(numbers_that_do_not_fit);
    RUN(grids);
    RUN(options_are_copied);
    RUN(kernels_that_fail);
    RUN(memory);
    RUN(unwritten_memory);
    RUN(sizes_that_cannot_be);
    RUN(sizes_that_are_too_small);
    RUN(memory_of_simt);
    RUN(calls_while_printing);
    RUN(simt_after_fork);
    return expect_done();
}
