/* -emit=tokens: a token a line, with its place, its kind and its text. -emit=ast: one node a line:
   what it is to its parent, its kind, what it holds, the range of the text it covers.

       body assign 3:5-3:20
         target name x 3:5-3:6
         value binary + 3:9-3:20
           left name y 3:9-3:10 … */
#include "syntax/ast.h"
#include "syntax/token.h"

/* Text on one line: \n, \t, \r and \xNN for what is not printable; where it stands in quotes, these
   and the backslash are escaped, too. UTF-8 passes, which bytes are not. */
typedef enum TextForm { TEXT_PLAIN, TEXT_QUOTED, TEXT_BYTES } TextForm;

static void put_byte(Buf *out, unsigned char c, TextForm form)
{
    if (c == '\n') buf_puts(out, "\\n");
    else if (c == '\t') buf_puts(out, "\\t");
    else if (c == '\r') buf_puts(out, "\\r");
    else if ((c == '\\' || c == '"') && form != TEXT_PLAIN) buf_printf(out, "\\%c", c);
    else if (c >= 0x20 && c != 0x7F && (c < 0x80 || form != TEXT_BYTES)) buf_putc(out, (char)c);
    else buf_printf(out, "\\x%02x", c);
}

/* Behind a blank. */
static void put_text(Buf *out, const char *s, size_t n, TextForm form)
{
    const char *quote = form == TEXT_PLAIN ? "" : "\"";
    buf_printf(out, " %s", quote);
    for (size_t i = 0; i < n; i++) put_byte(out, (unsigned char)s[i], form);
    buf_puts(out, quote);
}

/* ---- tokens ---- */

void tokens_print(Buf *out, const AstFile *file)
{
    for (int i = 0; i < file->tokens->len; i++) {
        Token t = file->tokens->data[i];
        int line, col;
        source_position(file->source, t.begin, &line, &col);
        buf_printf(out, "%d:%d %s", line, col, token_class((TokenKind)t.kind));
        if (t.kind != TOK_NEWLINE && t.end > t.begin)
            put_text(out, file->source->text + t.begin, t.end - t.begin, TEXT_PLAIN);
        buf_putc(out, '\n');
    }
}

/* ---- nodes ---- */

typedef struct Printer { Buf *out; int depth; } Printer;

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

static void print_string(Printer *p, Str s, TextForm form)
{
    put_text(p->out, s, str_len(s), form);
}

/* ---- what stands on a node's line ---- */

static void print_names(Printer *p, AstNames names)
{
    for (int i = 0; i < names.len; i++)
        buf_printf(p->out, "%s %s", i > 0 ? "," : "", names.data[i]);
}

static void print_param(Printer *p, const Ast *n)
{
    static const char *const kinds[] = {"", " positional-only", " keyword-only", " varargs",
                                        " kwargs"};
    buf_printf(p->out, " %s%s", n->param.name, kinds[n->param.kind]);
}

static void print_import(Printer *p, const Ast *n)
{
    if (n->kind == AST_FROM) {
        buf_putc(p->out, ' ');
        for (int i = 0; i < n->import.level; i++) buf_putc(p->out, '.');
        buf_puts(p->out, n->import.module);
    }
    for (int i = 0; i < n->import.names.len; i++) {
        const Ast *x = n->import.names.data[i];
        buf_printf(p->out, "%s %s", i > 0 ? "," : n->kind == AST_FROM ? ":" : "", x->alias.name);
        if (x->alias.as) buf_printf(p->out, " as %s", x->alias.as);
    }
}

static void print_text(Printer *p, const Ast *n)
{
    Buf *out = p->out;
    switch (n->kind) {
    case AST_NAME: buf_printf(out, " %s", n->name.id); break;
    case AST_INT:
        if (n->integer.too_large) buf_printf(out, " %s too-large", n->integer.text);
        else buf_printf(out, " %llu", (unsigned long long)n->integer.value);
        break;
    case AST_FLOAT:
    case AST_IMAGINARY: buf_printf(out, " %.17g", n->floating.value); break;
    case AST_STRING: print_string(p, n->string.value, TEXT_QUOTED); break;
    case AST_BYTES: print_string(p, n->string.value, TEXT_BYTES); break;
    case AST_FORMAT:
        if (n->format.debug_text) print_string(p, n->format.debug_text, TEXT_QUOTED);
        if (n->format.conversion) buf_printf(out, " !%c", n->format.conversion);
        break;
    case AST_UNARY: buf_printf(out, " %s", ast_op_text(n->unary.op)); break;
    case AST_BINARY:
    case AST_BOOLOP:
    case AST_AUGASSIGN: buf_printf(out, " %s", ast_op_text(n->binary.op)); break;
    case AST_COMPARE:
        for (int i = 0; i < n->compare.rest.len; i++)
            buf_printf(out, " %s", ast_op_text(n->compare.ops.data[i].op));
        break;
    case AST_KEYWORD: buf_printf(out, " %s", n->keyword.name ? n->keyword.name : "**"); break;
    case AST_ATTRIBUTE: buf_printf(out, " %s", n->attribute.name); break;
    case AST_FOR: buf_puts(out, n->loop.is_async ? " async" : ""); break;
    case AST_WITH: buf_puts(out, n->with.is_async ? " async" : ""); break;
    case AST_DEF: buf_printf(out, " %s%s", n->def.name, n->def.is_async ? " async" : ""); break;
    case AST_CLASS: buf_printf(out, " %s", n->class_.name); break;
    case AST_GLOBAL:
    case AST_NONLOCAL: print_names(p, n->names); break;
    case AST_IMPORT:
    case AST_FROM: print_import(p, n); break;
    case AST_SKIPPED:
        buf_printf(out, " %s", n->skipped.what);
        print_names(p, n->skipped.names);
        break;
    case AST_PARAM: print_param(p, n); break;
    case AST_HANDLER:
        if (n->handler.name) buf_printf(out, " as %s", n->handler.name);
        break;
    default: break;
    }
}

/* ---- its children ---- */

/* As its field says, but for what is marked by more than the kind of its parent. */
static const char *role_of(const Ast *n, const AstField *f)
{
    const bool is_first = f == ast_fields(n->kind);
    if (n->kind == AST_ENTRY && !n->pair.first) return "**";
    if (n->kind == AST_CLAUSE && n->clause.is_async && is_first) return "async for";
    return f->role;
}

static void print_children(Printer *p, const Ast *n)
{
    for (const AstField *f = ast_fields(n->kind); f->kind != FIELD_END; f++) {
        const void *at = (const char *)n + f->offset;
        if (f->kind == FIELD_NODE) print(p, role_of(n, f), *(Ast *const *)at);
        else print_list(p, role_of(n, f), *(const AstList *)at);
    }
}

static void print(Printer *p, const char *role, const Ast *n)
{
    if (!n) return;
    if (!*ast_kind_text(n->kind)) {
        print_children(p, n);
        return;
    }
    begin_line(p, role);
    buf_puts(p->out, ast_kind_text(n->kind));
    print_text(p, n);
    end_line(p, n->span);
    p->depth++;
    print_children(p, n);
    p->depth--;
}

void ast_print(Buf *out, const AstFile *file)
{
    Printer p = {out, 0};
    print_list(&p, NULL, file->body);
}
