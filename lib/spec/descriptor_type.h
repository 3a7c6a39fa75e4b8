/* The type of a tensor descriptor that is passed to a kernel. */
#ifndef TKC_SPEC_DESCRIPTOR_TYPE_H
#define TKC_SPEC_DESCRIPTOR_TYPE_H

#include "ir/type.h"
#include "tkc/edge.h"

/* A parameter's type as -sig spells it: t, or `other` when t is of no descriptor. In the arena. */
const char *descriptor_or_type_text(Arena *a, const DescriptorType *t, const Type *other);

#endif
