/* A parameter whose methods are a descriptor's, or that an operation on descriptors begins with, is
   a descriptor; one that an address is computed from is a pointer; else it is a number. An offset
   is part of an address too: only short names are taken for the base. */
#include "spec/advice.h"

#include <string.h>

#include "spec/walk.h"

typedef struct Usage {
    Arena *arena;
    Str name;
    AstNames tainted; /* what is computed from it */
    bool is_pointer, is_descriptor;
} Usage;

static bool mentions(const Ast *e, Str name)
{
    if (!e) return false;
    switch (e->kind) {
    case AST_NAME: return e->name.id == name;
    case AST_BINARY: return mentions(e->binary.left, name) || mentions(e->binary.right, name);
    case AST_CALL: return e->call.args.len > 0 && mentions(e->call.args.data[0], name);
    case AST_ATTRIBUTE: return mentions(e->attribute.value, name);
    default: return false;
    }
}

static bool is_tainted(const Usage *u, const Ast *e)
{
    if (mentions(e, u->name)) return true;
    for (int i = 0; i < u->tainted.len; i++)
        if (mentions(e, u->tainted.data[i])) return true;
    return false;
}

static bool is_name(const Ast *e, Str name)
{
    return e->kind == AST_NAME && e->name.id == name;
}

/* tl.load(p + at) */
static void look_at_call(Usage *u, const Ast *callee, const Ast *first)
{
    const char *op = callee->attribute.name;
    if (is_name(first, u->name) && strstr(op, "descriptor") && !strstr(op, "make")) {
        u->is_descriptor = true;
        return;
    }
    bool is_memory = strcmp(op, "load") == 0 || strcmp(op, "store") == 0 ||
                     strncmp(op, "atomic_", 7) == 0 || strncmp(op, "make_", 5) == 0;
    u->is_pointer |= is_memory && is_tainted(u, first);
}

static bool visit(const Ast *n, void *user)
{
    Usage *u = user;
    if (n->kind == AST_ASSIGN && n->assign.value->kind == AST_BINARY &&
        is_tainted(u, n->assign.value)) {
        for (int i = 0; i < n->assign.targets.len; i++)
            walk_target(u->arena, n->assign.targets.data[i], &u->tainted);
    }
    if (n->kind == AST_CALL && n->call.callee->kind == AST_ATTRIBUTE && n->call.args.len > 0)
        look_at_call(u, n->call.callee, n->call.args.data[0]);
    if (n->kind == AST_ATTRIBUTE && is_name(n->attribute.value, u->name))
        u->is_descriptor |= strcmp(n->attribute.name, "block_shape") == 0 ||
                            builtin_find(NS_DESC, n->attribute.name) != NULL;
    return !u->is_descriptor;
}

const char *guess_type(Arena *a, const Ast *def, Str name)
{
    Usage u = {.arena = a, .name = name};
    walk_list(&def->def.body, visit, &u);
    if (u.is_descriptor) return "tensordesc<fp16[64, 64]>";
    if (strstr(name, "ptr") || strstr(name, "Ptr")) return "*fp32";
    bool is_short = strlen(name) <= 2 && name[0] != 'n' && name[0] != 'N';
    return u.is_pointer && is_short ? "*fp32" : "i32";
}

static bool is_call_of(const Ast *n, void *name)
{
    return n->kind == AST_CALL && is_name(n->call.callee, name);
}

const char *guess_value(const Ast *def, Str name)
{
    return walk_list_any(&def->def.body, is_call_of, (void *)name) ? "function" : "int";
}
