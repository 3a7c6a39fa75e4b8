/* Named tuples: the classes that a file derives from typing.NamedTuple or makes with collections.namedtuple, and calling them. */
#ifndef TKC_SPEC_RECORD_H
#define TKC_SPEC_RECORD_H

#include "spec/eval.h"

struct RecordClass {
    Str name;
    Span at;             /* where it is defined */
    int len;
    Str *fields;
    SpecValue *defaults; /* ABSENT: none */
    bool keywords_only;  /* x._replace */
};

/* The class behind a class statement of module m. False when it is no named tuple; never reports that. */
bool record_class_of(Spec *sp, SpecModule *m, const Ast *statement, SpecValue *out);
/* collections.namedtuple(…), typing.NamedTuple(…). False when the path is another's. */
bool record_class_call(Spec *sp, Str path, const Args *args, Span at, SpecValue *out);
/* Class(…): a named tuple. */
SpecValue record_call(Spec *sp, const RecordClass *c, const Args *args, Span at);
/* x.name, Class.name */
SpecValue record_member(Spec *sp, SpecValue x, Str name, Span at);
SpecValue record_class_member(Spec *sp, const RecordClass *c, Str name, Span at);

#endif
