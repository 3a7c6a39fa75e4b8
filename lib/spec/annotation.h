/* A parameter's annotation: tl.constexpr, "*fp32:16", "*fp16[M:s0, N:1]", tl.pointer_type(tl.float32), … */
#pragma once

#include "spec/spec.h"

/* A number, or the name of another parameter. name NULL: value; value -1: not given */
typedef struct AnnotationNumber { Str name; int64_t value; } AnnotationNumber;

typedef struct Annotation {
    bool is_constexpr;
    bool is_const;           /* tl.const: a pointer that nothing is stored through */
    bool is_text;            /* a string of ours, which -sig cannot contradict */
    ParamType type;          /* or says nothing */
    int64_t divisibility;    /* 0: not said */
    int rank;                /* declared extents */
    AnnotationNumber extent[TKC_MAX_RANK], stride[TKC_MAX_RANK];
} Annotation;

/* False after an error. Annotations that are none of ours say nothing. */
bool annotation_read(Spec *sp, SpecModule *m, const Ast *e, Annotation *out);

/* The type of the run-time parameter, of a descriptor that of its pointer; NULL when nothing is said. */
const Type *param_type(TypeTable *types, const ParamType *t);
/* Says nothing of a pointer to what is no number. */
ParamType param_type_of(const Type *t);
/* As -sig spells it; the type is one. In the arena. */
const char *param_type_text(Arena *a, TypeTable *types, const ParamType *t);
