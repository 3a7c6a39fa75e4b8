/* The arguments of a run. In: the words NAME=VALUE, -D, the kernel's parameters. Out: a TkcArg
   for each parameter that the launch gives one for; arrays in host memory and on the device.
   What is wrong with them is said before anything runs. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "tkc/edge.h"
#include "tkc/expr.h"

RunArg *run_find_arg(Run *r, const char *name, size_t len)
{
    for (int i = 0; i < r->nargs; i++)
        if (strlen(r->args[i].name) == len && !memcmp(r->args[i].name, name, len))
            return &r->args[i];
    return NULL;
}

const char *run_find_define(const Run *r, const char *name, size_t len)
{
    return command_value(r->o->defines, (size_t)r->o->ndefines, name, len);
}

/* ---- parameters ---- */

static bool read_params(Run *r)
{
    int n = 0;
    const TkcParam *all = command_params(r->o, r->source, r->o->compile.kernel, &n);
    if (!all) return false;
    r->args = options_alloc(r->o, (size_t)n + 1, sizeof *r->args);
    for (; r->nargs < n; r->nargs++)
        r->args[r->nargs] = (RunArg){.name = all[r->nargs].name, .param = all[r->nargs]};
    return true;
}

/* What a message lists, each item whole; those it has no room for are counted. */
typedef struct Items {
    char text[3000];
    size_t len;
    int more;
} Items;

__attribute__((format(printf, 2, 3))) static void add_item(Items *list, const char *fmt, ...)
{
    const size_t room = sizeof list->text - list->len - 32; /* of which the count needs some */
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(list->text + list->len, room, fmt, ap);
    va_end(ap);
    bool fits = !list->more && n >= 0 && (size_t)n < room;
    list->len += fits ? (size_t)n : 0;
    list->more += !fits;
    list->text[list->len] = 0;
}

static const char *items_text(Items *list)
{
    if (list->more)
        snprintf(list->text + list->len, sizeof list->text - list->len, " and %d more", list->more);
    return list->text;
}

const char *run_nearest_param(const Run *r, const char *name, size_t len)
{
    char word[128];
    const char **all = malloc(sizeof *all * ((size_t)r->nargs + 1));
    if (!all || len >= sizeof word) {
        free(all);
        return NULL;
    }
    for (int i = 0; i < r->nargs; i++) all[i] = r->args[i].name;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    const char *near = tkc_nearest_word(word, all, (size_t)r->nargs);
    free(all);
    return near;
}

void run_unknown_name(Run *r, const char *option, const char *name, size_t len)
{
    Items list = {.len = 0};
    const char *near = run_nearest_param(r, name, len);
    for (int i = 0; i < r->nargs; i++) add_item(&list, "%s %s", i ? "," : "", r->args[i].name);
    report_error("unknown-argument", "%s: the kernel has no parameter '%.*s'; it has%s%s%s%s",
                 *option ? option : "argument", (int)len, name,
                 r->nargs ? items_text(&list) : " none", near ? "; did you mean '" : "",
                 near ? near : "", near ? "'?" : "");
}

static bool bind_texts(Run *r)
{
    const Bindings *b = &r->o->args;
    for (int i = 0; i < b->len; i++) {
        RunArg *a = run_find_arg(r, b->data[i].name, strlen(b->data[i].name));
        if (!a) return run_unknown_name(r, "", b->data[i].name, strlen(b->data[i].name)), false;
        if (a->text || run_find_define(r, a->name, strlen(a->name)))
            return command_refuse("argument '%s' is given twice%s", a->name,
                                  a->text ? "" : ": here and with -D");
        a->text = b->data[i].value;
    }
    return true;
}

static bool is_open(const Run *r, const RunArg *a)
{
    return !a->text && !run_find_define(r, a->name, strlen(a->name));
}

/* Everything that is missing, in one message. What only constexprs lack the compiler asks for: a
   heuristic may give them. */
static bool all_given(Run *r)
{
    Items list = {.len = 0};
    int missing = 0;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        a->is_default = is_open(r, a) && a->param.default_;
        if (a->is_default) a->text = a->param.default_;
        missing += is_open(r, a) && !a->param.is_constexpr;
    }
    if (!missing) return true;
    for (int i = 0; i < r->nargs; i++) {
        const RunArg *a = &r->args[i];
        const char *type = a->param.type;
        const bool is_array = type && (type[0] == '*' || tkc_is_descriptor_type(type));
        if (is_open(r, a))
            add_item(&list, " %s%s=%s", a->param.is_constexpr ? "-D" : "", a->name,
                     is_array ? "<FILE.npy or rand:f32[shape]>" : "<value>");
    }
    report_error("command", "arguments are missing; add%s", items_text(&list));
    return false;
}

/* A None is known when compiling, whatever the parameter: given as -D would. That a constexpr has by
   default is left to the source, where @autotune and heuristics come before it. */
static void define_none(Run *r)
{
    Options *o = r->o;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (!a->text || strcmp(a->text, "None") || (a->is_default && a->param.is_constexpr))
            continue;
        options_push(o, o->defines, o->ndefines, ((TkcDefine){a->name, "None"}));
        a->text = NULL;
    }
    o->compile.defines = o->defines;
    o->compile.ndefines = (size_t)o->ndefines;
}

/* ---- values ---- */

static bool is_npy(const char *path, size_t n)
{
    return n >= 4 && !memcmp(path + n - 4, ".npy", 4);
}

size_t run_npy_length(const char *text)
{
    const char *colon = strrchr(text, ':');
    const size_t all = strlen(text), n = colon ? (size_t)(colon - text) : all;
    return is_npy(text, n) ? n : is_npy(text, all) ? all : 0;
}

static bool make_array(Run *r, RunArg *a, int index)
{
    char why[256];
    const size_t len = run_npy_length(a->text);
    bool ok;
    if (len) {
        const char *type = a->text[len] ? a->text + len + 1 : NULL;
        const DType as = type ? array_dtype(type, strlen(type)) : DT_NONE;
        if (type && as == DT_NONE)
            return command_refuse("%s: '%s' is not an element type", a->name, type);
        char *path = strndup(a->text, len);
        ok = path && array_load(&a->array, path, as, why, sizeof why);
        if (!ok) command_fail("%s: cannot use '%s': %s", a->name, path, why);
        free(path);
    } else {
        const uint64_t seed = (uint64_t)r->o->seed * 1000003u + (uint64_t)index;
        ok = array_generate(&a->array, a->text, seed, why, sizeof why);
        if (!ok) command_fail("%s: %s", a->name, why);
    }
    a->is_array = ok;
    return ok;
}

bool run_is_empty(const RunArg *a)
{
    return a->text && !strncmp(a->text, "empty:", 6);
}

/* What `empty:` holds is there, but counts as memory that nothing wrote. */
static bool copy_in(Run *r, const RunArg *a)
{
    tkc_device_set_memory_checks(r->dev, !r->o->no_memory_checks && !run_is_empty(a));
    TkcStatus status = tkc_copy_in(r->dev, a->ptr, a->array.data, a->array.bytes);
    tkc_device_set_memory_checks(r->dev, !r->o->no_memory_checks);
    return status == TKC_OK;
}

/* The whole array, row-major, through a descriptor. */
static bool describe_array(RunArg *a)
{
    const Array *x = &a->array;
    const ParamType type = tkc_type_of(a->param.type);
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

/* numpy's name of a type; NULL when it has none. */
static const char *numpy_name(DType d)
{
    return d == DT_I1 ? "bool" : array_is_foreign(d) ? NULL : tkc_dtype_info(d)->name;
}

/* The launch would refuse them too, but does not know where they come from. */
static bool has_declared_elements(const RunArg *a)
{
    const char *declared = a->param.type;
    const size_t len = run_npy_length(a->text);
    DType want = declared && *declared == '*' ? array_dtype(declared + 1, strlen(declared + 1))
                                              : DT_NONE;
    if (want == DT_NONE || want == a->array.dtype) return true;
    const char *have = tkc_dtype_info(a->array.dtype)->short_name, *numpy = numpy_name(want);
    const char *shape = strchr(a->text, '[');
    if (!len)
        command_fail("%s: its elements are %s, and it is declared %s; write %s=%.*s:%s%s", a->name,
                     have, declared, a->name, (int)strcspn(a->text, ":"), a->text,
                     tkc_dtype_info(want)->short_name, shape ? shape : "");
    else if (numpy)
        command_fail("%s: the elements of '%.*s' are %s, and it is declared %s; convert them "
                     "(numpy: .astype('%s')), or declare it *%s",
                     a->name, (int)len, a->text, have, declared, numpy, have);
    else
        command_fail("%s: the elements of '%.*s' are %s, and it is declared %s; declare it *%s",
                     a->name, (int)len, a->text, have, declared, have);
    return false;
}

static bool to_device(Run *r, RunArg *a)
{
    snprintf(a->type, sizeof a->type, "*%s", tkc_dtype_info(a->array.dtype)->short_name);
    if (tkc_alloc(r->dev, a->array.bytes, &a->ptr) != TKC_OK) return false;
    if (!copy_in(r, a)) return false;
    if (a->param.type && tkc_is_descriptor_type(a->param.type)) return describe_array(a);
    a->arg = tkc_pointer(a->type, a->ptr, a->array.bytes);
    return true;
}

static bool make_integer(RunArg *a, NumberRead read, int64_t n)
{
    if (read == NUMBER_TOO_LARGE)
        return command_refuse("%s: %s does not fit 64 bits", a->name, a->text);
    const char *type = a->param.type;
    const DType d = type ? array_dtype(type, strlen(type)) : DT_NONE;
    const bool is_float = d != DT_NONE && tkc_dtype_info(d)->kind == DK_FLOAT;
    double real = read == NUMBER_UNSIGNED ? (double)(uint64_t)n : (double)n;
    a->arg = is_float ? tkc_float(real) : tkc_int(n);
    if (read == NUMBER_UNSIGNED && a->arg.kind == TKC_ARG_INT) a->arg.type = "u64";
    return true;
}

/* KIND:DTYPE[SHAPE] with a kind that there is not. */
static void tell_kind(const char *name, const char *text)
{
    const char *kinds[16], *near;
    char word[32], list[160] = "";
    size_t n = array_kinds(kinds, sizeof kinds / sizeof *kinds);
    for (size_t i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", kinds[i]);
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, ":["), text);
    near = tkc_nearest_word(word, kinds, n);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(word, kinds[i])) {
            command_fail("%s: '%s' has no element type: write %s:f32%s", name, text, word,
                         text + strlen(word));
            return;
        }
    for (size_t i = 0; i < n && !near; i++) /* random, uniform and the like begin as ours do */
        if (!strncmp(word, kinds[i], strlen(kinds[i]))) near = kinds[i];
    command_fail("%s: '%s' is not a number, a .npy file or an array such as rand:f32[4096,781]; "
                 "kinds of arrays are %s%s%s%s",
                 name, text, list, near ? "; did you mean '" : "", near ? near : "",
                 near ? "'?" : "");
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
    if (read != NUMBER_NONE) return make_integer(a, read, n);
    char *end;
    double f = strtod(t, &end);
    /* 010: eight or ten? */
    bool is_padded = t[0] == '0' && t[1] >= '0' && t[1] <= '9' && !strpbrk(t, ".eE");
    if (end != t && !*end && !is_padded) {
        a->arg = tkc_float(f);
        return true;
    }
    if (access(t, F_OK) == 0)
        command_fail("%s: '%s' is a file, but no .npy file: write the array with numpy.save",
                     a->name, t);
    else if (a->is_default)
        command_fail("%s: its default, %s, is no number: add %s=<value>", a->name, t, a->name);
    else if (strchr(t, ':') || strchr(t, '[')) tell_kind(a->name, t);
    else
        command_fail("%s: '%s' is not a number, a .npy file or an array such as rand:f32[4096,781]",
                     a->name, t);
    return false;
}

bool run_is_given(const Run *r, const RunArg *a)
{
    return !run_find_define(r, a->name, strlen(a->name));
}

/* Whether an argument is an array is seen from its text alone. */
static bool names_array(const RunArg *a)
{
    return !a->param.is_constexpr && (run_npy_length(a->text) || array_is_generator(a->text));
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

bool run_make_values(Run *r)
{
    bool ok = true;
    for (int i = 0; i < r->nargs; i++)
        if (run_is_given(r, &r->args[i]) && !names_array(&r->args[i]))
            ok &= make_value(&r->args[i]);
    return ok;
}

/* The number as the language has it; NULL: it has no text for it. */
static const char *number_text(Run *r, const RunArg *a)
{
    char text[40];
    if (!strcmp(a->text, "True") || !strcmp(a->text, "False")) return a->text;
    if (a->arg.kind == TKC_ARG_FLOAT && !isfinite(a->arg.floating)) return NULL;
    if (a->arg.kind == TKC_ARG_FLOAT) snprintf(text, sizeof text, "%#.17g", a->arg.floating);
    else if (a->arg.type && *a->arg.type == 'u')
        snprintf(text, sizeof text, "%llu", (unsigned long long)a->arg.integer);
    else snprintf(text, sizeof text, "%lld", (long long)a->arg.integer);
    return options_keep(r->o, text);
}

/* To the kernel's heuristics, the numbers that they ask for. */
static bool tell_heuristics(Run *r)
{
    TkcTuning said = {.size = sizeof said};
    TkcOptions *o = &r->o->compile;
    if (tkc_source_tuning(r->source, o->kernel, &said) != TKC_OK) return false;
    TkcDefine *all = said.asked ? options_alloc(r->o, (size_t)r->nargs + 1, sizeof *all) : NULL;
    o->arguments = all;
    o->narguments = 0;
    for (int i = 0; all && i < r->nargs; i++) {
        const RunArg *a = &r->args[i];
        const bool is_number =
            run_is_given(r, a) && (a->arg.kind == TKC_ARG_INT || a->arg.kind == TKC_ARG_FLOAT);
        const char *text = is_number && tkc_has_word(said.asked, ',', a->name) ? number_text(r, a) : NULL;
        if (text) all[o->narguments++] = (TkcDefine){a->name, text};
    }
    return true;
}

bool run_read_arguments(Run *r)
{
    if (!read_params(r) || !bind_texts(r) || !all_given(r)) return false;
    define_none(r);
    return run_make_values(r) && tell_heuristics(r);
}

/* What is wrong with each of them is said. */
bool run_make_arrays(Run *r)
{
    bool ok = true;
    for (int i = 0; i < r->nargs; i++) {
        RunArg *a = &r->args[i];
        if (run_is_given(r, a) && names_array(a))
            ok &= make_array(r, a, i) && has_declared_elements(a) && to_device(r, a);
    }
    return ok;
}
