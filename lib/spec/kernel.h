/* The kernels of a parsed file and their declared parameters, without specializing anything. */
#pragma once

#include "syntax/ast.h"

/* The last name of a dotted name or of what is called: "jit" of triton.jit(…); "" when there is none. */
const char *kernel_last_name(const Ast *d);
/* The first of them with that last name, or NULL. */
const Ast *kernel_decorator(const AstList *decorators, const char *name);
/* The next of them, from number *i on, which then is behind it. */
const Ast *kernel_next_decorator(const AstList *decorators, const char *name, int *i);
/* True for a DEF that a jit decorator makes ours. */
bool kernel_is_jit(const Ast *def);
/* Names of the kernels in order: jit functions that no other jit function of the file calls and
   that return no value. */
int kernel_list(Arena *a, const AstFile *file, Str **names);
/* "'a', 'b', 'c' and 17 more" */
const char *kernel_names_text(Arena *a, int n, const Str *names);
/* The definition of a kernel (any jit function, by name; NULL: the only kernel). NULL after an
   error that lists the kernels there are. */
const Ast *kernel_find(Diags *dx, const AstFile *file, const char *name);
/* Of a string annotation, where its type begins: "tl.uint8" says what "uint8" does. */
const char *kernel_type_text(const char *string);
/* The annotation, which may be NULL, makes the parameter compile-time: it holds tl.constexpr, in any
   spelling that it has in the file, which may be NULL. */
bool kernel_is_constexpr(const AstFile *file, const Ast *annotation);
/* Fills out from the annotation and default of a parameter; texts are copied into a. */
void kernel_param(Arena *a, const AstFile *file, const Ast *def, int i, TkcParam *out);
