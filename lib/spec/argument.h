/* The arguments of an operation, read and checked. Each reports what it refuses, naming the
   parameter. */
#pragma once

#include "spec/broadcast.h"
#include "spec/builtin.h"
#include "spec/constant.h"
#include "spec/operator.h"

/* Neither absent nor None. */
bool arg_is_given(const Call *c, int i);
/* "tl.load", "'f'": what is called as messages call it. */
const char *arg_operation(Spec *sp, const Call *c);
/* "'axis' of tl.sum" */
const char *arg_what(Spec *sp, const Call *c, int i);
SpecValue arg_refuse(Spec *sp, const Call *c, int i, const char *expected);
#define arg_fail(sp, c, i, expected) (arg_refuse(sp, c, i, expected), false)

/* A number or block at run time; NULL after an error. */
Value *arg_value(Spec *sp, const Call *c, int i);

/* What a parameter takes, by its name in builtins.def; NULL: there is no such kind. */
typedef struct ArgKind ArgKind;
const ArgKind *arg_kind(const char *name);
/* Makes argument i what its kind (NULL: any) says, unless it is None by default. False after an
   error. */
bool arg_read(Spec *sp, const Call *c, int i, const ArgKind *kind, SpecValue otherwise);

/* Compile-time integers: one, or a tuple of up to TKC_MAX_RANK. -1 after an error. */
int arg_ints(Spec *sp, const Call *c, int i, int64_t *out);
/* A legal block shape. */
bool arg_shape(Spec *sp, const Call *c, int i, Shape *out);
/* Arguments 0 and 1 in one type and shape, by UnifyRule. False after an error. */
bool arg_pair(Spec *sp, const Call *c, unsigned rules, Value **x, Value **y);
/* The values after *: one tuple or list of them, or they themselves. -1 after an error. */
int arg_rest(const Call *c, SpecValue **out);
/* The same as a shape. */
bool arg_rest_shape(Spec *sp, const Call *c, Shape *out);
/* n values, of parameter i, in one shape. False after an error. */
bool arg_broadcast(Spec *sp, const Call *c, int i, int n, const SpecValue *items, Value **out);
/* The values as a tuple, for operations with several results; else the first. */
SpecValue arg_results(Spec *sp, bool is_tuple, int n, Value *const *values);
