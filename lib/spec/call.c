/* Calls. A function of the user's is inlined: a new frame with its own names, the body executed in
   the caller's place. A builtin's arguments are bound to the parameters that its row of
   builtins.def spells out, which are parsed once. */
#include <string.h>

#include "base/unwind.h"
#include "spec/advice.h"
#include "spec/argument.h"
#include "spec/host_args.h"
#include "spec/config.h"
#include "spec/kernel.h"
#include "spec/record.h"
#include "spec/walk.h"

static void add_arg(Spec *sp, Args *out, Str name, SpecValue v, Span span)
{
    out->has_error |= sv_is_error(v);
    vec_push(sp->arena, out, ((Arg){name, v, span}));
}

/* ---- frames ---- */

const AstList *func_params(const SpecFunc *fn)
{
    return fn->def->kind == AST_LAMBDA ? &fn->def->lambda.params : &fn->def->def.params;
}

SpecFunc *func_new(Spec *sp, Str name, const Ast *def, SpecModule *m, Scope *closure)
{
    SpecFunc *fn = arena_new(sp->arena, SpecFunc);
    *fn = (SpecFunc){.name = name, .def = def, .module = m, .closure = closure, .made = m->now};
    const AstList *params = func_params(fn);
    SpecValue *defaults = NULL;
    for (int i = 0; closure && i < params->len; i++) {
        const Ast *value = params->data[i]->param.default_;
        if (!value) continue;
        if (!defaults) defaults = arena_array(sp->arena, SpecValue, params->len);
        defaults[i] = spec_eval(sp, value);
    }
    fn->defaults = defaults;
    return fn;
}

static void frame_push(Spec *sp, Frame *f, const SpecFunc *fn, SpecModule *m, Scope *around,
                       Span at)
{
    Frame *caller = sp->frame;
    uint64_t key[3] = {caller ? caller->path : 0, at.begin,
                       (uint64_t)(uintptr_t)(fn ? fn->def : NULL)};
    *f = (Frame){.fn = fn,
                 .module = m,
                 .caller = caller,
                 .at = at,
                 .call_loc = caller ? sp->b.loc : NULL,
                 .path = hash_bytes(key, sizeof key, 0)};
    f->scope = scope_new(sp->arena, around);
    f->out = (Outcome){.value = sv_none()};
    sp->frame = f;
}

void frame_push_module(Spec *sp, Frame *f, SpecModule *m, Scope *around)
{
    sp->frame = NULL;
    frame_push(sp, f, NULL, m, around, SPAN_NONE);
    f->is_host = true;
}

void frame_pop(Spec *sp, Frame *f)
{
    sp->frame = f->caller;
    if (f->caller && f->call_loc) sp->b.loc = f->call_loc;
}

/* ---- running a function ---- */

static void note_entered(Spec *sp, const Frame *f)
{
    Program *p = sp->program;
    if (f->is_host || f->fn->module->is_std || map_has(&p->entered, (uint64_t)(uintptr_t)f->fn->def)) return;
    map_set_ptr(&p->entered, f->fn->def, (void *)f->fn);
    vec_push(p->arena, &p->functions, f->fn);
}

static SpecValue run_body(Spec *sp, Frame *f)
{
    const Ast *def = f->fn->def;
    if (def->kind == AST_LAMBDA) return spec_eval(sp, def->lambda.body);
    note_entered(sp, f);
    Flow flow = exec_block(sp, &def->def.body, NULL);
    if (flow == FLOW_NEXT) return sv_none();
    if (flow == FLOW_MAYBE) flow = exec_fall_off(sp);
    return flow == FLOW_STOP ? sv_error() : f->out.value;
}

/* More than any halving of a block's elements takes. */
enum { RECURSION_MOST = 40 };

static int count_running(const Spec *sp, const SpecFunc *fn)
{
    int n = 0;
    for (const Frame *f = sp->frame; f; f = f->caller)
        n += f->fn && f->fn->def == fn->def && f->fn->closure == fn->closure;
    return n;
}

/* Whether fn may call itself once more. Where it may not, it is told once, not for each way there.
 */
static bool can_recur(Spec *sp, const SpecFunc *fn, Span at)
{
    const int running = count_running(sp, fn);
    if (!running || (running < RECURSION_MOST && sp->endless != fn->def)) return true;
    if (sp->endless == fn->def) return false;
    sp->endless = fn->def;
    return spec_fail(sp, at,
                     "recursion: '%s' calls itself, %d deep; what ends it has to be known when "
                     "compiling, such as a shape or a constexpr",
                     fn->name, RECURSION_MOST);
}

static bool can_enter(Spec *sp, const SpecFunc *fn, bool is_host, Span at)
{
    if (!is_host && !fn->module->is_std && !can_recur(sp, fn, at)) return false;
    if (sp->depth < sp->limits.depth) return spec_step(sp, at);
    spec_limit(sp, "max_depth", at, "calls nested more than %d deep", sp->limits.depth);
    return false;
}

/* ---- binding arguments to a function's parameters ---- */

/* "pointer, mask=None, *rest" */
static const char *params_text(Spec *sp, const AstList *params)
{
    Buf out = buf_make(sp->arena);
    for (int i = 0; i < params->len; i++) {
        const Ast *p = params->data[i];
        const char *stars = p->param.kind == PARAM_VARARGS ? "*" : p->param.kind == PARAM_KWARGS ? "**" : "";
        buf_printf(&out, "%s%s%s", i ? ", " : "", stars, p->param.name);
        if (p->param.default_) buf_printf(&out, "=%s", span_text(sp->arena, p->param.default_->span));
    }
    return buf_text(&out);
}

/* To an error about the arguments: what is called. Gives false. */
static bool note_callee(Spec *sp, const Call *c)
{
    if (c->builtin)
        spec_note(sp, SPAN_NONE, "it is called as %s(%s)", arg_operation(sp, c),
                  params_text(sp, c->params));
    else spec_note(sp, c->defined, "defined here");
    return false;
}

static int find_param(const Call *c, Str name)
{
    for (int i = 0; i < c->params->len; i++) {
        ParamKind k = c->params->data[i]->param.kind;
        bool is_open_rest = k == PARAM_VARARGS && c->builtin && !c->args[i].tuple->len;
        if (c->params->data[i]->param.name == name &&
            (k == PARAM_POSITIONAL || k == PARAM_KEYWORD_ONLY || is_open_rest))
            return i;
    }
    return -1;
}

/* What numpy and torch call an argument of ours that there is. */
static const char *our_keyword(const char *theirs, int n, const Str *names)
{
    static const struct { const char *theirs, *ours; } pairs[] = {
        {"dim", "axis"},        {"dims", "axis"},        {"keepdim", "keep_dims"},
        {"keepdims", "keep_dims"}, {"fill_value", "value"}, {"size", "shape"},
        {"val", "value"},       {"values", "value"},     {"ptr", "pointer"},
        {"fill", "other"},      {"default", "other"},    {"out_dtype", "dtype"},
        {"stop", "end"},        {"stages", "num_stages"}, {"unroll", "loop_unroll_factor"},
        {"axis", "dim"},        {"accumulator", "acc"},  {"msg", "prefix"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int k = 0; k < n && !strcmp(pairs[i].theirs, theirs); k++)
            if (!strcmp(names[k], pairs[i].ours)) return pairs[i].ours;
    return NULL;
}

static bool unknown_keyword(Spec *sp, const Call *c, const Arg *a)
{
    const int n = c->params->len;
    const Str *names = walk_param_names(sp->arena, c->params);
    spec_error_as(sp, DIAG_UNKNOWN_ARGUMENT, a->span, "%s has no %s '%s'", arg_operation(sp, c),
                  c->fn || c->builtin ? "parameter" : "field", a->name);
    const char *ours = our_keyword(a->name, n, names);
    spec_suggest(sp, a->span, a->name, ours ? ours : nearest_word(a->name, names, n));
    return note_callee(sp, c);
}

static SpecValue pack_positional(Spec *sp, const Args *args, int from)
{
    SpecTuple *t = tuple_new(sp, args->len);
    for (t->len = 0; from < args->len && !args->data[from].name; from++)
        t->data[t->len++] = args->data[from].value;
    return sv_tuple(SV_TUPLE, t);
}

static SpecValue pack_keywords(Spec *sp, const Args *extra)
{
    SpecTuple *t = dict_new(sp, NULL, extra->len);
    for (int i = 0; i < extra->len; i++)
        dict_put(sp, t, sv_str(extra->data[i].name), extra->data[i].value, extra->data[i].span);
    return sv_tuple(SV_RECORD, t);
}

static bool bind_keyword(Spec *sp, Call *c, const Arg *a)
{
    int i = find_param(c, a->name);
    if (i < 0 && walk_takes_any(c->params)) {
        vec_push(sp->arena, &c->extra, *a);
        return true;
    }
    if (i < 0) return unknown_keyword(sp, c, a);
    c->spans[i] = a->span;
    if (c->args[i].kind == SV_ABSENT) return c->args[i] = a->value, true;
    if (c->params->data[i]->param.kind == PARAM_VARARGS)
        return c->args[i] = constant_tuple(sp, 1, &a->value), true;
    return spec_fail(sp, a->span, "%s gets two values for '%s'", arg_operation(sp, c), a->name);
}

static int npositional(const Args *args)
{
    int n = 0;
    while (n < args->len && !args->data[n].name) n++;
    return n;
}

/* Positional arguments first; false after an error. */
static bool bind_positional(Spec *sp, Call *c)
{
    int given = npositional(c->given), next = 0;
    for (int i = 0; i < c->params->len; i++) {
        ParamKind k = c->params->data[i]->param.kind;
        if (k == PARAM_VARARGS) return c->args[i] = pack_positional(sp, c->given, next), true;
        if (k != PARAM_POSITIONAL && k != PARAM_POSITIONAL_ONLY) break;
        if (next == given) continue;
        c->args[i] = c->given->data[next].value;
        c->spans[i] = c->given->data[next++].span;
    }
    if (next == given) return true;
    const char *s = next == 1 ? "" : "s", *are = given == 1 ? "is" : "are";
    if (c->builtin)
        return spec_fail(sp, c->given->data[next].span,
                         "%s takes at most %d argument%s, but %d %s given", arg_operation(sp, c),
                         next, s, given, are);
    spec_error(sp, c->at, "'%s' takes %d positional argument%s, but %d %s given",
               c->method ? c->method : c->name, next, s, given, are);
    return note_callee(sp, c);
}

/* Positional arguments that have a parameter's name, but stand in the place of another. */
static void note_places(Spec *sp, const Call *c)
{
    Buf list = buf_make(sp->arena);
    for (int i = 0; i < npositional(c->given) && i < c->params->len; i++) {
        const Span at = c->given->data[i].span;
        if (!at.source) continue;
        const char *text = span_text(sp->arena, at), *name = c->params->data[i]->param.name;
        if (strcmp(text, name) && walk_param(c->params, text))
            buf_printf(&list, "%s%s for '%s'", list.len ? ", " : "", text, name);
    }
    if (list.len) spec_note(sp, SPAN_NONE, "by their places, it gets %s", buf_text(&list));
}

static bool refuse_missing(Spec *sp, const Call *c, const char *missing)
{
    if (c->builtin) spec_error(sp, c->at, "%s needs %s", arg_operation(sp, c), missing);
    else spec_error(sp, c->at, "'%s' is called without %s", c->name, missing);
    if (!c->builtin) note_places(sp, c);
    note_callee(sp, c);
    if (c->builtin) advise_missing(sp, c->builtin, c->spans[0], c->given->len);
    return false;
}

/* What Triton's own library passes along and users copy. */
static bool is_internal_keyword(Str name)
{
    return strcmp(name, "_builder") == 0 || strcmp(name, "_semantic") == 0 ||
           strcmp(name, "_generator") == 0;
}

static bool fill_defaults(Spec *sp, Call *c)
{
    Buf missing = buf_make(sp->arena);
    for (int i = 0; i < c->params->len; i++) {
        const Ast *p = c->params->data[i];
        if (c->args[i].kind != SV_ABSENT) continue;
        if (p->param.kind == PARAM_KWARGS) c->args[i] = pack_keywords(sp, &c->extra);
        else if (c->fn && is_internal_keyword(p->param.name))
            c->args[i] = sv_module(module_named(sp->program, "triton.language.semantic"));
        else if (c->defaults) c->args[i] = c->defaults[i];
        else if (p->param.default_) c->args[i] = module_eval(sp, c->fn->module, p->param.default_);
        if (c->args[i].kind == SV_ABSENT)
            buf_printf(&missing, "%s'%s'", missing.len ? ", " : "", p->param.name);
    }
    return !missing.len || refuse_missing(sp, c, buf_text(&missing));
}

bool bind_args(Spec *sp, Call *c)
{
    const AstList *params = c->params;
    c->args = arena_array(sp->arena, SpecValue, params->len + 1);
    c->spans = arena_array(sp->arena, Span, params->len + 1);
    for (int i = 0; i < params->len; i++) {
        c->args[i] = sv_absent();
        c->spans[i] = c->at;
    }
    if (!bind_positional(sp, c)) return false;
    for (int i = npositional(c->given); i < c->given->len; i++)
        if (c->given->data[i].name && !bind_keyword(sp, c, &c->given->data[i])) return false;
    return fill_defaults(sp, c);
}

static Call call_of(const SpecFunc *fn, const Args *args, Span at)
{
    return (Call){.name = fn->name,
                  .params = func_params(fn),
                  .fn = fn,
                  .defaults = fn->defaults,
                  .defined = fn->def->kind == AST_LAMBDA ? fn->def->span : fn->def->def.name_span,
                  .given = args,
                  .at = at};
}

/* Gives the parameters their values. A helper's `tl.constexpr` says that known numbers stay
   untyped, not that the value must be known: Triton passes run-time values through as well, and
   real code relies on it. */
static void enter_params(Spec *sp, Frame *f, const SpecValue *values)
{
    const AstList *params = func_params(f->fn);
    for (int i = 0; i < params->len; i++) {
        const Ast *p = params->data[i];
        SpecValue v = values[i];
        if (kernel_is_constexpr(f->module->file, p->param.annotation)) v = weaken_all(sp, v);
        if (sp->rq->debug) v = name_value(sp, v, p->param.name, p->span);
        scope_set(f->scope, p->param.name, v, p->span);
    }
}

static bool holds_made(SpecValue v)
{
    if (!sv_is_sequence(v)) return v.kind == SV_FUNC && v.fn->closure && v.fn->def->kind == AST_DEF;
    for (int i = 0; i < v.tuple->len; i++)
        if (holds_made(v.tuple->data[i])) return true;
    return false;
}

/* What host code gives. A function made on the way of an error is none: it may lack names, and
   nobody may have heard of the error yet. */
static SpecValue leave_host(const Frame *f, SpecValue v)
{
    if (f->failed && f->caller) f->caller->failed = true;
    return f->failed && holds_made(v) ? sv_error() : v;
}

/* self: the parameter whose value in the end is wanted, instead of what is returned; or NULL. */
static SpecValue run_with(Spec *sp, const SpecFunc *fn, const SpecValue *values, bool is_host,
                          Str self, Span at)
{
    Frame f;
    spec_at(sp, at);
    frame_push(sp, &f, fn, fn->module, fn->closure, at);
    f.is_host = is_host;
    enter_params(sp, &f, values);
    const int nesting = sp->nesting;
    sp->nesting = 0;
    sp->depth++;
    SpecValue v = run_body(sp, &f);
    sp->depth--;
    sp->nesting = nesting;
    const Binding *b = self && !sv_is_error(v) ? scope_find(f.scope, self) : NULL;
    if (self) v = b && b->state == BIND_SET ? b->value : sv_error();
    frame_pop(sp, &f);
    return is_host ? leave_host(&f, v) : v;
}

SpecValue call_entry(Spec *sp, SpecFunc *fn, const SpecValue *values)
{
    return run_with(sp, fn, values, false, NULL, SPAN_NONE);
}

/* Python of the host runs at compile time when all it is given is known. */
static bool runs_on_host(const Spec *sp, const SpecFunc *fn, const SpecValue *values, int n)
{
    if (fn->def->kind == AST_LAMBDA) return !sp->frame || sp->frame->is_host;
    if (fn->module->is_std || kernel_is_jit(fn->def)) return false;
    for (int i = 0; i < n; i++)
        if (sv_is_runtime(values[i])) return false;
    return true;
}

/* The arguments with a method's object before them. */
static Args with_self(Spec *sp, SpecValue self, const Args *args, Span at)
{
    Args all = {0};
    add_arg(sp, &all, NULL, self, at);
    for (int i = 0; i < args->len; i++) vec_push(sp->arena, &all, args->data[i]);
    return all;
}

SpecValue call_constructor(Spec *sp, const SpecFunc *init, SpecValue self, const Args *args,
                           Span at)
{
    Args all = with_self(sp, self, args, at);
    Call c = call_of(init, &all, at);
    if (!bind_args(sp, &c) || !can_enter(sp, init, true, at)) return sv_error();
    return run_with(sp, init, c.args, true, c.params->data[0]->param.name, at);
}

/* A function of host code: no decorator says that kernels may call it. Methods need none. */
static bool is_plain_python(const SpecFunc *fn)
{
    return fn->def->kind == AST_DEF && fn->def->def.decorators.len == 0 && !fn->self &&
           !fn->module->is_std && !fn->is_wrapped;
}

static SpecValue refuse_python(Spec *sp, const SpecFunc *fn, Span at)
{
    Span def = fn->def->span;
    const char *text = def.source->text;
    uint32_t line = def.begin;
    while (line > 0 && text[line - 1] != '\n') line--;
    spec_error_as(sp, DIAG_HOST_CODE, at, "'%s' is a Python function: a kernel calls functions "
                  "under @triton.jit", fn->name);
    spec_note(sp, fn->def->def.name_span, "put '@triton.jit' above it, or compute what it gives in host code");
    def.end = def.begin;
    spec_fixit(sp, def, "@triton.jit\n%.*s", (int)(def.begin - line), text + line);
    return sv_error();
}

/* b: the operation that the function is, for messages; or NULL. */
static SpecValue call_func(Spec *sp, const SpecFunc *fn, const Builtin *b, const Args *args,
                           Span at)
{
    if (!sp->frame->is_host && is_plain_python(fn)) return refuse_python(sp, fn, at);
    Args all = fn->self ? with_self(sp, *fn->self, args, at) : *args;
    Call c = call_of(fn, &all, at);
    c.builtin = b;
    if (!bind_args(sp, &c)) return sv_error();
    bool is_host = runs_on_host(sp, fn, c.args, c.params->len);
    if (!can_enter(sp, fn, is_host, at)) return sv_error();
    SpecValue v = run_with(sp, fn, c.args, is_host, NULL, at);
    return is_host ? v : strengthen_all(sp, v, at); /* a number that is returned has its type */
}

/* ---- builtins ---- */

typedef struct Signature {
    const AstList *params; /* annotated with their kinds */
    SpecValue *defaults;
    const ArgKind **kinds;
} Signature;

/* A row's parameters are those of a function; its defaults cost a kernel nothing. */
static const Signature *signature_of(Spec *sp, const Builtin *b)
{
    Signature *s = map_get_ptr(&sp->program->signatures, b);
    if (s) return s;
    const char *text = arena_printf(sp->arena, "@jit\ndef f(%s):\n    pass\n", b->params);
    const Source *source = source_of_static(sp->arena, b->name, text, strlen(text));
    const AstFile *file = syntax_parse(sp->arena, sp->names, sp->dx, source);
    check(file->ok && file->body.len == 1, "builtins.def: the parameters of '%s'", b->name);
    const AstList *params = &file->body.data[0]->def.params;
    const long steps = sp->steps;
    s = arena_new(sp->arena, Signature);
    s->params = params;
    s->defaults = arena_array(sp->arena, SpecValue, params->len + 1);
    s->kinds = arena_array(sp->arena, const ArgKind *, params->len + 1);
    for (int i = 0; i < params->len; i++) {
        const Ast *p = params->data[i];
        s->defaults[i] = p->param.default_ ? spec_eval(sp, p->param.default_) : sv_absent();
        if (p->param.annotation) s->kinds[i] = arg_kind(p->param.annotation->name.id);
        check(!p->param.annotation || s->kinds[i], "builtins.def: the kind of '%s'", p->param.name);
    }
    sp->steps = steps;
    if (!sp->out_of_budget) map_set_ptr(&sp->program->signatures, b, s);
    return s;
}

static SpecValue call_builtin(Spec *sp, const Builtin *b, const Args *args, Span at)
{
    if (!b->fn) {
        SpecValue fn = spec_std(sp, b->std);
        check(fn.kind == SV_FUNC, "lib/std has no '%s'", b->std);
        return call_func(sp, fn.fn, b, args, at);
    }
    const Signature *s = signature_of(sp, b);
    Call c = {.builtin = b, .params = s->params, .defaults = s->defaults, .given = args, .at = at};
    if (!bind_args(sp, &c)) return sv_error();
    spec_at(sp, at);
    for (int i = 0; i < s->params->len; i++) {
        if (s->params->data[i]->param.kind == PARAM_VARARGS)
            c.rest = c.args[i].tuple->data, c.nrest = c.args[i].tuple->len;
        if (!arg_read(sp, &c, i, s->kinds[i], s->defaults[i])) return sv_error();
    }
    return b->fn(sp, &c);
}

/* ---- other callables ---- */

static SpecValue call_method(Spec *sp, const SpecMethod *m, const Args *args, Span at)
{
    Args all = with_self(sp, *m->self, args, at);
    return call_builtin(sp, m->builtin, &all, at);
}

static SpecValue call_class(Spec *sp, Str name, const Args *args, Span at)
{
    const Builtin *b = builtin_find(NS_PYTHON, name);
    if (!b) b = builtin_find(NS_TL, name);
    if (b) return call_builtin(sp, b, args, at);
    return spec_error(sp, at, "the class '%s' cannot be made in a kernel", name);
}

/* tl.float32(x) */
static SpecValue call_type(Spec *sp, const Type *type, const Args *args, Span at)
{
    if (args->len != 1 || args->data[0].name)
        return spec_error(sp, at, "a type is called with one value, found %d", args->len);
    return sv_value(op_cast(sp, op_to_value(sp, args->data[0].value, at), type, false, NULL, at));
}

/* Libraries reach libdevice through modules of their own, whose names say so:
   utils.tl_extra_shim.pow. */
static const Builtin *likely_libdevice(Str path)
{
    const char *dot = strrchr(path, '.');
    bool is_likely = dot && (strstr(path, "libdevice") || strstr(path, "tl_extra"));
    return is_likely ? builtin_find(NS_LIBDEVICE, dot + 1) : NULL;
}

/* The row of a function of Python's math or itertools, where all it is given is known; else NULL. */
static const Builtin *known_python(Str path, const Args *args)
{
    const Builtin *b = strncmp(path, "math.", 5) == 0        ? builtin_find(NS_HOST, path + 5)
                       : strncmp(path, "itertools.", 10) == 0 ? builtin_find(NS_ITERTOOLS, path + 10)
                                                              : NULL;
    for (int i = 0; b && i < args->len; i++)
        if (!sv_is_known(weaken(args->data[i].value))) return NULL;
    return b;
}

/* What the host's function gives, as far as it is known here; else ABSENT. */
static SpecValue known_result(Spec *sp, SpecModule *m, const Args *args, SpecModule *result, Span at)
{
    SpecValue *values = arena_array(sp->arena, SpecValue, args->len + 1), v = sv_absent();
    int n = npositional(args);
    const Builtin *b = known_python(m->path, args);
    if (b) return call_builtin(sp, b, args, at);
    for (int i = 0; i < n; i++) values[i] = weaken(args->data[i].value);
    if (sp->frame->is_host) v = record_class_call(sp, m->path, args, at);
    if (sp->frame->is_host && sv_is_absent(v)) v = config_call(sp, m->path, args);
    if (sv_is_absent(v)) v = host_call(sp, m, n, values, at);
    return sv_is_absent(v) ? host_value(sp, result) : v;
}

static SpecValue call_host(Spec *sp, SpecModule *m, const Args *args, Span at)
{
    SpecModule *result = module_named(sp->program, arena_printf(sp->arena, "%s()", m->path));
    SpecValue known = known_result(sp, m, args, result, at);
    if (!sv_is_absent(known)) return known;
    if (sp->frame->is_host) return sv_module(result);
    if (m->kind != MODULE_HOST) return spec_error(sp, at, "module '%s' cannot be called", m->path);
    const Builtin *b = likely_libdevice(m->path);
    if (b) {
        spec_warning(sp, DIAG_UNKNOWN_MODULE, at, "'%s' is not known here; it is taken for libdevice's '%s'", m->path,
                     b->name);
        return call_builtin(sp, b, args, at);
    }
    module_refuse(sp, m, at, "host code: a kernel cannot call it");
    advise_host_call(sp, m->path, at);
    return sv_error();
}

static SpecValue call_value(Spec *sp, SpecValue callee, Args *args, Span at)
{
    if (args->has_error) return sv_error();
    switch (callee.kind) {
    case SV_ERROR: return callee;
    case SV_FUNC: return call_func(sp, callee.fn, NULL, args, at);
    case SV_BUILTIN: return call_builtin(sp, callee.builtin, args, at);
    case SV_METHOD: return call_method(sp, callee.method, args, at);
    case SV_CLASS: return call_class(sp, callee.class_name, args, at);
    case SV_RECORD_CLASS: return record_call(sp, callee.record_class, args, at);
    case SV_TYPE: return call_type(sp, callee.type, args, at);
    case SV_MODULE: return call_host(sp, callee.module, args, at);
    default: return spec_error(sp, at, "%s cannot be called", spec_describe(sp, callee));
    }
}

SpecValue spec_call(Spec *sp, SpecValue callee, int n, const SpecValue *values, Span at)
{
    Args args = {0};
    for (int i = 0; i < n; i++) add_arg(sp, &args, NULL, values[i], at);
    return call_value(sp, callee, &args, at);
}

/* ---- the node ---- */

static void add_spread(Spec *sp, Args *out, const Ast *x)
{
    SpecValue v = spec_eval(sp, x->unary.operand), *items;
    int n = sv_is_error(v) ? -1 : op_items(sp, v, &items, x->span);
    out->has_error |= n < 0;
    for (int i = 0; i < n && spec_step(sp, x->span); i++) add_arg(sp, out, NULL, items[i], x->span);
}

static void add_keywords(Spec *sp, Args *out, const Ast *x)
{
    SpecValue v = spec_eval(sp, x->keyword.value);
    if (host_args_are(v)) v = host_args_refuse_all(sp, x->span);
    if (v.kind == SV_RECORD && v.tuple->names) {
        for (int i = 0; i < v.tuple->len; i++) {
            const char *name = v.tuple->names[i], *text = constant_key_text(name);
            out->has_error |= text != name;
            if (text != name)
                spec_error(sp, x->span, "keywords are strings, and the dict has the key %s", text);
            else add_arg(sp, out, name, v.tuple->data[i], x->span);
        }
        return;
    }
    if (!sv_is_error(v))
        spec_error(sp, x->span, "'**' needs compile-time keywords, found %s", spec_describe(sp, v));
    out->has_error = true;
}

/* triton.autotune(…)(f), at a file's top, says of f what a decorator would. */
static SpecValue decorated(Spec *sp, SpecValue v, Ast *by)
{
    const bool says = !strcmp(kernel_last_name(by), "autotune") || !strcmp(kernel_last_name(by), "heuristics");
    if (v.kind != SV_FUNC || by->kind != AST_CALL || !v.fn->is_wrapped || sp->frame->fn || !says) return v;
    SpecFunc *fn = arena_copy(sp->arena, v.fn, sizeof *fn);
    Ast *def = arena_copy(sp->arena, fn->def, sizeof *def);
    AstList decorators = {0};
    vec_push(sp->arena, &decorators, by);
    for (int i = 0; i < def->def.decorators.len; i++)
        vec_push(sp->arena, &decorators, def->def.decorators.data[i]);
    def->def.decorators = decorators;
    fn->def = def;
    return sv_func(fn);
}

SpecValue eval_call(Spec *sp, const Ast *e)
{
    SpecValue callee = spec_eval(sp, e->call.callee);
    Args args = {0}, keywords = {0};
    for (int i = 0; i < e->call.args.len; i++) {
        const Ast *x = e->call.args.data[i];
        if (x->kind == AST_STARRED) add_spread(sp, &args, x);
        else if (x->kind != AST_KEYWORD) add_arg(sp, &args, NULL, spec_eval(sp, x), x->span);
        else if (!x->keyword.name) add_keywords(sp, &keywords, x);
        else if (!is_internal_keyword(x->keyword.name))
            add_arg(sp, &keywords, x->keyword.name, spec_eval(sp, x->keyword.value), x->span);
    }
    for (int i = 0; i < keywords.len; i++) vec_push(sp->arena, &args, keywords.data[i]);
    args.has_error |= keywords.has_error;
    spec_at(sp, e->span);
    SpecValue v = call_value(sp, callee, &args, e->span);
    return callee.kind == SV_MODULE ? decorated(sp, v, e->call.callee) : v;
}
