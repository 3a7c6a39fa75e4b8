/* -bench: how long a run takes, for each -line (a kernel or a configuration) and each value of
   -sweep. In: what -run takes. Out: a table on standard output, a line a value as soon as it is
   known; the same as CSV and as a plot. */
#include <string.h>

#include "bench.h"
#include "output.h"
#include "run.h"

typedef struct Line {
    char label[96];
    const char *words; /* in the place of, and beside, those of the command */
} Line;

typedef struct Bench {
    Options *o;
    TkcContext *cx;
    TkcSource *source;
    TkcDevice *dev;
    Sweep sweep; /* of one value without a name, when there is none */
    const char *kernel;
    Line *lines;
    int nlines;
    TkcTimes *times; /* of line i and value j: [i * sweep.n + j] */
    double *amounts; /* GB or TFLOP that a run is, 0: not said */
    Output csv, plot;
    const Line *line; /* under way */
    int at;
} Bench;

/* ---- lines ---- */

static void add_line(Bench *b, const char *label, size_t len, const char *words)
{
    Line l = {.words = words};
    snprintf(l.label, sizeof l.label, "%.*s", (int)len, label);
    options_push(b->o, b->lines, b->nlines, l);
}

/* "BLOCK=64 num_warps=4" as options: "-DBLOCK=64 -num-warps=4". */
static void add_config(Bench *b, const char *config)
{
    char words[1024] = "", copy[1024], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", config);
    size_t n = 0;
    while (n < sizeof words && (word = words_next(&rest))) {
        const char *value = strchr(word, '=');
        const bool is_warps = !strncmp(word, "num_warps=", 10);
        const bool is_stages = !strncmp(word, "num_stages=", 11);
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s ",
                              is_warps    ? "-num-warps"
                              : is_stages ? "-num-stages"
                                          : "-D",
                              is_warps || is_stages ? value : word);
    }
    add_line(b, config, strlen(config), options_keep(b->o, words));
}

static bool add_configs(Bench *b)
{
    const char *const *texts;
    int n;
    if (tkc_source_configs(b->source, b->o->compile.kernel, &texts, &n) != TKC_OK) return false;
    if (!n)
        return command_refuse(
            "-line @autotune: the kernel has no configurations that are known here");
    for (int i = 0; i < n; i++) add_config(b, texts[i]);
    return true;
}

/* "LABEL: WORDS", or words that are their own label. */
static bool make_lines(Bench *b)
{
    const Options *o = b->o;
    b->kernel = o->compile.kernel ? o->compile.kernel : tkc_source_kernel_name(b->source, 0);
    b->kernel = b->kernel ? b->kernel : ""; /* a file without kernels: run_prepare says so */
    if (!o->nlines) add_line(b, b->kernel, strlen(b->kernel), "");
    for (int i = 0; i < o->nlines; i++) {
        const char *text = o->lines[i], *colon = *text == '-' ? NULL : strstr(text, ": ");
        const size_t len = colon ? (size_t)(colon - text) : strlen(text);
        if (strcmp(text, "@autotune")) add_line(b, text, len, colon ? colon + 2 : text);
        else if (!add_configs(b)) return false;
    }
    return true;
}

/* The command's arguments, but what the line gives itself, and what a kernel of its own has no
   parameter for; and the swept name, where it is one. */
static bool take_arguments(const Bench *b, Options *o)
{
    const int given = o->args.len;
    const Bindings *all = &b->o->args;
    Binding *data = options_alloc(o, (size_t)(given + all->len + 1), sizeof *data);
    bool is_bound = !*b->sweep.name, has = true, ok = true;
    for (int i = 0; i < given; i++) data[i] = o->args.data[i];
    for (int i = 0; i < all->len; i++) {
        if (o->compile.kernel != b->o->compile.kernel)
            ok = ok && command_has_param(o, b->source, o->compile.kernel, all->data[i].name, &has);
        bool again = !has;
        for (int k = 0; k < given; k++) again |= !strcmp(data[k].name, all->data[i].name);
        if (!again) data[o->args.len++] = all->data[i];
    }
    for (int i = 0; i < o->args.len; i++) is_bound |= !strcmp(data[i].name, b->sweep.name);
    for (int i = 0; i < o->ndefines; i++) is_bound |= !strcmp(o->defines[i].name, b->sweep.name);
    if (!is_bound)
        ok = ok && command_has_param(o, b->source, o->compile.kernel, b->sweep.name, &has);
    if (!is_bound && has) data[o->args.len++] = (Binding){b->sweep.name, b->sweep.name};
    o->args.data = data;
    return ok;
}

/* ---- measuring ---- */

static bool measure(Run *r, const TkcArg *args, size_t n)
{
    Bench *b = r->owner;
    const Options *o = r->o;
    const TkcBenchOptions how = {
        .size = sizeof how, .warmup_ms = o->warmup_ms, .run_ms = o->time_ms};
    const size_t cell = (size_t)(b->line - b->lines) * (size_t)b->sweep.n + (size_t)b->at;
    TkcTimes *t = &b->times[cell];
    int64_t amount = 0;
    if (!run_compile(r, args, n)) return false;
    if (o->bytes && !run_read_number(r, "-bytes", o->bytes, &amount)) return false;
    if (o->flops && !run_read_number(r, "-flops", o->flops, &amount)) return false;
    b->amounts[cell] = (double)amount * (o->bytes ? 1e-9 : 1e-12);
    t->size = sizeof *t;
    return tkc_bench(r->jit, r->grid, NULL, args, n, &how, t) == TKC_OK;
}

static bool measure_line(Bench *b, const Line *line, int at)
{
    Options o;
    Run r = {.o = &o, .cx = b->cx, .source = b->source, .dev = b->dev, .owner = b};
    b->line = line;
    b->at = at;
    bool ok = options_read_variant(&o, b->o, "a -line", line->words);
    if (!ok) command_fail("-line '%s': %s", line->label, o.error);
    ok = ok && take_arguments(b, &o);
    if (*b->sweep.name) {
        r.sweep = b->sweep.name;
        r.sweep_value = b->sweep.values[at];
        ok = ok && sweep_apply(&b->sweep, at, &o);
    }
    ok = ok && run_prepare(&r);
    b->dev = r.dev;
    if (b->dev) /* what the kernel prints, it prints many times */
        tkc_device_on_print(b->dev, NULL, NULL);
    ok = ok && run_with_arguments(&r, measure);
    run_free(&r);
    options_fini(&o);
    return ok;
}

/* ---- what it found ---- */

static const char *unit(const Bench *b)
{
    return b->o->bytes ? "GB/s" : b->o->flops ? "TFLOP/s" : "ms";
}

/* In that unit, of a time of the cell. */
static double figure(const Bench *b, size_t cell, double ms)
{
    return b->o->bytes || b->o->flops ? b->amounts[cell] / (ms * 1e-3) : ms;
}

/* Columns are as wide as what they hold. */
static int width_of(const Line *l)
{
    const int n = (int)strlen(l->label);
    return n > 10 ? n : 10;
}

static void print_head(const Bench *b)
{
    command_say("%s on %s (%s), of the median of the runs", unit(b), tkc_device_kind(b->dev),
                tkc_device_name(b->dev));
    printf("%12s", b->sweep.name);
    for (int i = 0; i < b->nlines; i++) printf("  %*s", width_of(&b->lines[i]), b->lines[i].label);
    putchar('\n');
}

static void print_row(const Bench *b, int at)
{
    if (!at) print_head(b);
    printf("%12lld", (long long)b->sweep.values[at]);
    for (int i = 0; i < b->nlines; i++) {
        const size_t cell = (size_t)(i * b->sweep.n + at);
        printf("  %*.4g", width_of(&b->lines[i]), figure(b, cell, b->times[cell].median));
    }
    putchar('\n');
    fflush(stdout);
}

/* Without a sweep there is room for more. */
static void print_lines(const Bench *b)
{
    int width = 0;
    const bool has_rate = b->o->bytes || b->o->flops;
    for (int i = 0; i < b->nlines; i++)
        width = width_of(&b->lines[i]) > width ? width_of(&b->lines[i]) : width;
    command_say("times in ms on %s (%s)", tkc_device_kind(b->dev), tkc_device_name(b->dev));
    printf("%-*s  %10s  %10s  %10s  %10s  %6s", width, "", "median", "20 %", "80 %", "least",
           "runs");
    printf(has_rate ? "  %10s\n" : "\n", unit(b));
    for (int i = 0; i < b->nlines; i++) {
        const TkcTimes *t = &b->times[i];
        printf("%-*s  %10.5g  %10.5g  %10.5g  %10.5g  %6d", width, b->lines[i].label, t->median,
               t->p20, t->p80, t->min, t->runs);
        printf(has_rate ? "  %10.4g\n" : "\n", figure(b, (size_t)i, t->median));
    }
}

static void put_csv_text(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void write_csv(const Bench *b, FILE *f)
{
    const bool has_rate = b->o->bytes || b->o->flops;
    fprintf(f, "%s%sline,median_ms,p20_ms,p80_ms,min_ms,max_ms,mean_ms,runs", b->sweep.name,
            *b->sweep.name ? "," : "");
    fprintf(f, has_rate ? ",%s\n" : "\n", unit(b));
    for (int at = 0; at < b->sweep.n; at++)
        for (int i = 0; i < b->nlines; i++) {
            const size_t cell = (size_t)(i * b->sweep.n + at);
            const TkcTimes *t = &b->times[cell];
            if (*b->sweep.name) fprintf(f, "%lld,", (long long)b->sweep.values[at]);
            put_csv_text(f, b->lines[i].label);
            fprintf(f, ",%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%d", t->median, t->p20, t->p80, t->min,
                    t->max, t->mean, t->runs);
            fprintf(f, has_rate ? ",%.9g\n" : "\n", figure(b, cell, t->median));
        }
}

static void write_plot(const Bench *b, FILE *f)
{
    const size_t cells = (size_t)(b->nlines * b->sweep.n);
    PlotPoint *points = options_alloc(b->o, cells, sizeof *points);
    const char **labels = options_alloc(b->o, (size_t)b->nlines, sizeof *labels);
    char title[256];
    for (size_t i = 0; i < cells; i++) {
        const double slow = figure(b, i, b->times[i].p80), fast = figure(b, i, b->times[i].p20);
        points[i] = (PlotPoint){figure(b, i, b->times[i].median), slow < fast ? slow : fast,
                                slow < fast ? fast : slow};
    }
    for (int i = 0; i < b->nlines; i++) labels[i] = b->lines[i].label;
    snprintf(title, sizeof title, "%s on %s (%s)", b->kernel, tkc_device_kind(b->dev),
             tkc_device_name(b->dev));
    const Plot p = {title,     b->sweep.name,   unit(b), b->sweep.n,
                    b->nlines, b->sweep.values, labels,  points};
    plot_write(f, &p);
}

/* ---- all of it ---- */

static bool open_file(const char *option, const char *path, Output *out)
{
    const char *why = NULL;
    return !path || output_open(out, path, &why) ||
           command_refuse("%s: cannot write '%s': %s", option, path, why);
}

static bool close_file(const char *option, const char *path, Output *out, bool ok)
{
    const char *why = NULL;
    return !out->f || output_close(out, ok, &why) || !ok ||
           command_refuse("%s: cannot write '%s': %s", option, path, why);
}

static bool measure_all(Bench *b)
{
    for (int at = 0; at < b->sweep.n; at++) {
        for (int i = 0; i < b->nlines; i++)
            if (!measure_line(b, &b->lines[i], at)) return false;
        if (*b->sweep.name) print_row(b, at);
    }
    if (!*b->sweep.name) print_lines(b);
    if (b->csv.f) write_csv(b, b->csv.f);
    if (b->plot.f) write_plot(b, b->plot.f);
    return true;
}

static bool bench(Bench *b)
{
    const Options *o = b->o;
    b->sweep.n = 1;
    if ((o->sweep && !sweep_read(&b->sweep, o->sweep)) || !make_lines(b)) return false;
    const size_t cells = (size_t)(b->nlines * b->sweep.n);
    b->times = options_alloc(b->o, cells, sizeof *b->times);
    b->amounts = options_alloc(b->o, cells, sizeof *b->amounts);
    bool ok = open_file("-csv", o->csv, &b->csv) && open_file("-plot", o->plot, &b->plot) &&
              measure_all(b);
    ok &= close_file("-csv", o->csv, &b->csv, ok);
    return close_file("-plot", o->plot, &b->plot, ok) && ok;
}

int command_bench(TkcContext *cx, Options *o)
{
    Bench b = {.o = o, .cx = cx, .source = command_source(cx, o)};
    bool ok = b.source && bench(&b);
    tkc_context_on_diagnostic(cx, NULL, NULL); /* as in command_run */
    tkc_device_free(b.dev);
    tkc_source_free(b.source);
    return ok ? EXIT_FINE : EXIT_REFUSED;
}
