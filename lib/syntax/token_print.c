/* -emit=tokens: one token a line, with its place, its kind and its text. */
#include "syntax/ast.h"
#include "syntax/quote.h"
#include "syntax/token.h"

typedef enum TokenClass { MARK, KEYWORD, OP } TokenClass;

static const char *kind_text(TokenKind kind)
{
    static const struct {
        TokenClass class;
        const char *id;
    } table[] = {
#define TOKEN(ID, class, text) {class, #ID},
#include "syntax/tokens.def"
#undef TOKEN
    };
    if (kind == TOK_END) return "END";
    switch (table[kind - TOK_FIRST].class) {
    case KEYWORD: return "KEYWORD";
    case OP: return "OP";
    case MARK: break;
    }
    return table[kind - TOK_FIRST].id;
}

void tokens_print(Buf *out, const AstFile *file)
{
    for (int i = 0; i < file->tokens->len; i++) {
        Token t = file->tokens->data[i];
        int line, col;
        source_position(file->source, t.begin, &line, &col);
        buf_printf(out, "%d:%d %s", line, col, kind_text((TokenKind)t.kind));
        if (t.kind != TOK_NEWLINE && t.end > t.begin) {
            buf_putc(out, ' ');
            quote_plain(out, file->source->text + t.begin, t.end - t.begin);
        }
        buf_putc(out, '\n');
    }
}
