/* Configurations of @autotune, values known when compiling, and kinds of warnings, through the
   public API. */
#include <string.h>

#include "expect.h"
#include "tkc/runtime.h"

static const char tuned_text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.autotune(configs=[triton.Config({'B': 16}, num_warps=2), triton.Config({'B': 32, 'M': 'hi'})], key=['n'])\n"
    "@triton.heuristics({'H': lambda args: args['B'] * 2})\n"
    "@triton.jit\n"
    "def tuned(x: '*fp32', n: 'i32', B: tl.constexpr, H: tl.constexpr, M: tl.constexpr = 'lo', s=2.5):\n"
    "    tl.store(x + tl.arange(0, B), s + H, mask=tl.arange(0, B) < n)\n"
    "@triton.jit\n"
    "def plain(x: '*fp32'):\n"
    "    unused = tl.load(x)\n"
    "    tl.store(x, 1.0)\n";

static TkcContext *cx;
static TkcSource *source;
static int warned;

static void count_warnings(const TkcDiagnostic *d, void *user)
{
    (void)user;
    warned += d->severity == TKC_WARNING;
}

#define EXPECT_MISUSE(call, text)                                                                  \
    (EXPECT_INT(call, TKC_MISUSE), EXPECT_STR(tkc_last_error(cx), "error: " text "\n"))

static void configurations(void)
{
    const char *const *texts = NULL;
    int n = -1;
    EXPECT_INT(tkc_source_configs(source, "tuned", &texts, &n), TKC_OK);
    EXPECT_INT(n, 2);
    EXPECT_STR(texts[0], "B=16 num_warps=2");
    EXPECT_STR(texts[1], "B=32 M='hi'");
    const char *const *again;
    EXPECT_INT(tkc_source_configs(source, "tuned", &again, &n), TKC_OK);
    EXPECT_STR(texts[1], again[1]); /* the first list is still there */
    EXPECT_INT(tkc_source_configs(source, "plain", &texts, &n), TKC_OK);
    EXPECT_INT(n, 0);
}

static void configurations_of_none(void)
{
    static const char ir_text[] = "func @f() attributes {num_warps = 4} {\n  return\n}\n";
    const char *const *texts = (const char *const *)&texts;
    int n = 7;
    EXPECT_MISUSE(tkc_source_configs(source, "tuned", NULL, &n),
                  "there is no place for the configurations: the pointer is NULL");
    EXPECT_MISUSE(tkc_source_configs(source, "tuned", &texts, NULL),
                  "there is no place for the configurations: the pointer is NULL");
    EXPECT_INT(tkc_source_configs(NULL, "tuned", &texts, &n), TKC_MISUSE);
    EXPECT_INT(tkc_source_configs(source, NULL, &texts, &n), TKC_ERROR); /* which? */
    EXPECT(!texts && n == 0 && strstr(tkc_last_error(cx), "there are 'tuned', 'plain'"));
    EXPECT_INT(tkc_source_configs(source, "tunde", &texts, &n), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "did you mean 'tuned'?"));
    TkcSource *ir;
    EXPECT_INT(tkc_source_from_text(cx, "t.ir", ir_text, strlen(ir_text), TKC_LANGUAGE_IR, &ir),
               TKC_OK);
    n = 7;
    EXPECT_INT(tkc_source_configs(ir, NULL, &texts, &n), TKC_OK);
    EXPECT(!texts && n == 0);
    tkc_source_free(ir);
}

/* By keyword and position, of several decorators, as names and as what the host alone knows. */
static void beside(void)
{
    static const char text[] = "import triton\nKEYS = ['n', 'm']\nfrom host import late\n"
                               "@triton.autotune([triton.Config({'B': 1})], KEYS, None, ('x',))\n"
                               "@triton.autotune(configs=late, key=[], restore_value=['y'], prune_configs_by=late, post_hook=None)\n"
                               "@triton.jit\ndef k(x: '*fp32', y, n, m, B: 'tl.constexpr'):\n    pass\n"
                               "@triton.autotune([], key=late, reset_to_zero=[1], pre_hook=lambda a: 0)\n"
                               "@triton.jit\ndef host(x, n):\n    pass\n"
                               "@triton.jit\ndef plain(x):\n    pass\n";
    TkcSource *s;
    TkcTuning t = {.size = sizeof t, .key = "old"};
    EXPECT_INT(tkc_source_from_text(cx, "b.tk", text, strlen(text), TKC_LANGUAGE_TK, &s), TKC_OK);
    EXPECT_INT(tkc_source_tuning(s, "k", &t), TKC_OK);
    EXPECT_STR(t.key, "n,m");
    EXPECT_STR(t.reset_to_zero, "x");
    EXPECT_STR(t.restore_value, "y");
    EXPECT_STR(t.of_host, "prune_configs_by");
    EXPECT_INT(tkc_source_tuning(s, "host", &t), TKC_OK);
    EXPECT(!t.key && !t.reset_to_zero && !t.restore_value);
    EXPECT_STR(t.of_host, "key,reset_to_zero,pre_hook");
    EXPECT_INT(tkc_source_tuning(s, "plain", &t), TKC_OK);
    EXPECT(!t.key && !t.of_host);
    t.key = "old";
    EXPECT_INT(tkc_source_tuning(s, "none", &t), TKC_ERROR);
    EXPECT(!t.key);
    EXPECT_MISUSE(tkc_source_tuning(s, "k", NULL), "there is no place for what @autotune says: it is NULL, or its size is not set");
    EXPECT_MISUSE(tkc_source_tuning(s, "k", &(TkcTuning){0}), "there is no place for what @autotune says: it is NULL, or its size is not set");
    EXPECT_INT(tkc_source_tuning(NULL, "k", &t), TKC_MISUSE);
    tkc_source_free(s);
}

static TkcArtifact *compile(const char *kernel, const TkcDefine *define)
{
    TkcOptions o;
    TkcArtifact *a;
    tkc_options_init(&o);
    o.kernel = kernel;
    o.signature = "s=fp32";
    o.defines = define;
    o.ndefines = define != NULL;
    if (!strcmp(kernel, "plain"))
        o.signature = NULL;
    EXPECT_INT(tkc_compile(source, &o, TKC_EMIT_IR, &a), TKC_OK);
    return a;
}

static void expect_value(const TkcArtifact *a, int i, const char *name, const char *value)
{
    const TkcDefine *d = tkc_artifact_value(a, i);
    EXPECT(d);
    if (!d)
        return;
    EXPECT_STR(d->name, name);
    EXPECT_STR(d->value, value);
}

static void values_taken(void)
{
    int count = -1;
    TkcArtifact *a = compile("tuned", NULL);
    EXPECT_INT(tkc_artifact_config(a, &count), 0);
    EXPECT_INT(count, 2);
    EXPECT_INT(tkc_artifact_config(a, NULL), 0);
    expect_value(a, 0, "B", "16");
    expect_value(a, 1, "H", "32");
    expect_value(a, 2, "M", "'lo'");
    EXPECT(!tkc_artifact_value(a, 3) && !tkc_artifact_value(a, -1));
    tkc_artifact_free(a);
    a = compile("tuned", &(TkcDefine){"B", "32"}); /* what the first contradicts */
    EXPECT_INT(tkc_artifact_config(a, &count), 1);
    expect_value(a, 2, "M", "'hi'");
    tkc_artifact_free(a);
    a = compile("tuned", &(TkcDefine){"B", "8"}); /* what both do */
    EXPECT_INT(tkc_artifact_config(a, &count), -1);
    EXPECT_INT(count, 0);
    expect_value(a, 0, "B", "8");
    tkc_artifact_free(a);
}

static void values_of_none(void)
{
    int count = 7;
    TkcArtifact *a = compile("plain", NULL);
    EXPECT_INT(tkc_artifact_config(a, &count), -1);
    EXPECT(count == 0 && !tkc_artifact_value(a, 0));
    tkc_artifact_free(a);
    count = 7;
    EXPECT_INT(tkc_artifact_config(NULL, &count), -1);
    EXPECT(count == 0 && !tkc_artifact_value(NULL, 0));
}

/* What run-time parameters will be given is for heuristics, and for them alone. */
static void arguments(void)
{
    static const char text[] = "import triton\ndef tail(args):\n    return args['n'] % args['B']\n"
                               "@triton.heuristics({'TAIL': tail, 'ONE': lambda a: a['alpha'] == 1.0 and a['n'] > 0})\n"
                               "@triton.jit\ndef k(x: '*fp32', n: 'i32', alpha: 'fp32', TAIL: 'tl.constexpr', ONE: 'tl.constexpr', B: 'tl.constexpr'):\n"
                               "    pass\n";
    TkcDefine given[] = {{"n", "7"}, {"alpha", "2.0"}};
    const TkcDefine four = {"B", "4"};
    TkcSource *s;
    TkcOptions o;
    TkcArtifact *a;
    TkcTuning t = {.size = sizeof t};
    EXPECT_INT(tkc_source_from_text(cx, "h.tk", text, strlen(text), TKC_LANGUAGE_TK, &s), TKC_OK);
    EXPECT_INT(tkc_source_tuning(s, "k", &t), TKC_OK);
    EXPECT_STR(t.asked, "n,B,alpha");
    tkc_options_init(&o);
    o.defines = &four;
    o.ndefines = 1;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    o.arguments = given;
    o.narguments = 2;
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_OK);
    expect_value(a, 0, "TAIL", "3");
    expect_value(a, 1, "ONE", "False");
    EXPECT_INT(tkc_artifact_param_count(a), 3);
    EXPECT_INT(tkc_artifact_param_divisibility(a, 1), 1);
    tkc_artifact_free(a);
    given[1].name = "beta";
    EXPECT_INT(tkc_compile(s, &o, TKC_EMIT_IR, &a), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(cx), "a value is given for 'beta'"));
    given[1].value = NULL;
    EXPECT_MISUSE(tkc_compile(s, &o, TKC_EMIT_IR, &a), "an argument has no name or no value");
    o.arguments = NULL;
    EXPECT_MISUSE(tkc_compile(s, &o, TKC_EMIT_IR, &a), "the arguments are NULL");
    tkc_source_free(s);
}

/* Launches a jit of `plain` with that list of warnings. */
static TkcStatus launch(const char *warnings)
{
    TkcDevice *dev;
    TkcJit *jit;
    TkcPtr x;
    TkcOptions o;
    char list[64];
    tkc_options_init(&o);
    o.kernel = "plain";
    o.warnings = warnings ? strcpy(list, warnings) : NULL;
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &dev), TKC_OK);
    EXPECT_INT(tkc_alloc(dev, 4, &x), TKC_OK);
    EXPECT_INT(tkc_copy_in(dev, x, (float[]){0}, 4), TKC_OK);
    EXPECT_INT(tkc_jit_new(dev, source, &o, &jit), TKC_OK);
    strcpy(list, "the caller's text is gone");
    warned = 0;
    TkcArg arg = tkc_pointer("*fp32", x, 4);
    TkcStatus status = tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, &arg, 1);
    tkc_jit_free(jit);
    tkc_device_free(dev);
    return status;
}

static void warnings_of_a_jit(void)
{
    EXPECT_INT(launch(NULL), TKC_OK);
    EXPECT_INT(warned, 1);
    EXPECT_INT(launch("no-unused-value"), TKC_OK);
    EXPECT_INT(warned, 0);
    EXPECT_INT(launch("no-unused-value,,unused-value"), TKC_OK);
    EXPECT_INT(warned, 1);
    EXPECT_INT(launch("no-unused-valeu"), TKC_ERROR);
    EXPECT_STR(tkc_last_error(cx), "error: there is no warning 'unused-valeu'\n"
                                   "note: did you mean 'unused-value'?\n");
}

static void names_of_warnings(void)
{
    const char *what = NULL, *name;
    size_t n = 0;
    while ((name = tkc_warning_name(n, &what))) {
        EXPECT(*name && what && *what);
        n++;
    }
    EXPECT(n > 5 && !what);
    EXPECT_STR(tkc_warning_name(0, NULL), tkc_warning_name(0, &what));
}

int main(void)
{
    cx = tkc_context_new();
    tkc_context_on_diagnostic(cx, count_warnings, NULL);
    EXPECT_INT(tkc_source_from_text(cx, "t.tk", tuned_text, strlen(tuned_text), TKC_LANGUAGE_TK,
                                    &source), TKC_OK);
    RUN(configurations);
    RUN(configurations_of_none);
    RUN(beside);
    RUN(values_taken);
    RUN(values_of_none);
    RUN(arguments);
    RUN(warnings_of_a_jit);
    RUN(names_of_warnings);
    tkc_source_free(source);
    tkc_context_free(cx);
    return expect_done();
}
