/* -run: arguments from NAME=VALUE, a launch, then -save, -print, -check. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "expr.h"
#include "tkc/runtime.h"

typedef struct RunArg {
    const char *name, *text;  /* text NULL: not given */
    TkcParam param;
    bool is_array;
    Array array;
    TkcPtr ptr;
    char type[24];            /* "*fp32" */
    TkcArg arg;
} RunArg;

typedef struct Run {
    Options *o;
    TkcContext *cx;
    TkcSource *source;
    TkcDevice *dev;
    TkcJit *jit;
    int nargs;
    RunArg *args;             /* one for each parameter of the kernel */
} Run;

static RunArg *find_arg(Run *r, const char *name, size_t len)
{
    for (int i = 0; i < r->nargs; i++)
        if (strlen(r->args[i].name) == len && !memcmp(r->args[i].name, name, len))
            return &r->args[i];
    return NULL;
}

static const char *find_define(const Run *r, const char *name, size_t len)
{
    for (int i = 0; i < r->o->ndefines; i++)
        if (strlen(r->o->defines[i].name) == len && !memcmp(r->o->defines[i].name, name, len))
            return r->o->defines[i].value;
    return NULL;
}

/* ---- parameters ---- */

static bool read_params(Run *r)
{
    const char *kernel = r->o->compile.kernel;
    if (tkc_source_param_count(r->source, kernel, &r->nargs) != TKC_OK)
        return false;
    r->args = calloc((size_t)r->nargs + 1, sizeof *r->args);
    for (int i = 0; r->args && i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        a->param.size = sizeof a->param;
        if (tkc_source_param(r->source, kernel, i, &a->param) != TKC_OK)
            return false;
        a->name = a->param.name;
    }
    return r->args != NULL;
}

static void unknown_name(Run *r, const char *option, const char *name)
{
    fprintf(stderr, "tkc: error: %s%s: the kernel has no parameter '%s'; it has", option, *option ? "" : "argument", name);
    for (int i = 0; i < r->nargs; i++)
        fprintf(stderr, "%s %s", i ? "," : "", r->args[i].name);
    fputc('\n', stderr);
}

static bool bind_texts(Run *r)
{
    const Bindings *b = &r->o->args;
    for (int i = 0; i < b->len; i++) {
        RunArg *a = find_arg(r, b->data[i].name, strlen(b->data[i].name));
        if (!a) {
            unknown_name(r, "", b->data[i].name);
            return false;
        }
        if (a->text) {
            command_fail("argument '%s' is given twice", a->name);
            return false;
        }
        a->text = b->data[i].value;
    }
    return true;
}

/* Defaults for what is not given; everything that is still missing, in one message. */
static bool all_given(Run *r)
{
    int missing = 0;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (!a->text && !find_define(r, a->name, strlen(a->name)))
            a->text = a->param.default_;
        if (a->text || find_define(r, a->name, strlen(a->name)))
            continue;
        fprintf(stderr, missing++ ? " %s%s=%s" : "tkc: error: arguments are missing; add %s%s=%s", a->param.is_constexpr ? "-D" : "", a->name,
                a->param.is_constexpr ? "<value>" : a->param.type && a->param.type[0] == '*' ? "<FILE.npy or rand:f32[shape]>" : "<value>");
    }
    if (missing)
        fputc('\n', stderr);
    return missing == 0;
}

/* ---- values ---- */

static bool ends_with(const char *s, size_t n, const char *suffix)
{
    size_t m = strlen(suffix);
    return n >= m && !memcmp(s + n - m, suffix, m);
}

/* "x.npy" or "x.npy:bf16"; *len the length of the path. */
static bool is_npy(const char *text, size_t *len, DType *as)
{
    *as = DT_NONE;
    *len = strlen(text);
    const char *colon = strrchr(text, ':');
    if (colon && ends_with(text, (size_t)(colon - text), ".npy")) {
        *as = array_dtype(colon + 1, strlen(colon + 1));
        *len = (size_t)(colon - text);
        return true;
    }
    return ends_with(text, *len, ".npy");
}

static bool make_array(Run *r, RunArg *a, int index)
{
    char why[256];
    size_t len;
    DType as;
    bool ok;
    if (is_npy(a->text, &len, &as)) {
        if (a->text[len] == ':' && as == DT_NONE) {
            command_fail("%s: '%s' is not an element type", a->name, a->text + len + 1);
            return false;
        }
        char *path = strndup(a->text, len);
        ok = path && array_load(&a->array, path, as, why, sizeof why);
        if (!ok)
            command_fail("%s: cannot use '%s': %s", a->name, path, why);
        free(path);
    } else {
        ok = array_generate(&a->array, a->text, r->o->seed * 1000003u + (uint64_t)index, why, sizeof why);
        if (!ok)
            command_fail("%s: %s", a->name, why);
    }
    a->is_array = ok;
    return ok;
}

static bool to_device(Run *r, RunArg *a)
{
    snprintf(a->type, sizeof a->type, "*%s", tkc_dtype_info(a->array.dtype)->short_name);
    if (tkc_alloc(r->dev, a->array.bytes, &a->ptr) != TKC_OK)
        return false;
    if (a->array.bytes && tkc_copy_in(r->dev, a->ptr, a->array.data, a->array.bytes) != TKC_OK)
        return false;
    a->arg = tkc_pointer(a->type, a->ptr, a->array.bytes);
    return true;
}

static bool make_number(RunArg *a)
{
    const char *t = a->text;
    char *end;
    if (!strcmp(t, "True") || !strcmp(t, "False")) {
        a->arg = tkc_int(t[0] == 'T');
        a->arg.type = a->param.type ? NULL : "i1";
        return true;
    }
    errno = 0;
    long long n = strtoll(t, &end, 0);
    if (end != t && !*end && errno == 0) {
        bool real = a->param.type && strchr("fb", a->param.type[0]);
        a->arg = real ? tkc_float((double)n) : tkc_int(n);
        return true;
    }
    errno = 0;
    unsigned long long u = strtoull(t, &end, 0); /* past int64: an unsigned parameter's */
    if (end != t && !*end && errno == 0 && isdigit((unsigned char)*t)) {
        a->arg = tkc_int((int64_t)u);
        a->arg.type = "u64";
        return true;
    }
    double f = strtod(t, &end);
    if (end == t || *end) {
        command_fail("%s: '%s' is not a number, a .npy file or an array such as rand:f32[4096,781]", a->name, t);
        return false;
    }
    a->arg = tkc_float(f);
    return true;
}

static bool make_arg(Run *r, RunArg *a, int index)
{
    size_t len;
    DType as;
    if (a->param.is_constexpr) {
        a->arg = tkc_constexpr(a->text);
        return true;
    }
    if (is_npy(a->text, &len, &as) || array_is_generator(a->text))
        return make_array(r, a, index) && to_device(r, a);
    if (a->param.type && a->param.type[0] == '*' && !strcmp(a->text, "0")) { /* a null pointer */
        a->arg = tkc_pointer(a->param.type, 0, 0);
        return true;
    }
    return make_number(a);
}

/* ---- the launch ---- */

static bool lookup_number(const char *name, size_t len, int64_t *value, void *user)
{
    Run *r = user;
    RunArg *a = find_arg(r, name, len);
    const char *text = find_define(r, name, len);
    if (!text && a)
        text = a->text;
    if (!text)
        return false;
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 0);
    return end != text && !*end && errno == 0;
}

static bool read_grid(Run *r, int64_t grid[3])
{
    char why[256];
    grid[0] = grid[1] = grid[2] = 1;
    if (!r->o->grid) {
        command_fail("how many programs? add -grid X[,Y[,Z]], for example -grid \"cdiv(n,BLOCK)\"");
        return false;
    }
    if (expr_list(r->o->grid, 3, grid, lookup_number, r, why, sizeof why) < 0) {
        command_fail("-grid: %s", why);
        return false;
    }
    return true;
}

static bool launch(Run *r)
{
    int64_t grid[3];
    TkcArg *args = calloc((size_t)r->nargs + 1, sizeof *args);
    size_t n = 0;
    bool ok = args && read_grid(r, grid);
    for (int i = 0; ok && i < r->nargs; i++)
        if (r->args[i].text)
            args[n++] = r->args[i].arg;
    ok = ok && tkc_launch(r->jit, grid, NULL, args, n) == TKC_OK && tkc_synchronize(r->dev, NULL) == TKC_OK;
    if (ok && r->o->verbose)
        fprintf(stderr, "tkc: ran %lld x %lld x %lld programs on %s (%s)\n", (long long)grid[0], (long long)grid[1], (long long)grid[2],
                tkc_device_kind(r->dev), tkc_device_name(r->dev));
    free(args);
    return ok;
}

static bool copy_back(Run *r)
{
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (a->is_array && a->array.bytes && tkc_copy_out(r->dev, a->array.data, a->ptr, a->array.bytes) != TKC_OK)
            return false;
    }
    return true;
}

/* ---- afterwards ---- */

static RunArg *result(Run *r, const char *option, const char *name)
{
    RunArg *a = find_arg(r, name, strlen(name));
    if (!a)
        unknown_name(r, option, name);
    else if (!a->is_array)
        command_fail("%s: '%s' is not an array", option, name);
    return a && a->is_array ? a : NULL;
}

static bool save(Run *r, const Binding *b)
{
    char why[256];
    RunArg *a = result(r, "-save", b->name);
    if (!a)
        return false;
    if (array_save(&a->array, b->value, why, sizeof why))
        return true;
    command_fail("cannot write '%s': %s", b->value, why);
    return false;
}

/* FILE.npy[,rtol=R][,atol=A]; the path ends at the first comma. */
static bool read_check(const char *text, char *path, size_t size, double *rtol, double *atol)
{
    size_t n = strcspn(text, ",");
    if (n >= size)
        return false;
    memcpy(path, text, n);
    path[n] = 0;
    for (const char *p = text + n; *p;) {
        double *which = !strncmp(p, ",rtol=", 6) ? rtol : !strncmp(p, ",atol=", 6) ? atol : NULL;
        char *end;
        if (!which)
            return false;
        *which = strtod(p + 6, &end);
        if (end == p + 6 || (*end && *end != ',') || !(*which >= 0))
            return false;
        p = end;
    }
    return true;
}

static bool check(Run *r, const Binding *b)
{
    char path[4096], why[256];
    double rtol = 1e-5, atol = 1e-6;
    RunArg *a = result(r, "-check", b->name);
    if (!a)
        return false;
    if (!read_check(b->value, path, sizeof path, &rtol, &atol)) {
        command_fail("-check takes NAME=FILE.npy[,rtol=R,atol=A], not '%s=%s'", b->name, b->value);
        return false;
    }
    Array want;
    const DTypeInfo *info = tkc_dtype_info(a->array.dtype);
    DType as = info->kind == DK_FLOAT && (a->array.dtype == DT_BF16 || info->bits == 8) ? a->array.dtype : DT_NONE;
    if (!array_load(&want, path, as, why, sizeof why) && (!as || !array_load(&want, path, DT_NONE, why, sizeof why))) {
        command_fail("-check: cannot use '%s': %s", path, why);
        return false;
    }
    Difference d;
    bool same = array_compare(&a->array, &want, rtol, atol, &d);
    if (!same)
        command_fail("%s has %lld elements, %s has %lld", b->name, (long long)a->array.count, path, (long long)want.count);
    else if (d.count)
        command_fail("%s differs from %s in %lld of %lld elements (rtol %g, atol %g); the first is element %lld: got %.9g, expected %.9g", b->name,
                     path, (long long)d.count, (long long)want.count, rtol, atol, (long long)d.where, d.got, d.want);
    else
        printf("%s agrees with %s: %lld elements, largest difference %.3g\n", b->name, path, (long long)want.count, d.worst);
    array_free(&want);
    return same && d.count == 0;
}

static bool afterwards(Run *r)
{
    bool ok = true;
    for (int i = 0; i < r->o->nprint; i++) {
        RunArg *a = result(r, "-print", r->o->print[i]);
        ok &= a != NULL;
        if (a)
            array_print(stdout, &a->array);
    }
    for (int i = 0; i < r->o->save.len; i++)
        ok &= save(r, &r->o->save.data[i]);
    for (int i = 0; i < r->o->check.len; i++)
        ok &= check(r, &r->o->check.data[i]);
    return ok;
}

static void print_line(const char *line, void *user)
{
    (void)user;
    puts(line);
}

static bool run(Run *r)
{
    Options *o = r->o;
    if (!read_params(r) || !bind_texts(r) || !all_given(r))
        return false;
    if (tkc_device_open(r->cx, o->device, 0, &r->dev) != TKC_OK)
        return false;
    tkc_device_set_seed(r->dev, o->seed);
    tkc_device_set_timeout(r->dev, o->timeout);
    tkc_device_on_print(r->dev, print_line, NULL);
    for (int i = 0; i < r->nargs; i++)
        if (r->args[i].text && !make_arg(r, &r->args[i], i))
            return false;
    return tkc_jit_new(r->dev, r->source, &o->compile, &r->jit) == TKC_OK && launch(r) && copy_back(r) && afterwards(r);
}

int command_run(TkcContext *cx, Options *o)
{
    Run r = {.o = o, .cx = cx, .source = command_source(cx, o)};
    bool ok = r.source && run(&r);
    tkc_jit_free(r.jit);
    for (int i = 0; i < r.nargs; i++) {
        if (r.args[i].is_array)
            array_free(&r.args[i].array);
        if (r.args[i].ptr)
            tkc_free(r.dev, r.args[i].ptr);
    }
    free(r.args);
    tkc_device_free(r.dev);
    tkc_source_free(r.source);
    return ok ? EXIT_FINE : EXIT_REFUSED;
}
