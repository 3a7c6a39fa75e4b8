/* The public API as a program meets it: statuses, diagnostics, lifetimes, misuse, and threads that
   compile at once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "expect.h"
#include "tkc/runtime.h"

static const char add_text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def add(x: '*fp32:16', y, n: 'i32', B: tl.constexpr, S: tl.constexpr = 1):\n"
    "    at = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + at, tl.load(x + at, mask=at < n) + S, mask=at < n)\n";
static const char two_text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\ndef one(x: '*fp32'):\n    tl.store(x, helper(1))\n"
    "@triton.jit\ndef helper(a):\n    return a + 1\n"
    "@triton.jit\ndef two(x: '*fp32', K: tl.constexpr):\n    tl.store(x, K)\n";

/* What a handler was told. */
typedef struct Told {
    int calls, errors, warnings, line, column;
    char rendered[4000];
} Told;

static void listen(const TkcDiagnostic *d, void *user)
{
    Told *t = user;
    t->calls++;
    t->errors += d->severity == TKC_SEVERITY_ERROR;
    t->warnings += d->severity == TKC_WARNING;
    t->line = d->line;
    t->column = d->column;
    EXPECT_INT(d->size, sizeof *d);
    EXPECT(d->text && !strchr(d->text, '\n'));
    EXPECT(d->rendered[strlen(d->rendered) - 1] == '\n');
    strncat(t->rendered, d->rendered, sizeof t->rendered - strlen(t->rendered) - 1);
}

static TkcSource *source_of(TkcContext *cx, const char *text)
{
    TkcSource *s = NULL;
    EXPECT_INT(tkc_source_from_text(cx, "t.tk", text, strlen(text), TKC_LANGUAGE_TK, &s), TKC_OK);
    return s;
}

static TkcOptions options_of(const TkcDefine *defines, size_t n)
{
    TkcOptions o;
    tkc_options_init(&o);
    o.signature = "y=*fp32:16";
    o.arch = "sm_90a";
    o.defines = defines;
    o.ndefines = n;
    return o;
}

static const TkcDefine b128 = {"B", "128"};

/* ---- what a compilation gives ---- */

static void artifact_facts(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcOptions o = options_of(&b128, 1);
    TkcArtifact *a;
    size_t len;
    o.num_warps = 2;
    o.time_report = true;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_PTX, &a), TKC_OK);
    const char *text = tkc_artifact_text(a, &len);
    EXPECT(strlen(text) == len && strstr(text, ".visible .entry add("));
    EXPECT_STR(tkc_artifact_kernel(a), "add");
    EXPECT_INT(tkc_artifact_num_warps(a), 2);
    EXPECT_INT(tkc_artifact_num_stages(a), 3);
    EXPECT_INT(tkc_artifact_shared_bytes(a), 0);
    EXPECT_INT(tkc_artifact_param_count(a), 3);
    EXPECT_STR(tkc_artifact_param_name(a, 1), "y");
    EXPECT_STR(tkc_artifact_param_type(a, 1), "*fp32");
    EXPECT_STR(tkc_artifact_param_type(a, 2), "i32");
    EXPECT(!tkc_artifact_param_name(a, 3) && !tkc_artifact_param_type(a, -1));
    double ms = -1;
    EXPECT_STR(tkc_artifact_time(a, 0, &ms), "specialize");
    EXPECT(ms >= 0 && !tkc_artifact_time(a, 1000, &ms));
    EXPECT_STR(tkc_last_error(cx), "");
    tkc_artifact_free(a);
    tkc_source_free(s);
    tkc_context_free(cx);
}

/* Names and places of the IR are the source's: an artifact keeps it alive. */
static void artifact_outlives_source(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcOptions o = options_of(&b128, 1);
    TkcArtifact *a;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_OK);
    tkc_source_free(s);
    EXPECT_STR(tkc_artifact_kernel(a), "add");
    EXPECT_STR(tkc_artifact_param_name(a, 0), "x");
    EXPECT_STR(tkc_artifact_param_type(a, 0), "*fp32");
    tkc_artifact_free(a);
    tkc_context_free(cx);
}

static void every_emission(void)
{
    static const char *const marks[] = {
        [TKC_EMIT_TOKENS] = "NAME add", [TKC_EMIT_AST] = "def",    [TKC_EMIT_IR] = "func @add",
        [TKC_EMIT_FACTS] = "add",       [TKC_EMIT_LAYOUT] = "#l<", [TKC_EMIT_LLVM] = "define",
        [TKC_EMIT_PTX] = ".entry",
    };
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcOptions o = options_of(&b128, 1);
    for (TkcEmit e = TKC_EMIT_TOKENS; e <= TKC_EMIT_PTX; e++) {
        TkcArtifact *a;
        EXPECT_INT(tkc_compile(s, &o, e, &a), TKC_OK);
        if (!strstr(tkc_artifact_text(a, NULL), marks[e]))
            expect_str(__FILE__, __LINE__, tkc_artifact_text(a, NULL), marks[e]);
        tkc_artifact_free(a);
    }
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void kernels_and_params(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, two_text), *add = source_of(cx, add_text);
    TkcParam p = {.size = sizeof p};
    int n = 0;
    EXPECT_INT(tkc_source_kernel_count(s), 2);
    EXPECT_STR(tkc_source_kernel_name(s, 0), "one");
    EXPECT_STR(tkc_source_kernel_name(s, 1), "two");
    EXPECT(!tkc_source_kernel_name(s, 2) && !tkc_source_kernel_name(s, -1));
    EXPECT_INT(tkc_source_param_count(s, NULL, &n), TKC_ERROR); /* which? */
    EXPECT(strstr(tkc_last_error(cx), "there are 'one', 'two'"));
    EXPECT_INT(tkc_source_param_count(s, "tow", &n), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "did you mean 'two'?"));
    EXPECT_INT(tkc_source_param(s, "two", 1, &p), TKC_OK);
    EXPECT_STR(p.name, "K");
    EXPECT_INT(tkc_source_param(s, "one", 1, &p), TKC_MISUSE);
    EXPECT_INT(tkc_source_param_count(add, NULL, &n), TKC_OK);
    EXPECT_INT(n, 5);
    EXPECT_INT(tkc_source_param(add, NULL, 0, &p), TKC_OK);
    EXPECT(!strcmp(p.name, "x") && !strcmp(p.type, "*fp32") && p.divisibility == 16 &&
           !p.is_constexpr && !p.default_);
    EXPECT_INT(tkc_source_param(add, NULL, 1, &p), TKC_OK);
    EXPECT(!strcmp(p.name, "y") && !p.type && p.divisibility == 0);
    EXPECT_INT(tkc_source_param(add, NULL, 4, &p), TKC_OK);
    EXPECT(p.is_constexpr && !p.type && !strcmp(p.default_, "1"));
    EXPECT_INT(tkc_source_param(add, NULL, 5, &p), TKC_MISUSE);
    EXPECT_INT(tkc_source_param(add, NULL, -1, &p), TKC_MISUSE);
    tkc_source_free(add);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void checking(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, two_text);
    TkcOptions o;
    int checked = -1, incomplete = -1;
    tkc_options_init(&o);
    EXPECT_INT(tkc_check(s, &o, &checked, &incomplete), TKC_OK);
    EXPECT(checked == 1 && incomplete == 1);
    const TkcDefine k = {"K", "3"}, q = {"Q", "3"};
    o.ndefines = 1;
    o.defines = &k; /* for one of the kernels */
    EXPECT_INT(tkc_check(s, &o, &checked, &incomplete), TKC_OK);
    EXPECT(checked == 2 && incomplete == 0);
    o.defines = &q; /* for none */
    EXPECT_INT(tkc_check(s, &o, NULL, NULL), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "for 'Q', but no kernel of 't.tk' has such"));
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void defined_twice(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    const TkcDefine twice[] = {{"B", "128"}, {"B", "256"}};
    TkcOptions o = options_of(twice, 2);
    TkcArtifact *a;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: 'B' is given two values\n");
    tkc_source_free(s);
    tkc_context_free(cx);
}

/* ---- diagnostics ---- */

static void told_once(void)
{
    static const char bad[] = "import triton\n@triton.jit\ndef k(x):\n    y = nowhere\n";
    Told told = {0};
    TkcContext *cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, listen, &told);
    TkcSource *s = source_of(cx, bad);
    TkcOptions o;
    TkcArtifact *a = (TkcArtifact *)&told;
    tkc_options_init(&o);
    o.signature = "x=i32";
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    EXPECT(!a && told.calls == 1 && told.errors == 1);
    EXPECT_INT(told.line, 4);
    EXPECT_INT(told.column, 9);
    EXPECT_STR(
        told.rendered,
        "t.tk:4:9: error: the name 'nowhere' is not defined\n    y = nowhere\n        ^~~~~~~\n");
    EXPECT_STR(tkc_last_error(cx), told.rendered);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void syntax_errors(void)
{
    Told told = {0};
    TkcSource *s = (TkcSource *)&told;
    TkcContext *cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, listen, &told);
    const char bad[] = "import triton\n@triton.jit\ndef k(x):\n    y = (1 +\n    z = )\n";
    EXPECT_INT(tkc_source_from_text(cx, "b.tk", bad, strlen(bad), TKC_LANGUAGE_TK, &s), TKC_ERROR);
    EXPECT(!s && told.errors >= 1);
    EXPECT_INT(tkc_source_from_text(cx, "n.tk", "a\0b", 3, TKC_LANGUAGE_TK, &s), TKC_ERROR);
    EXPECT(!s && strstr(tkc_last_error(cx), "NUL"));
    EXPECT_INT(tkc_source_open(cx, "/no/such/file.tk", TKC_LANGUAGE_TK, &s), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx),
               "error: cannot read '/no/such/file.tk': No such file or directory\n");
    tkc_context_free(cx);
}

/* Errors past the limit are counted in a last line. */
static void many_errors(void)
{
    char text[4000] = "import triton\n@triton.jit\ndef k(x):\n";
    for (int i = 0; i < 30; i++)
        sprintf(text + strlen(text), "    a%d = nowhere%d\n", i, i);
    Told told = {0};
    TkcContext *cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, listen, &told);
    TkcSource *s = source_of(cx, text);
    TkcOptions o;
    TkcArtifact *a;
    tkc_options_init(&o);
    o.signature = "x=i32";
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    EXPECT_INT(told.errors, 21);
    EXPECT(strstr(told.rendered, "error: too many errors: 10 more are not shown\n"));
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void warnings(void)
{
    static const char text[] = "import triton\n@triton.jit\n@other\ndef k(_x):\n    pass\n";
    Told told = {0};
    TkcContext *cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, listen, &told);
    TkcSource *s = source_of(cx, text);
    TkcOptions o;
    TkcArtifact *a;
    tkc_options_init(&o);
    o.signature = "_x=i32";
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_OK);
    tkc_artifact_free(a);
    EXPECT(told.warnings == 1 && told.errors == 0);
    EXPECT_STR(tkc_last_error(cx), "");
    o.warnings_as_errors = true;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "error: 1 warning treated as an error\n"));
    tkc_source_free(s);
    tkc_context_free(cx);
}

static bool raise_bug(Diags *dx, void *text)
{
    (void)dx;
    unwind_raise("%s", (const char *)text);
}

static bool use_all(Diags *dx, void *count)
{
    for (;;) arena_alloc(dx->arena, *(size_t *)count);
    return true;
}

/* What is raised inside a call becomes its diagnostic: our mistake, unless memory ran out. */
static void raised(void)
{
    TkcContext *cx = tkc_context_new();
    Arena a;
    arena_init(&a);
    EXPECT_INT(api_run(cx, &a, NULL, raise_bug, "a block of no type"), TKC_INTERNAL);
    const char *said = tkc_last_error(cx), first[] = "error: internal error: a block of no type\nnote: this is a bug of tkc ";
    EXPECT(!strncmp(said, first, sizeof first - 1));
    EXPECT(strstr(said, "): please report it, with the source and the options\n"));
    EXPECT_INT(api_run(cx, &a, NULL, use_all, &(size_t){SIZE_MAX / 3}), TKC_NO_MEMORY);
    EXPECT_STR(tkc_last_error(cx), "error: out of memory: 6148914691236517205 bytes asked for\n");
    arena_fini(&a);
    tkc_context_free(cx);
}

/* Of every severity; only an error is the last error. */
static void reports(void)
{
    Told told = {0};
    TkcContext *cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, listen, &told);
    tkc_report_begin(cx);
    tkc_report(cx, TKC_WARNING, NULL, "%d of them", 2);
    tkc_report_note(cx, NULL, "the first");
    tkc_report(cx, TKC_NOTE, NULL, "the second");
    tkc_report(cx, TKC_REMARK, NULL, "slow");
    EXPECT_INT(told.calls, 0);
    tkc_report_end(cx);
    EXPECT_STR(told.rendered, "warning: 2 of them\nnote: the first\nnote: the second\nremark: slow\n");
    EXPECT_STR(tkc_last_error(cx), "");
    tkc_context_free(cx);
}

static void statuses(void)
{
    static const struct { TkcStatus status; const char *text; } rows[] = {
        {TKC_OK, "ok"},
        {TKC_ERROR, "error in the input"},
        {TKC_MISUSE, "misuse of the library"},
        {TKC_NO_MEMORY, "out of memory"},
        {TKC_NO_DEVICE, "no such device"},
        {TKC_INTERNAL, "internal error"},
        {(TkcStatus)99, "unknown status"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT_STR(tkc_status_text(rows[i].status), rows[i].text);
}

/* ---- misuse ---- */

/* The call is refused as misuse, and says that. */
#define EXPECT_MISUSE(cx, call, text)                                                              \
    (EXPECT_INT(call, TKC_MISUSE), EXPECT_STR(tkc_last_error(cx), "error: " text "\n"))

static void null_arguments(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text), *none = s;
    TkcArtifact *a;
    TkcDevice *dev = NULL;
    TkcJit *jit;
    TkcOptions o, unset = {0};
    tkc_options_init(&o);
    tkc_options_init(NULL);
    EXPECT_INT(tkc_source_open(cx, NULL, TKC_LANGUAGE_TK, &none), TKC_MISUSE);
    EXPECT(!none);
    EXPECT_INT(tkc_source_from_text(cx, "t", NULL, 3, TKC_LANGUAGE_TK, &none), TKC_MISUSE);
    EXPECT_INT(tkc_source_from_text(cx, "t", "", 0, TKC_LANGUAGE_TK, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_source_from_text(NULL, "t", "", 0, TKC_LANGUAGE_TK, &none), TKC_MISUSE);
    EXPECT_INT(tkc_source_from_text(cx, "t", "", 0, (TkcLanguage)7, &none), TKC_MISUSE);
    EXPECT_INT(tkc_compile(NULL, &o, TKC_EMIT_IR, &a), TKC_MISUSE);
    EXPECT_INT(tkc_compile(s, NULL, TKC_EMIT_IR, &a), TKC_MISUSE);
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_compile(s, &o, (TkcEmit)99, &a), TKC_MISUSE);
    EXPECT_INT(tkc_compile(s, &unset, TKC_EMIT_IR, &a), TKC_MISUSE);
    EXPECT(!a && strstr(tkc_last_error(cx), "call tkc_options_init first"));
    o.ndefines = 1;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_MISUSE);
    EXPECT_INT(tkc_check(s, &unset, NULL, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_check(NULL, &o, NULL, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_context_add_include(cx, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_jit_new(dev, s, &o, &jit), TKC_MISUSE);
    EXPECT_INT(tkc_launch(NULL, (const int64_t[]){1, 1, 1}, NULL, NULL, 0), TKC_MISUSE);
    EXPECT_INT(tkc_synchronize(NULL, NULL), TKC_MISUSE);
    EXPECT(!tkc_artifact_text(NULL, NULL) && tkc_source_kernel_count(NULL) == 0);
    tkc_artifact_free(NULL), tkc_source_free(NULL), tkc_context_free(NULL), tkc_jit_free(NULL),
        tkc_device_free(NULL);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void null_arguments_of_sources(void)
{
    static const char ir_text[] = "func @f() attributes {num_warps = 4} {\n  return\n}\n";
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text), *ir;
    TkcParam p = {.size = sizeof p};
    int n;
    EXPECT_MISUSE(cx, tkc_source_param_count(s, NULL, NULL),
                  "there is no place for the count: the pointer is NULL");
    EXPECT_MISUSE(cx, tkc_source_param(s, NULL, 0, NULL),
                  "there is no place for the parameter: the pointer is NULL");
    EXPECT_INT(tkc_source_param_count(NULL, NULL, &n), TKC_MISUSE);
    EXPECT_INT(tkc_source_param(NULL, NULL, 0, &p), TKC_MISUSE);
    EXPECT_INT(tkc_source_from_text(cx, "t.ir", ir_text, strlen(ir_text), TKC_LANGUAGE_IR, &ir),
               TKC_OK);
    EXPECT_INT(tkc_source_param_count(ir, NULL, &n), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: 't.ir' is block IR: its parameters are in its text\n");
    tkc_source_free(ir);
    EXPECT_INT(tkc_source_from_text(cx, "t", "", (size_t)1 << 31, TKC_LANGUAGE_TK, &ir), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: 't' is too large: 2147483648 bytes\n");
    tkc_source_free(s);
    tkc_context_free(cx);
}

/* Sizes that callers of other versions, or careless ones, give. */
static void sizes_of_options(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcArtifact *a;
    struct { TkcOptions known; uint64_t newer; } o;
    tkc_options_init_sized(&o.known, sizeof o);
    EXPECT_INT(o.known.size, sizeof o);
    o.known.defines = &b128, o.known.ndefines = 1, o.known.signature = "y=*fp32";
    EXPECT_INT(tkc_compile(s, &o.known, TKC_EMIT_IR, &a), TKC_OK);
    tkc_artifact_free(a);
    o.newer = 1;
    EXPECT_MISUSE(cx, tkc_compile(s, &o.known, TKC_EMIT_IR, &a),
                  "the options ask for something that this version of the library does not know");
    o.known.size = 1 << 20;
    EXPECT_MISUSE(cx, tkc_compile(s, &o.known, TKC_EMIT_IR, &a),
                  "the options are not initialized: call tkc_options_init first");
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void sizes_of_answers(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcDevice *dev;
    TkcJit *jit;
    TkcPtr x;
    TkcParam p = {0};
    TkcKernelInfo info = {0};
    TkcOptions o = options_of(&b128, 1);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, s, &o, &jit), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, 64, &x), TKC_OK);
    EXPECT_MISUSE(cx, tkc_source_param(s, NULL, 0, &p), "the size of the parameter is not set");
    EXPECT_MISUSE(cx, tkc_jit_param(jit, 0, &p), "the size of the parameter is not set");
    TkcArg args[] = {tkc_pointer("*fp32", x, 64), tkc_pointer("*fp32", x, 64), tkc_int(1), tkc_constexpr(NULL)};
    EXPECT_MISUSE(cx, tkc_jit_info(jit, args, 4, &info), "the size of the information is not set");
    tkc_jit_free(jit);
    tkc_device_free(dev);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void null_arguments_of_jits(void)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcDevice *dev;
    TkcJit *jit;
    TkcKernelInfo info = {.size = sizeof info};
    TkcOptions o = options_of(&b128, 1), unset = {0};
    const int64_t grid[3] = {1, 1, 1};
    char byte;
    EXPECT_MISUSE(cx, tkc_device_open_cuda_context(cx, &o, NULL),
                  "there is no place for the device: the pointer is NULL");
    EXPECT_MISUSE(cx, tkc_device_open_cuda_context(cx, NULL, &dev), "the CUDA context is NULL");
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_MISUSE(cx, tkc_alloc(dev, 1, NULL),
                  "there is no place for the address: the pointer is NULL");
    EXPECT_MISUSE(cx, tkc_copy_in(dev, 0, NULL, 1),
                  "there is nothing to copy from: the pointer is NULL");
    EXPECT_MISUSE(cx, tkc_copy_out(dev, NULL, 0, 1),
                  "there is no place to copy to: the pointer is NULL");
    EXPECT_INT(tkc_copy_in(NULL, 0, &byte, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_out(NULL, &byte, 0, 1), TKC_MISUSE);
    EXPECT_INT(tkc_alloc(NULL, 1, NULL), TKC_MISUSE);
    EXPECT_MISUSE(cx, tkc_jit_new(dev, NULL, &o, &jit), "the source is NULL, or freed");
    EXPECT_MISUSE(cx, tkc_jit_new(dev, s, NULL, &jit), "the options are NULL");
    EXPECT_MISUSE(cx, tkc_jit_new(dev, s, &unset, &jit),
                  "the options are not initialized: call tkc_options_init first");
    EXPECT_MISUSE(cx, tkc_jit_new(dev, s, &o, NULL),
                  "the place for the jit is NULL");
    EXPECT_INT(tkc_jit_new(dev, s, &o, &jit), TKC_OK);
    EXPECT_MISUSE(cx, tkc_launch(jit, NULL, NULL, NULL, 0), "the grid is NULL");
    EXPECT_MISUSE(cx, tkc_launch(jit, grid, NULL, NULL, 1), "the arguments are NULL");
    EXPECT_MISUSE(cx, tkc_jit_info(jit, NULL, 1, &info), "the arguments are NULL");
    EXPECT_MISUSE(cx, tkc_jit_info(jit, NULL, 0, NULL),
                  "there is no place for the information: the pointer is NULL");
    EXPECT_INT(tkc_jit_info(NULL, NULL, 0, &info), TKC_MISUSE);
    tkc_jit_free(jit);
    tkc_device_free(dev);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void expect_options(TkcOptions o, TkcStatus status, const char *text)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcArtifact *a;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), status);
    EXPECT_STR(tkc_last_error(cx), text);
    tkc_source_free(s);
    tkc_context_free(cx);
}

static void options_out_of_range(void)
{
    const TkcDefine nameless = {NULL, "1"}, valueless = {"B", NULL};
    TkcOptions o = options_of(&nameless, 1);
    expect_options(o, TKC_MISUSE, "error: a define has no name or no value\n");
    o.defines = &valueless;
    expect_options(o, TKC_MISUSE, "error: a define has no name or no value\n");
    o = options_of(&b128, 1), o.num_stages = -1;
    expect_options(o, TKC_ERROR, "error: the number of stages is -1; it must be 1 or more\n");
    o = options_of(&b128, 1), o.max_registers = 256;
    expect_options(o, TKC_ERROR, "error: the number of registers is 256; it must be from 1 to 255\n");
    o = options_of(&b128, 1), o.symbol = "";
    expect_options(o, TKC_ERROR, "error: the symbol of the kernel is empty\n");
    o = options_of(&b128, 1), o.max_ops = -1;
    expect_options(o, TKC_ERROR, "error: the budget of ops is -1; it must be from 1 to "
                                 "9223372036854775807\n");
    o = options_of(&b128, 1), o.max_seconds = -0.5;
    expect_options(o, TKC_ERROR, "error: the limit of seconds is -0.5; it must be -1, for none, or more\n");
    o = options_of(&b128, 1), o.max_memory = -2;
    expect_options(o, TKC_ERROR, "error: the limit of memory is -2; it must be -1, for none, or more\n");
    o = options_of(&b128, 1), o.max_depth = INT64_C(1) << 31;
    expect_options(o, TKC_ERROR, "error: the budget of depth is 2147483648; it must be from 1 to "
                                 "2147483647\n");
}

static void device_misuse(void)
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    TkcPtr p, zero;
    char byte = 0;
    EXPECT_INT(tkc_device_open(cx, "gpu", 0, &dev), TKC_NO_DEVICE);
    EXPECT(!dev && strstr(tkc_last_error(cx), "there is no device 'gpu'"));
    EXPECT_INT(tkc_device_open(cx, "cpu", 1, &dev), TKC_NO_DEVICE);
    EXPECT_INT(tkc_device_open(cx, "simt", 1, &dev), TKC_NO_DEVICE);
    EXPECT_STR(tkc_last_error(cx), "error: there is no simt device 1; there is one, number 0\n");
    EXPECT_INT(tkc_device_open(cx, "simt:sm_12", 0, &dev), TKC_NO_DEVICE);
    EXPECT(!dev && strstr(tkc_last_error(cx), "no chip 'sm_12' can be emulated; there are sm_75 "));
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, 16, &p), TKC_OK);
    EXPECT(p % 256 == 0);
    EXPECT_INT(tkc_alloc(dev, 0, &zero), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, SIZE_MAX, &zero), TKC_NO_MEMORY);
    EXPECT_INT(tkc_copy_out(dev, &byte, p + 15, 1), TKC_OK);
    EXPECT_INT(tkc_copy_out(dev, &byte, p + 16, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_in(dev, p, NULL, 1), TKC_MISUSE);
    EXPECT_INT(tkc_copy_in(dev, p, NULL, 0), TKC_OK);
    EXPECT_INT(tkc_free(dev, p + 1), TKC_MISUSE);
    EXPECT_INT(tkc_free(dev, p), TKC_OK);
    EXPECT_INT(tkc_free(dev, p), TKC_MISUSE);
    EXPECT_INT(tkc_free(dev, 0), TKC_OK);
    tkc_device_free(dev);
    tkc_context_free(cx);
}

/* Without a GPU the default device is the cpu's, and nothing has failed. */
static void default_device(void)
{
    Told told = {0};
    TkcContext *cx = tkc_context_new();
    TkcDevice *dev;
    tkc_context_on_diagnostic(cx, listen, &told);
    EXPECT_INT(tkc_device_open(cx, NULL, 0, &dev), TKC_OK);
    EXPECT(!strcmp(tkc_device_kind(dev), "cpu") || !strcmp(tkc_device_kind(dev), "cuda"));
    EXPECT(told.calls == 0);
    EXPECT_STR(tkc_last_error(cx), "");
    tkc_device_free(dev);
    tkc_context_free(cx);
}

static void expect_signature(const char *signature, const char *expected)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *s = source_of(cx, add_text);
    TkcDevice *dev;
    TkcJit *jit;
    TkcOptions o = options_of(&b128, 1);
    o.signature = signature;
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    TkcStatus status = tkc_jit_new(dev, s, &o, &jit);
    EXPECT_INT(status, expected ? TKC_ERROR : TKC_OK);
    if (expected && !strstr(tkc_last_error(cx), expected))
        expect_str(__FILE__, __LINE__, tkc_last_error(cx), expected);
    tkc_jit_free(jit);
    tkc_device_free(dev);
    tkc_source_free(s);
    tkc_context_free(cx);
}

/* A signature that a jit is made with is checked then, not at the first launch. */
static void signatures_of_a_jit(void)
{
    expect_signature("y=*fp16:16, x=*f32", NULL);
    expect_signature("y=*torch.half, x=fp32*", NULL);
    expect_signature("q=*fp16",
                     "in the signature: q=*fp16: the kernel has no such parameter, or its value is given");
    expect_signature("B=i32",
                     "in the signature: B=i32: the kernel has no such parameter, or its value is given");
    expect_signature("S=i32", "in the signature: S=i32: the parameter is a constexpr: it takes a value, not a type");
    expect_signature("y=*fp17", "in the signature: y=*fp17: '*fp17' is not a type");
    expect_signature("x=*fp16", "in the signature: x=*fp16: its annotation, or the signature before, says *fp32; leave one of them out");
    expect_signature("y=*fp16, y=*fp32", "in the signature: y=*fp32: its annotation, or the signature before, says *fp16; leave one of them out");
    expect_signature("y=*fp16:0",
                     "in the signature: y=*fp16:0: expected a divisibility of 1 or more after ':'");
    expect_signature("y", "in the signature: y: expected name=type");
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 6 };

static void *compile_often(void *arg)
{
    char **out = arg;
    TkcContext *cx = tkc_context_new();
    for (int i = 0; i < ROUNDS; i++) {
        TkcSource *s = source_of(cx, i % 2 ? add_text : two_text);
        TkcOptions o = options_of(&b128, 1);
        TkcArtifact *a;
        const char *wrong = i % 2 ? NULL : "two"; /* lacks K: every other compilation fails */
        o.kernel = wrong;
        TkcStatus status = tkc_compile(s, &o, TKC_EMIT_PTX, &a);
        EXPECT_INT(status, wrong ? TKC_ERROR : TKC_OK);
        if (status == TKC_OK) {
            free(*out);
            *out = strdup(tkc_artifact_text(a, NULL));
        }
        tkc_artifact_free(a);
        tkc_source_free(s);
    }
    tkc_context_free(cx);
    return NULL;
}

static void threads_agree(void)
{
    pthread_t threads[THREADS];
    char *texts[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        EXPECT(pthread_create(&threads[i], NULL, compile_often, &texts[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        EXPECT(texts[i] && strstr(texts[i], ".entry add("));
        EXPECT_STR(texts[i], texts[0]);
    }
    for (int i = 0; i < THREADS; i++)
        free(texts[i]);
}

/* The library's number is the header's, and its text says the same. */
static void versions(void)
{
    char text[40];
    EXPECT_INT(tkc_version_number(), TKC_VERSION);
    EXPECT_INT(tkc_version_number(),
               TKC_VERSION_OF(TKC_VERSION_MAJOR, TKC_VERSION_MINOR, TKC_VERSION_PATCH));
    EXPECT_INT(TKC_VERSION_OF(3, 4, 5), 3004005);
    snprintf(text, sizeof text, "%d.%d.%d", tkc_version_number() / 1000000,
             tkc_version_number() / 1000 % 1000, tkc_version_number() % 1000);
    EXPECT_STR(tkc_version(), text);
    EXPECT(strstr(tkc_version_long(), text) && strstr(tkc_version_long(), "LLVM"));
}

/* What there is to choose from ends, and has a word on each. */
static void lists(void)
{
    const char *what = NULL, *name;
    size_t n = 0;
    while ((name = tkc_remark_name(n, &what)) && *name && what && *what)
        n++;
    EXPECT(n > 0 && !name && !tkc_remark_name(n + 1, NULL));
    EXPECT_STR(tkc_remark_name(0, NULL), "vec");
    EXPECT(!strncmp(tkc_arch_list(), "sm_75 ", 6) && strstr(tkc_arch_list(), " sm_90a "));
}

int main(void)
{
    RUN(threads_agree); /* first: LLVM starts in several threads at once */
    RUN(artifact_facts);
    RUN(artifact_outlives_source);
    RUN(every_emission);
    RUN(kernels_and_params);
    RUN(checking);
    RUN(defined_twice);
    RUN(told_once);
    RUN(syntax_errors);
    RUN(many_errors);
    RUN(warnings);
    RUN(raised);
    RUN(reports);
    RUN(statuses);
    RUN(null_arguments);
    RUN(null_arguments_of_sources);
    RUN(sizes_of_options);
    RUN(sizes_of_answers);
    RUN(null_arguments_of_jits);
    RUN(options_out_of_range);
    RUN(device_misuse);
    RUN(default_device);
    RUN(signatures_of_a_jit);
    RUN(versions);
    RUN(lists);
    return expect_done();
}
