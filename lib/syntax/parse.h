/* Parsing part of a file's tokens. */
#ifndef TKC_SYNTAX_PARSE_H
#define TKC_SYNTAX_PARSE_H

#include "syntax/ast.h"
#include "syntax/token.h"

/* Parses the statements in tokens [first, last) completely, host code or not. False after an error
   in dx. */
bool parse_tokens(Arena *a, Interner *names, Diags *dx, const AstFile *file, int first, int last,
                  AstList *out);

#endif
