/* Compile-time numbers at run time. Casts of values: op_cast. */
#ifndef TKC_SPEC_CAST_H
#define TKC_SPEC_CAST_H

#include "spec/spec.h"

/* A scalar constant of that type; integers wrap. The number is a BOOL, INT or FLOAT. */
Value *cast_number(Spec *sp, SpecValue number, DType dt);

/* The compile-time number behind a run-time scalar whose value is known. False when there is none.
 */
bool cast_known(SpecValue v, SpecValue *number);

#endif
