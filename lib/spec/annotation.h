/* A parameter's annotation: tl.constexpr, "*fp32:16", "*fp16[M:s0, N:1]", tl.pointer_type(tl.float32), … */
#ifndef TKC_SPEC_ANNOTATION_H
#define TKC_SPEC_ANNOTATION_H

#include "spec/spec.h"

/* A number, or the name of another parameter. name NULL: value; value -1: not given */
typedef struct AnnotationNumber { Str name; int64_t value; } AnnotationNumber;

typedef struct Annotation {
    bool is_constexpr;
    bool is_text;            /* a string of ours, which -sig cannot contradict */
    const Type *type;        /* or NULL: says nothing about the type */
    DescriptorType desc;     /* of a tensor descriptor, `type` being its pointer */
    int64_t divisibility;    /* 0: not said */
    int rank;                /* declared extents */
    AnnotationNumber extent[TKC_MAX_RANK], stride[TKC_MAX_RANK];
} Annotation;

/* False after an error. Annotations that are none of ours say nothing. */
bool annotation_read(Spec *sp, SpecModule *m, const Ast *e, Annotation *out);

/* A parameter's type as -sig spells it: t, or `other` when t is of no descriptor. In the arena. */
const char *descriptor_or_type_text(Arena *a, const DescriptorType *t, const Type *other);

#endif
