/* What operators and attributes do to values. */
#pragma once

#include "spec/spec.h"

/* a op b for BINARY operators; constants give constants by Python's rules, anything else the IR by
   LANGUAGE.md's. */
SpecValue op_binary(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at);
SpecValue op_unary(Spec *sp, AstOp op, SpecValue a, Span at);
/* One link of a comparison: EQ … GE, IS, IS_NOT, IN, NOT_IN. */
SpecValue op_compare(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at);
/* Run-time and/or of two int1 values (constants are short-circuited by the evaluator before). */
SpecValue op_logical(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at);
/* 1 true, 0 false, -1 run-time scalar (not known while compiling), -2 after an error. Run-time
   constants in the IR count as known. */
int op_truth(Spec *sp, SpecValue v, Span at);
/* x.name for anything but a module or record. Methods give SV_METHOD. */
SpecValue op_attribute(Spec *sp, SpecValue x, Str name, Span at);
/* The namespaces of a record's methods. */
unsigned op_record_methods(SpecValue x);
/* x[index]: None and : on blocks, tuples by integer or slice, indices on declared extents. */
SpecValue op_subscript(Spec *sp, SpecValue x, SpecValue index, Span at);
/* x[index] = value on a pointer with declared extents. */
void op_store_subscript(Spec *sp, SpecValue x, SpecValue index, SpecValue value, Span at);

/* A run-time value: constants become typed scalars (int32, int64, …, fp32; bool int1) by
   LANGUAGE.md. NULL after an error. */
Value *op_to_value(Spec *sp, SpecValue v, Span at);
/* A compile-time integer: an SV_INT or SV_BOOL, or a run-time scalar whose constant value is
   known. */
bool op_to_int(Spec *sp, SpecValue v, int64_t *out, Span at, const char *what);
/* An integer, or where there may be one a block of them, as int64; NULL: it is none. */
Value *op_to_index(Spec *sp, SpecValue v, bool is_block, Span at);
/* Numeric cast with LANGUAGE.md's rules. */
Value *op_cast(Spec *sp, Value *v, const Type *elem, bool bitcast, const char *rounding, Span at);
/* x op y in their own type, by way of one of that width: their bits are taken for it. */
Value *op_by_bits(Spec *sp, OpKind kind, DType dt, Value *x, Value *y);
/* A list of tuple items, or of a dict's keys, for iteration and unpacking; -1 after an error. */
int op_items(Spec *sp, SpecValue v, SpecValue **items, Span at);
/* str(v) and format(v, spec) of a compile-time value, as in an f-string. NULL after an error. */
Str op_format(Spec *sp, SpecValue v, char conversion, const char *spec, Span at);

/* Reports that an operation, "'+'" or "maximum", does not work on these. */
SpecValue op_refuse_pair(Spec *sp, const char *what, SpecValue a, SpecValue b, Span at);

/* ---- cast.c ---- */
/* A scalar constant of that type; integers wrap, but those that no integer type holds. The number is
   a BOOL, INT or FLOAT. NULL after an error. */
Value *cast_number(Spec *sp, SpecValue number, DType dt, Span at);

/* Numbers as run-time scalars, as plain assignment makes them; anything else unchanged. */
SpecValue strengthen(Spec *sp, SpecValue v, Span at);
/* A compile-time value behind v: itself, or the number of a known run-time scalar; else v unchanged. */
SpecValue weaken(SpecValue v);
SpecValue weaken_all(Spec *sp, SpecValue v); /* its items, too */

/* ---- unify.c ---- */
typedef enum UnifyRule {
    UNIFY_NUMBERS = 0,
    UNIFY_DIVISION = 1, /* the promotion of / // % */
    UNIFY_POINTERS = 2  /* two pointers of one type are fine */
} UnifyRule;

/* `what` names the operation in messages: "'+'", "maximum". False after an error. */
bool unify(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
           const char *what, Span at);
/* The element types only, shapes untouched. */
bool unify_types(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
                 const char *what, Span at);
