/* Calls. A function of the user's is inlined: a new frame with its own names, the body executed in
   the caller's place. A builtin's arguments are bound to the parameters that its row of
   builtins.def spells out, which are parsed once. */
#include <stdlib.h>
#include <string.h>

#include "base/unwind.h"
#include "base/vec.h"
#include "spec/advice.h"
#include "spec/config.h"
#include "spec/eval.h"
#include "spec/kernel.h"
#include "spec/merge.h"
#include "spec/record.h"

static SpecValue call_value(Spec *sp, SpecValue callee, Args *args, Span at);

/* ---- frames ---- */

SpecFunc *func_new(Spec *sp, Str name, const Ast *def, SpecModule *m, Scope *closure)
{
    SpecFunc *fn = arena_new(sp->arena, SpecFunc);
    *fn =
        (SpecFunc){.name = name, .def = def, .module = m, .closure = closure, .is_std = m->is_std};
    return fn;
}

bool is_jit_function(const SpecFunc *fn)
{
    return fn->is_std || (fn->def->kind == AST_DEF && kernel_is_jit(fn->def));
}

static void frame_push(Spec *sp, Frame *f, const SpecFunc *fn, SpecModule *m, Span at)
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
    f->scope = scope_new(sp->arena, fn ? fn->closure : NULL);
    f->out = (Outcome){.value = sv_none()};
    sp->frame = f;
    sp->module = m;
}

void frame_push_module(Spec *sp, Frame *f, SpecModule *m)
{
    sp->frame = NULL;
    frame_push(sp, f, NULL, m, SPAN_NONE);
    f->is_host = true;
}

void frame_pop(Spec *sp, Frame *f)
{
    sp->frame = f->caller;
    sp->module = f->caller ? f->caller->module : NULL;
    if (f->caller && f->call_loc) sp->b.loc = f->call_loc;
}

/* ---- running a function ---- */

static void note_entered(Spec *sp, const Frame *f)
{
    Program *p = sp->program;
    if (f->is_host || f->fn->is_std || map_has(&p->entered, (uint64_t)(uintptr_t)f->fn->def)) return;
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

static SpecValue call_run(Spec *sp, Frame *f)
{
    int nesting = sp->nesting;
    sp->nesting = 0;
    sp->depth++;
    SpecValue v = run_body(sp, f);
    sp->depth--;
    sp->nesting = nesting;
    return v;
}

static bool is_running(const Spec *sp, const SpecFunc *fn)
{
    for (const Frame *f = sp->frame; f; f = f->caller) {
        if (f->fn && f->fn->def == fn->def && f->fn->closure == fn->closure) return true;
    }
    return false;
}

static bool can_enter(Spec *sp, const SpecFunc *fn, bool is_host, Span at)
{
    if (!is_host && !fn->is_std && is_running(sp, fn)) {
        spec_error(sp, at, "recursion: '%s' calls itself", fn->name);
        return false;
    }
    if (sp->depth >= sp->limits.depth) {
        spec_limit(sp, "max_depth", at, "calls nested more than %d deep", sp->limits.depth);
        return false;
    }
    return spec_step(sp, at);
}

/* ---- binding arguments to a function's parameters ---- */

bool is_constexpr_annotation(const Ast *a)
{
    if (!a) return false;
    switch (a->kind) {
    case AST_NAME: return strcmp(a->name.id, "constexpr") == 0;
    case AST_ATTRIBUTE: return strcmp(a->attribute.name, "constexpr") == 0;
    case AST_SUBSCRIPT: return is_constexpr_annotation(a->subscript.value);
    case AST_STRING: {
        size_t n = strlen(a->string.value);
        return n >= 9 && strcmp(a->string.value + n - 9, "constexpr") == 0;
    }
    default: return false;
    }
}

static const AstParams *params_of(const SpecFunc *fn)
{
    return fn->def->kind == AST_LAMBDA ? &fn->def->lambda.params : &fn->def->def.params;
}

static Span name_span(const SpecFunc *fn)
{
    return fn->def->kind == AST_LAMBDA ? fn->def->span : fn->def->def.name_span;
}

static SpecValue weaken_all(Spec *sp, SpecValue v)
{
    v = weaken(v);
    if (v.kind != SV_TUPLE && v.kind != SV_LIST && v.kind != SV_RECORD) return v;
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    *t = *v.tuple;
    t->data = arena_array(sp->arena, SpecValue, t->len + 1);
    for (int i = 0; i < t->len; i++) t->data[i] = weaken_all(sp, v.tuple->data[i]);
    return (SpecValue){.kind = v.kind, .tuple = t};
}

static SpecValue default_of(Spec *sp, const SpecFunc *fn, const AstParam *p)
{
    if (!fn->closure) return module_eval(sp, fn->module, p->default_);
    return spec_eval(sp, p->default_);
}

static int find_param(const AstParams *params, Str name)
{
    for (int i = 0; i < params->len; i++) {
        ParamKind k = params->data[i].kind;
        if (params->data[i].name == name && (k == PARAM_POSITIONAL || k == PARAM_KEYWORD_ONLY))
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

static bool unknown_keyword(Spec *sp, const char *callee, const Arg *a, int n, const Str *names,
                            Span defined)
{
    spec_error_as(sp, DIAG_UNKNOWN_ARGUMENT, a->span, "%s has no parameter '%s'", callee, a->name);
    const char *ours = our_keyword(a->name, n, names);
    spec_suggest(sp, a->span, a->name, ours ? ours : nearest_word(a->name, names, n));
    if (defined.source) spec_note(sp, defined, "defined here");
    return false;
}

static bool bind_keyword(Spec *sp, const SpecFunc *fn, const Arg *a, SpecValue *values, Args *extra)
{
    const AstParams *params = params_of(fn);
    int i = find_param(params, a->name);
    if (i >= 0 && values[i].kind != SV_ABSENT) {
        spec_error(sp, a->span, "'%s' gets two values for '%s'", fn->name, a->name);
        return false;
    }
    if (i >= 0) return values[i] = a->value, true;
    for (int k = 0; k < params->len; k++) {
        if (params->data[k].kind != PARAM_KWARGS) continue;
        vec_push(sp->arena, extra, *a);
        return true;
    }
    Str *names = arena_array(sp->arena, Str, params->len + 1);
    for (int k = 0; k < params->len; k++) names[k] = params->data[k].name;
    return unknown_keyword(sp, arena_printf(sp->arena, "'%s'", fn->name), a, params->len, names,
                           name_span(fn));
}

static SpecValue pack_positional(Spec *sp, const Args *args, int from)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->data = arena_array(sp->arena, SpecValue, args->len + 1);
    for (int i = from; i < args->len && !args->data[i].name; i++)
        t->data[t->len++] = args->data[i].value;
    return (SpecValue){.kind = SV_TUPLE, .tuple = t};
}

static SpecValue pack_keywords(Spec *sp, const Args *extra)
{
    SpecTuple *t = arena_new(sp->arena, SpecTuple);
    t->data = arena_array(sp->arena, SpecValue, extra->len + 1);
    t->names = arena_array(sp->arena, Str, extra->len + 1);
    t->type_name = intern_cstr(sp->names, "dict");
    for (; t->len < extra->len; t->len++) {
        t->names[t->len] = extra->data[t->len].name;
        t->data[t->len] = extra->data[t->len].value;
    }
    return (SpecValue){.kind = SV_RECORD, .tuple = t};
}

static int npositional(const Args *args)
{
    int n = 0;
    while (n < args->len && !args->data[n].name) n++;
    return n;
}

/* Positional arguments first; false after an error. */
static bool bind_positional(Spec *sp, const SpecFunc *fn, const Args *args, SpecValue *values,
                            Span at)
{
    const AstParams *params = params_of(fn);
    int given = npositional(args), next = 0;
    for (int i = 0; i < params->len; i++) {
        ParamKind k = params->data[i].kind;
        if (k == PARAM_VARARGS) {
            values[i] = pack_positional(sp, args, next);
            return true;
        }
        if (k != PARAM_POSITIONAL && k != PARAM_POSITIONAL_ONLY) break;
        if (next < given) values[i] = args->data[next++].value;
    }
    if (next == given) return true;
    spec_error(sp, at, "'%s' takes %d positional argument%s, but %d %s given", fn->name, next,
               next == 1 ? "" : "s", given, given == 1 ? "is" : "are");
    spec_note(sp, name_span(fn), "defined here");
    return false;
}

/* Positional arguments that have a parameter's name, but stand in the place of another. */
static void note_places(Spec *sp, const SpecFunc *fn, const Args *args)
{
    const AstParams *params = params_of(fn);
    Buf list = buf_make(sp->arena);
    for (int i = 0; i < npositional(args) && i < params->len; i++) {
        const Span at = args->data[i].span;
        if (!at.source) continue;
        const char *text = arena_strndup(sp->arena, at.source->text + at.begin, at.end - at.begin);
        bool is_name = false;
        for (int k = 0; k < params->len; k++) is_name |= !strcmp(text, params->data[k].name);
        if (is_name && strcmp(text, params->data[i].name))
            buf_printf(&list, "%s%s for '%s'", list.len ? ", " : "", text, params->data[i].name);
    }
    if (list.len) spec_note(sp, SPAN_NONE, "by their places, it gets %s", buf_text(&list));
}

static bool fill_defaults(Spec *sp, const SpecFunc *fn, const Args *args, SpecValue *values,
                          Span at)
{
    const AstParams *params = params_of(fn);
    Buf missing = buf_make(sp->arena);
    for (int i = 0; i < params->len; i++) {
        const AstParam *p = &params->data[i];
        if (values[i].kind != SV_ABSENT) continue;
        if (p->default_) values[i] = default_of(sp, fn, p);
        else buf_printf(&missing, "%s'%s'", missing.len ? ", " : "", p->name);
    }
    if (!missing.len) return true;
    spec_error(sp, at, "'%s' is called without %s", fn->name, buf_text(&missing));
    note_places(sp, fn, args);
    spec_note(sp, name_span(fn), "defined here");
    return false;
}

static bool bind_args(Spec *sp, const SpecFunc *fn, const Args *args, SpecValue *values, Span at)
{
    const AstParams *params = params_of(fn);
    Args extra = {0};
    for (int i = 0; i < params->len; i++) values[i] = (SpecValue){.kind = SV_ABSENT};
    if (!bind_positional(sp, fn, args, values, at)) return false;
    for (int i = npositional(args); i < args->len; i++) {
        if (args->data[i].name && !bind_keyword(sp, fn, &args->data[i], values, &extra))
            return false;
    }
    for (int i = 0; i < params->len; i++) {
        if (params->data[i].kind == PARAM_KWARGS) values[i] = pack_keywords(sp, &extra);
    }
    return fill_defaults(sp, fn, args, values, at);
}

/* Gives the parameters their values. A helper's `tl.constexpr` says that known numbers stay
   untyped, not that the value must be known: Triton passes run-time values through as well, and
   real code relies on it. */
static void enter_params(Spec *sp, Frame *f, const SpecValue *values)
{
    const AstParams *params = params_of(f->fn);
    for (int i = 0; i < params->len; i++) {
        const AstParam *p = &params->data[i];
        SpecValue v =
            is_constexpr_annotation(p->annotation) ? weaken_all(sp, values[i]) : values[i];
        if (sp->rq->debug) v = name_value(sp, v, p->name, p->span);
        scope_set(f->scope, p->name, v, p->span);
    }
}

static SpecValue run_with(Spec *sp, const SpecFunc *fn, const SpecValue *values, bool is_host,
                          Span at)
{
    Frame f;
    spec_at(sp, at);
    frame_push(sp, &f, fn, fn->module, at);
    f.is_host = is_host;
    enter_params(sp, &f, values);
    SpecValue v = call_run(sp, &f);
    frame_pop(sp, &f);
    return v;
}

SpecValue call_entry(Spec *sp, SpecFunc *fn, const SpecValue *values)
{
    return run_with(sp, fn, values, false, SPAN_NONE);
}

/* Python of the host runs at compile time when all it is given is known. */
static bool runs_on_host(const Spec *sp, const SpecFunc *fn, const SpecValue *values, int n)
{
    if (fn->def->kind == AST_LAMBDA) return !sp->frame || sp->frame->is_host;
    if (is_jit_function(fn)) return false;
    for (int i = 0; i < n; i++) {
        if (merge_is_runtime(values[i])) return false;
    }
    return true;
}

/* The arguments with a method's object before them. */
static Args with_self(Spec *sp, SpecValue self, const Args *args, Span at)
{
    Args all = {0};
    vec_push(sp->arena, &all, ((Arg){NULL, self, at}));
    for (int i = 0; i < args->len; i++) vec_push(sp->arena, &all, args->data[i]);
    return all;
}

SpecValue call_constructor(Spec *sp, const SpecFunc *init, SpecValue self, const Args *args,
                           Span at)
{
    const AstParams *params = params_of(init);
    SpecValue *values = arena_array(sp->arena, SpecValue, params->len + 1), v = sv_error();
    Args all = with_self(sp, self, args, at);
    if (!bind_args(sp, init, &all, values, at) || !can_enter(sp, init, true, at)) return v;
    Frame f;
    spec_at(sp, at);
    frame_push(sp, &f, init, init->module, at);
    f.is_host = true;
    enter_params(sp, &f, values);
    bool ok = !sv_is_error(call_run(sp, &f));
    const Binding *b = params->len ? scope_find(f.scope, params->data[0].name) : NULL;
    if (ok && b && b->state == BIND_SET) v = b->value;
    frame_pop(sp, &f);
    return v;
}

/* A function of host code: no decorator says that kernels may call it. Methods need none. */
static bool is_plain_python(const SpecFunc *fn)
{
    return fn->def->kind == AST_DEF && fn->def->def.decorators.len == 0 && !fn->self &&
           !fn->closure && !fn->is_std && !fn->is_wrapped;
}

static SpecValue refuse_python(Spec *sp, const SpecFunc *fn, Span at)
{
    Span def = fn->def->span;
    spec_error_as(sp, DIAG_HOST_CODE, at, "'%s' is a Python function: a kernel calls functions "
                  "under @triton.jit", fn->name);
    spec_note(sp, fn->def->def.name_span, "put '@triton.jit' above it, or compute what it gives in host code");
    def.end = def.begin;
    spec_fixit(sp, def, "@triton.jit\n");
    return sv_error();
}

static SpecValue call_func(Spec *sp, const SpecFunc *fn, Args *args, Span at)
{
    const AstParams *params = params_of(fn);
    SpecValue *values = arena_array(sp->arena, SpecValue, params->len + 1);
    if (!sp->frame->is_host && is_plain_python(fn)) return refuse_python(sp, fn, at);
    Args all = fn->self ? with_self(sp, *fn->self, args, at) : *args;
    if (!bind_args(sp, fn, &all, values, at)) return sv_error();
    bool is_host = runs_on_host(sp, fn, values, params->len);
    if (!can_enter(sp, fn, is_host, at)) return sv_error();
    return run_with(sp, fn, values, is_host, at);
}

/* ---- builtins ---- */

typedef struct BuiltinParam { Str name; bool has_default; SpecValue default_; } BuiltinParam;
typedef struct Signature {
    BuiltinParam *data;
    int len, cap;
    int rest;      /* where *args stands, or -1 */
    Str rest_name; /* also a keyword: trans(x, dims=(1, 0)) */
    bool takes_keywords;
} Signature;

typedef struct Reader { Spec *sp; const char *p; } Reader;

static void skip_blanks(Reader *r)
{
    while (*r->p == ' ') r->p++;
}

static Str read_word(Reader *r)
{
    const char *begin = r->p;
    while (*r->p && strchr("=,() ", *r->p) == NULL) r->p++;
    return intern(r->sp->names, begin, (size_t)(r->p - begin));
}

static SpecValue read_literal(Reader *r)
{
    skip_blanks(r);
    if (*r->p == '\'' || *r->p == '"') {
        const char *end = strchr(r->p + 1, *r->p);
        check(end != NULL, "builtins.def: a string without end in '%s'", r->p);
        Str s = intern(r->sp->names, r->p + 1, (size_t)(end - r->p - 1));
        r->p = end + 1;
        return sv_str(s);
    }
    if (*r->p == '(') {
        check(r->p[1] == ')', "builtins.def: only () is a literal in '%s'", r->p);
        r->p += 2;
        return (SpecValue){.kind = SV_TUPLE, .tuple = arena_new(r->sp->arena, SpecTuple)};
    }
    Str word = read_word(r);
    if (strcmp(word, "None") == 0) return sv_none();
    if (strcmp(word, "True") == 0 || strcmp(word, "False") == 0) return sv_bool(*word == 'T');
    DType dt = dtype_find(word, strlen(word));
    if (dt != DT_NONE) return sv_type(type_scalar(r->sp->ir->types, dt));
    if (strpbrk(word, ".") || strstr(word, "inf") || strchr(word, 'e'))
        return sv_float(strtod(word, NULL));
    return sv_int(strtoll(word, NULL, 0));
}

static Signature *signature_of(Spec *sp, const Builtin *b)
{
    Signature *s = map_get_ptr(&sp->program->signatures, b);
    if (s) return s;
    s = arena_new(sp->arena, Signature);
    s->rest = -1;
    Reader r = {sp, b->params ? b->params : ""};
    for (skip_blanks(&r); *r.p; skip_blanks(&r)) {
        bool is_rest = *r.p == '*', is_keywords = is_rest && r.p[1] == '*';
        r.p += is_rest + is_keywords;
        BuiltinParam param = {.name = read_word(&r)};
        skip_blanks(&r);
        if (*r.p == '=') {
            r.p++;
            param.has_default = true;
            param.default_ = read_literal(&r);
        }
        if (is_keywords) s->takes_keywords = true;
        else if (is_rest) s->rest = s->len, s->rest_name = param.name;
        else vec_push(sp->arena, s, param);
        skip_blanks(&r);
        check(*r.p == ',' || *r.p == 0, "builtins.def: cannot read the parameters of '%s' at '%s'",
              b->name, r.p);
        if (*r.p == ',') r.p++;
    }
    map_set_ptr(&sp->program->signatures, b, s);
    return s;
}

static const char *builtin_title(Spec *sp, const Builtin *b)
{
    if (b->where & NS_TL) return arena_printf(sp->arena, "tl.%s", b->name);
    if (b->where & NS_MATH) return arena_printf(sp->arena, "tl.math.%s", b->name);
    if (b->where & NS_TRITON) return arena_printf(sp->arena, "triton.%s", b->name);
    return b->name;
}

static void note_parameters(Spec *sp, const Builtin *b)
{
    spec_note(sp, SPAN_NONE, "it is called as %s(%s)", builtin_title(sp, b), b->params);
}

static int find_builtin_param(const Signature *s, Str name)
{
    for (int i = 0; i < s->len; i++) {
        if (s->data[i].name == name) return i;
    }
    return -1;
}

static bool bind_builtin_keyword(Spec *sp, const Signature *s, BuiltinCall *c, Args *others,
                                 const Arg *a)
{
    int i = find_builtin_param(s, a->name);
    if (i < 0 && s->takes_keywords) {
        vec_push(sp->arena, others, *a);
        return true;
    }
    if (i < 0 && a->name == s->rest_name && c->nrest == 0) {
        c->rest[c->nrest++] = a->value;
        return true;
    }
    if (i < 0) {
        Str *names = arena_array(sp->arena, Str, s->len + 1);
        for (int k = 0; k < s->len; k++) names[k] = s->data[k].name;
        unknown_keyword(sp, builtin_title(sp, c->builtin), a, s->len, names, SPAN_NONE);
        note_parameters(sp, c->builtin);
        return false;
    }
    if (c->args[i].kind != SV_ABSENT) {
        spec_error(sp, a->span, "%s gets two values for '%s'", builtin_title(sp, c->builtin),
                   a->name);
        return false;
    }
    c->args[i] = a->value;
    c->spans[i] = a->span;
    return true;
}

static bool bind_builtin(Spec *sp, const Signature *s, BuiltinCall *c, const Args *args)
{
    int given = npositional(args), fixed = s->rest >= 0 ? s->rest : s->len;
    for (int i = 0; i < given && i < fixed; i++) {
        c->args[i] = args->data[i].value;
        c->spans[i] = args->data[i].span;
    }
    if (given > fixed && s->rest < 0) {
        spec_error(sp, args->data[fixed].span, "%s takes at most %d argument%s, but %d %s given",
                   builtin_title(sp, c->builtin), fixed, fixed == 1 ? "" : "s", given,
                   given == 1 ? "is" : "are");
        return false;
    }
    Args *others = arena_new(sp->arena, Args);
    c->keywords = others;
    c->rest = arena_array(sp->arena, SpecValue, args->len + 1);
    for (int i = fixed; i < given; i++) c->rest[c->nrest++] = args->data[i].value;
    for (int i = given; i < args->len; i++) {
        if (!bind_builtin_keyword(sp, s, c, others, &args->data[i])) return false;
    }
    for (int i = 0; i < s->len; i++) {
        if (c->args[i].kind != SV_ABSENT) continue;
        if (s->data[i].has_default) {
            c->args[i] = s->data[i].default_;
        } else {
            spec_error(sp, c->at, "%s needs '%s'", builtin_title(sp, c->builtin), s->data[i].name);
            note_parameters(sp, c->builtin);
            advise_missing(sp, c, args->len);
            return false;
        }
    }
    return true;
}

/* A function of lib/std takes the row's arguments under the row's names. */
static SpecValue call_std(Spec *sp, const BuiltinCall *c, const Signature *s)
{
    SpecValue fn = spec_std(sp, c->builtin->std);
    check(fn.kind == SV_FUNC, "lib/std has no '%s'", c->builtin->std);
    Args args = {0};
    for (int i = 0; i < s->len; i++)
        vec_push(sp->arena, &args, ((Arg){NULL, c->args[i], c->spans[i]}));
    for (int i = 0; i < c->nrest; i++) vec_push(sp->arena, &args, ((Arg){NULL, c->rest[i], c->at}));
    return call_func(sp, fn.fn, &args, c->at);
}

static SpecValue call_builtin(Spec *sp, const Builtin *b, const Args *args, Span at)
{
    Signature *s = signature_of(sp, b);
    BuiltinCall c = {.builtin = b, .nargs = s->len, .at = at};
    c.args = arena_array(sp->arena, SpecValue, s->len + 1);
    c.spans = arena_array(sp->arena, Span, s->len + 1);
    for (int i = 0; i < s->len; i++) {
        c.args[i] = (SpecValue){.kind = SV_ABSENT};
        c.spans[i] = at;
    }
    if (!bind_builtin(sp, s, &c, args)) return sv_error();
    spec_at(sp, at);
    if (!b->fn) return call_std(sp, &c, s);
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
    Value *v = op_to_value(sp, args->data[0].value, at);
    v = v ? op_cast(sp, v, type, false, NULL, at) : NULL;
    return v ? sv_value(v) : sv_error();
}

/* Libraries reach libdevice through modules of their own, whose names say so:
   utils.tl_extra_shim.pow. */
static const Builtin *likely_libdevice(Str path)
{
    const char *dot = strrchr(path, '.');
    bool is_likely = dot && (strstr(path, "libdevice") || strstr(path, "tl_extra"));
    return is_likely ? builtin_find(NS_LIBDEVICE, dot + 1) : NULL;
}

static SpecValue call_host(Spec *sp, SpecModule *m, const Args *args, Span at)
{
    SpecValue *values = arena_array(sp->arena, SpecValue, args->len + 1), out;
    int n = npositional(args);
    for (int i = 0; i < n; i++) values[i] = weaken(args->data[i].value);
    if (sp->frame->is_host &&
        (record_class_call(sp, m->path, args, at, &out) || config_call(sp, m->path, args, &out)))
        return out;
    if (host_call(sp, m, n, values, &out)) return out;
    SpecModule *result = module_named(sp->program, arena_printf(sp->arena, "%s()", m->path));
    if (host_value(sp, result, &out)) return out;
    if (sp->frame->is_host) return (SpecValue){.kind = SV_MODULE, .module = result};
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
    case SV_FUNC: return call_func(sp, callee.fn, args, at);
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
    for (int i = 0; i < n; i++) {
        vec_push(sp->arena, &args, ((Arg){NULL, values[i], at}));
        args.has_error |= sv_is_error(values[i]);
    }
    return call_value(sp, callee, &args, at);
}

/* ---- the node ---- */

/* What Triton's own library passes along and users copy. */
static bool is_internal_keyword(Str name)
{
    return strcmp(name, "_builder") == 0 || strcmp(name, "_semantic") == 0 ||
           strcmp(name, "_generator") == 0;
}

static void add_arg(Spec *sp, Args *out, Str name, SpecValue v, Span span)
{
    out->has_error |= sv_is_error(v);
    vec_push(sp->arena, out, ((Arg){name, v, span}));
}

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
    if (v.kind == SV_RECORD && v.tuple->names) {
        for (int i = 0; i < v.tuple->len; i++)
            add_arg(sp, out, v.tuple->names[i], v.tuple->data[i], x->span);
        return;
    }
    if (!sv_is_error(v))
        spec_error(sp, x->span, "'**' needs compile-time keywords, found %s", spec_describe(sp, v));
    out->has_error = true;
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
    return call_value(sp, callee, &args, e->span);
}
