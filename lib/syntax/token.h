/* Tokens of a whole file, and the lexical errors met on the way. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/source.h"
#include "base/vec.h"

/* Numbered as bison numbers the same %token lines. */
typedef enum TokenKind {
    TOK_END = 0,
    TOK_BEFORE_FIRST = 257,
#define TOKEN(ID, class, text, op) TOK_##ID,
#include "syntax/tokens.def"
#undef TOKEN
    TOK_LIMIT
} TokenKind;

#define TOK_FIRST (TOK_BEFORE_FIRST + 1)
#define TOK_COUNT (TOK_LIMIT - TOK_FIRST)

/* Byte range in the source. NEWLINE covers the line's end, INDENT and DEDENT are empty and stand
   before the first token of their line. Names and literals are evaluated only when they are
   parsed. */
typedef struct Token { uint16_t kind; uint32_t begin, end; } Token;

/* Reported only when the text around it is parsed, so that host code cannot fail, unless `fatal`:
   then what follows cannot be trusted. */
typedef struct LexError {
    int token;          /* index of the next token */
    uint32_t begin, end;
    const char *text;
    uint32_t note_begin, note_end;
    const char *note;   /* or NULL */
    const char *fix;    /* what to write in place of begin to end, or NULL */
    bool fatal, reported;
    bool hides_bracket; /* a string that its line cuts off: what closes a bracket may be in it */
} LexError;

typedef struct TokenArray {
    Token *data;        /* ends with NEWLINE, DEDENTs, END */
    int len, cap;
    struct { LexError *data; int len, cap; } errors; /* in order of `token` */
} TokenArray;

/* Tokenizes the text; it never fails, errors are in the array and the tokens after them are
   repaired. */
TokenArray *tokens_scan(Arena *a, const Source *source);

/* "def", "(", "a name". */
const char *token_text(TokenKind kind);
bool token_is_keyword(TokenKind kind);
int token_nesting(TokenKind kind); /* 1: opens a bracket; -1: closes one; else 0 */
bool token_begins_compound(TokenKind kind); /* a statement with blocks, or a clause of one */
/* "KEYWORD", "OP", "NAME". */
const char *token_class(TokenKind kind);
