/* Compile-time numbers at run time. Casts of values: op_cast. */
#ifndef TKC_SPEC_CAST_H
#define TKC_SPEC_CAST_H

#include "spec/spec.h"

/* A scalar constant of that type; integers wrap. The number is a BOOL, INT or FLOAT. */
Value *cast_number(Spec *sp, SpecValue number, DType dt);

/* A compile-time value behind v: itself, or the number of a known run-time scalar; else v unchanged. */
SpecValue weaken(SpecValue v);

#endif
