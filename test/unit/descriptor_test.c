/* Launches with tensor descriptors through the public API on the cpu device. */
#include <math.h>
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

/* y gets a tile of x, moved by one row; what x does not have is its padding. */
static const char text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def move(x, n, y: ' tensordesc<fp32[4, 8]> '):\n"
    "    i = tl.program_id(0) * 4\n"
    "    j = tl.program_id(1) * 8\n"
    "    y.store([i, j], x.load([i + 1, j]) * n)\n";

enum { ROWS = 6, COLUMNS = 12, BYTES = ROWS * COLUMNS * sizeof(float) };
static const int64_t grid[3] = {2, 2, 1};

typedef struct Bench {
    TkcContext *cx;
    TkcDevice *dev;
    TkcSource *source;
    TkcJit *jit;
    TkcDescriptor x, y;
    char messages[4000];
} Bench;

static void collect(const TkcDiagnostic *d, void *user)
{
    Bench *b = user;
    strncat(b->messages, d->text, sizeof b->messages - strlen(b->messages) - 2);
    strcat(b->messages, "\n");
}

static void bench_open(Bench *b, const char *signature)
{
    *b = (Bench){.cx = tkc_context_new()};
    TkcOptions o;
    tkc_options_init(&o);
    o.signature = signature;
    tkc_context_on_diagnostic(b->cx, collect, b);
    EXPECT(tkc_device_open(b->cx, "cpu", 0, &b->dev) == TKC_OK);
    EXPECT(tkc_source_from_text(b->cx, "d.tk", text, strlen(text), TKC_LANGUAGE_TK, &b->source) == TKC_OK);
    EXPECT_INT(tkc_jit_new(b->dev, b->source, &o, &b->jit), TKC_OK);
    b->x = b->y = (TkcDescriptor){.bytes = BYTES, .rank = 2, .shape = {ROWS, COLUMNS}, .strides = {COLUMNS, 1}};
    EXPECT(tkc_alloc(b->dev, BYTES, &b->x.base) == TKC_OK && tkc_alloc(b->dev, BYTES, &b->y.base) == TKC_OK);
    float numbers[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = (float)i;
    EXPECT(tkc_copy_in(b->dev, b->x.base, numbers, BYTES) == TKC_OK);
}

static void bench_close(Bench *b)
{
    tkc_jit_free(b->jit);
    tkc_source_free(b->source);
    tkc_device_free(b->dev);
    tkc_context_free(b->cx);
}

static void expect_stats(const Bench *b, uint64_t compiles, uint64_t hits)
{
    TkcCacheStats s = {.size = sizeof s};
    tkc_jit_stats(b->jit, &s);
    EXPECT_INT(s.compiles, compiles);
    EXPECT_INT(s.hits, hits);
}

static TkcStatus launch(Bench *b, const char *x_type, const char *y_type)
{
    TkcArg args[] = {tkc_descriptor(x_type, &b->x), tkc_int(2), tkc_descriptor(y_type, &b->y)};
    b->messages[0] = 0;
    return tkc_launch(b->jit, grid, NULL, args, 3);
}

/* x may have fewer rows and columns than y, and rows that are farther apart. */
static void expect_moved(Bench *b, const char *x_type, const char *y_type, float padding)
{
    float y[ROWS * COLUMNS];
    if (launch(b, x_type, y_type) != TKC_OK)
        printf("%s", b->messages), expect_failed(__FILE__, __LINE__, "launches");
    EXPECT(tkc_copy_out(b->dev, y, b->y.base, BYTES) == TKC_OK);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            bool inside = i + 1 < b->x.shape[0] && j < b->x.shape[1];
            float want = inside ? 2 * (float)((i + 1) * b->x.strides[0] + j) : padding, got = y[i * COLUMNS + j];
            EXPECT(got == want || (isnan(got) && isnan(want)));
        }
}

#define TYPE "tensordesc<fp32[4, 8]>"
#define WITH_NAN "tensordesc<fp32[4, 8], padding=nan>"

static void padding_is_the_argument_s_or_the_declaration_s(void)
{
    Bench b;
    bench_open(&b, NULL);
    expect_moved(&b, TYPE, NULL, 0);
    expect_moved(&b, WITH_NAN, TYPE, NAN);
    expect_moved(&b, "tensordesc<f32[4,8],padding=zero>", WITH_NAN, 0);
    expect_stats(&b, 3, 0);
    bench_close(&b);
    bench_open(&b, "n=i32, x=" WITH_NAN);
    expect_moved(&b, NULL, NULL, NAN);
    expect_moved(&b, TYPE, NULL, NAN);
    EXPECT_INT(launch(&b, "tensordesc<fp32[4, 8], padding=zero>", NULL), TKC_ERROR);
    EXPECT(strstr(b.messages, "argument 'x': expected " WITH_NAN ", found tensordesc<fp32[4, 8], padding=zero>"));
    bench_close(&b);
}

/* Shapes, strides and bases are no part of the key, but whether the last extent is a multiple of 16. */
static void one_compile_for_many_shapes(void)
{
    Bench b;
    bench_open(&b, NULL);
    expect_moved(&b, TYPE, NULL, 0);
    b.x.shape[0] = 3, b.x.shape[1] = 7;
    expect_moved(&b, TYPE, NULL, 0);
    b.x.shape[0] = 2, b.x.strides[0] = 4;
    expect_moved(&b, TYPE, NULL, 0);
    b.x.strides[0] = 0;
    expect_moved(&b, TYPE, NULL, 0);
    b.x.shape[0] = 1, b.x.strides[0] = 1ll << 40;
    expect_moved(&b, TYPE, NULL, 0);
    expect_stats(&b, 1, 4);
    b.x.shape[0] = 4, b.x.shape[1] = 16, b.x.strides[0] = 16;
    expect_moved(&b, TYPE, NULL, 0);
    b.x.shape[0] = 2, b.x.shape[1] = 1 << 30, b.x.strides[0] = 64, b.x.bytes = 0; /* not known */
    EXPECT_INT(launch(&b, TYPE, NULL), TKC_ERROR);
    EXPECT_STR(b.messages, "load outside 'x': element 72 of 72 (fp32), in program (0, 1, 0)\n");
    expect_stats(&b, 2, 5);
    bench_close(&b);
}

/* Halves of one array's rows: what lies between the rows of one is the other's. */
static void views_of_one_array(void)
{
    Bench b;
    float all[ROWS][16];
    bench_open(&b, NULL);
    for (int i = 0; i < ROWS * 16; i++)
        all[i / 16][i % 16] = (float)i;
    b.x = (TkcDescriptor){.bytes = sizeof all, .rank = 2, .shape = {ROWS, 8}, .strides = {16, 1}};
    EXPECT(tkc_alloc(b.dev, sizeof all, &b.x.base) == TKC_OK && tkc_copy_in(b.dev, b.x.base, all, sizeof all) == TKC_OK);
    b.y = b.x;
    b.y.base += 32;
    b.y.bytes -= 32;
    EXPECT_INT(launch(&b, TYPE, NULL), TKC_OK);
    EXPECT(tkc_copy_out(b.dev, all, b.x.base, sizeof all) == TKC_OK);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 8; j++) {
            EXPECT(all[i][j] == (float)(16 * i + j));
            EXPECT(all[i][j + 8] == (i + 1 < ROWS ? 2 * (float)(16 * (i + 1) + j) : 0));
        }
    b.y.bytes -= 4;
    EXPECT_INT(launch(&b, TYPE, NULL), TKC_ERROR);
    EXPECT_STR(b.messages, "argument 'y': its shape and strides take 352 bytes, and there are 348 behind its base\n");
    bench_close(&b);
}

typedef void (*Spoil)(TkcDescriptor *x);
static void spoil_base(TkcDescriptor *x) { x->base += 8; }
static void spoil_shape(TkcDescriptor *x) { x->shape[0] = 0; }
static void spoil_length(TkcDescriptor *x) { x->shape[1] = 1ll << 31; }
static void spoil_last(TkcDescriptor *x) { x->strides[1] = 2; }
static void spoil_stride(TkcDescriptor *x) { x->strides[0] = 10; }
static void spoil_sign(TkcDescriptor *x) { x->strides[0] = -12; }
static void spoil_memory(TkcDescriptor *x) { x->bytes -= 4; }
static void spoil_range(TkcDescriptor *x) { x->strides[0] = 1ll << 61; }

/* At the first launch with a key, and at one that finds its kernel. */
static void values_are_checked_at_every_launch(void)
{
    static const struct { Spoil spoil; const char *message; } cases[] = {
        {spoil_base, "is not a multiple of 16\n"},
        {spoil_shape, "argument 'x': its shape is 0 along dimension 0; it must be from 1 to 2147483647\n"},
        {spoil_length, "argument 'x': its shape is 2147483648 along dimension 1; it must be from 1 to 2147483647\n"},
        {spoil_last, "argument 'x': its last stride is 2; it must be 1\n"},
        {spoil_stride, "argument 'x': its stride is 10 along dimension 0; it must be a multiple of 4 elements, which are 16 bytes\n"},
        {spoil_sign, "argument 'x': its stride is -12 along dimension 0; it must be a multiple of 4 elements, which are 16 bytes\n"},
        {spoil_memory, "argument 'x': its shape and strides take 288 bytes, and there are 284 behind its base\n"},
        {spoil_range, "argument 'x': its shape and strides lead past all addresses\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bench b;
        bench_open(&b, NULL);
        for (int round = 0; round < 2; round++) {
            TkcDescriptor good = b.x;
            cases[i].spoil(&b.x);
            EXPECT_INT(launch(&b, TYPE, NULL), TKC_ERROR);
            if (!strstr(b.messages, cases[i].message))
                EXPECT_STR(b.messages, cases[i].message);
            b.x = good;
            expect_moved(&b, TYPE, NULL, 0);
        }
        bench_close(&b);
    }
}

static void expect_refusal(const char *signature, TkcArg x, int rank, const char *message)
{
    Bench b;
    bench_open(&b, signature);
    b.x.rank = rank;
    if (x.kind == TKC_ARG_DESCRIPTOR)
        x.descriptor = &b.x;
    TkcArg args[] = {x, tkc_int(2), tkc_descriptor(NULL, &b.y)};
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, args, 3), TKC_ERROR);
    EXPECT_STR(b.messages, message);
    expect_stats(&b, 0, 0);
    bench_close(&b);
}

static void types_that_do_not_fit(void)
{
    TkcArg plain = tkc_descriptor(NULL, NULL);
    expect_refusal("n=i32", plain, 2, "argument 'x': the type of its descriptor is not known; give it with the argument\n");
    expect_refusal("n=i32", tkc_descriptor("*fp32", NULL), 2,
                   "argument 'x': '*fp32' is no descriptor's type: expected an element type and extents, as in tensordesc<fp16[64, 128]>\n");
    expect_refusal("x=" TYPE, tkc_descriptor("tensordesc<fp16[4, 8]>", NULL), 2, "argument 'x': expected " TYPE ", found tensordesc<fp16[4, 8]>\n");
    expect_refusal("x=" TYPE, tkc_descriptor("tensordesc<fp32[8, 4]>", NULL), 2, "argument 'x': expected " TYPE ", found tensordesc<fp32[8, 4]>\n");
    expect_refusal("x=*fp32", tkc_descriptor(TYPE, NULL), 2, "argument 'x': expected *fp32, found a tensor descriptor\n");
    expect_refusal("x=i32", tkc_descriptor(NULL, NULL), 2, "argument 'x': expected i32, found a tensor descriptor\n");
    expect_refusal("x=" TYPE, tkc_int(5), 2, "argument 'x': expected " TYPE ", found an integer\n");
    expect_refusal("x=" TYPE, tkc_pointer("*fp32", 0, 0), 2, "argument 'x': expected " TYPE ", found a pointer\n");
    expect_refusal("x=" TYPE, tkc_constexpr("1"), 2, "argument 'x': expected " TYPE ", found a constexpr\n");
    expect_refusal("x=" TYPE, plain, 1, "argument 'x': its rank is 1, and 2 that of " TYPE "\n");
    expect_refusal("x=" TYPE, plain, 6, "argument 'x': its rank is 6, and 2 that of " TYPE "\n");
    expect_refusal("x=" TYPE, plain, 0, "argument 'x': its rank is 0, and 2 that of " TYPE "\n");
}

static void no_descriptor_at_all(void)
{
    Bench b;
    bench_open(&b, "x=" TYPE);
    TkcArg args[] = {tkc_descriptor(NULL, NULL), tkc_int(2), tkc_descriptor(NULL, &b.y)};
    EXPECT_INT(tkc_launch(b.jit, grid, NULL, args, 3), TKC_MISUSE);
    EXPECT_STR(b.messages, "argument 'x': its descriptor is NULL\n");
    bench_close(&b);
}

/* What a signature promises beyond 16 is held to. */
static void declared_alignment(void)
{
    Bench b;
    bench_open(&b, " x = " TYPE " : 32 ,, n=i32,");
    TkcPtr base = b.x.base;
    b.x.shape[0] = 2;
    for (int i = 0; i < 2; i++) {
        expect_moved(&b, NULL, NULL, 0);
        b.x.base = base + 16;
        EXPECT_INT(launch(&b, NULL, NULL), TKC_ERROR);
        EXPECT(strstr(b.messages, "argument 'x': its base, 0x") && strstr(b.messages, ", is not a multiple of 32\n"));
        b.x.base = base;
    }
    bench_close(&b);
}

/* What a launch takes, and what the compiled kernel takes for it. */
static void parameters(void)
{
    Bench b;
    TkcParam p = {.size = sizeof p};
    bench_open(&b, "x=" WITH_NAN ",n=i32");
    EXPECT_INT(tkc_jit_param_count(b.jit), 3);
    EXPECT(tkc_jit_param(b.jit, 0, &p) == TKC_OK && !strcmp(p.name, "x"));
    EXPECT_STR(p.type, WITH_NAN);
    EXPECT(tkc_jit_param(b.jit, 2, &p) == TKC_OK && !strcmp(p.name, "y"));
    EXPECT_STR(p.type, TYPE);
    EXPECT_INT(tkc_jit_param(b.jit, 3, &p), TKC_MISUSE);
    EXPECT_INT(tkc_jit_param(b.jit, 0, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_jit_param(NULL, 0, &p), TKC_MISUSE);
    EXPECT_STR(b.messages, "a launch has no argument of that number\nthere is no place for the parameter: the pointer is NULL\n");
    EXPECT(tkc_source_param(b.source, NULL, 2, &p) == TKC_OK);
    EXPECT_STR(p.type, TYPE);
    EXPECT(tkc_source_param(b.source, NULL, 0, &p) == TKC_OK && !p.type);
    static const char *const all[][2] = {
        {"x", "*fp32"}, {"x.shape0", "i32"}, {"x.shape1", "i32"}, {"x.stride0", "i64"}, {"n", "i32"},
        {"y", "*fp32"}, {"y.shape0", "i32"}, {"y.shape1", "i32"}, {"y.stride0", "i64"},
    };
    TkcArtifact *a;
    TkcOptions o;
    tkc_options_init(&o);
    o.signature = "x=" TYPE ",n=i32,x.shape1=i32:16";
    EXPECT_INT(tkc_compile(b.source, &o, TKC_EMIT_PTX, &a), TKC_OK);
    EXPECT_INT(tkc_artifact_param_count(a), 9);
    for (int i = 0; i < 9; i++) {
        EXPECT_STR(tkc_artifact_param_name(a, i), all[i][0]);
        EXPECT_STR(tkc_artifact_param_type(a, i), all[i][1]);
    }
    tkc_artifact_free(a);
    bench_close(&b);
}

static void signatures_that_a_launch_does_not_take(void)
{
    static const char *const cases[][2] = {
        {"x=" TYPE ",x.shape1=i32:16", "in the signature: x.shape1=i32:16: a launch looks at its descriptors itself\n"},
        {"x=tensordesc<fp32[4 8]>,n=i32", "in the signature: x=tensordesc<fp32[4 8]>: 'tensordesc<fp32[4 8]>' is no descriptor's type: expected ']' after the extents of its blocks\n"},
        {"x=fp33", "in the signature: x=fp33: 'fp33' is not a type; types are *fp32, i32, u8, bf16, …\n"},
        {"y=tensordesc<fp32[8, 8]>", "in the signature: y=tensordesc<fp32[8, 8]>: its annotation, or the signature before, says tensordesc<fp32[4, 8]>; leave one of them out\n"},
        {"x=*i32, x = " TYPE, "in the signature: x = " TYPE ": its annotation, or the signature before, says *i32; leave one of them out\n"},
        {"n=i32:x", "in the signature: n=i32:x: expected a divisibility of 1 or more after ':'\n"},
        {"x", "in the signature: x: expected name=type, such as x=*fp32:16\n"},
        {"y=" TYPE ":0", "in the signature: y=" TYPE ":0: expected a divisibility of 1 or more after ':'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Bench b;
        bench_open(&b, NULL);
        TkcJit *jit;
        TkcOptions o;
        tkc_options_init(&o);
        o.signature = cases[i][0];
        EXPECT_INT(tkc_jit_new(b.dev, b.source, &o, &jit), TKC_ERROR);
        EXPECT_STR(b.messages, cases[i][1]);
        bench_close(&b);
    }
}

int main(void)
{
    RUN(padding_is_the_argument_s_or_the_declaration_s);
    RUN(one_compile_for_many_shapes);
    RUN(views_of_one_array);
    RUN(values_are_checked_at_every_launch);
    RUN(types_that_do_not_fit);
    RUN(no_descriptor_at_all);
    RUN(declared_alignment);
    RUN(parameters);
    RUN(signatures_that_a_launch_does_not_take);
    return expect_done();
}
