/* The syntax tree, as the grammar builds it: Python's shapes, no meaning. Nodes live in the
   compilation's arena. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/diag.h"
#include "base/intern.h"
#include "base/vec.h"

typedef enum AstKind {
#define AST(ID, text, described, children) AST_##ID,
#include "syntax/ast.def"
    AST_COUNT
} AstKind;

#define AST_FIRST_STMT AST_EXPR
#define AST_FIRST_PART AST_PARAM

/* Operators of UNARY, BINARY, AUGASSIGN, BOOLOP, COMPARE. */
typedef enum AstOp {
#define AOP(ID, text) AOP_##ID,
#include "syntax/ast_op.def"
    AOP_COUNT
} AstOp;
/* "+", "//", "is not", … */
const char *ast_op_text(AstOp op);

typedef struct Ast Ast;
typedef struct AstList { Ast **data; int len, cap; } AstList; /* a VEC(Ast *) */

/* How a parameter takes arguments. A bare `*` or `/` leaves its mark in the kinds only. */
typedef enum ParamKind {
    PARAM_POSITIONAL,
    PARAM_POSITIONAL_ONLY,
    PARAM_KEYWORD_ONLY,
    PARAM_VARARGS,
    PARAM_KWARGS
} ParamKind;
typedef struct AstNames { Str *data; int len, cap; } AstNames;
typedef struct AstOperator { AstOp op; Span span; } AstOperator;

struct Ast {
    AstKind kind;
    Span span;
    union {
        struct { Str id; } name;
        struct {
            uint64_t value;
            bool too_large;
            Str text;
        } integer; /* too_large: past 2^64-1, value is 0 */
        struct { double value; } floating;
        struct { Str value; } string;                                /* str_len for its bytes */
        struct {
            Ast *value;
            char conversion;
            Ast *spec;
            Str debug_text;
        } format; /* conversion r, s, a or 0; spec FSTRING or NULL; debug_text of {x=}, or NULL */
        AstList list;
        struct { AstOp op; Ast *operand; } unary;
        struct { AstOp op; Ast *left, *right; Span op_span; } binary;
        struct {
            Ast *first;
            VEC(AstOperator) ops;
            AstList rest;
        } compare; /* rest.len operators */
        struct { Ast *cond, *then, *orelse; } ifexp;
        struct { AstList params; Ast *body; } lambda;
        struct {
            Ast *callee;
            AstList args;
        } call; /* args in source order: expressions, STARRED, KEYWORD */
        struct { Str name; Ast *value; } keyword;
        struct { Ast *value; Str name; Span name_span; } attribute;
        struct { Ast *value, *index; } subscript;
        struct { Ast *lo, *hi, *step; } slice;
        struct { Ast *target, *value; } named;
        struct { Ast *element, *value; AstList clauses; } comp;     /* value only for DICTCOMP */
        struct { AstList targets; Ast *value; } assign;
        struct { Ast *target, *annotation, *value; } annassign;
        struct { Ast *cond; AstList body, orelse; } branch;
        struct { Ast *target, *iter; AstList body, orelse; bool is_async; } loop;
        struct { Ast *first, *second; } pair; /* either may be NULL */
        struct { AstList items, body; bool is_async; } with;
        struct { AstList body, handlers, orelse, finalbody; } try_;
        AstNames names;
        struct {
            int level;
            Str module;
            AstList names;
        } import; /* FROM: level dots, module may be ""; IMPORT: names only */
        struct {
            Str name;
            Span name_span;
            AstList params;
            Ast *returns;
            AstList decorators, body;
            bool is_async, is_method;
            const Ast *inside;
        } def; /* inside: the function or class, skipped, that it stands in, or NULL; is_method: of a
                  class: a name of it, not of the file */
        struct { Str name; Span name_span; AstList args, decorators, body; } class_;
        struct {
            AstNames names;
            int first_token, last_token;
            const char *what;
        } skipped; /* names it would bind; what: "function", "class", "statement" */
        struct { ParamKind kind; Str name; Ast *annotation, *default_; } param; /* both may be NULL */
        struct { Ast *target, *iter; AstList conds; bool is_async; } clause;
        struct { Ast *type; Str name; AstList body; } handler; /* type and name may be NULL */
        struct { Str name, as; } alias;                        /* as may be NULL */
    };
};

/* An empty node of that kind. */
Ast *ast_new(Arena *a, AstKind kind, Span span);
/* As ast.def prints it: "ifexp". */
const char *ast_kind_text(AstKind kind);
/* How a message calls a node: "a call", "a lambda". */
const char *ast_describe(const Ast *node);
/* Where a node has children: one, which may be NULL, or a list. A block is a list of statements. The
   role is what a child is to its parent, or NULL. */
typedef enum AstFieldKind {
    FIELD_END,
    FIELD_NODE,
    FIELD_LIST,
    FIELD_BLOCK,
    FIELD_HANDLERS
} AstFieldKind;
typedef struct AstField {
    AstFieldKind kind;
    size_t offset; /* into the node */
    const char *role;
} AstField;
/* A kind's fields in source order, up to FIELD_END. */
const AstField *ast_fields(AstKind kind);
/* Calls visit for each child in source order, NULL ones left out. */
void ast_each_child(const Ast *node, void (*visit)(void *context, Ast *child), void *context);
/* Calls visit for each block of a statement in source order, those of its handlers, too. */
void ast_each_block(Ast *node, void (*visit)(void *context, AstList *block), void *context);
/* An if, try or with: at a file's top, what stands in its blocks may be a kernel. */
bool ast_is_entered(const Ast *node);

/* ---- a whole file ---- */
typedef struct AstFile AstFile;
struct AstFile {
    const Source *source;
    AstList body;       /* top-level statements in order */
    struct TokenArray
        *tokens;        /* kept, so that a skipped statement can be parsed when a kernel needs it */
    bool ok;            /* false: syntax errors were reported; body holds what could be recovered */
};

/* Tokenizes and parses. Reports every syntax error it can recover from. Never NULL. */
AstFile *syntax_parse(Arena *a, Interner *names, Diags *dx, const Source *source);
/* Parses the statement behind a SKIPPED node of that file: a DEF or CLASS (or any other statement).
   NULL when it does not parse; errors are then in dx. */
Ast *syntax_parse_skipped(Arena *a, Interner *names, Diags *dx, AstFile *file, const Ast *skipped);
/* Parses the statements in tokens [first, last) completely, host code or not. False after an error
   in dx. */
bool parse_tokens(Arena *a, Interner *names, Diags *dx, const AstFile *file, int first, int last,
                  AstList *out);
/* Parses one expression, e.g. a -D value, a string annotation's extents, a -grid. NULL after an
   error in dx. */
Ast *syntax_parse_expr(Arena *a, Interner *names, Diags *dx, const Source *source);

/* ---- printing (for -emit=tokens and -emit=ast) ---- */
void tokens_print(Buf *out, const AstFile *file);
void ast_print(Buf *out, const AstFile *file);
