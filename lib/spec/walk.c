/* Searches of syntax trees, over the children that syntax/ names. */
#include "spec/walk.h"

#include <string.h>

void walk_list(const AstList *list, WalkFn visit, void *user)
{
    for (int i = 0; i < list->len; i++) walk_ast(list->data[i], visit, user);
}

typedef struct Walk { WalkFn visit; void *user; } Walk;

static void walk_child(void *context, Ast *child)
{
    const Walk *w = context;
    walk_ast(child, w->visit, w->user);
}

void walk_ast(const Ast *n, WalkFn visit, void *user)
{
    if (n && visit(n, user)) ast_each_child(n, walk_child, &(Walk){visit, user});
}

typedef struct Search { WalkIs is; void *user; bool found; } Search;

static bool visit_search(const Ast *n, void *user)
{
    Search *s = user;
    s->found = s->found || s->is(n, s->user);
    return !s->found;
}

bool walk_any(const Ast *n, WalkIs is, void *user)
{
    Search s = {is, user, false};
    walk_ast(n, visit_search, &s);
    return s.found;
}

bool walk_list_any(const AstList *list, WalkIs is, void *user)
{
    Search s = {is, user, false};
    walk_list(list, visit_search, &s);
    return s.found;
}

bool walk_takes_any(const AstList *params)
{
    return params->len && params->data[params->len - 1]->param.kind == PARAM_KWARGS;
}

const Ast *walk_param(const AstList *params, const char *name)
{
    for (int i = 0; i < params->len; i++)
        if (strcmp(params->data[i]->param.name, name) == 0) return params->data[i];
    return NULL;
}

const Str *walk_param_names(Arena *a, const AstList *params)
{
    Str *names = arena_array(a, Str, params->len + 1);
    for (int i = 0; i < params->len; i++) names[i] = params->data[i]->param.name;
    return names;
}

/* What is looked for: all names, or where `wanted` is assigned first. */
typedef struct Names { Arena *arena; AstNames *out; Str wanted; const Ast *found; } Names;

bool walk_has(const AstNames *names, Str name)
{
    for (int i = 0; i < names->len; i++)
        if (names->data[i] == name) return true;
    return false;
}

static void add_name(Names *to, Str name)
{
    if (!to->wanted && !walk_has(to->out, name)) vec_push(to->arena, to->out, name);
}

static void add_target(Names *to, const Ast *t)
{
    if (!t) return;
    switch (t->kind) {
    case AST_NAME:
        add_name(to, t->name.id);
        if (t->name.id == to->wanted && !to->found) to->found = t;
        break;
    case AST_TUPLE: case AST_LIST:
        for (int i = 0; i < t->list.len; i++) add_target(to, t->list.data[i]);
        break;
    case AST_STARRED: add_target(to, t->unary.operand); break;
    default: break;
    }
}

static void add_import(Names *to, const Ast *n)
{
    for (int i = 0; i < n->import.names.len; i++) {
        const Ast *x = n->import.names.data[i];
        add_name(to, x->alias.as ? x->alias.as : x->alias.name);
    }
}

static bool visit_assigned(const Ast *n, void *user)
{
    Names *to = user;
    switch (n->kind) {
    case AST_ASSIGN:
        for (int i = 0; i < n->assign.targets.len; i++) add_target(to, n->assign.targets.data[i]);
        return true;
    case AST_DELETE: /* binds without assigning */
        for (int i = 0; i < n->list.len && !to->wanted; i++) add_target(to, n->list.data[i]);
        return true;
    case AST_AUGASSIGN: add_target(to, n->binary.left); return true;
    case AST_ANNASSIGN: add_target(to, n->annassign.target); return true;
    case AST_FOR: add_target(to, n->loop.target); return true;
    case AST_NAMED: add_target(to, n->named.target); return true;
    case AST_ITEM: add_target(to, n->pair.second); return true;
    case AST_DEF: add_name(to, n->def.name); return false;
    case AST_CLASS: add_name(to, n->class_.name); return false;
    case AST_IMPORT: case AST_FROM: add_import(to, n); return false;
    case AST_LAMBDA: return false;
    default: return true;
    }
}

void walk_assigned(Arena *a, const AstList *body, AstNames *out)
{
    Names to = {.arena = a, .out = out};
    walk_list(body, visit_assigned, &to);
}

const Ast *walk_first_assignment(const AstList *body, Str name)
{
    Names to = {.wanted = name};
    walk_list(body, visit_assigned, &to);
    return to.found;
}

typedef struct Changed { Names all, deep; } Changed;

/* The name at the root of t[i].x */
static void add_root(Changed *to, const Ast *t)
{
    if (t->kind == AST_TUPLE || t->kind == AST_LIST) {
        for (int i = 0; i < t->list.len; i++) add_root(to, t->list.data[i]);
        return;
    }
    int parts = 0;
    for (; t->kind == AST_SUBSCRIPT || t->kind == AST_ATTRIBUTE; parts++)
        t = t->kind == AST_SUBSCRIPT ? t->subscript.value : t->attribute.value;
    if (t->kind != AST_NAME || parts == 0) return;
    add_name(&to->all, t->name.id);
    if (parts > 1) add_name(&to->deep, t->name.id);
}

bool walk_changes_list(const Ast *call)
{
    if (call->kind != AST_CALL || call->call.callee->kind != AST_ATTRIBUTE) return false;
    static const char *const names[] = {"append", "extend", "insert", NULL};
    const char *name = call->call.callee->attribute.name;
    return str_among(name, names) && call->call.args.len == 1 + (strcmp(name, "insert") == 0);
}

static bool visit_changed(const Ast *n, void *user)
{
    Changed *to = user;
    if (n->kind == AST_ASSIGN) {
        for (int i = 0; i < n->assign.targets.len; i++) add_root(to, n->assign.targets.data[i]);
    } else if (n->kind == AST_AUGASSIGN) {
        add_root(to, n->binary.left);
    } else if (n->kind == AST_ANNASSIGN) {
        add_root(to, n->annassign.target);
    } else if (n->kind == AST_EXPR && walk_changes_list(n->unary.operand)) {
        add_root(to, n->unary.operand->call.callee);
    }
    return n->kind != AST_LAMBDA;
}

void walk_changed(Arena *a, const AstList *body, AstNames *out, AstNames *deep)
{
    Changed to = {{.arena = a, .out = out}, {.arena = a, .out = deep}};
    walk_list(body, visit_changed, &to);
}

void walk_target(Arena *a, const Ast *target, AstNames *out)
{
    add_target(&(Names){.arena = a, .out = out}, target);
}
