/* Classes of users' files: named tuples (derived from typing.NamedTuple, or made with
   collections.namedtuple), Triton's aggregates, and classes that are only looked into. */
#pragma once

#include "spec/eval.h"

typedef enum RecordKind {
    RECORD_TUPLE,
    RECORD_AGGREGATE, /* made by its __init__ */
    RECORD_NAMES      /* cannot be made: has constants and functions, as an Enum */
} RecordKind;

struct RecordClass {
    RecordKind kind;
    Str name;
    Span at;             /* where it is defined */
    int len;
    Str *fields;
    SpecValue *defaults; /* ABSENT: none */
    const Ast **annotations; /* NULL: none */
    bool keywords_only;  /* x._replace */
    const Ast *body;     /* the class statement, or NULL */
    SpecModule *module;  /* of the body */
    const RecordClass *base;
};

/* The class behind a class statement of module m. */
SpecValue record_class_of(Spec *sp, SpecModule *m, const Ast *statement);
/* collections.namedtuple(…), typing.NamedTuple(…). ABSENT when the path is another's. */
SpecValue record_class_call(Spec *sp, Str path, const Args *args, Span at);
/* Class(…) */
SpecValue record_call(Spec *sp, const RecordClass *c, const Args *args, Span at);
/* A tuple's items under the names of a class, which must be as many. */
SpecValue record_of_items(Spec *sp, const RecordClass *c, SpecValue tuple, Span at);
/* A named tuple's, not an aggregate or a dict. */
bool record_is_tuple(SpecValue v);
/* The item is what an aggregate declares tl.constexpr: known, untyped, and a part of its type. */
bool record_is_constexpr(const SpecTuple *t, int i);
/* What the item becomes that is given v; poison after an error. */
SpecValue record_item(Spec *sp, const SpecTuple *t, int i, SpecValue v, Span at);
/* Reports that a record has no such name, or `what`: "field ". */
SpecValue record_refuse_name(Spec *sp, SpecValue x, const char *what, Str name, Span at);
/* x.name, Class.name */
SpecValue record_member(Spec *sp, SpecValue x, Str name, Span at);
SpecValue record_class_member(Spec *sp, const RecordClass *c, Str name, Span at);
