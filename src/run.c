/* -run: arguments from NAME=VALUE (argument.c), a launch, then -save, -print, -check (result.c). */
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "tkc/clock.h"
#include "tkc/expr.h"

/* With the types that -sig gives. */
static bool open_jit(Run *r)
{
    if (tkc_jit_new(r->dev, r->source, &r->o->compile, &r->jit) != TKC_OK) return false;
    for (int i = 0; i < tkc_jit_param_count(r->jit); i++) {
        TkcParam p = {.size = sizeof p};
        if (tkc_jit_param(r->jit, i, &p) != TKC_OK) return false;
        run_find_arg(r, p.name, strlen(p.name))->param = p;
    }
    return true;
}

/* ---- the launch ---- */

static bool read_value(const char *text, int64_t *value)
{
    if (!strcmp(text, "True") || !strcmp(text, "False")) {
        *value = text[0] == 'T';
        return true;
    }
    return number_read(text, value) == NUMBER_FITS;
}

/* x.bytes, of an array. */
static bool lookup_bytes(Run *r, const char *name, size_t len, int64_t *value)
{
    const char *dot = memchr(name, '.', len);
    const RunArg *a = dot ? run_find_arg(r, name, (size_t)(dot - name)) : NULL;
    if (!a || !a->is_array || (size_t)(name + len - dot) != 6 || memcmp(dot, ".bytes", 6))
        return false;
    *value = (int64_t)a->array.bytes;
    return true;
}

/* Values that a configuration or a heuristic gives are known when the kernel is compiled. */
static ExprFound find_number(void *user, const char *name, size_t len, const int64_t *index, int n,
                             ExprNumber *out, char *why, size_t size)
{
    Run *r = user;
    (void)index, (void)n;
    *out = (ExprNumber){.i = r->sweep_value};
    if (r->sweep && strlen(r->sweep) == len && !memcmp(r->sweep, name, len)) return EXPR_FOUND;
    if (lookup_bytes(r, name, len, &out->i)) return EXPR_FOUND;
    RunArg *a = run_find_arg(r, name, len);
    const char *text = run_find_define(r, name, len);
    if (!text && a) text = a->text;
    if (!text) text = command_value(r->info.values, r->info.nvalues, name, len);
    r->is_grid_early |= !text && a && !r->is_compiled;
    const char *near = text ? NULL : run_nearest_param(r, name, len);
    if (!text)
        snprintf(why, size, "there is no '%.*s': neither an argument nor given with -D%s%s%s",
                 (int)len, name, near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
    else if (read_value(text, &out->i)) return EXPR_FOUND;
    else snprintf(why, size, "'%.*s' is '%s', which is not an integer", (int)len, name, text);
    return EXPR_WRONG;
}

/* Before the kernel is compiled, as far as it goes; again afterwards, when it did not. */
static bool read_grid(Run *r)
{
    char why[512];
    int n = 3;
    r->grid[0] = r->grid[1] = r->grid[2] = 1;
    r->is_grid_early = false;
    if (!r->o->grid)
        return command_refuse(
            "how many programs? add -grid X[,Y[,Z]], for example -grid \"cdiv(n,BLOCK)\"");
    const ExprNames names = {find_number, r, true};
    const ExprFound found = expr_list(r->o->grid, &n, r->grid, &names, why, sizeof why);
    if (found == EXPR_FOUND || r->is_grid_early) return true;
    if (strstr(r->o->grid, "lambda") || strstr(r->o->grid, "meta[") || strstr(r->o->grid, "META["))
        return command_refuse(
            "-grid takes the programs alone, not '%s': names of arguments and constexprs "
            "stand for themselves, as in cdiv(n,BLOCK)",
            r->o->grid);
    return command_refuse(
        "-grid '%s': %s%s", r->o->grid, why,
        found == EXPR_MALFORMED ? "; a grid is X[,Y[,Z]], for example 4,2 or cdiv(n,BLOCK)" : "");
}

bool run_read_number(Run *r, const char *option, const char *text, int64_t *out)
{
    char why[512];
    int n = 1;
    const ExprNames names = {find_number, r, true};
    return expr_list(text, &n, out, &names, why, sizeof why) == EXPR_FOUND ||
           command_refuse("%s '%s': %s", option, text, why);
}

/* What was known when compiling, and what it costs. */
static void tell_kernel(const TkcKernelInfo *info)
{
    command_tell_taken(info->config, info->nconfigs, info->values, info->nvalues);
    if (info->registers < 0) command_say("%d warps, %d stages", info->num_warps, info->num_stages);
    else
        command_say(
            "%d warps, %d stages, %d bytes of shared memory, %d registers, %d bytes spilled",
            info->num_warps, info->num_stages, info->shared_bytes, info->registers,
            info->spill_bytes);
}

bool run_compile(Run *r, const TkcArg *args, size_t n)
{
    r->info = (TkcKernelInfo){.size = sizeof r->info};
    double start = clock_ms();
    if (tkc_jit_info(r->jit, args, n, &r->info) != TKC_OK) return false;
    r->is_compiled = true;
    if (r->o->compile.time_report) report_time("compile", clock_ms() - start);
    if (r->o->verbose) tell_kernel(&r->info);
    return !r->is_grid_early || read_grid(r);
}

/* What happened, in one line. */
static void tell_run(const Run *r, double ms)
{
    const char *kernel = r->o->compile.kernel;
    command_say("ran %lld x %lld x %lld programs of '%s' on %s (%s) in %.3f ms",
                (long long)r->grid[0], (long long)r->grid[1], (long long)r->grid[2],
                kernel ? kernel : tkc_source_kernel_name(r->source, 0), tkc_device_kind(r->dev),
                tkc_device_name(r->dev), ms);
}

static bool launch_once(Run *r, const TkcArg *args, size_t n)
{
    if (!run_compile(r, args, n)) return false;
    double start = clock_ms();
    if (tkc_launch(r->jit, r->grid, NULL, args, n) != TKC_OK ||
        tkc_synchronize(r->dev, NULL) != TKC_OK)
        return false;
    double ms = clock_ms() - start;
    if (r->o->compile.time_report) report_time("run", ms);
    fflush(stdout); /* what the kernel printed comes before it */
    tell_run(r, ms);
    return true;
}

bool run_with_arguments(Run *r, bool (*with)(Run *r, const TkcArg *args, size_t n))
{
    TkcArg *args = options_alloc(r->o, (size_t)r->nargs + 1, sizeof *args);
    size_t n = 0;
    for (int i = 0; i < r->nargs; i++)
        if (run_is_given(r, &r->args[i])) args[n++] = r->args[i].arg;
    return with(r, args, n);
}

static void print_line(const char *line, void *user)
{
    const Run *r = user;
    flockfile(stdout); /* lines come from several threads, and are written piece by piece */
    terminal_put_line(stdout, r->is_terminal, line);
    funlockfile(stdout);
}

static bool watch(Run *r)
{
    const Options *o = r->o;
    r->prompt.options = o;
    for (int i = 0; i < o->ntraces; i++)
        if (tkc_device_trace(r->dev, o->traces[i]) != TKC_OK) return false;
    for (int i = 0; i < o->nbreaks; i++)
        if (tkc_device_break(r->dev, o->breaks[i]) != TKC_OK) return false;
    if (o->nbreaks) tkc_device_on_stop(r->dev, prompt, &r->prompt);
    return true;
}

/* Options that mean nothing on the device: one that asks for checks is refused, as they would be
   taken for made; a limit of time is only said to be none. */
static bool check_device_options(const Options *o, const char *kind)
{
    if (o->memory_given && strcmp(kind, "cpu"))
        return command_refuse(
            "-check-memory goes with -device cpu, not with %s%s", kind,
            strcmp(kind, "simt") ? "" : ", which always checks what docs/simt.md lists");
    if (o->timeout > 0 && !strcmp(kind, "cuda"))
        command_say("-timeout has no effect on a GPU, which cannot be interrupted");
    return true;
}

static bool open_device(Run *r)
{
    const Options *o = r->o;
    char simt[64];
    const char *kind = o->device;
    if (kind && !strcmp(kind, "simt") && o->compile.arch) { /* the chip it pretends to be */
        snprintf(simt, sizeof simt, "simt:%s", o->compile.arch);
        kind = simt;
    }
    if (tkc_device_open(r->cx, kind, 0, &r->dev) != TKC_OK) return false;
    if (!check_device_options(o, tkc_device_kind(r->dev))) return false;
    if (o->compile.remarks && !strcmp(tkc_device_arch(r->dev), "cpu"))
        command_say("-R tells of code for a GPU; on cpu there is none");
    tkc_device_set_seed(r->dev, (uint64_t)o->seed);
    tkc_device_set_timeout(r->dev, o->timeout);
    r->is_terminal = isatty(STDOUT_FILENO);
    tkc_device_on_print(r->dev, print_line, r);
    tkc_device_set_memory_checks(r->dev, !o->no_memory_checks);
    return watch(r);
}

bool run_prepare(Run *r)
{
    return run_read_arguments(r) && read_grid(r) && (r->dev || open_device(r)) && open_jit(r) &&
           run_make_values(r) && run_make_arrays(r);
}

static bool run(Run *r)
{
    return run_prepare(r) && run_expect_results(r) && run_with_arguments(r, launch_once) &&
           run_use_results(r);
}

void run_free(Run *r)
{
    tkc_jit_free(r->jit);
    for (int i = 0; i < r->nargs; i++) {
        if (r->args[i].is_array) array_free(&r->args[i].array);
        if (r->args[i].ptr) tkc_free(r->dev, r->args[i].ptr);
    }
}

int command_run(TkcContext *cx, Options *o)
{
    Run r = {.o = o, .cx = cx, .source = command_source(cx, o)};
    bool ok = r.source && run(&r);
    /* A device that failed fails again when it is cleared up. */
    tkc_context_on_diagnostic(cx, NULL, NULL);
    run_free(&r);
    tkc_device_free(r.dev);
    tkc_source_free(r.source);
    return ok ? EXIT_FINE : EXIT_REFUSED;
}
