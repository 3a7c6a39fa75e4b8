/* What the parts of fold share. */
#pragma once

#include "ir/build.h"

/* Each returns the value that stands for the op's only result, with new ops before op where it
   takes such, or NULL. The op itself stays for the caller to replace. */
Value *fold_arithmetic(Builder *b, Op *op); /* fold_arith.c: elementwise ops of one result */
Value *fold_shape(Builder *b,
                  Op *op); /* fold_shape.c: moves of elements, and arithmetic on splats */
/* fold_control.c: true when op was replaced. Its body has been folded. */
bool fold_control(Op *op);
