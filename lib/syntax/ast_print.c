/* -emit=ast: one node a line: what it is to its parent, its kind, what it holds, the range of the
   text it covers.

       body assign 3:5-3:20
         target name x 3:5-3:6
         value binary + 3:9-3:20
           left name y 3:9-3:10 …

   Each union member has one printer, chosen by ast.def. */
#include "syntax/ast.h"
#include "syntax/quote.h"

typedef struct Printer { Buf *out; int depth; } Printer;

static const char *kind_text(AstKind kind)
{
    static const char *const text[AST_COUNT] = {
        [AST_INVALID] = "invalid",
#define AST(ID, name, member) [AST_##ID] = name,
#include "syntax/ast.def"
#undef AST
    };
    return text[kind];
}

static void begin_line(Printer *p, const char *role)
{
    for (int i = 0; i < p->depth; i++) buf_puts(p->out, "  ");
    if (role) buf_printf(p->out, "%s ", role);
}

static void end_line(Printer *p, Span at)
{
    int line, col, end_line, end_col;
    source_position(at.source, at.begin, &line, &col);
    source_position(at.source, at.end, &end_line, &end_col);
    buf_printf(p->out, " %d:%d-%d:%d\n", line, col, end_line, end_col);
}

static void print(Printer *p, const char *role, const Ast *n);

static void print_list(Printer *p, const char *role, AstList list)
{
    for (int i = 0; i < list.len; i++) print(p, role, list.data[i]);
}

static void print_string(Printer *p, Str s)
{
    buf_putc(p->out, ' ');
    quote_string(p->out, s, str_len(s));
}

static void print_params(Printer *p, AstParams params)
{
    static const char *const kinds[] = {"", " positional-only", " keyword-only", " varargs",
                                        " kwargs"};
    for (int i = 0; i < params.len; i++) {
        AstParam param = params.data[i];
        begin_line(p, "param");
        buf_printf(p->out, "%s%s", param.name, kinds[param.kind]);
        end_line(p, param.span);
        p->depth++;
        print(p, "annotation", param.annotation);
        print(p, "default", param.default_);
        p->depth--;
    }
}

/* ---- what a node holds: first what stands on its line, then its children ---- */

static void none_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void list_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void dict_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void ifexp_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void lambda_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void call_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void subscript_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void slice_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void named_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void comp_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void assign_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void annassign_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void branch_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void pair_text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void try__text(Printer *p, const Ast *n) { (void)p, (void)n; }
static void name_text(Printer *p, const Ast *n) { buf_printf(p->out, " %s", n->name.id); }
static void floating_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %.17g", n->floating.value);
}
static void keyword_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %s", n->keyword.name ? n->keyword.name : "**");
}
static void attribute_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %s", n->attribute.name);
}
static void loop_text(Printer *p, const Ast *n)
{
    buf_puts(p->out, n->loop.is_async ? " async" : "");
}
static void with_text(Printer *p, const Ast *n)
{
    buf_puts(p->out, n->with.is_async ? " async" : "");
}
static void class__text(Printer *p, const Ast *n) { buf_printf(p->out, " %s", n->class_.name); }
static void def_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %s%s", n->def.name, n->def.is_async ? " async" : "");
}
static void binary_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %s", ast_op_text(n->binary.op));
}

static void string_text(Printer *p, const Ast *n)
{
    if (n->kind == AST_STRING) {
        print_string(p, n->string.value);
        return;
    }
    buf_putc(p->out, ' ');
    quote_bytes(p->out, n->string.value, str_len(n->string.value));
}

static void integer_text(Printer *p, const Ast *n)
{
    if (n->integer.too_large) buf_printf(p->out, " %s too-large", n->integer.text);
    else buf_printf(p->out, " %llu", (unsigned long long)n->integer.value);
}

static void format_text(Printer *p, const Ast *n)
{
    if (n->format.debug) print_string(p, n->format.debug_text);
    if (n->format.conversion) buf_printf(p->out, " !%c", n->format.conversion);
}

static void unary_text(Printer *p, const Ast *n)
{
    if (n->unary.op != AOP_NONE) buf_printf(p->out, " %s", ast_op_text(n->unary.op));
}

static void compare_text(Printer *p, const Ast *n)
{
    for (int i = 0; i < n->compare.rest.len; i++)
        buf_printf(p->out, " %s", ast_op_text(n->compare.ops[i]));
}

static void print_names(Printer *p, AstNames names)
{
    for (int i = 0; i < names.len; i++)
        buf_printf(p->out, "%s %s", i > 0 ? "," : "", names.data[i]);
}

static void names_text(Printer *p, const Ast *n) { print_names(p, n->names); }

static void import_text(Printer *p, const Ast *n)
{
    if (n->kind == AST_FROM) {
        buf_putc(p->out, ' ');
        for (int i = 0; i < n->import.level; i++) buf_putc(p->out, '.');
        buf_puts(p->out, n->import.module);
    }
    for (int i = 0; i < n->import.names.len; i++) {
        AstAlias alias = n->import.names.data[i];
        buf_printf(p->out, "%s %s", i > 0 ? "," : n->kind == AST_FROM ? ":" : "", alias.name);
        if (alias.as) buf_printf(p->out, " as %s", alias.as);
    }
}

static void skipped_text(Printer *p, const Ast *n)
{
    buf_printf(p->out, " %s", n->skipped.what);
    print_names(p, n->skipped.names);
}

static void none_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void name_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void integer_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void floating_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void string_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void names_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void import_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void skipped_parts(Printer *p, const Ast *n) { (void)p, (void)n; }
static void list_parts(Printer *p, const Ast *n) { print_list(p, NULL, n->list); }
static void unary_parts(Printer *p, const Ast *n) { print(p, NULL, n->unary.operand); }
static void keyword_parts(Printer *p, const Ast *n) { print(p, NULL, n->keyword.value); }
static void attribute_parts(Printer *p, const Ast *n) { print(p, NULL, n->attribute.value); }

static void format_parts(Printer *p, const Ast *n)
{
    print(p, NULL, n->format.value);
    print(p, "spec", n->format.spec);
}

static void dict_parts(Printer *p, const Ast *n)
{
    for (int i = 0; i < n->dict.values.len; i++) {
        print(p, "key", n->dict.keys.data[i]);
        print(p, n->dict.keys.data[i] ? "value" : "**", n->dict.values.data[i]);
    }
}

static void binary_parts(Printer *p, const Ast *n)
{
    print(p, "left", n->binary.left);
    print(p, "right", n->binary.right);
}

static void compare_parts(Printer *p, const Ast *n)
{
    print(p, NULL, n->compare.first);
    print_list(p, NULL, n->compare.rest);
}

static void ifexp_parts(Printer *p, const Ast *n)
{
    print(p, "then", n->ifexp.then);
    print(p, "cond", n->ifexp.cond);
    print(p, "else", n->ifexp.orelse);
}

static void lambda_parts(Printer *p, const Ast *n)
{
    print_params(p, n->lambda.params);
    print(p, "body", n->lambda.body);
}

static void call_parts(Printer *p, const Ast *n)
{
    print(p, "callee", n->call.callee);
    print_list(p, "arg", n->call.args);
}

static void subscript_parts(Printer *p, const Ast *n)
{
    print(p, NULL, n->subscript.value);
    print(p, "index", n->subscript.index);
}

static void slice_parts(Printer *p, const Ast *n)
{
    print(p, "lo", n->slice.lo);
    print(p, "hi", n->slice.hi);
    print(p, "step", n->slice.step);
}

static void named_parts(Printer *p, const Ast *n)
{
    print(p, "target", n->named.target);
    print(p, "value", n->named.value);
}

static void comp_parts(Printer *p, const Ast *n)
{
    print(p, "element", n->comp.element);
    print(p, "value", n->comp.value);
    for (int i = 0; i < n->comp.clauses.len; i++) {
        AstClause c = n->comp.clauses.data[i];
        print(p, c.is_async ? "async for" : "for", c.target);
        print(p, "in", c.iter);
        print_list(p, "if", c.conds);
    }
}

static void assign_parts(Printer *p, const Ast *n)
{
    print_list(p, "target", n->assign.targets);
    print(p, "value", n->assign.value);
}

static void annassign_parts(Printer *p, const Ast *n)
{
    print(p, "target", n->annassign.target);
    print(p, "annotation", n->annassign.annotation);
    print(p, "value", n->annassign.value);
}

static void branch_parts(Printer *p, const Ast *n)
{
    print(p, "cond", n->branch.cond);
    print_list(p, "body", n->branch.body);
    print_list(p, "else", n->branch.orelse);
}

static void loop_parts(Printer *p, const Ast *n)
{
    print(p, "target", n->loop.target);
    print(p, "in", n->loop.iter);
    print_list(p, "body", n->loop.body);
    print_list(p, "else", n->loop.orelse);
}

static void pair_parts(Printer *p, const Ast *n)
{
    print(p, NULL, n->pair.first);
    print(p, n->kind == AST_RAISE ? "from" : "message", n->pair.second);
}

static void with_parts(Printer *p, const Ast *n)
{
    for (int i = 0; i < n->with.items.len; i++) {
        print(p, "item", n->with.items.data[i]);
        print(p, "as", n->with.vars.data[i]);
    }
    print_list(p, "body", n->with.body);
}

static void try__parts(Printer *p, const Ast *n)
{
    print_list(p, "body", n->try_.body);
    for (int i = 0; i < n->try_.handlers.len; i++) {
        AstHandler h = n->try_.handlers.data[i];
        begin_line(p, NULL);
        buf_printf(p->out, "except%s%s", h.name ? " as " : "", h.name ? h.name : "");
        end_line(p, h.span);
        p->depth++;
        print(p, "type", h.type);
        print_list(p, "body", h.body);
        p->depth--;
    }
    print_list(p, "else", n->try_.orelse);
    print_list(p, "finally", n->try_.finalbody);
}

static void def_parts(Printer *p, const Ast *n)
{
    print_list(p, "decorator", n->def.decorators);
    print_params(p, n->def.params);
    print(p, "returns", n->def.returns);
    print_list(p, "body", n->def.body);
}

static void class__parts(Printer *p, const Ast *n)
{
    print_list(p, "decorator", n->class_.decorators);
    print_list(p, "arg", n->class_.args);
    print_list(p, "body", n->class_.body);
}

static void print_text(Printer *p, const Ast *n)
{
    switch (n->kind) {
#define AST(ID, text, member) case AST_##ID: member##_text(p, n); break;
#include "syntax/ast.def"
#undef AST
    case AST_INVALID:
    case AST_COUNT: break;
    }
}

static void print_parts(Printer *p, const Ast *n)
{
    switch (n->kind) {
#define AST(ID, text, member) case AST_##ID: member##_parts(p, n); break;
#include "syntax/ast.def"
#undef AST
    case AST_INVALID:
    case AST_COUNT: break;
    }
}

static void print(Printer *p, const char *role, const Ast *n)
{
    if (!n) return;
    begin_line(p, role);
    buf_puts(p->out, kind_text(n->kind));
    print_text(p, n);
    end_line(p, n->span);
    p->depth++;
    print_parts(p, n);
    p->depth--;
}

void ast_print(Buf *out, const AstFile *file)
{
    Printer p = {out, 0};
    print_list(&p, NULL, file->body);
}
