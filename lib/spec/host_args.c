/* Questions that host code asks of a kernel's arguments. What hangs on the launch is refused. */
#include "spec/host_args.h"

#include "spec/argument.h"

static const char type_name[] = "arguments";

static const char *const options[] = {
    "num_warps", "num_stages", "num_ctas", "maxnreg", "waves_per_eu", "matrix_instr_nonkdim",
    "kpack",     "debug",      "launch_pdl", "launch_cooperative_grid", "enable_fp_fusion", NULL};
/* What Triton's launcher puts beside them. */
static const char *const from_launcher[] = {"grid", "warmup", NULL};

bool host_args_is_option(Str name)
{
    return str_among(name, options);
}

SpecTuple *host_args_new(Spec *sp, int n)
{
    SpecTuple *t = record_new(sp, type_name, n);
    t->keys = arena_array(sp->arena, SpecValue, n + 1);
    t->len = 0;
    return t;
}

void host_args_add(SpecTuple *t, Str name, SpecValue v, bool is_given)
{
    t->names[t->len] = name;
    t->keys[t->len] = is_given ? sv_str(name) : sv_absent();
    t->data[t->len++] = v;
}

bool host_args_are(SpecValue v)
{
    return sv_is_record(v, type_name);
}

SpecValue host_args_refuse_all(Spec *sp, Span at)
{
    return spec_error(sp, at, "all that a launch gives is not known when compiling: ask for each "
                              "argument by its name");
}

/* Where it is, -1 where it surely is not; -2 after an error. */
static int find(Spec *sp, SpecValue args, SpecValue key, Span at)
{
    key = weaken(key);
    if (sv_is_error(key)) return -2;
    const int i = key.kind == SV_STR ? sv_find_field(args.tuple, key.s) : -1;
    bool is_open = i >= 0 && sv_is_absent(args.tuple->keys[i]);
    if (i < 0 && key.kind == SV_STR)
        is_open = str_among(key.s, options) || str_among(key.s, from_launcher);
    if (!is_open) return i;
    spec_error(sp, at, "whether a launch gives '%s' is not known when compiling", key.s);
    return -2;
}

SpecValue host_args_contain(Spec *sp, SpecValue args, SpecValue key, Span at)
{
    const int i = find(sp, args, key, at);
    return i == -2 ? sv_error() : sv_bool(i >= 0);
}

SpecValue host_args_item(Spec *sp, SpecValue args, SpecValue key, Span at)
{
    const int i = key.kind == SV_STR ? sv_find_field(args.tuple, key.s) : -1;
    if (i >= 0) return args.tuple->data[i];
    if (key.kind != SV_STR)
        return spec_error(sp, at, "arguments have names, found %s", spec_describe(sp, key));
    if (find(sp, args, key, at) == -2) return sv_error();
    spec_error_as(sp, DIAG_UNKNOWN_ATTRIBUTE, at, "a heuristic is given no argument '%s'", key.s);
    spec_suggest(sp, at, key.s, nearest_word(key.s, args.tuple->names, args.tuple->len));
    return sv_error();
}

/* ---- methods ---- */

SpecValue builtin_host_args_get(Spec *sp, const Call *c)
{
    const int i = find(sp, c->args[0], c->args[1], c->at);
    return i == -2 ? sv_error() : i < 0 ? c->args[2] : c->args[0].tuple->data[i];
}

/* values() and items(). */
SpecValue builtin_host_args_all(Spec *sp, const Call *c)
{
    return host_args_refuse_all(sp, c->at);
}
