/* -run: arguments from NAME=VALUE, a launch, then -save, -print, -check. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "command.h"
#include "debug.h"
#include "expr.h"
#include "number.h"
#include "output.h"
#include "tkc/edge.h"
#include "tkc/runtime.h"

typedef struct RunArg {
    const char *name, *text;  /* text NULL: given with -D, or left to the source */
    bool is_default;          /* text is the parameter's default */
    TkcParam param;
    bool is_array;
    Array array;
    TkcPtr ptr;
    char type[24];            /* "*fp32" */
    TkcDescriptor descriptor; /* where the parameter's type is one */
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
    int64_t grid[3];
    Prompt prompt;
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
    if (!r->args) {
        r->nargs = 0;
        command_fail("out of memory");
        return false;
    }
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        a->param.size = sizeof a->param;
        if (tkc_source_param(r->source, kernel, i, &a->param) != TKC_OK)
            return false;
        a->name = a->param.name;
    }
    return true;
}

static void unknown_name(Run *r, const char *option, const char *name)
{
    fprintf(stderr, "tkc: error: %s%s: the kernel has no parameter '%s'; it has%s", option,
            *option ? "" : "argument", name, r->nargs ? "" : " none");
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
        if (a->text || find_define(r, a->name, strlen(a->name))) {
            command_fail("argument '%s' is given twice%s", a->name,
                         a->text ? "" : ": here and with -D");
            return false;
        }
        a->text = b->data[i].value;
    }
    return true;
}

static bool is_open(const Run *r, const RunArg *a)
{
    return !a->text && !find_define(r, a->name, strlen(a->name));
}

/* Everything that is missing, in one message. What only constexprs lack the compiler asks for: a
   heuristic may give them. */
static bool all_given(Run *r)
{
    int missing = 0;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        a->is_default = is_open(r, a) && a->param.default_;
        if (a->is_default)
            a->text = a->param.default_;
        missing += is_open(r, a) && !a->param.is_constexpr;
    }
    if (!missing)
        return true;
    fputs("tkc: error: arguments are missing; add", stderr);
    for (int i = 0; i < r->nargs; i++) {
        const RunArg *a = &r->args[i];
        const char *type = a->param.type;
        const bool is_array = type && (type[0] == '*' || tkc_is_descriptor_type(type));
        if (is_open(r, a))
            fprintf(stderr, " %s%s=%s", a->param.is_constexpr ? "-D" : "", a->name,
                    is_array ? "<FILE.npy or rand:f32[shape]>" : "<value>");
    }
    fputc('\n', stderr);
    return false;
}

/* A None is known when compiling, whatever the parameter: given as -D would. */
static bool define_none(Run *r)
{
    Options *o = r->o;
    TkcDefine *all = realloc(o->defines, sizeof *all * (size_t)(o->ndefines + r->nargs + 1));
    if (!all) {
        command_fail("out of memory");
        return false;
    }
    o->defines = all;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (!a->text || strcmp(a->text, "None"))
            continue;
        all[o->ndefines++] = (TkcDefine){a->name, "None"};
        a->text = NULL;
    }
    o->compile.defines = all;
    o->compile.ndefines = (size_t)o->ndefines;
    return true;
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
        ok = array_generate(&a->array, a->text, r->o->seed * 1000003u + (uint64_t)index, why,
                            sizeof why);
        if (!ok)
            command_fail("%s: %s", a->name, why);
    }
    a->is_array = ok;
    return ok;
}

/* What `empty:` holds is there, but counts as memory that nothing wrote. */
static bool copy_in(Run *r, const RunArg *a)
{
    bool is_empty = !strncmp(a->text, "empty:", 6);
    tkc_device_set_memory_checks(r->dev, !r->o->no_memory_checks && !is_empty);
    TkcStatus status = tkc_copy_in(r->dev, a->ptr, a->array.data, a->array.bytes);
    tkc_device_set_memory_checks(r->dev, !r->o->no_memory_checks);
    return status == TKC_OK;
}

/* The whole array, row-major, through a descriptor. */
static bool describe_array(RunArg *a)
{
    const Array *x = &a->array;
    DescriptorType type;
    tkc_read_descriptor_type(a->param.type, strlen(a->param.type), &type);
    if (x->dtype != type.dtype)
        command_fail("%s: its elements are %s, and those of %s are %s", a->name,
                     tkc_dtype_info(x->dtype)->short_name, a->param.type,
                     tkc_dtype_info(type.dtype)->short_name);
    else if (x->rank != type.rank)
        command_fail("%s: its rank is %d, and that of %s is %d", a->name, x->rank, a->param.type,
                     type.rank);
    else {
        a->descriptor = (TkcDescriptor){.base = a->ptr, .bytes = x->bytes, .rank = x->rank};
        int64_t stride = 1;
        for (int d = x->rank - 1; d >= 0; stride *= x->shape[d--]) {
            a->descriptor.shape[d] = x->shape[d];
            a->descriptor.strides[d] = stride;
        }
        a->arg = tkc_descriptor(NULL, &a->descriptor);
    }
    return x->dtype == type.dtype && x->rank == type.rank;
}

static bool to_device(Run *r, RunArg *a)
{
    snprintf(a->type, sizeof a->type, "*%s", tkc_dtype_info(a->array.dtype)->short_name);
    if (tkc_alloc(r->dev, a->array.bytes, &a->ptr) != TKC_OK)
        return false;
    if (!copy_in(r, a))
        return false;
    if (a->param.type && tkc_is_descriptor_type(a->param.type))
        return describe_array(a);
    a->arg = tkc_pointer(a->type, a->ptr, a->array.bytes);
    return true;
}

static bool is_float_type(const char *type)
{
    DType d = type ? array_dtype(type, strlen(type)) : DT_NONE;
    return d != DT_NONE && tkc_dtype_info(d)->kind == DK_FLOAT;
}

static bool make_integer(RunArg *a, NumberRead read, int64_t n)
{
    if (read == NUMBER_TOO_LARGE) {
        command_fail("%s: %s does not fit 64 bits", a->name, a->text);
        return false;
    }
    double real = read == NUMBER_UNSIGNED ? (double)(uint64_t)n : (double)n;
    a->arg = is_float_type(a->param.type) ? tkc_float(real) : tkc_int(n);
    if (read == NUMBER_UNSIGNED && a->arg.kind == TKC_ARG_INT)
        a->arg.type = "u64";
    return true;
}

static bool make_number(RunArg *a)
{
    const char *t = a->text;
    if (!strcmp(t, "True") || !strcmp(t, "False")) {
        a->arg = tkc_int(t[0] == 'T');
        a->arg.type = a->param.type ? NULL : "i1";
        return true;
    }
    int64_t n;
    NumberRead read = number_read(t, &n);
    if (read != NUMBER_NONE)
        return make_integer(a, read, n);
    char *end;
    double f = strtod(t, &end);
    /* 010: eight or ten? */
    bool is_padded = t[0] == '0' && t[1] >= '0' && t[1] <= '9' && !strpbrk(t, ".eE");
    if (end != t && !*end && !is_padded) {
        a->arg = tkc_float(f);
        return true;
    }
    if (a->is_default)
        command_fail("%s: its default, %s, is no number: add %s=<value>", a->name, t, a->name);
    else
        command_fail("%s: '%s' is not a number, a .npy file or an array such as rand:f32[4096,781]",
                     a->name, t);
    return false;
}

static bool is_given(const Run *r, const RunArg *a)
{
    return !find_define(r, a->name, strlen(a->name));
}

/* Whether an argument is an array is seen from its text alone. */
static bool names_array(const RunArg *a)
{
    size_t len;
    DType as;
    return !a->param.is_constexpr && (is_npy(a->text, &len, &as) || array_is_generator(a->text));
}

/* All but arrays, which need a device. */
static bool make_value(RunArg *a)
{
    if (a->param.is_constexpr) {
        a->arg = tkc_constexpr(a->is_default ? NULL : a->text);
        return true;
    }
    if (a->param.type && a->param.type[0] == '*' && !strcmp(a->text, "0")) {
        a->arg = tkc_pointer(a->param.type, 0, 0);
        return true;
    }
    return make_number(a);
}

static bool make_values(Run *r)
{
    bool ok = true;
    for (int i = 0; i < r->nargs; i++)
        if (is_given(r, &r->args[i]) && !names_array(&r->args[i]))
            ok &= make_value(&r->args[i]);
    return ok;
}

/* With the types that -sig gives. */
static bool open_jit(Run *r)
{
    if (tkc_jit_new(r->dev, r->source, &r->o->compile, &r->jit) != TKC_OK)
        return false;
    for (int i = 0; i < tkc_jit_param_count(r->jit); i++) {
        TkcParam p = {.size = sizeof p};
        if (tkc_jit_param(r->jit, i, &p) != TKC_OK)
            return false;
        find_arg(r, p.name, strlen(p.name))->param = p;
    }
    return true;
}

static bool make_arrays(Run *r)
{
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (is_given(r, a) && names_array(a) && !(make_array(r, a, i) && to_device(r, a)))
            return false;
    }
    return true;
}

/* ---- the launch ---- */

static bool lookup_number(const char *name, size_t len, int64_t *value, void *user, char *why,
                          size_t size)
{
    Run *r = user;
    RunArg *a = find_arg(r, name, len);
    const char *text = find_define(r, name, len);
    if (!text && a)
        text = a->text;
    if (!text && a)
        snprintf(why, size, "the value of '%s' is not given", a->name);
    else if (!text)
        snprintf(why, size, "there is no '%.*s': neither an argument nor given with -D", (int)len,
                 name);
    else if (number_read(text, value) == NUMBER_FITS)
        return true;
    else
        snprintf(why, size, "'%.*s' is '%s', which is not an integer", (int)len, name, text);
    return false;
}

static bool read_grid(Run *r)
{
    char why[256];
    r->grid[0] = r->grid[1] = r->grid[2] = 1;
    if (!r->o->grid) {
        command_fail("how many programs? add -grid X[,Y[,Z]], for example -grid \"cdiv(n,BLOCK)\"");
        return false;
    }
    if (expr_list(r->o->grid, 3, r->grid, lookup_number, r, why, sizeof why) >= 0)
        return true;
    command_fail("-grid '%s': %s", r->o->grid, why);
    return false;
}

/* Compiles first, so that what follows is the run alone. */
static bool compile(Run *r, const TkcArg *args, size_t n)
{
    TkcKernelInfo info = {.size = sizeof info};
    double start = command_now_ms();
    if (tkc_jit_info(r->jit, args, n, &info) != TKC_OK)
        return false;
    if (r->o->compile.time_report)
        fprintf(stderr, "%10.3f ms  compile\n", command_now_ms() - start);
    if (r->o->verbose && info.registers >= 0)
        fprintf(stderr,
                "tkc: %d warps, %d bytes of shared memory, %d registers, %d bytes spilled\n",
                info.num_warps, info.shared_bytes, info.registers, info.spill_bytes);
    return true;
}

static bool launch(Run *r, const TkcArg *args, size_t n)
{
    if (!compile(r, args, n))
        return false;
    double start = command_now_ms();
    if (tkc_launch(r->jit, r->grid, NULL, args, n) != TKC_OK ||
        tkc_synchronize(r->dev, NULL) != TKC_OK)
        return false;
    if (r->o->compile.time_report)
        fprintf(stderr, "%10.3f ms  run\n", command_now_ms() - start);
    if (r->o->verbose)
        fprintf(stderr, "tkc: ran %lld x %lld x %lld programs on %s (%s)\n", (long long)r->grid[0],
                (long long)r->grid[1], (long long)r->grid[2], tkc_device_kind(r->dev),
                tkc_device_name(r->dev));
    return true;
}

static bool launch_all(Run *r)
{
    TkcArg *args = calloc((size_t)r->nargs + 1, sizeof *args);
    size_t n = 0;
    for (int i = 0; args && i < r->nargs; i++)
        if (is_given(r, &r->args[i]))
            args[n++] = r->args[i].arg;
    if (!args)
        command_fail("out of memory");
    bool ok = args && launch(r, args, n);
    free(args);
    return ok;
}

static bool copy_back(Run *r)
{
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (a->is_array && a->array.bytes &&
            tkc_copy_out(r->dev, a->array.data, a->ptr, a->array.bytes) != TKC_OK)
            return false;
    }
    return true;
}

/* ---- afterwards ---- */

/* FILE.npy[,rtol=R][,atol=A]; the path ends at the first comma. */
typedef struct Check { char path[4096]; double rtol, atol; } Check;

static bool read_check(const char *text, Check *out)
{
    size_t n = strcspn(text, ",");
    *out = (Check){.rtol = 1e-5, .atol = 1e-6};
    if (n >= sizeof out->path)
        return false;
    memcpy(out->path, text, n);
    for (const char *p = text + n; *p;) {
        bool is_rtol = !strncmp(p, ",rtol=", 6);
        double *which = is_rtol ? &out->rtol : &out->atol;
        char *end;
        if (!is_rtol && strncmp(p, ",atol=", 6))
            return false;
        *which = strtod(p + 6, &end);
        if (end == p + 6 || (*end && *end != ',') || !(*which >= 0))
            return false;
        p = end;
    }
    return true;
}

static bool is_result(Run *r, const char *option, const char *name)
{
    RunArg *a = find_arg(r, name, strlen(name));
    if (!a)
        unknown_name(r, option, name);
    else if (!a->is_array)
        command_fail("%s: '%s' is not an array", option, name);
    return a && a->is_array;
}

/* What -save number i writes to is no input of this run, and of no other -save. */
static bool can_save(const Run *r, int i)
{
    const Options *o = r->o;
    const char *path = o->save.data[i].value;
    bool is_input = output_is_same_file(o->file, path), is_twice = false;
    for (int k = 0; k < o->args.len && !is_input; k++) {
        size_t len;
        DType as;
        char *file = is_npy(o->args.data[k].value, &len, &as)
                         ? strndup(o->args.data[k].value, len)
                         : NULL;
        is_input = file && output_is_same_file(file, path);
        free(file);
    }
    for (int k = 0; k < i && !is_twice; k++)
        is_twice = !strcmp(o->save.data[k].value, path);
    if (is_input)
        command_fail("-save: '%s' is an input; it is not overwritten", path);
    else if (is_twice)
        command_fail("-save: '%s' is given twice", path);
    return !is_input && !is_twice;
}

/* What cannot be done afterwards, said before the run. */
static bool check_results(Run *r)
{
    const Options *o = r->o;
    bool ok = true;
    for (int i = 0; i < o->nprint; i++)
        ok &= is_result(r, "-print", o->print[i]);
    for (int i = 0; i < o->save.len; i++)
        ok &= is_result(r, "-save", o->save.data[i].name) && can_save(r, i);
    for (int i = 0; i < o->check.len; i++) {
        Check c;
        ok &= is_result(r, "-check", o->check.data[i].name);
        if (read_check(o->check.data[i].value, &c))
            continue;
        command_fail("-check takes NAME=FILE.npy[,rtol=R,atol=A], not '%s=%s'",
                     o->check.data[i].name, o->check.data[i].value);
        ok = false;
    }
    return ok;
}

static bool save(Run *r, const Binding *b)
{
    char why[256];
    if (array_save(&find_arg(r, b->name, strlen(b->name))->array, b->value, why, sizeof why))
        return true;
    command_fail("cannot write '%s': %s", b->value, why);
    return false;
}

/* Bits that .npy has no name for are taken for the result's own type. */
static bool load_expected(Array *want, const Array *got, const char *path)
{
    char why[256];
    const DTypeInfo *info = tkc_dtype_info(got->dtype);
    DType as =
        got->dtype == DT_BF16 || (info->kind == DK_FLOAT && info->bits == 8) ? got->dtype : DT_NONE;
    if (array_load(want, path, as, why, sizeof why) ||
        (as && array_load(want, path, DT_NONE, why, sizeof why)))
        return true;
    command_fail("-check: cannot use '%s': %s", path, why);
    return false;
}

static bool compare(const char *name, const Array *got, const Array *want, const Check *c)
{
    Difference d;
    if (!array_compare(got, want, c->rtol, c->atol, &d)) {
        char mine[256], theirs[256];
        array_shape_text(got, mine, sizeof mine);
        array_shape_text(want, theirs, sizeof theirs);
        command_fail("%s has the shape %s, %s has %s", name, mine, c->path, theirs);
        return false;
    }
    if (d.count) {
        command_fail("%s differs from %s in %lld of %lld elements (rtol %g, atol %g); the first is "
                     "element %lld: got %.9g, expected %.9g",
                     name, c->path, (long long)d.count, (long long)want->count, c->rtol, c->atol,
                     (long long)d.where, d.got, d.want);
        return false;
    }
    printf("%s agrees with %s: %lld elements, largest difference %.3g\n", name, c->path,
           (long long)want->count, d.worst);
    return true;
}

static bool check(Run *r, const Binding *b)
{
    Check c;
    Array want;
    const Array *got = &find_arg(r, b->name, strlen(b->name))->array;
    if (!read_check(b->value, &c) || !load_expected(&want, got, c.path))
        return false;
    bool same = compare(b->name, got, &want, &c);
    array_free(&want);
    return same;
}

static bool afterwards(Run *r)
{
    bool ok = true;
    for (int i = 0; i < r->o->nprint; i++)
        array_print(stdout, &find_arg(r, r->o->print[i], strlen(r->o->print[i]))->array);
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

static bool watch(Run *r)
{
    const Options *o = r->o;
    r->prompt.options = o;
    for (int i = 0; i < o->ntraces; i++)
        if (tkc_device_trace(r->dev, o->traces[i]) != TKC_OK)
            return false;
    for (int i = 0; i < o->nbreaks; i++)
        if (tkc_device_break(r->dev, o->breaks[i]) != TKC_OK)
            return false;
    if (o->nbreaks)
        tkc_device_on_stop(r->dev, prompt, &r->prompt);
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
    if (tkc_device_open(r->cx, kind, 0, &r->dev) != TKC_OK)
        return false;
    tkc_device_set_seed(r->dev, o->seed);
    tkc_device_set_timeout(r->dev, o->timeout);
    tkc_device_on_print(r->dev, print_line, NULL);
    tkc_device_set_memory_checks(r->dev, !o->no_memory_checks);
    return watch(r);
}

static bool run(Run *r)
{
    return read_params(r) && bind_texts(r) && all_given(r) && define_none(r) && make_values(r) &&
           read_grid(r) && open_device(r) && open_jit(r) && make_arrays(r) && check_results(r) &&
           launch_all(r) && copy_back(r) && afterwards(r);
}

int command_run(TkcContext *cx, Options *o)
{
    Run r = {.o = o, .cx = cx, .source = command_source(cx, o)};
    bool ok = r.source && run(&r);
    /* A device that failed fails again when it is cleared up. */
    tkc_context_on_diagnostic(cx, NULL, NULL);
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
