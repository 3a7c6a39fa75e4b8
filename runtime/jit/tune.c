/* The fastest of a kernel's configurations. In: arguments as for a launch. Out: a jit of the one
   that the file of results names, or that measuring finds (bench.c), on copies of the arrays. */
#include "tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "tkc/clock.h"

enum { MOST_VALUES = 64 };

/* A configuration's text taken apart. */
typedef struct Config {
    char *text;
    TkcDefine values[MOST_VALUES];
    size_t nvalues;
    int num_warps, num_stages;
} Config;

/* An array that runs may change. */
typedef struct Copy {
    TkcPtr memory, at;
    size_t bytes;
    void *host; /* what it was, or is to be */
    TkcDescriptor descriptor;
    bool is_zeroed, is_restored;
} Copy;

typedef struct Tuning {
    TkcDevice *dev;
    TkcContext *cx;
    TkcSource *source;
    const TkcOptions *options;
    TkcTuneOptions o;
    TkcGridFn grid;
    void *user, *stream;
    const TkcArg *args;
    size_t nargs;
    Bytes head;
    Copy *copies;     /* of each argument; no bytes: none */
    TkcArg *scratch;  /* the arguments with them */
    TkcStatus status; /* of what goes on between runs */
} Tuning;

/* ---- a configuration's jit ---- */

/* Cuts the next word off; NULL: there is none. Blanks between quotes are part of it. */
static char *cut_word(char **rest)
{
    char *word = *rest + strspn(*rest, " "), *p = word, quote = 0;
    for (; *p && (quote || *p != ' '); p++) {
        if (*p == quote) quote = 0;
        else if (!quote && (*p == '\'' || *p == '"')) quote = *p;
    }
    *rest = *p ? p + 1 : p;
    *p = 0;
    return *word ? word : NULL;
}

/* "BLOCK=64 num_warps=4" */
static bool read_config(const char *text, Config *c)
{
    *c = (Config){.text = strdup(text)};
    char *rest = c->text, *word;
    while (rest && (word = cut_word(&rest))) {
        char *eq = strchr(word, '=');
        if (!eq || eq == word || c->nvalues == MOST_VALUES) return false;
        *eq = 0;
        if (!strcmp(word, "num_warps")) c->num_warps = atoi(eq + 1);
        else if (!strcmp(word, "num_stages")) c->num_stages = atoi(eq + 1);
        else c->values[c->nvalues++] = (TkcDefine){word, eq + 1};
    }
    return c->text != NULL;
}

static TkcStatus make_jit(const Tuning *t, const Config *c, TkcJit **out)
{
    TkcOptions o;
    const char *wrong = tkc_options_read(&o, t->options);
    if (wrong) return tkc_refuse(t->cx, TKC_MISUSE, "%s", wrong);
    TkcDefine *defines = calloc(o.ndefines + c->nvalues + 1, sizeof *defines);
    if (!defines) return tkc_no_memory(t->cx);
    if (o.ndefines) memcpy(defines, o.defines, o.ndefines * sizeof *defines);
    memcpy(defines + o.ndefines, c->values, c->nvalues * sizeof *defines);
    o.defines = defines;
    o.ndefines += c->nvalues;
    if (c->num_warps) o.num_warps = c->num_warps;
    if (c->num_stages) o.num_stages = c->num_stages;
    TkcStatus status = tkc_jit_new(t->dev, t->source, &o, out);
    free(defines);
    return status;
}

/* Compiled, and there is room for it on the device. */
static TkcStatus prepare(const Tuning *t, const char *text, Config *c, TkcJit **out)
{
    TkcKernelInfo info = {.size = sizeof info};
    if (!read_config(text, c))
        return tkc_refuse(t->cx, TKC_MISUSE, "the configuration '%s' is not NAME=VALUE NAME=VALUE …", text);
    TkcStatus status = make_jit(t, c, out);
    if (status == TKC_OK) status = tkc_jit_prepare(*out, t->args, t->nargs, &info);
    if (status == TKC_OK && !info.unit_programs)
        status = tkc_refuse(t->cx, TKC_ERROR, "%s has no room for a program of this configuration",
                            t->dev->name);
    if (status == TKC_OK) return status;
    tkc_jit_free(*out);
    *out = NULL;
    return status;
}

/* ---- what a choice is for ---- */

static const char *type_of(const TkcArg *a, const OpenParam *p)
{
    if (a->type || p->decl.type) return a->type ? a->type : p->decl.type;
    return a->kind == TKC_ARG_INT || a->kind == TKC_ARG_FLOAT ? launch_number_type(a) : NULL;
}

/* " x=*fp32", " n=i64", and of a key " n=98432:i32". */
static void put_argument(Tuning *t, const TkcArg *a, const OpenParam *p)
{
    const char *name = p->decl.name, *type = type_of(a, p);
    const bool is_key = tkc_has_word(t->o.key, ',', name);
    if (a->kind == TKC_ARG_CONSTEXPR)
        bytes_put(&t->head, " %s=%s", name, a->constexpr_value ? a->constexpr_value : "");
    else if (a->kind == TKC_ARG_INT && is_key)
        bytes_put(&t->head, " %s=%lld:%s", name, (long long)a->integer, type);
    else if (a->kind == TKC_ARG_FLOAT && is_key)
        bytes_put(&t->head, " %s=%.17g:%s", name, a->floating, type);
    else if (type) bytes_put(&t->head, " %s=%s", name, type);
}

/* "add | NVIDIA H200 | x=*fp32 n=98432:i32", with the parameters of a jit of a configuration. */
static TkcStatus make_head(Tuning *t, const TkcJit *jit)
{
    const char *kernel =
        jit->options.kernel ? jit->options.kernel : tkc_source_kernel_name(t->source, 0);
    bytes_put(&t->head, "%s | %s |", kernel, t->dev->name);
    for (size_t i = 0; i < t->nargs; i++) put_argument(t, &t->args[i], &jit->open[i]);
    return t->head.no_memory ? tkc_no_memory(t->cx) : TKC_OK;
}

/* ---- copies ---- */

/* As far from multiples of numbers as the array is: code may count on them. */
static TkcStatus make_copy(const Tuning *t, const char *name, TkcArg *arg, Copy *c)
{
    enum { ALIGNED = 256 };
    const bool is_described = arg->kind == TKC_ARG_DESCRIPTOR;
    const TkcPtr from = is_described ? arg->descriptor->base : arg->pointer;
    *c = (Copy){.bytes = is_described ? arg->descriptor->bytes : arg->bytes,
                .is_zeroed = tkc_has_word(t->o.reset_to_zero, ',', name),
                .is_restored = tkc_has_word(t->o.restore_value, ',', name)};
    if (!from) return TKC_OK;
    if (!c->bytes)
        return tkc_refuse(t->cx, TKC_MISUSE,
                          "argument '%s': its size is not known, and tuning runs on a copy of it",
                          name);
    if (!(c->host = malloc(c->bytes))) return tkc_no_memory(t->cx);
    TkcStatus status = tkc_alloc(t->dev, c->bytes + ALIGNED, &c->memory);
    c->at = c->memory + from % ALIGNED;
    if (status == TKC_OK) status = tkc_copy_out(t->dev, c->host, from, c->bytes);
    if (status == TKC_OK) status = tkc_copy_in(t->dev, c->at, c->host, c->bytes);
    if (c->is_zeroed) memset(c->host, 0, c->bytes);
    if (is_described) {
        c->descriptor = *arg->descriptor;
        c->descriptor.base = c->at;
        arg->descriptor = &c->descriptor;
    } else {
        arg->pointer = c->at;
    }
    return status;
}

static TkcStatus make_copies(Tuning *t, const TkcJit *jit)
{
    TkcStatus status = tkc_synchronize(t->dev, t->stream);
    t->copies = calloc(t->nargs + 1, sizeof *t->copies);
    t->scratch = calloc(t->nargs + 1, sizeof *t->scratch);
    if (!t->copies || !t->scratch) return tkc_no_memory(t->cx);
    if (t->nargs) memcpy(t->scratch, t->args, t->nargs * sizeof *t->args);
    for (size_t i = 0; status == TKC_OK && i < t->nargs; i++)
        if (t->args[i].kind == TKC_ARG_POINTER || t->args[i].kind == TKC_ARG_DESCRIPTOR)
            status = make_copy(t, jit->open[i].decl.name, &t->scratch[i], &t->copies[i]);
    return status;
}

static void free_copies(Tuning *t)
{
    for (size_t i = 0; t->copies && i < t->nargs; i++) {
        if (t->copies[i].memory) tkc_free(t->dev, t->copies[i].memory);
        free(t->copies[i].host);
    }
    free(t->copies);
    free(t->scratch);
}

/* Between runs. */
static void renew(void *user)
{
    Tuning *t = user;
    bool waited = false;
    for (size_t i = 0; t->status == TKC_OK && i < t->nargs; i++) {
        const Copy *c = &t->copies[i];
        if (!c->memory || !(c->is_zeroed || c->is_restored)) continue;
        if (!waited) t->status = tkc_synchronize(t->dev, t->stream);
        waited = true;
        if (t->status == TKC_OK) t->status = tkc_copy_in(t->dev, c->at, c->host, c->bytes);
    }
}

/* ---- measuring ---- */

static void tell(const Tuning *t, size_t i, size_t n, const char *config, double since)
{
    char line[1280];
    if (!t->o.progress) return;
    int len = snprintf(line, sizeof line, "%.*s: %zu of %zu, %s", (int)strcspn(t->head.data, " "),
                       t->head.data, i + 1, n, config);
    if (i && len > 0 && (size_t)len < sizeof line)
        snprintf(line + len, sizeof line - (size_t)len, "; about %.0f s left",
                 (clock_seconds() - since) / (double)i * (double)(n - i));
    t->o.progress(line, t->o.user);
}

/* A configuration that is none for this device is no mistake of anybody's, and another is tried:
   that is muted. Where the host's memory is at an end, or the like, no choice is right. */
static TkcStatus judge(const Tuning *t, TkcStatus status, const char *config)
{
    if (status != TKC_OK && status != TKC_ERROR && status != TKC_MISUSE)
        tkc_report(t->cx, TKC_SEVERITY_ERROR, NULL, "tuning ended at the configuration '%s': %s",
                   config, tkc_status_text(status));
    return status;
}

static bool is_passed_over(TkcStatus status)
{
    return status == TKC_ERROR || status == TKC_MISUSE;
}

static bool measure(Tuning *t, const char *text, double *ms)
{
    Config c;
    TkcJit *jit = NULL;
    TkcTimes times = {.size = sizeof times};
    const TkcBenchOptions how = {.size = sizeof how,
                                 .warmup_ms = t->o.warmup_ms,
                                 .run_ms = t->o.run_ms,
                                 .before = renew,
                                 .user = t};
    int64_t grid[3] = {1, 1, 1};
    tkc_context_mute(t->cx, 1);
    TkcStatus status = prepare(t, text, &c, &jit);
    tkc_context_mute(t->cx, -1);
    status = judge(t, status, text);
    if (status == TKC_OK) {
        t->grid(grid, c.values, c.nvalues, t->user);
        status = tkc_bench(jit, grid, t->stream, t->scratch, t->nargs, &how, &times);
    }
    tkc_jit_free(jit);
    free(c.text);
    *ms = times.median;
    if (status != TKC_OK && !is_passed_over(status)) t->status = status;
    return status == TKC_OK;
}

size_t tune_pick(const double *ms, size_t n)
{
    const double tie = 1.01;
    double least = INFINITY;
    size_t i = 0;
    for (size_t k = 0; k < n; k++) least = fmin(least, ms[k]);
    while (i < n && !(isfinite(ms[i]) && ms[i] <= least * tie)) i++;
    return i;
}

/* The number of the one to take; -1: none can run. ms: room for n. */
static int fastest(Tuning *t, const size_t *which, size_t n, double *ms, double *best_ms)
{
    const double since = clock_seconds();
    for (size_t i = 0; i < n; i++) {
        ms[i] = INFINITY;
        if (t->status != TKC_OK) continue;
        tell(t, i, n, t->o.configs[which[i]], since);
        if (!measure(t, t->o.configs[which[i]], &ms[i])) ms[i] = INFINITY;
    }
    const size_t best = tune_pick(ms, n);
    if (best == n || t->status != TKC_OK) return -1;
    *best_ms = ms[best];
    return (int)which[best];
}

static int compare_numbers(const void *a, const void *b)
{
    return (*(const size_t *)a > *(const size_t *)b) - (*(const size_t *)a < *(const size_t *)b);
}

/* Leaves *n of the configurations. */
static TkcStatus prune(const Tuning *t, size_t *which, size_t *n)
{
    const size_t all = *n;
    if (!t->o.prune) return TKC_OK;
    *n = t->o.prune(which, all, t->o.configs, t->o.user);
    bool known = *n <= all;
    for (size_t i = 0; known && i < *n; i++) known = which[i] < all;
    if (!known)
        return tkc_refuse(t->cx, TKC_MISUSE, "prune leaves what is none of the %zu configurations", all);
    return *n ? TKC_OK
              : tkc_refuse(t->cx, TKC_ERROR, "prune leaves none of the %zu configurations", all);
}

static int measure_all(Tuning *t)
{
    size_t n = t->o.nconfigs, *which = calloc(n, sizeof *which);
    double ms = 0, *times = calloc(n, sizeof *times);
    int best = -1;
    const bool has_room = which && times;
    if (!has_room) t->status = tkc_no_memory(t->cx);
    for (size_t i = 0; has_room && i < n; i++) which[i] = i;
    if (has_room) t->status = prune(t, which, &n);
    if (t->status == TKC_OK) {
        qsort(which, n, sizeof *which, compare_numbers);
        best = fastest(t, which, n, times, &ms);
    }
    free(which);
    free(times);
    const char *why;
    if (best >= 0 && t->o.file &&
        !tune_file_put(t->o.file, t->head.data, t->o.configs[best], ms, &why))
        tkc_report(t->cx, TKC_WARNING, NULL, "the results of tuning cannot be written to '%s': %s",
                   t->o.file, why);
    return best;
}

/* ---- the call ---- */

/* The first that compiles; the last one's errors, when none does. */
static TkcStatus take_first(const Tuning *t, TkcJit **out, int *config)
{
    TkcStatus status = TKC_ERROR;
    for (size_t i = 0; is_passed_over(status) && i < t->o.nconfigs; i++) {
        Config c;
        const int mute = i + 1 < t->o.nconfigs;
        tkc_context_mute(t->cx, mute);
        status = prepare(t, t->o.configs[i], &c, out);
        tkc_context_mute(t->cx, -mute);
        if (mute) judge(t, status, t->o.configs[i]);
        free(c.text);
        *config = (int)i;
    }
    return status;
}

static TkcStatus choose(Tuning *t, TkcJit **out, int *config)
{
    TkcStatus status = take_first(t, out, config);
    if (status != TKC_OK || t->o.mode == TKC_TUNE_OFF) return status;
    status = make_head(t, *out);
    int at = -1;
    if (status == TKC_OK && t->o.file)
        at = tune_file_find(t->o.file, t->head.data, t->o.configs, t->o.nconfigs);
    if (status == TKC_OK && at < 0 && t->o.mode == TKC_TUNE_FIRST) return TKC_OK;
    if (status == TKC_OK && at < 0) {
        status = make_copies(t, *out);
        if (status == TKC_OK) at = measure_all(t);
        free_copies(t);
        if (status == TKC_OK) status = t->status;
        if (status == TKC_OK && at < 0)
            status = tkc_refuse(t->cx, TKC_ERROR, "none of the %zu configurations can run",
                                t->o.nconfigs);
    }
    tkc_jit_free(*out);
    *out = NULL;
    if (status != TKC_OK) return status;
    Config c;
    status = prepare(t, t->o.configs[at], &c, out);
    free(c.text);
    *config = at;
    return status;
}

static bool has_param(const Tuning *t, const char *name, size_t len)
{
    int n = 0;
    if (tkc_source_param_count(t->source, t->options->kernel, &n) != TKC_OK) return false;
    for (int i = 0; i < n; i++) {
        TkcParam p = {.size = sizeof p};
        if (tkc_source_param(t->source, t->options->kernel, i, &p) == TKC_OK &&
            strlen(p.name) == len && !strncmp(p.name, name, len))
            return true;
    }
    return false;
}

/* What the caller names; of the decorator's names the compiler warns. */
static TkcStatus check_names(const Tuning *t, const char *option, const char *list)
{
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',')
        if (!has_param(t, p, strcspn(p, ",")))
            return tkc_refuse(t->cx, TKC_MISUSE, "the kernel has no parameter '%.*s', which '%s' names",
                              (int)strcspn(p, ","), p, option);
    return TKC_OK;
}

/* What is not said here is as the kernel's @autotune has it. */
static TkcStatus take_decorator(Tuning *t)
{
    TkcTuning said = {.size = sizeof said};
    TkcStatus status = tkc_source_tuning(t->source, t->options->kernel, &said);
    if (status == TKC_OK) status = check_names(t, "key", t->o.key);
    if (status == TKC_OK) status = check_names(t, "reset_to_zero", t->o.reset_to_zero);
    if (status == TKC_OK) status = check_names(t, "restore_value", t->o.restore_value);
    const struct {
        const char *name;
        bool is_given;
    } host[] = {{"key", t->o.key},
                {"reset_to_zero", t->o.reset_to_zero},
                {"restore_value", t->o.restore_value},
                {"prune_configs_by", t->o.prune},
                {"pre_hook", false},
                {"post_hook", false}};
    for (size_t i = 0; status == TKC_OK && i < sizeof host / sizeof *host; i++)
        if (!host[i].is_given && tkc_has_word(said.of_host, ',', host[i].name))
            tkc_report(t->cx, TKC_WARNING, NULL,
                       "the %s of @autotune is Python's, and is not used here%s", host[i].name,
                       i < 4 ? "; say it in TkcTuneOptions" : "");
    if (!t->o.key) t->o.key = said.key;
    if (!t->o.reset_to_zero) t->o.reset_to_zero = said.reset_to_zero;
    if (!t->o.restore_value) t->o.restore_value = said.restore_value;
    return status;
}

static const char *find_misuse(Tuning *t, const TkcTuneOptions *tune, TkcJit **out)
{
    const char *wrong = tune ? tkc_take(&t->o, sizeof t->o, tune) : NULL;
    if (wrong) return wrong;
    if ((unsigned)t->o.mode > TKC_TUNE_OFF) return "there is no such mode of tuning";
    for (size_t i = 0; t->o.configs && i < t->o.nconfigs; i++)
        if (!t->o.configs[i]) return "a configuration is NULL";
    if (!out) return "the place for the jit is NULL";
    if (!t->grid) return "there is no function that gives the grid";
    if (t->nargs && !t->args) return "the arguments are NULL";
    if (!tkc_handle_is(t->source, TKC_HANDLE_SOURCE)) return "the source is NULL, or freed";
    return t->options ? NULL : "the options are NULL";
}

TkcStatus tkc_tune(TkcDevice *dev, TkcSource *source, const TkcOptions *options,
                   const TkcTuneOptions *tune, TkcGridFn grid, void *user, void *stream,
                   const TkcArg *args, size_t nargs, TkcJit **out, int *config)
{
    int ignored, count = 0;
    if (out) *out = NULL;
    if (!device_is(dev)) return TKC_MISUSE;
    Tuning t = {.dev = dev,
                .cx = dev->cx,
                .source = source,
                .options = options,
                .grid = grid,
                .user = user,
                .stream = stream,
                .args = args,
                .nargs = nargs};
    const char *wrong = find_misuse(&t, tune, out);
    if (wrong) return tkc_refuse(t.cx, TKC_MISUSE, "%s", wrong);
    TkcStatus status = TKC_OK;
    if (!t.o.configs) {
        status = tkc_source_configs(source, options->kernel, &t.o.configs, &count);
        t.o.nconfigs = (size_t)count;
    }
    if (status == TKC_OK) status = take_decorator(&t);
    if (status == TKC_OK && !t.o.nconfigs)
        status = tkc_refuse(t.cx, TKC_ERROR, "there are no configurations to choose among");
    if (status == TKC_OK) status = choose(&t, out, config ? config : &ignored);
    free(t.head.data);
    return status;
}
