/* Constructors of the tree: what the grammar's actions call. Each takes its lists and returns the
   node. */
#pragma once

#include "syntax/parser.h"

/* ---- lists ---- */
AstList *list_new(Parser *p, Ast *first); /* first may be NULL: empty */
AstList *list_add(Parser *p, AstList *list, Ast *item);
AstList *list_join(Parser *p, AstList *list, const AstList *more);

/* A node of a kind and its fields, with nothing to check; the span is `at`. */
Ast *make(Parser *p, Ast fields, Loc at);

/* ---- expressions ---- */
Ast *make_number(Parser *p, Loc at);
Ast *make_string(Parser *p, Loc at);
/* {value=!conversion:spec}; `equal` is empty when there is none. */
Ast *make_field(Parser *p, Ast *value, Loc open, Loc equal, Str conversion, Loc conversion_at,
                Ast *spec, Loc at);
Ast *make_fstring(Parser *p, AstList *items, Loc start, Loc at);
Ast *make_strings(Parser *p, AstList *pieces, Loc at);
Ast *make_exprs(Parser *p, AstList *items, bool comma, Loc at);  /* a  or the tuple  a, b */
Ast *make_binary(Parser *p, AstKind kind, AstOp op, Loc op_at, Ast *left, Ast *right, Loc at);
Ast *make_compare(Parser *p, Ast *left, AstOp op, Loc op_at, Ast *right, Loc at);
Ast *extend_compare(Parser *p, Ast *chain, AstOp op, Loc op_at, Ast *right, Loc at);
Ast *make_call(Parser *p, Ast *callee, AstList *args, Loc at);
Ast *make_subscript(Parser *p, Ast *value, AstList *index, bool comma, Loc index_at, Loc at);
Ast *make_slice(Parser *p, Ast *lo, Ast *hi, Ast *step, Loc colon, Loc at);
Ast *make_named(Parser *p, Str name, Loc name_at, Ast *value, Loc at);
Ast *make_clause(Parser *p, Ast *target, Ast *iter, AstList *conds, bool is_async, Loc at);
/* Checks the order and drops the markers, a bare `*` (VARARGS) or `/` (POSITIONAL_ONLY), which are
   PARAMs without a name. */
AstList *make_params(Parser *p, AstList *list);

/* ---- statements ---- */
Ast *make_assign(Parser *p, AstList *chain, Loc at); /* targets, then the value */
Ast *make_augassign(Parser *p, Ast *target, AstOp op, Loc op_at, Ast *value, Loc at);
Ast *make_annassign(Parser *p, Ast *target, Ast *annotation, Ast *value, Loc at);
Ast *make_import(Parser *p, AstKind kind, int level, Str module, AstList *names, Loc at);
Ast *make_delete(Parser *p, AstList *targets, Loc at);
Ast *make_branch(Parser *p, AstKind kind, Ast *cond, AstList *body, AstList *orelse, Loc at);
Ast *make_for(Parser *p, Ast *target, Ast *iter, AstList *body, AstList *orelse, Loc at);
Ast *make_with_item(Parser *p, Ast *value, Ast *target);
Ast *make_with(Parser *p, AstList *items, AstList *body, Loc at);
Ast *make_handler(Parser *p, Ast *type, Str name, AstList *body, Loc at);
Ast *make_try(Parser *p, AstList *body, AstList *handlers, AstList *orelse, AstList *finalbody,
              Loc at);
Ast *make_def(Parser *p, Str name, Loc name_at, AstList *params, Ast *returns, AstList *body,
              Loc at);
Ast *make_class(Parser *p, Str name, Loc name_at, AstList *args, AstList *body, Loc at);
Ast *make_async(Ast *statement, Loc at);
Ast *make_decorated(AstList *decorators, Ast *definition);
/* After each statement: SKIPPED in its place when host code did not parse. */
AstList *make_statement(Parser *p, AstList *statement, Loc at);
/* What a statement with a syntax error leaves: nothing in a kernel, SKIPPED in host code, and the
   block after it. */
AstList *make_recovered(Parser *p, AstList *block, Loc at);
