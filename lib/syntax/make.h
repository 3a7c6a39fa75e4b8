/* Constructors of the tree: what the grammar's actions call, one each. Each takes its lists and
   returns the node. */
#ifndef TKC_SYNTAX_MAKE_H
#define TKC_SYNTAX_MAKE_H

#include "syntax/parser.h"

typedef struct AstKeyValue {
    Ast *key, *value;
} AstKeyValue;
typedef struct AstKeyValues {
    AstKeyValue *data;
    int len, cap;
} AstKeyValues;

/* ---- lists ---- */
AstList *list_new(Parser *p, Ast *first); /* first may be NULL: empty */
AstList *list_add(Parser *p, AstList *list, Ast *item);
AstList *list_join(Parser *p, AstList *list, const AstList *more);
AstKeyValues *pairs_add(Parser *p, AstKeyValues *pairs, Ast *key,
                        Ast *value); /* pairs may be NULL */
AstAliases *aliases_add(Parser *p, AstAliases *list, Str name, Str as, Loc at);
AstNames *names_add(Parser *p, AstNames *list, Str name);
AstHandlers *handlers_add(Parser *p, AstHandlers *list, AstHandler *handler);
AstClauses *clauses_add(Parser *p, AstClauses *list, AstClause *clause);
AstParams *params_add(Parser *p, AstParams *list, AstParam *param);

/* ---- expressions ---- */
Ast *make_leaf(Parser *p, AstKind kind, Loc at);
Ast *make_name(Parser *p, Str id, Loc at);
Ast *make_number(Parser *p, Loc at);
Ast *make_string(Parser *p, Loc at);
Ast *make_text(Parser *p, Loc at); /* text of an f-string, decoded by make_fstring */
/* {value=!conversion:spec}; `equal` is empty when there is none. */
Ast *make_field(Parser *p, Ast *value, Loc open, Loc equal, Str conversion, Loc conversion_at,
                Ast *spec, Loc at);
Ast *make_spec(Parser *p, AstList *items, Loc at);
Ast *make_fstring(Parser *p, AstList *items, Loc start, Loc at);
Ast *make_strings(Parser *p, AstList *pieces, Loc at);
Ast *make_list(Parser *p, AstKind kind, AstList *items, Loc at); /* TUPLE LIST SET DELETE */
Ast *make_exprs(Parser *p, AstList *items, bool comma, Loc at);  /* a  or the tuple  a, b */
Ast *make_group(Parser *p, AstList *items, Loc at);              /* (a) or (a, b) */
Ast *make_dict(Parser *p, AstKeyValues *pairs, Loc at);
Ast *make_unary(Parser *p, AstKind kind, AstOp op, Ast *operand, Loc at);
Ast *make_binary(Parser *p, AstKind kind, AstOp op, Loc op_at, Ast *left, Ast *right, Loc at);
Ast *make_compare(Parser *p, Ast *left, AstOp op, Loc op_at, Ast *right, Loc at);
Ast *extend_compare(Parser *p, Ast *chain, AstOp op, Loc op_at, Ast *right, Loc at);
Ast *make_ifexp(Parser *p, Ast *then, Ast *cond, Ast *orelse, Loc at);
Ast *make_lambda(Parser *p, AstParams *params, Ast *body, Loc at);
Ast *make_call(Parser *p, Ast *callee, AstList *args, Loc at);
Ast *make_keyword(Parser *p, Str name, Ast *value, Loc at);
Ast *make_attribute(Parser *p, Ast *value, Str name, Loc name_at, Loc at);
Ast *make_subscript(Parser *p, Ast *value, AstList *index, bool comma, Loc index_at, Loc at);
Ast *make_slice(Parser *p, Ast *lo, Ast *hi, Ast *step, Loc colon, Loc at);
Ast *make_named(Parser *p, Str name, Loc name_at, Ast *value, Loc at);
Ast *make_comp(Parser *p, AstKind kind, Ast *element, Ast *value, AstClauses *clauses, Loc at);
AstClause *make_clause(Parser *p, Ast *target, Ast *iter, AstList *conds, bool is_async);
AstParam *make_param(Parser *p, ParamKind kind, Str name, Ast *annotation, Ast *default_, Loc at);
AstParam *make_marker(Parser *p, ParamKind kind,
                      Loc at); /* a bare `*` (VARARGS) or `/` (POSITIONAL_ONLY) */
AstParams *make_params(Parser *p, AstParams *list); /* checks the order, drops the markers */

/* ---- statements ---- */
Ast *make_assign(Parser *p, AstList *chain, Loc at); /* targets, then the value */
Ast *make_augassign(Parser *p, Ast *target, AstOp op, Loc op_at, Ast *value, Loc at);
Ast *make_annassign(Parser *p, Ast *target, Ast *annotation, Ast *value, Loc at);
Ast *make_pair(Parser *p, AstKind kind, Ast *first, Ast *second, Loc at);
Ast *make_delete(Parser *p, AstList *targets, Loc at);
Ast *make_names(Parser *p, AstKind kind, AstNames *names, Loc at);
Ast *make_import(Parser *p, AstAliases *names, Loc at);
Ast *make_from(Parser *p, int level, Str module, AstAliases *names, Loc at);
Str make_dotted(Parser *p, Str left, Str right);
Ast *make_branch(Parser *p, AstKind kind, Ast *cond, AstList *body, AstList *orelse, Loc at);
Ast *make_for(Parser *p, Ast *target, Ast *iter, AstList *body, AstList *orelse, Loc at);
Ast *make_with_item(Parser *p, Ast *value, Ast *target); /* a pair, for make_with only */
Ast *make_with(Parser *p, AstList *items, AstList *body, Loc at);
AstHandler *make_handler(Parser *p, Ast *type, Str name, AstList *body, Loc at);
Ast *make_try(Parser *p, AstList *body, AstHandlers *handlers, AstList *orelse, AstList *finalbody,
              Loc at);
Ast *make_def(Parser *p, Str name, Loc name_at, AstParams *params, Ast *returns, AstList *body,
              Loc at);
Ast *make_class(Parser *p, Str name, Loc name_at, AstList *args, AstList *body, Loc at);
Ast *make_async(Parser *p, Ast *statement, Loc at);
Ast *make_decorated(Parser *p, AstList *decorators, Ast *definition);
/* After each statement: SKIPPED in its place when host code did not parse. */
AstList *make_statement(Parser *p, AstList *statement, Loc at);
/* What a statement with a syntax error leaves: nothing in a kernel, SKIPPED in host code, and the
   block after it. */
AstList *make_recovered(Parser *p, AstList *block, Loc at);

#endif
