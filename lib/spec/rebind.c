/* In: a binding of a file's name, and the value of the binding before it. Out: which of them a
   kernel gets, or an error at the place that asks. Data is exact or refused: a number that a later
   statement replaces is never used in its stead, nor a list, dict or class that one changes in place
   (t[i] = …, t.name = …, t.append(…), del t[i]), as host code is not run. Code and configurations are
   more lenient, as host code wraps functions and imports them from one of several places. */

#include <string.h>

#include "spec/eval.h"
#include "spec/walk.h"

/* A list of triton.Config, which tuning tries and no kernel computes with. */
static bool is_configs(SpecValue v)
{
    return v.kind == SV_LIST && v.tuple->len && sv_is_record(v.tuple->data[0], "Config");
}

static bool is_code(SpecValue v)
{
    switch (v.kind) {
    case SV_FUNC: case SV_BUILTIN: case SV_METHOD: case SV_CLASS: case SV_RECORD_CLASS:
        return true;
    case SV_MODULE: return v.module->kind != MODULE_HOST;
    default: return is_configs(v);
    }
}

static bool is_name(const Ast *n, void *name)
{
    return n->kind == AST_NAME && n->name.id == name;
}

/* f = wrap(f), configs += more */
static bool is_made_of_itself(const Global *g)
{
    return g->kind == GLOBAL_AUGMENT ||
           (g->kind == GLOBAL_EXPR && walk_any(g->value, is_name, (void *)g->name));
}

bool rebind_gives_way(const Global *g, SpecValue earlier)
{
    bool is_import = g->kind == GLOBAL_MODULE || g->kind == GLOBAL_FROM;
    if (g->is_tried && is_import) return true;
    return is_code(earlier) && (g->is_tried || g->is_doubtful || is_made_of_itself(g));
}

/* Of two unknown values the last is reported; code that is known is better than none. */
bool rebind_is_replaced(SpecValue v, SpecValue earlier)
{
    return !module_is_unknown(earlier) || !(module_is_unknown(v) || is_code(v));
}

bool rebind_matters(SpecValue v, SpecValue earlier)
{
    return !constant_is_equal(v, earlier) && !(module_is_unknown(v) && is_code(earlier));
}

static SpecValue note_parameter(Spec *sp)
{
    return spec_note(sp, SPAN_NONE, "pass it as a tl.constexpr parameter");
}

SpecValue rebind_choose(Spec *sp, const Global *g, SpecValue v, SpecValue earlier, Span at)
{
    if (!g->is_doubtful || constant_is_equal(v, earlier)) return v;
    if (!g->previous->is_doubtful && !is_code(v) && !is_code(earlier)) {
        spec_error_as(sp, DIAG_HOST_CODE, at,
                      "the value of '%s' depends on a condition that is not known here", g->name);
        spec_note(sp, g->at, "it is set here under that condition");
        spec_note(sp, g->previous->at, "and here before it");
        return note_parameter(sp);
    }
    spec_warning(sp, DIAG_BOUND_TWICE, g->at,
                 "'%s' is bound in several ways by a condition that is not known here; the last is "
                 "taken",
                 g->name);
    return v;
}

/* ---- host code ---- */

typedef struct HostSearch {
    Spec *sp;
    SpecModule *m, *found;
} HostSearch;

/* Names, members and calls are looked at as wholes; of a call that gives nothing, its arguments, as
   what it calls may well be the host's: math.floor(x). */
static bool visit_host(const Ast *n, void *user)
{
    HostSearch *s = user;
    if (s->found) return false;
    switch (n->kind) {
    case AST_NAME: case AST_ATTRIBUTE: case AST_SUBSCRIPT: case AST_CALL: break;
    case AST_LAMBDA: case AST_LISTCOMP: case AST_DICTCOMP: case AST_GENERATOR:
        return false; /* names of their own */
    default: return true;
    }
    SpecValue v = module_eval(s->sp, s->m, n);
    if (module_is_host(v)) s->found = v.module;
    for (int i = 0; n->kind == AST_CALL && v.kind == SV_ERROR && i < n->call.args.len; i++)
        walk_ast(n->call.args.data[i], visit_host, s);
    return false;
}

SpecModule *rebind_host_part(Spec *sp, SpecModule *m, const Ast *e)
{
    HostSearch s = {.sp = sp, .m = m};
    diag_quietly(sp->dx, walk_ast(e, visit_host, &s));
    return s.found;
}

SpecValue rebind_refuse_host(Spec *sp, const Global *g, const SpecModule *host, Span at)
{
    spec_error_as(sp, DIAG_HOST_CODE, at,
                  "the value of '%s' comes from host code, which is not run", g->name);
    spec_note(sp, g->at, "it is set here from the host value '%s'", host->path);
    return note_parameter(sp);
}

/* ---- changes in place ---- */

typedef struct Collect {
    Spec *sp;
    SpecModule *m;
    Span at; /* of the statement at the file's top */
} Collect;

/* The root of t[i].name */
static void note(Collect *c, const Ast *part)
{
    bool is_part = false;
    for (; part->kind == AST_SUBSCRIPT || part->kind == AST_ATTRIBUTE; is_part = true)
        part = part->kind == AST_SUBSCRIPT ? part->subscript.value : part->attribute.value;
    if (part->kind == AST_NAME && is_part)
        vec_push(c->m->program->arena, &c->m->changes, ((HostChange){part->name.id, c->at}));
}

static bool changes_its_object(const Ast *call)
{
    static const char *const names[] = {"append", "extend", "insert",  "update", "setdefault",
                                        "pop",    "sort",   "reverse", "clear",  "add",
                                        "remove", "discard", NULL};
    return call->kind == AST_CALL && call->call.callee->kind == AST_ATTRIBUTE &&
           str_among(call->call.callee->attribute.name, names);
}

static bool visit(const Ast *n, void *user)
{
    Collect *c = user;
    Spec *sp = c->sp;
    const Ast *full = NULL;
    if (n->kind == AST_SKIPPED && strcmp(n->skipped.what, "statement") == 0)
        full = syntax_parse_skipped(sp->arena, sp->names, sp->dx, c->m->file, n);
    if (full) walk_ast(full, visit, c);
    if (n->kind == AST_ASSIGN)
        for (int i = 0; i < n->assign.targets.len; i++) note(c, n->assign.targets.data[i]);
    if (n->kind == AST_AUGASSIGN) note(c, n->binary.left);
    if (changes_its_object(n)) note(c, n->call.callee);
    for (int i = 0; n->kind == AST_DELETE && i < n->list.len; i++) note(c, n->list.data[i]);
    return n->kind != AST_DEF && n->kind != AST_CLASS && n->kind != AST_LAMBDA;
}

static void collect(Spec *sp, SpecModule *m)
{
    const AstList *body = &m->file->body;
    m->has_changes = true;
    sp->dx->muted++;
    for (int i = 0; i < body->len; i++) {
        Collect c = {sp, m, body->data[i]->span};
        walk_ast(body->data[i], visit, &c);
    }
    sp->dx->muted--;
}

SpecValue rebind_changed(Spec *sp, SpecModule *m, const Global *g, SpecValue v, Span at)
{
    const bool may = v.kind == SV_LIST || v.kind == SV_RECORD || v.kind == SV_RECORD_CLASS;
    if (!may || is_configs(v) || !m->file || m->is_std) return v;
    if (!m->has_changes) collect(sp, m);
    for (int i = 0; i < m->changes.len; i++) {
        const HostChange *c = &m->changes.data[i];
        if (c->name != g->name || c->at.begin <= g->node->span.begin || c->at.end > m->now)
            continue;
        spec_error_as(sp, DIAG_HOST_CODE, at, "'%s' is changed by host code, which is not run",
                      g->name);
        spec_note(sp, c->at, "this statement changes it");
        return note_parameter(sp);
    }
    return v;
}
