/* Going through syntax trees. */
#pragma once

#include "syntax/ast.h"

/* Calls visit for n and everything in it, outer first; visit says whether to go into the node. n
   may be NULL. */
typedef bool (*WalkFn)(const Ast *n, void *user);
void walk_ast(const Ast *n, WalkFn visit, void *user);
void walk_list(const AstList *list, WalkFn visit, void *user);
/* The names that the statements assign in their own scope, each once, in order: targets (of `del`
   too), loop variables, `:=`, with … as. */
void walk_assigned(Arena *a, const AstList *body, AstNames *out);
/* The first target of that name among them, or NULL: no name, or one that an import, def or class
   binds. */
const Ast *walk_first_assignment(const AstList *body, Str name);
/* The names whose value may change in part: t[i] = …, r.name = …, l.append(…). Those with a part of
   a part, t[i].name = …, are in `deep` too. */
void walk_changed(Arena *a, const AstList *body, AstNames *out, AstNames *deep);
/* l.append(v), l.extend(items), l.insert(i, v) */
bool walk_changes_list(const Ast *call);
bool walk_has(const AstNames *names, Str name);
/* Whether a node within n, which may be NULL, or within one of a list, is such a one. */
typedef bool (*WalkIs)(const Ast *n, void *user);
bool walk_any(const Ast *n, WalkIs is, void *user);
bool walk_list_any(const AstList *list, WalkIs is, void *user);
/* The last parameter is **name, which takes keywords of any name. */
bool walk_takes_any(const AstList *params);
/* The first parameter of that name, or NULL; the names of all. */
const Ast *walk_param(const AstList *params, const char *name);
const Str *walk_param_names(Arena *a, const AstList *params);
/* The names one expression binds as an assignment target. */
void walk_target(Arena *a, const Ast *target, AstNames *out);
