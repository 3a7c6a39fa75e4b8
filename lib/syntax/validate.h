/* What the grammar cannot check because it depends on what is around. */
#ifndef TKC_SYNTAX_VALIDATE_H
#define TKC_SYNTAX_VALIDATE_H

#include "syntax/ast.h"

#define SYNTAX_MAX_DEPTH 200

/* Reports break, continue, return, await and async out of place, and nesting past the limit. False
   after an error. */
bool validate_statement(Diags *dx, const Ast *statement);
bool validate_expr(Diags *dx, const Ast *expr);
/* Whether the tree is within the limit; later passes recurse over it. */
bool validate_depth(const Ast *node);

#endif
