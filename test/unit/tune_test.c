/* Choosing among configurations: what is measured, on what, what the file of results is for. The kernels check what
   they find in their arrays, so that a run on arrays that are not as they should be is none. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "jit/tune.h"
#include "tkc/runtime.h"

static const char text[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.autotune([triton.Config({'LOOPS': 40000}), triton.Config({'LOOPS': 1}, num_warps=2),\n"
    "                  triton.Config({'LOOPS': 10000})], key=['n'])\n"
    "@triton.jit\n"
    "def wait(x: '*i32', n, LOOPS: tl.constexpr):\n"
    "    a = 1\n"
    "    for i in range(LOOPS * n):\n"
    "        a = a * 3 + i\n"
    "    tl.store(x, a)\n"
    "@triton.autotune([triton.Config({'MODE': 'one two'}), triton.Config({'MODE': 'two  one'})], key=[])\n"
    "@triton.jit\n"
    "def quoted(x: '*i32', n, MODE: tl.constexpr):\n"
    "    tl.static_assert(MODE == 'two  one')\n"
    "    tl.store(x, n)\n"
    "names = ['seven']\n"
    "@triton.autotune([triton.Config({'STEP': 1}), triton.Config({'STEP': 2})], ['STEP'], reset_to_zero=('zero',),\n"
    "                 restore_value=names + ['any_'], prune_configs_by={'top_k': 1}, pre_hook=hook)\n"
    "@triton.jit\n"
    "def checks(zero: '*i32', seven: '*i32', any_: '*i32', STEP: tl.constexpr):\n"
    "    tl.device_assert(tl.load(zero) == 0)\n"
    "    tl.device_assert(tl.load(seven) == 7)\n"
    "    tl.store(zero, STEP)\n"
    "    tl.store(seven, STEP)\n"
    "    tl.store(any_, tl.load(any_) + STEP)\n";

typedef struct Bed {
    TkcContext *cx;
    TkcDevice *dev;
    TkcSource *source;
    TkcOptions options;
    TkcTuneOptions tune;
    TkcPtr x[3];
    char lines[4096]; /* of progress */
    int grids;
} Bed;

static void note_line(const char *line, void *user)
{
    Bed *b = user;
    strcat(strcat(b->lines, line), "\n");
}

static void one_program(int64_t grid[3], const TkcDefine *values, size_t n, void *user)
{
    EXPECT(n == 1 && (!strcmp(values[0].name, "LOOPS") || !strcmp(values[0].name, "STEP") ||
                      !strcmp(values[0].name, "MODE")));
    grid[0] = grid[1] = grid[2] = 1;
    ++((Bed *)user)->grids;
}

static void bed_make(Bed *b, const char *kernel)
{
    *b = (Bed){.cx = tkc_context_new()};
    tkc_options_init(&b->options);
    b->options.kernel = kernel;
    b->tune = (TkcTuneOptions){.size = sizeof b->tune, .warmup_ms = 1, .run_ms = 5,
                               .key = kernel && !strcmp(kernel, "wait") ? "n" : "", .progress = note_line, .user = b};
    EXPECT_INT(tkc_device_open(b->cx, "cpu", 0, &b->dev), TKC_OK);
    EXPECT_INT(tkc_source_from_text(b->cx, "w.tk", text, strlen(text), TKC_LANGUAGE_TK, &b->source), TKC_OK);
    for (int i = 0; i < 3; i++) {
        const int value = (int[]){0, 7, 5}[i];
        EXPECT_INT(tkc_alloc(b->dev, 4, &b->x[i]), TKC_OK);
        EXPECT_INT(tkc_copy_in(b->dev, b->x[i], &value, 4), TKC_OK);
    }
}

static void bed_free(Bed *b)
{
    for (int i = 0; i < 3; i++)
        EXPECT_INT(tkc_free(b->dev, b->x[i]), TKC_OK);
    tkc_source_free(b->source);
    tkc_device_free(b->dev);
    tkc_context_free(b->cx);
}

static int value_of(const Bed *b, int i)
{
    int n = -1;
    EXPECT_INT(tkc_copy_out(b->dev, &n, b->x[i], 4), TKC_OK);
    return n;
}

/* The chosen number, -1: none; its jit is launched. */
static int tune(Bed *b, int n)
{
    TkcJit *jit = NULL;
    int config = -1;
    const TkcArg args[] = {tkc_pointer("*i32", b->x[0], 4), tkc_int(n)};
    b->lines[0] = 0;
    TkcStatus status = tkc_tune(b->dev, b->source, &b->options, &b->tune, one_program, b, NULL, args, 2, &jit, &config);
    EXPECT((status == TKC_OK) == (jit != NULL));
    if (status != TKC_OK)
        return -1;
    EXPECT_INT(value_of(b, 0), 0);
    EXPECT_INT(tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, 2), TKC_OK);
    EXPECT(value_of(b, 0) != 0);
    EXPECT_INT(tkc_copy_in(b->dev, b->x[0], &(int){0}, 4), TKC_OK);
    tkc_jit_free(jit);
    return config;
}

static void read_file(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;
    out[n] = 0;
    if (f)
        fclose(f);
}

static void write_file(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    EXPECT(f != NULL);
    fputs(content, f);
    fclose(f);
}

static size_t leave_slow(size_t *which, size_t n, const char *const *configs, void *user)
{
    (void)user;
    EXPECT(n == 3 && !strcmp(configs[1], "LOOPS=1 num_warps=2"));
    which[0] = 2;
    which[1] = 0;
    return 2;
}

static size_t leave_none(size_t *which, size_t n, const char *const *configs, void *user)
{
    (void)which, (void)n, (void)configs, (void)user;
    return 0;
}

static size_t leave_other(size_t *which, size_t n, const char *const *configs, void *user)
{
    (void)configs, (void)user;
    which[0] = n;
    return 1;
}

static size_t leave_more(size_t *which, size_t n, const char *const *configs, void *user)
{
    (void)which, (void)configs, (void)user;
    return n + 1;
}

static void fastest(void)
{
    Bed b;
    bed_make(&b, "wait");
    EXPECT_INT(tune(&b, 2), 1);
    EXPECT_INT(b.grids, 3);
    EXPECT(strstr(b.lines, "wait: 1 of 3, LOOPS=40000\n") == b.lines);
    EXPECT(strstr(b.lines, "\nwait: 2 of 3, LOOPS=1 num_warps=2; about ") != NULL);
    EXPECT(strstr(b.lines, " s left\n") != NULL);
    b.tune.prune = leave_slow;
    EXPECT_INT(tune(&b, 2), 2);
    b.tune.prune = leave_none;
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT_STR(tkc_last_error(b.cx), "error: prune leaves none of the 3 configurations\n");
    b.tune.prune = leave_other;
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT_STR(tkc_last_error(b.cx), "error: prune leaves what is none of the 3 configurations\n");
    b.tune.prune = leave_more;
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT_STR(tkc_last_error(b.cx), "error: prune leaves what is none of the 3 configurations\n");
    b.tune.mode = TKC_TUNE_OFF;
    b.lines[0] = 0;
    EXPECT_INT(tune(&b, 2), 0);
    b.tune.mode = TKC_TUNE_FIRST;
    EXPECT_INT(tune(&b, 2), 0);
    EXPECT_STR(b.lines, "");
    bed_free(&b);
}

/* A list of the caller's, of which one does not compile; then none does. */
static void given(void)
{
    Bed b;
    bed_make(&b, "wait");
    b.tune.configs = (const char *const[]){"LOOPS=no", "LOOPS=20000", "LOOPS=2 num_stages=2"};
    b.tune.nconfigs = 3;
    EXPECT_INT(tune(&b, 2), 2);
    EXPECT_STR(tkc_last_error(b.cx), "");
    b.tune.nconfigs = 1;
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT(*tkc_last_error(b.cx));
    b.tune.configs = (const char *const[]){"LOOPS"};
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT_STR(tkc_last_error(b.cx), "error: the configuration 'LOOPS' is not NAME=VALUE NAME=VALUE …\n");
    b.tune.nconfigs = 0;
    EXPECT_INT(tune(&b, 2), -1);
    EXPECT_STR(tkc_last_error(b.cx), "error: there are no configurations to choose among\n");
    bed_free(&b);
}

/* Read first, believed, added to; another value of a key is another line. */
static void results(const char *path)
{
    Bed b;
    char now[4096], *end;
    bed_make(&b, "wait");
    b.tune.file = path;
    unlink(path);
    write_file(path, "# kept\n");
    EXPECT_INT(tune(&b, 2), 1);
    read_file(path, now, sizeof now);
    EXPECT(strstr(now, "# kept\nwait | interpreter of the block IR | x=*i32 n=2:i32 | LOOPS=1 num_warps=2 | ") == now);
    end = strrchr(now, ' ');
    EXPECT_STR(end, " ms\n");
    EXPECT_INT(tune(&b, 2), 1);
    EXPECT_STR(b.lines, "");
    write_file(path, "wait | another | x=*i32 n=2:i32 | LOOPS=10000 | 1 ms\n"
                     "wait | interpreter of the block IR | x=*i32 n=22:i32 | LOOPS=10000 | 1 ms\n"
                     "wait | interpreter of the block IR | x=*i32 n=2:i32 m=i32 | LOOPS=10000 | 1 ms\n"
                     "wait | interpreter of the block IR | x=*i32 n=2:i32 | LOOPS=40000 | 1 ms");
    EXPECT_INT(tune(&b, 2), 0);
    EXPECT_STR(b.lines, "");
    b.tune.mode = TKC_TUNE_FIRST;
    EXPECT_INT(tune(&b, 22), 2);
    b.tune.mode = TKC_TUNE_OFF;
    EXPECT_INT(tune(&b, 22), 0);
    b.tune.mode = TKC_TUNE_MEASURE;
    EXPECT_INT(tune(&b, 3), 1);
    EXPECT(*b.lines);
    /* One that is not among the configurations any more is measured again, and its line replaced. */
    write_file(path, "wait | interpreter of the block IR | x=*i32 n=2:i32 | LOOPS=5 | 1 ms\nlast\n");
    EXPECT_INT(chmod(path, 0640), 0);
    EXPECT_INT(tune(&b, 2), 1);
    read_file(path, now, sizeof now);
    struct stat kept; /* others may read it as before */
    EXPECT(!stat(path, &kept) && (kept.st_mode & 0777) == 0640);
    EXPECT(strstr(now, "last\nwait | interpreter of the block IR | x=*i32 n=2:i32 | LOOPS=1 num_warps=2 | ") == now);
    b.tune.file = "/nowhere/results";
    EXPECT_INT(tune(&b, 2), 1);
    unlink(path);
    bed_free(&b);
}

/* A line is as long as its kernel needs; a number's type is part of it. */
static void long_lines(const char *path)
{
    enum { MANY = 60 };
    char kernel[8192], now[8192], name[80];
    TkcArg args[MANY];
    Bed b;
    bed_make(&b, NULL);
    tkc_source_free(b.source);
    strcpy(kernel, "import triton\nimport triton.language as tl\n@triton.jit\ndef many(x: '*i32'");
    for (int i = 1; i < MANY; i++) sprintf(kernel + strlen(kernel), ", a_parameter_of_a_long_name_%d", i);
    strcat(kernel, ", LOOPS: tl.constexpr):\n    tl.store(x, a_parameter_of_a_long_name_59 + LOOPS)\n");
    EXPECT_INT(tkc_source_from_text(b.cx, "m.tk", kernel, strlen(kernel), TKC_LANGUAGE_TK, &b.source), TKC_OK);
    args[0] = tkc_pointer("*i32", b.x[0], 4);
    for (int i = 1; i < MANY; i++) args[i] = tkc_int(i);
    snprintf(name, sizeof name, "a_parameter_of_a_long_name_58,a_parameter_of_a_long_name_59");
    b.tune.key = name;
    b.tune.file = path;
    b.tune.configs = (const char *const[]){"LOOPS=1", "LOOPS=2"};
    b.tune.nconfigs = 2;
    unlink(path);
    for (int turn = 0; turn < 5; turn++) { /* 0, 2, 4 are known, or will be; 1, 3 differ in the last argument alone */
        TkcJit *jit = NULL;
        b.lines[0] = 0;
        args[MANY - 1] = turn == 1 ? tkc_int(7) : tkc_int(MANY - 1);
        if (turn == 3) args[MANY - 1].type = "i64";
        if (turn == 3) args[MANY - 2] = tkc_float(0.5);
        else args[MANY - 2] = tkc_int(58);
        EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &b.tune, one_program, &b, NULL, args, MANY, &jit, NULL), TKC_OK);
        EXPECT_INT(*b.lines != 0, turn == 0 || turn == 1 || turn == 3);
        tkc_jit_free(jit);
    }
    read_file(path, now, sizeof now);
    EXPECT(strstr(now, "name_1=i32 ") && strstr(now, "name_59=59:i32 | LOOPS="));
    EXPECT(strstr(now, "name_59=7:i32 | LOOPS=") && strstr(now, "name_58=0.5:fp32 a_parameter_of_a_long_name_59=59:i64 | LOOPS="));
    unlink(path);
    bed_free(&b);
}

/* The first within 1 % of the fastest, whichever that is, and in whatever order they come. */
static void ties(void)
{
    const double none = INFINITY;
    EXPECT_INT(tune_pick((double[]){100, 99.5, 98.5}, 3), 2);
    EXPECT_INT(tune_pick((double[]){100, 99.2, 99.1}, 3), 0);
    EXPECT_INT(tune_pick((double[]){100, 99.2, 98.5}, 3), 1); /* within 1 % of the third, not of the first */
    EXPECT_INT(tune_pick((double[]){100, 98.9, 97.95}, 3), 1);
    EXPECT_INT(tune_pick((double[]){50, 49.4, 100}, 3), 1);
    EXPECT_INT(tune_pick((double[]){none, 3, 2, none, 2}, 5), 2);
    EXPECT_INT(tune_pick((double[]){0, 0}, 2), 0);
    EXPECT_INT(tune_pick((double[]){none, none}, 2), 2);
    EXPECT_INT(tune_pick(NULL, 0), 0);
}

static int tune_checks(Bed *b, size_t bytes)
{
    TkcJit *jit = NULL;
    int config = -1;
    const TkcArg args[] = {tkc_pointer("*i32", b->x[0], bytes), tkc_pointer("*i32", b->x[1], 4),
                           tkc_pointer("*i32", b->x[2], 4)};
    b->tune.configs = (const char *const[]){"STEP=1", "STEP=2"};
    b->tune.nconfigs = 2;
    TkcStatus status = tkc_tune(b->dev, b->source, &b->options, &b->tune, one_program, b, NULL, args, 3, &jit, &config);
    tkc_jit_free(jit);
    return status == TKC_OK ? config : -1;
}

/* Each run finds its arrays as they were, or 0; the caller's are as they were when all is done. */
static void arrays(void)
{
    Bed b;
    bed_make(&b, "checks");
    b.options.debug = true;
    b.tune.reset_to_zero = b.tune.restore_value = "";
    EXPECT_INT(tune_checks(&b, 4), -1); /* nothing is put back: the second run finds what the first has done */
    b.tune.reset_to_zero = "zero";
    EXPECT_INT(tune_checks(&b, 4), -1);
    b.tune.restore_value = "any_,seven";
    EXPECT(tune_checks(&b, 4) >= 0);
    EXPECT(value_of(&b, 0) == 0 && value_of(&b, 1) == 7 && value_of(&b, 2) == 5);
    EXPECT_INT(tkc_copy_in(b.dev, b.x[0], &(int){3}, 4), TKC_OK); /* the runs' is 0 all the same */
    EXPECT(tune_checks(&b, 4) >= 0);
    EXPECT_INT(value_of(&b, 0), 3);
    EXPECT_INT(tune_checks(&b, 0), -1);
    EXPECT_STR(tkc_last_error(b.cx),
               "error: argument 'zero': its size is not known, and tuning runs on a copy of it\n");
    bed_free(&b);
}

static void count_warnings(const TkcDiagnostic *d, void *user)
{
    Bed *b = user;
    if (d->severity == TKC_WARNING)
        strcat(strcat(b->lines, d->text), "\n");
}

/* What @autotune says holds, where the caller says nothing; what only Python can do is told. */
static void decorated(const char *path)
{
    Bed b;
    char now[4096];
    bed_make(&b, "wait");
    b.tune.key = NULL;
    b.tune.file = path;
    unlink(path);
    EXPECT_INT(tune(&b, 2), 1);
    read_file(path, now, sizeof now);
    EXPECT(strstr(now, "x=*i32 n=2:i32 | LOOPS=1 num_warps=2 | ") != NULL);
    b.tune.key = "";
    EXPECT_INT(tune(&b, 2), 1);
    EXPECT(*b.lines);
    read_file(path, now, sizeof now);
    EXPECT(strstr(now, "x=*i32 n=i32 | LOOPS=1 num_warps=2 | ") != NULL);
    unlink(path);
    bed_free(&b);
    bed_make(&b, "checks");
    b.options.debug = true;
    b.tune.progress = NULL;
    tkc_context_on_diagnostic(b.cx, count_warnings, &b);
    EXPECT(tune_checks(&b, 4) >= 0);
    EXPECT_STR(b.lines, "the prune_configs_by of @autotune is Python's, and is not used here; say it in TkcTuneOptions\n"
                        "the pre_hook of @autotune is Python's, and is not used here\n");
    b.lines[0] = 0;
    b.tune.prune = leave_none;
    b.tune.mode = TKC_TUNE_FIRST;
    EXPECT(tune_checks(&b, 4) >= 0);
    EXPECT_STR(b.lines, "the pre_hook of @autotune is Python's, and is not used here\n");
    bed_free(&b);
}

/* A program that the device has no room for is none of those to choose among. */
static void no_room(void)
{
    static const char wide[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                               "def wide(x: '*i32', N: tl.constexpr):\n    at = tl.arange(0, N)\n"
                               "    v = tl.load(x + at)\n    tl.debug_barrier()\n    tl.store(x + (N - 1 - at), v)\n";
    Bed b;
    TkcJit *jit = NULL;
    bed_make(&b, NULL);
    for (int i = 0; i < 3; i++) EXPECT_INT(tkc_free(b.dev, b.x[i]), TKC_OK);
    tkc_source_free(b.source);
    tkc_device_free(b.dev);
    EXPECT_INT(tkc_device_open(b.cx, "simt", 0, &b.dev), TKC_OK);
    EXPECT_INT(tkc_source_from_text(b.cx, "w.tk", wide, strlen(wide), TKC_LANGUAGE_TK, &b.source), TKC_OK);
    for (int i = 0; i < 3; i++) EXPECT_INT(tkc_alloc(b.dev, 4, &b.x[i]), TKC_OK);
    b.tune.configs = (const char *const[]){"N=131072 num_warps=32"};
    b.tune.nconfigs = 1;
    const TkcArg args[] = {tkc_pointer("*i32", b.x[0], 4)};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &b.tune, one_program, &b, NULL, args, 1, &jit, NULL), TKC_ERROR);
    EXPECT(strstr(tkc_last_error(b.cx), "has no room for a program of this configuration\n") != NULL);
    bed_free(&b);
}

/* A value with blanks in it is one word. */
static void words(void)
{
    Bed b;
    bed_make(&b, "quoted");
    EXPECT_INT(tune(&b, 2), 1);
    bed_free(&b);
}

static void misuse(void)
{
    Bed b;
    TkcJit *jit = NULL;
    TkcTuneOptions unset = {0}, wrong;
    bed_make(&b, "wait");
    EXPECT_INT(tkc_tune(NULL, b.source, &b.options, NULL, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, NULL, one_program, &b, NULL, NULL, 0, NULL, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the place for the jit is NULL\n");
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, NULL, NULL, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: there is no function that gives the grid\n");
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, NULL, one_program, &b, NULL, NULL, 1, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the arguments are NULL\n");
    EXPECT_INT(tkc_tune(b.dev, NULL, &b.options, NULL, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the source is NULL, or freed\n");
    EXPECT_INT(tkc_tune(b.dev, b.source, NULL, NULL, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the options are NULL\n");
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &unset, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the options are not initialized: their size is not set\n");
    wrong = (TkcTuneOptions){.size = sizeof wrong, .mode = (TkcTuneMode)3};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &wrong, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: there is no such mode of tuning\n");
    wrong = (TkcTuneOptions){.size = sizeof wrong, .configs = (const char *const[]){"LOOPS=1", NULL}, .nconfigs = 2};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &wrong, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: a configuration is NULL\n");
    wrong = (TkcTuneOptions){.size = sizeof wrong, .key = "n, x"};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &wrong, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the kernel has no parameter ' x', which 'key' names\n");
    wrong = (TkcTuneOptions){.size = sizeof wrong, .reset_to_zero = "x,xx"};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &wrong, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the kernel has no parameter 'xx', which 'reset_to_zero' names\n");
    wrong = (TkcTuneOptions){.size = sizeof wrong, .restore_value = "LOOP"};
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, &wrong, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the kernel has no parameter 'LOOP', which 'restore_value' names\n");
    b.options.size = 0;
    EXPECT_INT(tkc_tune(b.dev, b.source, &b.options, NULL, one_program, &b, NULL, NULL, 0, &jit, NULL), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(b.cx), "error: the options are not initialized: call tkc_options_init first\n");
    bed_free(&b);
}

/* One choice, for tune-memory.py: what is chosen and launched, or what is said. */
static int once(const char *path)
{
    Bed b = {.cx = tkc_context_new()};
    TkcJit *jit = NULL;
    int config = -1, got = 0;
    if (!b.cx) return puts("out of memory"), 1;
    tkc_options_init(&b.options);
    b.options.kernel = "wait";
    b.tune = (TkcTuneOptions){.size = sizeof b.tune, .warmup_ms = 0.1, .run_ms = 0.1, .file = path};
    b.tune.configs = (const char *const[]){"LOOPS=1000", "LOOPS=1"};
    b.tune.nconfigs = 2;
    TkcStatus status = tkc_device_open(b.cx, "cpu", 0, &b.dev);
    if (status == TKC_OK) status = tkc_source_from_text(b.cx, "w.tk", text, strlen(text), TKC_LANGUAGE_TK, &b.source);
    if (status == TKC_OK) status = tkc_alloc(b.dev, 4, &b.x[0]);
    const TkcArg args[] = {tkc_pointer("*i32", b.x[0], 4), tkc_int(1)};
    if (status == TKC_OK)
        status = tkc_tune(b.dev, b.source, &b.options, &b.tune, one_program, &b, NULL, args, 2, &jit, &config);
    if (status == TKC_OK) status = tkc_launch(jit, (int64_t[]){1, 1, 1}, NULL, args, 2);
    if (status == TKC_OK) status = tkc_copy_out(b.dev, &got, b.x[0], 4);
    if (status == TKC_OK) printf("chosen %d, %s\n", config, got ? "launched" : "not launched");
    else printf("status %d: %s", (int)status, tkc_last_error(b.cx));
    tkc_jit_free(jit);
    if (b.x[0]) tkc_free(b.dev, b.x[0]);
    tkc_source_free(b.source);
    tkc_device_free(b.dev);
    tkc_context_free(b.cx);
    return status != TKC_OK;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return once(argv[1]);
    EXPECT(argc == 2);
    RUN(fastest);
    RUN(given);
    printf("results\n"), results(argv[1]);
    printf("long_lines\n"), long_lines(argv[1]);
    RUN(ties);
    RUN(arrays);
    printf("decorated\n"), decorated(argv[1]);
    RUN(no_room);
    RUN(words);
    RUN(misuse);
    return expect_done();
}
