/* Arithmetic of compile-time values, by Python's rules. */
#pragma once

#include "spec/spec.h"

/* Each gives the value, or poison after a diagnostic. Operands are constants. */
SpecValue constant_binary(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at);
SpecValue constant_unary(Spec *sp, AstOp op, SpecValue a, Span at);
SpecValue constant_compare(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at);

/* Python's truth of a constant. */
bool constant_is_true(SpecValue v);
/* Python's ==; values of unlike kinds differ. */
bool constant_is_equal(SpecValue a, SpecValue b);
/* The number as a double; v is a BOOL, INT or FLOAT. */
double constant_to_double(SpecValue v);
/* What looking at all of a value costs: a string's bytes, at least one; the items of a sequence and of what they
   hold, counted as often as they are there. *nesting (may be NULL): of sequences in sequences. */
long constant_size(SpecValue v, int *nesting);
/* A sequence's n items, to be filled; a record of that type's has names too. */
SpecTuple *tuple_new(Spec *sp, int n);
/* Another one of its type, with the first n of its items, or all and None behind them. */
SpecTuple *tuple_copy(Spec *sp, const SpecTuple *t, int n);
SpecTuple *record_new(Spec *sp, const char *type, int n);
/* A tuple or list of n items, copied into the arena. */
SpecValue constant_sequence(Spec *sp, SvKind kind, int n, const SpecValue *items);
#define constant_tuple(sp, ...) constant_sequence(sp, SV_TUPLE, __VA_ARGS__)
/* A record of n fields. */
SpecValue constant_record(Spec *sp, const char *type, int n, const char *const *names,
                          const SpecValue *values);
/* ---- dict.c: dicts are records of the type "dict" ---- */
static inline bool constant_is_dict(SpecValue v) { return sv_is_record(v, "dict"); }
/* A key as messages say it. */
const char *constant_key_text(Str name);
/* Where the field is that a dict has under a key, or -1. */
int dict_find(Spec *sp, SpecValue dict, SpecValue key);
/* Its keys, as a list. */
SpecValue dict_keys(Spec *sp, SpecValue dict);
/* A new one of what another has, or NULL, with room for more; and what puts a value into it: of a
   key that comes twice the last one counts. False after an error. */
SpecTuple *dict_new(Spec *sp, const SpecTuple *from, int more);
bool dict_put(Spec *sp, SpecTuple *t, SpecValue key, SpecValue v, Span at);
/* The same with n pairs of keys and values. */
SpecValue dict_of(Spec *sp, const SpecTuple *from, int n, const SpecValue *pairs, Span at);
/* ---- constant.c ---- */
SpecValue constant_ints(Spec *sp, int n, const int32_t *values);
/* text % values, as Python's strings do it. */
SpecValue format_values(Spec *sp, Str text, SpecValue values, Span at);
/* str(v) into a buffer; `quoted` gives repr(v) for strings. */
void constant_print(Spec *sp, Buf *out, SpecValue v, bool quoted);
