/* What the scanner's rules (grammar/tkc.l) do: indentation, brackets, f-strings, errors. */
#pragma once

#include "syntax/token.h"

#define LEX_MAX_OPEN 200
#define LEX_MAX_INDENT 100
#define LEX_MAX_SIZE (64u << 20)
#define LEX_MAX_TOKENS 2000000 /* each costs some 280 bytes until it is a tree */

/* What is open, innermost last: a bracket, an f-string, or a replacement field of one. */
typedef enum OpenKind { OPEN_BRACKET, OPEN_FSTRING, OPEN_FIELD, OPEN_SPEC } OpenKind;
typedef struct Open {
    OpenKind kind;
    TokenKind token; /* that opened it; the one after it closes a bracket */
    char quote;      /* of the f-string this belongs to, 0 outside */
    bool triple, raw;
    uint32_t begin, end;
} Open;

/* Columns with tabs to 8, and with tabs as 1: Python wants both to agree. */
typedef struct Indent {
    int col, alt;
    uint32_t begin; /* of the line */
} Indent;

typedef struct Lexer {
    Arena *arena;
    const Source *source;
    TokenArray *out;
    uint32_t begin, end; /* the text just matched */
    Open open[LEX_MAX_OPEN];
    int nopen;
    Indent indents[LEX_MAX_INDENT];
    int nindents;
    Indent here;          /* of the physical line */
    int odd_col;          /* of the last line that matched no block, or 0 */
    bool measuring;       /* white space now is indentation */
    bool fresh_line;      /* no token yet on this physical line */
    bool fresh_statement; /* no token yet on this logical line */
    bool has_text;        /* f-string text since text_begin waits to become a token */
    uint32_t text_begin;
    bool mismatched; /* a bracket of this logical line was wrong already */
    bool stopped;    /* a limit was passed: the rest of the file is not looked at */
} Lexer;

typedef enum LexMode { LEX_CODE, LEX_TEXT, LEX_SPEC } LexMode;
LexMode lex_mode(const Lexer *lx);

void lex_token(Lexer *lx, TokenKind kind);
void lex_statement(
    Lexer *lx,
    TokenKind kind); /* a keyword or `@` that begins a statement: ends brackets left open */
void lex_error(Lexer *lx, const char *text);
/* The error is reported even where host code is skipped, because it hides what follows. */
void lex_error_fatal(Lexer *lx, const char *text);

typedef void Lex(Lexer *lx);
/* Tokens that tokens.def has by their text. */
Lex lex_keyword, lex_operator, lex_open, lex_close;
Lex lex_name, lex_number, lex_space, lex_newline, lex_continuation, lex_colon, lex_bang;
Lex lex_bad_character, lex_string_unterminated;
/* Of f-strings: their ends, their fields' ends, more of their text. */
Lex lex_fstring_open, lex_fstring_close, lex_field_open, lex_field_close, lex_text;
/* The f-string's line ends too early: reports it and goes on with code. */
Lex lex_fstring_unterminated;

/* In grammar/tkc.l. */
void lex_scan(Lexer *lx);
