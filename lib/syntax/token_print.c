/* -emit=tokens: one token a line, with its place, its kind and its text. */
#include "syntax/ast.h"
#include "syntax/quote.h"
#include "syntax/token.h"

void tokens_print(Buf *out, const AstFile *file)
{
    for (int i = 0; i < file->tokens->len; i++) {
        Token t = file->tokens->data[i];
        int line, col;
        source_position(file->source, t.begin, &line, &col);
        buf_printf(out, "%d:%d %s", line, col, token_class((TokenKind)t.kind));
        if (t.kind != TOK_NEWLINE && t.end > t.begin) {
            buf_putc(out, ' ');
            quote_plain(out, file->source->text + t.begin, t.end - t.begin);
        }
        buf_putc(out, '\n');
    }
}
