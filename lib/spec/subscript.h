/* x[…] on pointers with declared extents. Subscripts in general: op_subscript. */
#ifndef TKC_SPEC_SUBSCRIPT_H
#define TKC_SPEC_SUBSCRIPT_H

#include "spec/memory.h"

/* The parameter whose pointer v is, when it has declared extents; else NULL. */
const Param *subscript_extents(const Spec *sp, SpecValue v);

#endif
