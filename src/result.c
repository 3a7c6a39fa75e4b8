/* After a run. In: the arrays as the device left them, -print, -save, -check. Out: text, files, and
   whether every check held. What cannot be done is said before the run. */
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "run.h"
#include "tkc/edge.h"

/* ---- what is asked for ---- */

/* FILE.npy[,rtol=R][,atol=A]; the path ends at the first comma. Below 0: by the types. */
typedef struct Check {
    char path[4096];
    double rtol, atol;
} Check;

static bool read_check(const char *text, Check *out)
{
    size_t n = strcspn(text, ",");
    *out = (Check){.rtol = -1, .atol = -1};
    if (n >= sizeof out->path) return false;
    memcpy(out->path, text, n);
    for (const char *p = text + n; *p;) {
        bool is_rtol = !strncmp(p, ",rtol=", 6);
        double *which = is_rtol ? &out->rtol : &out->atol;
        char *end;
        if (!is_rtol && strncmp(p, ",atol=", 6)) return false;
        *which = strtod(p + 6, &end);
        if (end == p + 6 || (*end && *end != ',') || !(*which >= 0)) return false;
        p = end;
    }
    return true;
}

static RunArg *find_result(Run *r, const char *option, const char *name, size_t len)
{
    RunArg *a = run_find_arg(r, name, len);
    if (!a) run_unknown_name(r, option, name, len);
    else if (!a->is_array) command_fail("%s: '%.*s' is not an array", option, (int)len, name);
    if (!a || !a->is_array) return NULL;
    a->is_result = true;
    return a;
}

/* y or y[0:4,::2] */
static bool find_print(Run *r, const Print *p, RunArg **a, View *view)
{
    char why[256];
    size_t len = strcspn(p->what, "[");
    *a = find_result(r, "-print", p->what, len);
    if (!*a) return false;
    if (array_view(&(*a)->array, p->what + len, view, why, sizeof why)) return true;
    return command_refuse("-print %s: %s", p->what, why);
}

/* What -save number i writes to is no input of this run, and of no other -save. */
static bool can_save(const Run *r, int i)
{
    const Options *o = r->o;
    const char *path = o->save.data[i].value;
    bool is_input = output_is_same_file(o->file, path), is_twice = false;
    for (int k = 0; k < o->args.len && !is_input; k++) {
        const size_t len = run_npy_length(o->args.data[k].value);
        char *file = len ? strndup(o->args.data[k].value, len) : NULL;
        is_input = file && output_is_same_file(file, path);
        free(file);
    }
    for (int k = 0; k < i && !is_twice; k++) is_twice = !strcmp(o->save.data[k].value, path);
    if (is_input) command_fail("-save: '%s' is an input; it is not overwritten", path);
    else if (is_twice) command_fail("-save: '%s' is given twice", path);
    return !is_input && !is_twice;
}

bool run_expect_results(Run *r)
{
    const Options *o = r->o;
    RunArg *a;
    View view;
    bool ok = true;
    for (int i = 0; i < o->nprint; i++) ok &= find_print(r, &o->print[i], &a, &view);
    for (int i = 0; i < o->save.len; i++)
        ok &= find_result(r, "-save", o->save.data[i].name, strlen(o->save.data[i].name)) &&
              can_save(r, i);
    for (int i = 0; i < o->check.len; i++) {
        const Binding *b = &o->check.data[i];
        Check c;
        ok &= find_result(r, "-check", b->name, strlen(b->name)) != NULL;
        if (read_check(b->value, &c)) continue;
        command_fail("-check takes NAME=FILE.npy[,rtol=R,atol=A], not '%s=%s'%s", b->name, b->value,
                     strstr(b->value, ",tol=") ? "; did you mean 'rtol' or 'atol'?" : "");
        ok = false;
    }
    return ok;
}

/* ---- from the device ---- */

/* What an `empty:` array still holds of memory that nothing wrote, as far as the device knows. */
static bool find_unwritten(Run *r, RunArg *a)
{
    Array *x = &a->array;
    const size_t n = (size_t)x->count;
    size_t count;
    x->unwritten = options_alloc(r->o, n, 1);
    if (tkc_device_unwritten(r->dev, a->ptr, x->bytes / n, n, x->unwritten, &count) != TKC_OK)
        return false;
    if (!count) x->unwritten = NULL;
    return true;
}

static bool fetch(Run *r, RunArg *a)
{
    Array *x = &a->array;
    if (!a->is_result || !x->bytes) return true;
    return tkc_copy_out(r->dev, x->data, a->ptr, x->bytes) == TKC_OK &&
           (!run_is_empty(a) || find_unwritten(r, a));
}

/* ---- -save, -print ---- */

static bool save(Run *r, const Binding *b)
{
    char why[256];
    if (array_save(&run_find_arg(r, b->name, strlen(b->name))->array, b->value, why, sizeof why))
        return true;
    return command_refuse("cannot write '%s': %s", b->value, why);
}

static bool print(Run *r, const Print *p)
{
    RunArg *a;
    View view;
    if (!find_print(r, p, &a, &view)) return false;
    array_print(stdout, &a->array, &view, p->is_whole);
    return true;
}

/* ---- -check ---- */

/* Bits that .npy has no name for are taken for the result's own type. */
static bool load_expected(Array *want, const Array *got, const char *path)
{
    char why[256];
    const DType as = array_is_foreign(got->dtype) ? got->dtype : DT_NONE;
    if (array_load(want, path, as, why, sizeof why) ||
        (as && array_load(want, path, DT_NONE, why, sizeof why)))
        return true;
    return command_refuse("-check: cannot use '%s': %s", path, why);
}

static void tell_difference(const char *name, const char *path, const Array *got, Tolerance t,
                            const Difference *d)
{
    char at[240], first[64] = "never written", never[64] = "", worst[320] = "";
    if (d->unwritten)
        snprintf(never, sizeof never, ", %lld of them never written", (long long)d->unwritten);
    if (d->worst_at >= 0) { /* a written element differs */
        array_index_text(got, d->worst_at, at, sizeof at);
        snprintf(worst, sizeof worst, "; the largest difference is %.6g, at %s", d->worst, at);
    }
    array_index_text(got, d->where, at, sizeof at);
    if (!d->is_unwritten) snprintf(first, sizeof first, "got %.9g", d->got);
    command_fail("%s differs from %s in %lld of %lld elements (rtol %g, atol %g)%s; the first is "
                 "%s: %s, expected %.9g%s",
                 name, path, (long long)d->count, (long long)got->count, t.rtol, t.atol, never, at,
                 first, d->want, worst);
}

/* An array of one dimension is compared in row-major order, whatever the other's shape. */
static bool compare(const char *name, const Array *got, const Array *want, const Check *c)
{
    Difference d;
    char mine[256], theirs[256];
    Tolerance t = array_tolerance(got->dtype, want->dtype);
    array_shape_text(got, mine, sizeof mine);
    array_shape_text(want, theirs, sizeof theirs);
    if (c->rtol >= 0) t.rtol = c->rtol;
    if (c->atol >= 0) t.atol = c->atol;
    if (!array_compare(got, want, t, &d))
        return command_refuse("%s has the shape %s, %s has %s", name, mine, c->path, theirs);
    if (d.count) return tell_difference(name, c->path, got, t, &d), false;
    printf("%s agrees with %s: %lld elements, largest difference %.3g", name, c->path,
           (long long)want->count, d.worst);
    if (strcmp(mine, theirs))
        printf("; its shape is %s, the file's %s, both row-major", mine, theirs);
    putchar('\n');
    return true;
}

static bool check(Run *r, const Binding *b)
{
    Check c;
    Array want;
    const Array *got = &run_find_arg(r, b->name, strlen(b->name))->array;
    if (!read_check(b->value, &c) || !load_expected(&want, got, c.path)) return false;
    bool same = compare(b->name, got, &want, &c);
    array_free(&want);
    return same;
}

bool run_use_results(Run *r)
{
    const Options *o = r->o;
    bool ok = true;
    for (int i = 0; i < r->nargs; i++)
        if (!fetch(r, &r->args[i])) return false;
    for (int i = 0; i < o->nprint; i++) ok &= print(r, &o->print[i]);
    for (int i = 0; i < o->save.len; i++) ok &= save(r, &o->save.data[i]);
    for (int i = 0; i < o->check.len; i++) ok &= check(r, &o->check.data[i]);
    return ok;
}
