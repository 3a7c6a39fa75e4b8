/* Warnings about a function's text: what it says and nobody reads. */
#ifndef TKC_SPEC_LINT_H
#define TKC_SPEC_LINT_H

#include "spec/spec.h"

/* Statements that control cannot get to, and names that are given values and never read. Names and
   arms that other compile-time values would reach count as read. */
void lint_function(Spec *sp, const SpecFunc *fn);
/* A kernel's parameters that nothing in it names: its text, annotations and decorators. */
void lint_parameters(Spec *sp, const SpecFunc *fn);
/* The expression of a statement of its own, whose value is v, computes it for nobody. */
void lint_statement(Spec *sp, const Ast *e, SpecValue v);

#endif
