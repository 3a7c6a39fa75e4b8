/* In: a kernel's decorators, as they stand in the text. Out: warnings of what they say and the
   kernel, triton.Config or the decorator does not know. config.c reads them for what they are worth
   and passes over the rest; this names the rest. Only what is written there is looked at, so that
   lists that host code makes stay its own affair. */
#include "spec/advice.h"

#include <string.h>

#include "spec/host_args.h"
#include "spec/config.h"
#include "spec/kernel.h"
#include "spec/walk.h"

typedef struct Tuning {
    Spec *sp;
    const SpecFunc *kernel;
    Map told; /* names that a warning was about */
} Tuning;

/* ---- a kernel's parameters ---- */

static bool is_parameter(const Tuning *t, Str name)
{
    const AstList *params = &t->kernel->def->def.params;
    return walk_param(params, name) || walk_takes_any(params);
}

/* A text in a decorator is the name of a parameter; each wrong one is told once. */
static void check_name(Tuning *t, const Ast *text)
{
    if (!text || text->kind != AST_STRING) return;
    const AstList *params = &t->kernel->def->def.params;
    Str name = text->string.value;
    if (is_parameter(t, name) || host_args_is_option(name) || map_has(&t->told, (uintptr_t)name))
        return;
    map_set_ptr(&t->told, name, (void *)text);
    Diags *dx = t->sp->dx;
    Diag *d = diag_warning(dx, DIAG_TUNING, text->span, "kernel '%s' has no parameter '%s'",
                           t->kernel->name, name);
    const Str *names = walk_param_names(t->sp->arena, params);
    const char *near = nearest_word(name, names, params->len);
    if (near) diag_suggest(dx, d, text->span, name, near);
    else if (params->len) diag_note(dx, d, SPAN_NONE, "it has %s", kernel_names_text(dx->arena, params->len, names));
}

static void check_keys(Tuning *t, const Ast *dict)
{
    for (int i = 0; i < dict->list.len; i++) check_name(t, dict->list.data[i]->pair.first);
}

/* ---- keywords ---- */

typedef struct Callable {
    const char *name, *title;
    const char *const *params;
    int nparams;
} Callable;

static const char *const config_params[] = {
    "kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg", "pre_hook", "ir_override",
    "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer", "reg_inc_consumer",
    "minRegAutoWS", "maxRegAutoWS", "enable_warp_specialization", "enable_persistent", NULL};
static const char *const autotune_params[] = {
    "configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook",
    "post_hook", "warmup", "rep", "use_cuda_graph", "do_bench", "cache_results", NULL};
static const char *const heuristics_params[] = {"values", NULL};

#define CALLABLE(name, title, list) {name, title, list, (int)(sizeof list / sizeof *list) - 1}
static const Callable config = CALLABLE("Config", "triton.Config", config_params);
static const Callable autotune = CALLABLE("autotune", "triton.autotune", autotune_params);
static const Callable heuristics = CALLABLE("heuristics", "triton.heuristics", heuristics_params);

/* triton.NAME(…) or NAME(…): others have namesakes with arguments of their own. */
static bool is_call_of(const Ast *e, const Callable *c)
{
    if (e->kind != AST_CALL || strcmp(kernel_last_name(e), c->name) != 0) return false;
    const Ast *callee = e->call.callee;
    return callee->kind == AST_NAME ||
           (callee->kind == AST_ATTRIBUTE && callee->attribute.value->kind == AST_NAME &&
            strcmp(callee->attribute.value->name.id, "triton") == 0);
}

static void check_keyword(Tuning *t, const Callable *c, const Ast *x)
{
    Str name = x->keyword.name;
    if (str_among(name, c->params) || map_has(&t->told, (uintptr_t)name)) return;
    map_set_ptr(&t->told, name, (void *)x);
    Diags *dx = t->sp->dx;
    Diag *d = diag_warning(dx, DIAG_TUNING, x->span, "%s has no argument '%s'", c->title, name);
    if (c == &config && is_parameter(t, name))
        diag_note(dx, d, SPAN_NONE,
                  "values of parameters stand in its dictionary: triton.Config({\"%s\": …})", name);
    else diag_suggest(dx, d, x->span, name, nearest_word(name, c->params, c->nparams));
}

/* An argument of a call, by keyword or position; checks the keywords. */
static const Ast *argument(Tuning *t, const Callable *c, const Ast *call, int which)
{
    for (int i = 0; i < call->call.args.len; i++) {
        const Ast *x = call->call.args.data[i];
        if (x->kind == AST_KEYWORD && x->keyword.name) check_keyword(t, c, x);
    }
    return config_argument(call, c->params[which], which);
}

/* ---- @autotune ---- */

static bool visit_config(const Ast *n, void *user)
{
    Tuning *t = user;
    if (!is_call_of(n, &config)) return true;
    const Ast *values = argument(t, &config, n, 0);
    if (values && values->kind == AST_DICT) check_keys(t, values);
    return true;
}

static void check_autotune(Tuning *t, const Ast *d)
{
    enum { KEY = 1 };
    const Ast *key = argument(t, &autotune, d, KEY);
    walk_ast(d, visit_config, t);
    const bool are_names = key && (key->kind == AST_LIST || key->kind == AST_TUPLE);
    for (int i = 0; are_names && i < key->list.len; i++) check_name(t, key->list.data[i]);
}

/* ---- @heuristics ---- */

typedef struct Names { const Ast **data; int len, cap; } Names;
typedef struct Search { const Tuning *t; Names names; } Search;

/* A parameter's name that the file does not know: it means an argument of the launch. */
static bool visit_parameter(const Ast *n, void *user)
{
    Search *s = user;
    Spec *sp = s->t->sp;
    if (n->kind == AST_NAME && is_parameter(s->t, n->name.id)) {
        SpecValue v;
        diag_quietly(sp->dx, v = module_lookup(sp, s->t->kernel->module, n->name.id, n->span));
        if (sv_is_absent(v)) vec_push(sp->arena, &s->names, n);
    }
    return n->kind != AST_LAMBDA;
}

static bool is_never_a_function(const Ast *rule)
{
    switch (rule->kind) {
    case AST_INT: case AST_FLOAT: case AST_STRING: case AST_TRUE: case AST_FALSE: case AST_NONE:
    case AST_COMPARE: case AST_BINARY: case AST_UNARY: case AST_LIST: case AST_TUPLE: case AST_DICT:
        return true;
    default: return false;
    }
}

/* n % 16 == 0 as a function: lambda args: args["n"] % 16 == 0 */
static const char *as_function(Spec *sp, Span at, const Names *names)
{
    Buf out = buf_make(sp->arena);
    uint32_t begin = at.begin;
    buf_puts(&out, "lambda args: ");
    for (int i = 0; i < names->len; i++) {
        Span name = names->data[i]->span;
        if (name.begin < begin) return NULL;
        buf_printf(&out, "%.*sargs[\"%s\"]", (int)(name.begin - begin), at.source->text + begin,
                   names->data[i]->name.id);
        begin = name.end;
    }
    buf_printf(&out, "%.*s", (int)(at.end - begin), at.source->text + begin);
    return buf_text(&out);
}

static void check_rule_kind(Tuning *t, const Ast *rule)
{
    Search s = {.t = t};
    walk_ast(rule, visit_parameter, &s);
    if (!is_never_a_function(rule) && !s.names.len) return;
    Diags *dx = t->sp->dx;
    Diag *d = diag_warning(dx, DIAG_TUNING, rule->span,
                           "a heuristic is a function of the arguments, found %s",
                           ast_describe(rule));
    if (rule->kind == AST_STRING || rule->kind == AST_FSTRING) { /* in a function it stays one */
        diag_note(dx, d, SPAN_NONE,
                  "write a function, as in lambda args: args[\"n\"] %% args[\"BLOCK\"] == 0; a text "
                  "is always true");
        return;
    }
    const char *text = rule->span.source ? as_function(t->sp, rule->span, &s.names) : NULL;
    if (!text || strchr(text, '\n')) return;
    diag_note(dx, d, SPAN_NONE, "write '%s'", text);
    diag_fixit(dx, d, rule->span, "%s", text);
}

typedef struct Rule { Tuning *t; Str args; } Rule;

/* args["n"] */
static bool visit_argument(const Ast *n, void *user)
{
    const Rule *r = user;
    if (n->kind == AST_SUBSCRIPT && n->subscript.value->kind == AST_NAME &&
        n->subscript.value->name.id == r->args)
        check_name(r->t, n->subscript.index);
    return true;
}

static void check_heuristics(Tuning *t, const Ast *d)
{
    const Ast *values = argument(t, &heuristics, d, 0);
    if (!values || values->kind != AST_DICT) return;
    check_keys(t, values);
    for (int i = 0; i < values->list.len; i++) {
        const Ast *rule = values->list.data[i]->pair.second;
        if (!values->list.data[i]->pair.first) continue;
        if (rule->kind != AST_LAMBDA) {
            check_rule_kind(t, rule);
        } else if (rule->lambda.params.len == 1) {
            Rule r = {t, rule->lambda.params.data[0]->param.name};
            walk_ast(rule->lambda.body, visit_argument, &r);
        }
    }
}

/* ---- all of them ---- */

static void check_known(Tuning *t, const Ast *d)
{
    static const char *const known[] = {"jit", "autotune", "heuristics", NULL};
    const char *name = kernel_last_name(d);
    if (!str_among(name, known))
        diag_warning(t->sp->dx, DIAG_DECORATOR, d->span, "the decorator '%s' is ignored", name);
}

void tuning_check(Spec *sp, const SpecFunc *kernel)
{
    const AstList *decorators = &kernel->def->def.decorators;
    Tuning t = {.sp = sp, .kernel = kernel};
    map_init(&t.told, sp->arena);
    for (int i = 0; i < decorators->len; i++) {
        const Ast *d = decorators->data[i];
        check_known(&t, d);
        if (is_call_of(d, &autotune)) check_autotune(&t, d);
        if (is_call_of(d, &heuristics)) check_heuristics(&t, d);
    }
}
