/* What a parameter without a type looks like, for a message that asks for it. */
#ifndef TKC_SPEC_GUESS_H
#define TKC_SPEC_GUESS_H

#include "syntax/ast.h"

/* A type as -sig spells it, from the parameter's name and how the kernel `def` uses it. */
const char *guess_type(Arena *a, const Ast *def, Str name);

#endif
