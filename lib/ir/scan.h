/* Tokens of the IR's textual form. */
#pragma once

#include <stdbool.h>
#include "base/diag.h"

typedef enum TokenKind {
    TOK_NONE,   /* a character that begins no token */
    TOK_END,
    TOK_WORD,   /* add, block, int32 */
    TOK_NUMBER, /* -12, 0.5e-3 */
    TOK_STRING, /* with its quotes */
    TOK_VALUE,  /* %name */
    TOK_FUNC,   /* @name */
    TOK_LAYOUT, /* #0 */
    TOK_PUNCT   /* one of ( ) { } [ ] < > : , = * */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    uint32_t begin, end;
    bool starts_line;
} Token;

typedef struct Scanner {
    const Source *source;
    uint32_t at;   /* where the next token is looked for */
    Token token;   /* the current one */
} Scanner;

Scanner scan_start(const Source *source);
/* Moves to the next token; stays at the end once it is reached. */
void scan_next(Scanner *s);
/* Goes on from another place, as after a type that was read by characters. */
void scan_from(Scanner *s, uint32_t at);

static inline const char *scan_text(const Scanner *s) { return s->source->text + s->token.begin; }
static inline size_t scan_len(const Scanner *s) { return s->token.end - s->token.begin; }
bool scan_is(const Scanner *s, const char *text);
Span scan_span(const Scanner *s);
