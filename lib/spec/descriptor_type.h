/* The type of a tensor descriptor that is passed to a kernel. */
#ifndef TKC_SPEC_DESCRIPTOR_TYPE_H
#define TKC_SPEC_DESCRIPTOR_TYPE_H

#include "ir/type.h"
#include "tkc/edge.h"

/* As -sig spells it, in the arena. */
const char *descriptor_type_text(Arena *a, const DescriptorType *t);

#endif
