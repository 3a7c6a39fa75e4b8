/* The state of parsing one text. */
#pragma once

#include "syntax/ast.h"
#include "syntax/token.h"

/* Byte range of a symbol; the source is the parser's. */
typedef struct Loc {
    uint32_t begin, end;
} Loc;

typedef struct FeedItem {
    uint16_t kind; /* usually the token's; a repair may differ */
    bool strict;   /* part of a kernel: errors are reported */
    int token;     /* where it stands in the array */
    Ast *skipped;  /* for SKIPPED */
} FeedItem;

typedef struct Parser {
    Arena *arena;
    Interner *names;
    Diags *dx;
    const Source *source;
    TokenArray *tokens;
    VEC(FeedItem) feed; /* what the grammar reads: feed.h */
    int next;          /* the feed item to hand out next */
    bool failed;       /* an error was reported */
    bool error_strict; /* whether the last syntax error was in a kernel */
    bool host_failed;  /* host code did not parse: the statement becomes SKIPPED */
    AstList *body;     /* result of START_FILE */
    Ast *expr;         /* result of START_EXPR */
} Parser;

/* The grammar (grammar/tkc.y). 0: everything was read; otherwise the stack was exhausted or the end
   was not reached. */
int parser_run(Parser *p);
/* Reports why the token that was just handed out cannot stand here. `expected` is indexed by kind -
   TOK_FIRST. */
void parser_unexpected(Parser *p, const bool expected[TOK_COUNT]);
/* An error of the user's in what was parsed so far: reported in a kernel, remembered in host code.
   NULL when it was not reported. */
Diag *parser_report(Parser *p, Loc at, const char *text);
#define parser_error(p, at, ...) parser_report(p, at, arena_printf((p)->arena, __VA_ARGS__))
Span parser_span(const Parser *p, Loc at);
/* Whether what is being parsed must be correct: a kernel, not host code. */
bool parser_is_strict(const Parser *p);

/* ---- feed.c: what the grammar reads, the tokens of a file without its host code ---- */
/* Each appends to the parser's feed. */
/* The whole file: kernels and what they may need, SKIPPED for the rest. */
void feed_file(Parser *p);
/* The tokens [first, last) as they are, all of them strict. */
void feed_range(Parser *p, int first, int last);
/* An expression: layout does not matter. */
void feed_expr(Parser *p);
/* A SKIPPED node for the statement at those bytes of the text, with the names it binds. */
Ast *feed_skipped_text(Parser *p, uint32_t begin, uint32_t end);

/* ---- validate.c: what the grammar cannot check because it depends on what is around ---- */
#define SYNTAX_MAX_DEPTH 200

/* Reports break, continue, return, await and async out of place, unless it is part of a function
   that is not seen, and nesting past the limit. False after an error. */
bool validate(Diags *dx, const Ast *node, bool is_part);
/* The first node past the limit, or NULL; later passes recurse over the tree. */
const Ast *validate_depth(const Ast *node);
