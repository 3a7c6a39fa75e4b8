/* The tree's generic parts: creation, names of things, and children in source order. */
#include "syntax/ast.h"

Ast *ast_new(Arena *a, AstKind kind, Span span)
{
    Ast *n = arena_new(a, Ast);
    n->kind = kind;
    n->span = span;
    return n;
}

const char *ast_op_text(AstOp op)
{
    static const char *const text[AOP_COUNT] = {
        [AOP_NONE] = "none",
        [AOP_ADD] = "+",
        [AOP_SUB] = "-",
        [AOP_MUL] = "*",
        [AOP_MATMUL] = "@",
        [AOP_DIV] = "/",
        [AOP_FLOORDIV] = "//",
        [AOP_MOD] = "%",
        [AOP_POW] = "**",
        [AOP_SHL] = "<<",
        [AOP_SHR] = ">>",
        [AOP_AND] = "&",
        [AOP_OR] = "|",
        [AOP_XOR] = "^",
        [AOP_NEG] = "-",
        [AOP_POS] = "+",
        [AOP_INVERT] = "~",
        [AOP_NOT] = "not",
        [AOP_LOGICAL_AND] = "and",
        [AOP_LOGICAL_OR] = "or",
        [AOP_EQ] = "==",
        [AOP_NE] = "!=",
        [AOP_LT] = "<",
        [AOP_LE] = "<=",
        [AOP_GT] = ">",
        [AOP_GE] = ">=",
        [AOP_IS] = "is",
        [AOP_IS_NOT] = "is not",
        [AOP_IN] = "in",
        [AOP_NOT_IN] = "not in",
    };
    return text[op];
}

const char *ast_describe(const Ast *node)
{
    switch (node->kind) {
    case AST_NAME: return "a name";
    case AST_INT: case AST_FLOAT: case AST_IMAGINARY: return "a number";
    case AST_STRING: case AST_BYTES: return "a string";
    case AST_FSTRING: case AST_FORMAT: return "an f-string";
    case AST_TRUE: return "True";
    case AST_FALSE: return "False";
    case AST_NONE: return "None";
    case AST_ELLIPSIS: return "'...'";
    case AST_TUPLE: return "a tuple";
    case AST_LIST: return "a list";
    case AST_SET: return "a set";
    case AST_DICT: return "a dict";
    case AST_UNARY: case AST_BINARY: case AST_BOOLOP: return "an expression";
    case AST_COMPARE: return "a comparison";
    case AST_IFEXP: return "a conditional expression";
    case AST_LAMBDA: return "a lambda";
    case AST_CALL: return "a call";
    case AST_KEYWORD: return "a keyword argument";
    case AST_ATTRIBUTE: return "an attribute";
    case AST_SUBSCRIPT: return "a subscript";
    case AST_SLICE: return "a slice";
    case AST_STARRED: return "a starred expression";
    case AST_NAMED: return "a ':=' expression";
    case AST_LISTCOMP: return "a list comprehension";
    case AST_SETCOMP: return "a set comprehension";
    case AST_DICTCOMP: return "a dict comprehension";
    case AST_GENERATOR: return "a generator";
    case AST_YIELD: return "a yield expression";
    case AST_AWAIT: return "an await expression";
    case AST_DEF: return "a function";
    case AST_CLASS: return "a class";
    default: return "a statement";
    }
}

/* ---- children ---- */

typedef struct Visitor { void (*visit)(void *, Ast *); void *context; } Visitor;

static void one(Visitor v, Ast *child)
{
    if (child) v.visit(v.context, child);
}

static void all(Visitor v, AstList list)
{
    for (int i = 0; i < list.len; i++) one(v, list.data[i]);
}

static void all_params(Visitor v, AstParams params)
{
    for (int i = 0; i < params.len; i++) {
        one(v, params.data[i].annotation);
        one(v, params.data[i].default_);
    }
}

static void all_clauses(Visitor v, AstClauses clauses)
{
    for (int i = 0; i < clauses.len; i++) {
        one(v, clauses.data[i].target);
        one(v, clauses.data[i].iter);
        all(v, clauses.data[i].conds);
    }
}

static void all_handlers(Visitor v, AstHandlers handlers)
{
    for (int i = 0; i < handlers.len; i++) {
        one(v, handlers.data[i].type);
        all(v, handlers.data[i].body);
    }
}

static void none_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void name_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void integer_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void floating_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void string_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void names_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void import_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void skipped_children(Visitor v, const Ast *n) { (void)v, (void)n; }
static void list_children(Visitor v, const Ast *n) { all(v, n->list); }
static void format_children(Visitor v, const Ast *n)
{
    one(v, n->format.value), one(v, n->format.spec);
}
static void unary_children(Visitor v, const Ast *n) { one(v, n->unary.operand); }
static void binary_children(Visitor v, const Ast *n)
{
    one(v, n->binary.left), one(v, n->binary.right);
}
static void compare_children(Visitor v, const Ast *n)
{
    one(v, n->compare.first), all(v, n->compare.rest);
}
static void lambda_children(Visitor v, const Ast *n)
{
    all_params(v, n->lambda.params), one(v, n->lambda.body);
}
static void call_children(Visitor v, const Ast *n) { one(v, n->call.callee), all(v, n->call.args); }
static void keyword_children(Visitor v, const Ast *n) { one(v, n->keyword.value); }
static void attribute_children(Visitor v, const Ast *n) { one(v, n->attribute.value); }
static void subscript_children(Visitor v, const Ast *n)
{
    one(v, n->subscript.value), one(v, n->subscript.index);
}
static void named_children(Visitor v, const Ast *n)
{
    one(v, n->named.target), one(v, n->named.value);
}
static void assign_children(Visitor v, const Ast *n)
{
    all(v, n->assign.targets), one(v, n->assign.value);
}
static void pair_children(Visitor v, const Ast *n)
{
    one(v, n->pair.first), one(v, n->pair.second);
}

static void dict_children(Visitor v, const Ast *n)
{
    for (int i = 0; i < n->dict.values.len; i++) {
        one(v, n->dict.keys.data[i]);
        one(v, n->dict.values.data[i]);
    }
}

static void ifexp_children(Visitor v, const Ast *n)
{
    one(v, n->ifexp.then);
    one(v, n->ifexp.cond);
    one(v, n->ifexp.orelse);
}

static void slice_children(Visitor v, const Ast *n)
{
    one(v, n->slice.lo);
    one(v, n->slice.hi);
    one(v, n->slice.step);
}

static void comp_children(Visitor v, const Ast *n)
{
    one(v, n->comp.element);
    one(v, n->comp.value);
    all_clauses(v, n->comp.clauses);
}

static void annassign_children(Visitor v, const Ast *n)
{
    one(v, n->annassign.target);
    one(v, n->annassign.annotation);
    one(v, n->annassign.value);
}

static void branch_children(Visitor v, const Ast *n)
{
    one(v, n->branch.cond);
    all(v, n->branch.body);
    all(v, n->branch.orelse);
}

static void loop_children(Visitor v, const Ast *n)
{
    one(v, n->loop.target);
    one(v, n->loop.iter);
    all(v, n->loop.body);
    all(v, n->loop.orelse);
}

static void with_children(Visitor v, const Ast *n)
{
    for (int i = 0; i < n->with.items.len; i++) {
        one(v, n->with.items.data[i]);
        one(v, n->with.vars.data[i]);
    }
    all(v, n->with.body);
}

static void try__children(Visitor v, const Ast *n)
{
    all(v, n->try_.body);
    all_handlers(v, n->try_.handlers);
    all(v, n->try_.orelse);
    all(v, n->try_.finalbody);
}

static void def_children(Visitor v, const Ast *n)
{
    all(v, n->def.decorators);
    all_params(v, n->def.params);
    one(v, n->def.returns);
    all(v, n->def.body);
}

static void class__children(Visitor v, const Ast *n)
{
    all(v, n->class_.decorators);
    all(v, n->class_.args);
    all(v, n->class_.body);
}

void ast_each_child(const Ast *node, void (*visit)(void *context, Ast *child), void *context)
{
    Visitor v = {visit, context};
    switch (node->kind) {
#define AST(ID, text, member) case AST_##ID: member##_children(v, node); break;
#include "syntax/ast.def"
#undef AST
    case AST_INVALID:
    case AST_COUNT: break;
    }
}
