/* Checks of a whole statement, top down. The limit on depth comes first: this walk and all later
   ones recurse. */
#include "syntax/parser.h"

typedef struct Around {
    Diags *dx;
    bool *ok;
    bool loop, function, async;
} Around;

typedef struct Depth {
    int left;
    const Ast *deepest;
} Depth; /* deepest: the first node past the limit */

static void measure(void *context, Ast *node)
{
    Depth *d = context;
    if (d->deepest) return;
    if (node->kind >= AST_FIRST_PART) { /* no level of its own */
        ast_each_child(node, measure, d);
        return;
    }
    if (d->left == 0) {
        d->deepest = node;
        return;
    }
    Depth below = {d->left - 1, NULL};
    ast_each_child(node, measure, &below);
    d->deepest = below.deepest;
}

const Ast *validate_depth(const Ast *node)
{
    Depth d = {SYNTAX_MAX_DEPTH, NULL};
    ast_each_child(node, measure, &d);
    return d.deepest;
}

/* The text has a %s for the word that the statement begins with. */
static void error_at(Around *a, const Ast *node, const char *text)
{
    diag_error(a->dx, node->span, "%s",
               arena_printf(a->dx->arena, text, ast_kind_text(node->kind)));
    *a->ok = false;
}

static void walk(void *context, Ast *node);

static void walk_list(Around around, AstList list)
{
    for (int i = 0; i < list.len; i++) walk(&around, list.data[i]);
}

static void walk_loop(Around around, const Ast *n)
{
    bool is_for = n->kind == AST_FOR;
    walk(&around, is_for ? n->loop.iter : n->branch.cond);
    Around inside = around;
    inside.loop = true;
    walk_list(inside, is_for ? n->loop.body : n->branch.body);
    walk_list(around, is_for ? n->loop.orelse : n->branch.orelse);
}

static void check_async(Around *a, const AstList *clauses, const Ast *node)
{
    for (int i = 0; i < clauses->len; i++)
        if (clauses->data[i]->clause.is_async && !a->async)
            error_at(a, node, "'async for' outside an async function");
}

static void walk(void *context, Ast *node)
{
    Around around = *(Around *)context;
    switch (node->kind) {
    case AST_BREAK:
    case AST_CONTINUE:
        if (!around.loop) error_at(&around, node, "'%s' outside a loop");
        break;
    case AST_RETURN:
    case AST_YIELD:
        if (!around.function) error_at(&around, node, "'%s' outside a function");
        break;
    case AST_AWAIT:
        if (!around.async) error_at(&around, node, "'%s' outside an async function");
        break;
    case AST_FOR:
        if (node->loop.is_async && !around.async)
            error_at(&around, node, "'async for' outside an async function");
        walk_loop(around, node);
        return;
    case AST_WHILE: walk_loop(around, node); return;
    case AST_WITH:
        if (node->with.is_async && !around.async)
            error_at(&around, node, "'async with' outside an async function");
        break;
    case AST_LISTCOMP:
    case AST_SETCOMP:
    case AST_DICTCOMP: check_async(&around, &node->comp.clauses, node); break;
    case AST_GENERATOR:
        around.async = true;
        break; /* it becomes an asynchronous generator by itself */
    case AST_DEF:
        around.loop = false;
        around.function = true;
        around.async = node->def.is_async;
        break;
    case AST_LAMBDA: around.function = true; break;
    case AST_CLASS: around.loop = around.function = around.async = false; break;
    default: break;
    }
    ast_each_child(node, walk, &around);
}

bool validate(Diags *dx, const Ast *node, bool is_part)
{
    const Ast *deepest = validate_depth(node);
    if (deepest)
        return diag_fail(dx, deepest->span, "nested too deeply (the limit is %d)",
                         SYNTAX_MAX_DEPTH);
    bool ok = true;
    Around around = {.dx = dx, .ok = &ok, .loop = is_part, .function = is_part, .async = is_part};
    walk(&around, (Ast *)node);
    return ok;
}
