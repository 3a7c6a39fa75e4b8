/* What the grammar reads: the tokens of a file without its host code. */
#ifndef TKC_SYNTAX_FEED_H
#define TKC_SYNTAX_FEED_H

#include "syntax/ast.h"
#include "syntax/token.h"

typedef struct FeedItem {
    uint16_t kind; /* usually the token's; a repair may differ */
    bool strict;   /* part of a kernel: errors are reported */
    int token;     /* where it stands in the array */
    Ast *skipped;  /* for SKIPPED */
} FeedItem;
typedef struct Feed {
    FeedItem *data;
    int len, cap;
} Feed;

typedef struct Filter {
    Arena *arena;
    Interner *names;
    Diags *dx;
    const Source *source;
    const TokenArray *tokens;
    Feed *feed;
    bool failed; /* an error was reported */
} Filter;

/* Appends the whole file: kernels and what they may need, SKIPPED for the rest. */
void feed_file(Filter *f);
/* Appends the tokens [first, last) as they are, all of them strict. */
void feed_range(Filter *f, int first, int last);
/* Appends an expression: layout does not matter. */
void feed_expr(Filter *f);
/* A SKIPPED node for the tokens [first, last), with the names they bind. */
Ast *feed_skipped(Arena *a, Interner *names, const Source *source, const TokenArray *tokens,
                  int first, int last, const char *what);

#endif
