/* What to write instead of what was just refused: notes and fix-its to the newest error. */
#pragma once

#include "spec/builtin.h"
#include "spec/scope.h"

/* A name of the language that there is not, or an attribute of a block: what other libraries have by it. */
bool advise_name(Spec *sp, Str name);
/* A call of numpy.exp, torch.where and the like: the function of ours with that name. */
void advise_host_call(Spec *sp, Str path, Span call);
/* The axis of a reduction is no compile-time integer. */
void advise_pair(Spec *sp, const Call *c, int axis);
/* An argument is missing; so many are given, the first there. */
void advise_missing(Spec *sp, const Builtin *b, Span first, int given);
/* A float where an integer belongs; `at` is the expression. Whether it is noted what made it one. */
bool advise_float(Spec *sp, SpecValue v, Span at);
/* No compile-time integer where one belongs; `at` is the expression. */
void advise_integer(Spec *sp, SpecValue v, Span at);
/* The accumulator of tl.dot has another type than it must. */
void advise_dot_accumulator(Spec *sp, const Type *wanted);
/* Whether it is a float for the same reason as the newest that was asked for. */
bool advise_same_float(Spec *sp, SpecValue v);
/* A pointer where its elements are meant; `at` is the expression. */
void advise_load(Spec *sp, Span at);
/* Argument 0 is no pointer, but a later one is. */
void advise_pointer_first(Spec *sp, const Call *c);
/* A loop runs over something that is no sequence. */
void advise_loop(Spec *sp, SpecValue v, Span at);
/* A loop's variable, first `before`, becomes `after`. */
void advise_accumulator(Spec *sp, Str name, SpecValue before, SpecValue after);
/* Of two values that a name has on two paths: what to write instead, or NULL. */
const char *advise_conflict(Spec *sp, SpecValue a, SpecValue b);
/* A name that has no value on some path, or two that do not go together. */
void advise_binding(Spec *sp, const Binding *b);
/* `value` gives one value that is unpacked into several names. */
void advise_unpacking(Spec *sp, const Ast *value);
/* Something that tensors have on the host is asked of a pointer. */
void advise_pointer_attribute(Spec *sp, Str name);

/* ---- lint.c: what a function says and nobody reads ---- */
/* Statements that control cannot get to, and names that are given values and never read. Names and
   arms that other compile-time values would reach count as read. */
void lint_function(Spec *sp, const SpecFunc *fn);
/* A kernel's parameters that nothing in it names: its text, annotations and decorators. */
void lint_parameters(Spec *sp, const SpecFunc *fn);
/* The expression of a statement of its own, whose value is v, computes it for nobody. */
void lint_statement(Spec *sp, const Ast *e, SpecValue v);

/* ---- precedence.c ---- */
/* An operand of a comparison, whose value is v, joins an int1 with a number. */
bool precedence_is_mixed(const Ast *operand, SpecValue v);
/* Refuses a chain of comparisons around such an operator; false when it is none. */
bool precedence_refuse(Spec *sp, const Ast *compare);
/* Warns of a comparison with an operand that does. */
void precedence_warn(Spec *sp, const Ast *compare);

/* ---- tuning.c ---- */
void tuning_check(Spec *sp, const SpecFunc *kernel);

/* ---- guess.c ---- */
typedef struct Usage Usage; /* how a kernel uses its parameters */
const Usage *guess_usage(Arena *a, const SpecFunc *kernel);
/* A type as -sig spells it, or "?". */
const char *guess_type(const Usage *u, Str name);
/* What a constexpr that is used so may be: "int", "bool", "dtype", "text", "function". */
const char *guess_value(const Usage *u, Str name);
