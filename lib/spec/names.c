/* -fsyntax-only: resolves the names in every jit function without executing anything. A name is
   fine when it is a parameter, assigned somewhere in the function or in host code's around it, or
   known to the file; `tl.name` must exist. Each unknown name is reported once. */
#include "spec/eval.h"
#include "spec/walk.h"

typedef struct NameCheck {
    Spec *sp;
    Scope *locals;
    const Ast *def, *maker; /* maker: host code around it, or NULL */
    const Ast *found;       /* a name of the maker's, last looked at */
    Map reported;
} NameCheck;

static void add_names(NameCheck *c, const AstNames *names, Span at)
{
    for (int i = 0; i < names->len; i++) scope_set(c->locals, names->data[i], sv_none(), at);
}

/* Lambdas and comprehensions have scopes of their own; to see whether a name can mean anything, one
   is enough. */
static bool visit_binders(const Ast *n, void *user)
{
    NameCheck *c = user;
    AstNames names = {0};
    if (n->kind == AST_PARAM) vec_push(c->sp->arena, &names, n->param.name);
    if (n->kind == AST_CLAUSE) walk_target(c->sp->arena, n->clause.target, &names);
    add_names(c, &names, n->span);
    return true;
}

/* What a name or a dotted name stands for when it leads to the outside; ABSENT for anything else. */
static SpecValue outside_value(NameCheck *c, const Ast *e)
{
    Spec *sp = c->sp;
    if (e->kind == AST_NAME && !scope_find(c->locals, e->name.id))
        return module_lookup(sp, sp->frame->module, e->name.id, e->span);
    if (e->kind != AST_ATTRIBUTE) return sv_absent();
    SpecValue v = outside_value(c, e->attribute.value);
    return v.kind == SV_MODULE ? module_attribute(sp, v.module, e->attribute.name, e->span)
                               : sv_absent();
}

static bool is_reported(NameCheck *c, Str name)
{
    if (map_has(&c->reported, (uint64_t)(uintptr_t)name)) return true;
    map_set_ptr(&c->reported, name, NULL);
    return false;
}

/* ---- names of the functions around ---- */

typedef struct Around { const Ast *def; Str name; } Around;

/* A function around def that gives the name a value. */
static bool is_giver(const Ast *n, void *user)
{
    const Around *a = user;
    return n->kind == AST_DEF && n->span.begin < a->def->span.begin &&
           n->span.end >= a->def->span.end &&
           (walk_param(&n->def.params, a->name) || walk_first_assignment(&n->def.body, a->name));
}

static bool is_of_maker(const Ast *n, void *user)
{
    NameCheck *c = user;
    if (n->kind != AST_NAME || scope_find(c->locals, n->name.id)) return false;
    c->found = n;
    return walk_any(c->maker, is_giver, &(Around){c->def, n->name.id});
}

/* ---- each name ---- */

static void check_name(NameCheck *c, const Ast *n)
{
    if (scope_find(c->locals, n->name.id) || is_of_maker(n, c)) return;
    SpecValue v;
    diag_quietly(c->sp->dx, v = module_lookup(c->sp, c->sp->frame->module, n->name.id, n->span));
    if (sv_is_absent(v) && !is_reported(c, n->name.id)) eval_unknown_name(c->sp, n->name.id, n->span);
}

static void check_member(NameCheck *c, const Ast *n)
{
    c->sp->dx->muted++;
    SpecValue v = outside_value(c, n->attribute.value);
    bool known = v.kind != SV_MODULE || !sv_is_absent(module_attribute(
                                            c->sp, v.module, n->attribute.name, n->span));
    c->sp->dx->muted--;
    if (known || is_reported(c, n->attribute.name)) return;
    module_refuse_name(c->sp, v.module, n->attribute.name, n->attribute.name_span);
}

static bool visit_names(const Ast *n, void *user)
{
    if (n->kind == AST_NAME) check_name(user, n);
    if (n->kind == AST_ATTRIBUTE) check_member(user, n);
    return true;
}

/* With the function's own names. */
static NameCheck open_function(Spec *sp, SpecModule *m, const Ast *def)
{
    NameCheck c = {.sp = sp, .locals = scope_new(sp->arena, NULL), .def = def};
    AstNames assigned = {0};
    map_init(&c.reported, sp->arena);
    if (def->def.inside)
        diag_quietly(sp->dx, c.maker = syntax_parse_skipped(sp->arena, sp->names, sp->dx, m->file,
                                                             def->def.inside));
    for (int i = 0; i < def->def.params.len; i++) visit_binders(def->def.params.data[i], &c);
    walk_assigned(sp->arena, &def->def.body, &assigned);
    add_names(&c, &assigned, def->span);
    walk_list(&def->def.body, visit_binders, &c);
    return c;
}

static void check_function(Spec *sp, SpecModule *m, const Ast *def)
{
    Frame f;
    NameCheck c = open_function(sp, m, def);
    frame_push_module(sp, &f, m, NULL);
    walk_list(&def->def.body, visit_names, &c);
    frame_pop(sp, &f);
}

const Ast *spec_name_of_maker(Spec *sp, const SpecFunc *fn)
{
    if (fn->closure || !fn->def->def.inside) return NULL;
    NameCheck c = open_function(sp, fn->module, fn->def);
    return walk_list_any(&fn->def->def.body, is_of_maker, &c) ? c.found : NULL;
}

void spec_check_names(SpecModule *m)
{
    Spec sp = spec_state(m->program, NULL);
    for (int i = 0; i < m->names.len; i++) {
        for (const Global *g = map_get_ptr(&m->globals, m->names.data[i]); g; g = g->previous)
            if (g->kind == GLOBAL_NODE && g->node->kind == AST_DEF) check_function(&sp, m, g->node);
    }
    for (int i = 0; i < m->methods.len; i++) check_function(&sp, m, m->methods.data[i]);
}
