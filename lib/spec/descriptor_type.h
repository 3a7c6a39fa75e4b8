/* The type of a tensor descriptor that is passed to a kernel: tensordesc<fp16[64, 128]>. */
#ifndef TKC_SPEC_DESCRIPTOR_TYPE_H
#define TKC_SPEC_DESCRIPTOR_TYPE_H

#include <stddef.h>

#include "ir/type.h"

/* True when the text begins like one. */
bool descriptor_type_is(const char *text);
/* The type of its blocks; NULL when the text of `len` bytes is none. */
const Type *descriptor_type_parse(TypeTable *t, const char *text, size_t len);

#endif
