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
#define AOP(ID, text) [AOP_##ID] = text,
#include "syntax/ast_op.def"
    };
    return text[op];
}

const char *ast_kind_text(AstKind kind)
{
    static const char *const text[AST_COUNT] = {
#define AST(ID, text, described, children) [AST_##ID] = text,
#include "syntax/ast.def"
    };
    return text[kind];
}

const char *ast_describe(const Ast *node)
{
    static const char *const text[AST_COUNT] = {
#define AST(ID, text, described, children) [AST_##ID] = described,
#include "syntax/ast.def"
    };
    return text[node->kind];
}

/* ---- children ---- */

#define NODE(path, role) {FIELD_NODE, offsetof(Ast, path), role}
#define LIST(path, role) {FIELD_LIST, offsetof(Ast, path), role}
#define BLOCK(path, role) {FIELD_BLOCK, offsetof(Ast, path), role}
#define HANDLERS(path) {FIELD_HANDLERS, offsetof(Ast, path), NULL}
#define END {FIELD_END, 0, NULL}

/* clang-format off */
static const AstField none_fields[] = {END},
    list_fields[] = {LIST(list, NULL), END},
    format_fields[] = {NODE(format.value, NULL), NODE(format.spec, "spec"), END},
    unary_fields[] = {NODE(unary.operand, NULL), END},
    binary_fields[] = {NODE(binary.left, "left"), NODE(binary.right, "right"), END},
    compare_fields[] = {NODE(compare.first, NULL), LIST(compare.rest, NULL), END},
    ifexp_fields[] = {NODE(ifexp.then, "then"), NODE(ifexp.cond, "cond"), NODE(ifexp.orelse, "else"), END},
    lambda_fields[] = {LIST(lambda.params, NULL), NODE(lambda.body, "body"), END},
    call_fields[] = {NODE(call.callee, "callee"), LIST(call.args, "arg"), END},
    keyword_fields[] = {NODE(keyword.value, NULL), END},
    attribute_fields[] = {NODE(attribute.value, NULL), END},
    subscript_fields[] = {NODE(subscript.value, NULL), NODE(subscript.index, "index"), END},
    slice_fields[] = {NODE(slice.lo, "lo"), NODE(slice.hi, "hi"), NODE(slice.step, "step"), END},
    named_fields[] = {NODE(named.target, "target"), NODE(named.value, "value"), END},
    comp_fields[] = {NODE(comp.element, "element"), NODE(comp.value, "value"), LIST(comp.clauses, NULL), END},
    assign_fields[] = {LIST(assign.targets, "target"), NODE(assign.value, "value"), END},
    annassign_fields[] = {NODE(annassign.target, "target"), NODE(annassign.annotation, "annotation"),
                          NODE(annassign.value, "value"), END},
    branch_fields[] = {NODE(branch.cond, "cond"), BLOCK(branch.body, "body"),
                       BLOCK(branch.orelse, "else"), END},
    loop_fields[] = {NODE(loop.target, "target"), NODE(loop.iter, "in"), BLOCK(loop.body, "body"),
                     BLOCK(loop.orelse, "else"), END},
    assert__fields[] = {NODE(pair.first, NULL), NODE(pair.second, "message"), END},
    raise_fields[] = {NODE(pair.first, NULL), NODE(pair.second, "from"), END},
    with_fields[] = {LIST(with.items, NULL), BLOCK(with.body, "body"), END},
    try__fields[] = {BLOCK(try_.body, "body"), HANDLERS(try_.handlers), BLOCK(try_.orelse, "else"),
                     BLOCK(try_.finalbody, "finally"), END},
    def_fields[] = {LIST(def.decorators, "decorator"), LIST(def.params, NULL), NODE(def.returns, "returns"),
                    BLOCK(def.body, "body"), END},
    class__fields[] = {LIST(class_.decorators, "decorator"), LIST(class_.args, "arg"),
                       BLOCK(class_.body, "body"), END},
    param_fields[] = {NODE(param.annotation, "annotation"), NODE(param.default_, "default"), END},
    entry_fields[] = {NODE(pair.first, "key"), NODE(pair.second, "value"), END},
    item_fields[] = {NODE(pair.first, "item"), NODE(pair.second, "as"), END},
    clause_fields[] = {NODE(clause.target, "for"), NODE(clause.iter, "in"), LIST(clause.conds, "if"), END},
    handler_fields[] = {NODE(handler.type, "type"), BLOCK(handler.body, "body"), END};
/* clang-format on */

const AstField *ast_fields(AstKind kind)
{
    static const AstField *const fields[AST_COUNT] = {
#define AST(ID, text, described, children) [AST_##ID] = children##_fields,
#include "syntax/ast.def"
    };
    return fields[kind];
}

typedef struct Visitor { void (*visit)(void *, Ast *); void *context; } Visitor;

static void one(Visitor v, Ast *child)
{
    if (child) v.visit(v.context, child);
}

static void all(Visitor v, const AstList *list)
{
    for (int i = 0; i < list->len; i++) one(v, list->data[i]);
}

void ast_each_child(const Ast *node, void (*visit)(void *context, Ast *child), void *context)
{
    Visitor v = {visit, context};
    for (const AstField *f = ast_fields(node->kind); f->kind != FIELD_END; f++) {
        const void *at = (const char *)node + f->offset;
        if (f->kind == FIELD_NODE) one(v, *(Ast *const *)at);
        else all(v, at);
    }
}

void ast_each_block(Ast *node, void (*visit)(void *context, AstList *block), void *context)
{
    for (const AstField *f = ast_fields(node->kind); f->kind != FIELD_END; f++) {
        if (f->kind == FIELD_BLOCK) visit(context, (AstList *)((char *)node + f->offset));
        for (int i = 0; f->kind == FIELD_HANDLERS && i < node->try_.handlers.len; i++)
            visit(context, &node->try_.handlers.data[i]->handler.body);
    }
}

bool ast_is_entered(const Ast *node)
{
    return node->kind == AST_IF || node->kind == AST_TRY || node->kind == AST_WITH;
}
