/* What the grammar reads: the tokens of a file without its host code. */
#ifndef TKC_SYNTAX_FEED_H
#define TKC_SYNTAX_FEED_H

#include "syntax/parser.h"

/* Each appends to the parser's feed. */
/* The whole file: kernels and what they may need, SKIPPED for the rest. */
void feed_file(Parser *p);
/* The tokens [first, last) as they are, all of them strict. */
void feed_range(Parser *p, int first, int last);
/* An expression: layout does not matter. */
void feed_expr(Parser *p);
/* A SKIPPED node for the tokens [first, last), with the names they bind. */
Ast *feed_skipped(Parser *p, int first, int last, const char *what);

#endif
