/* What LLVM will take, which cannot be interrupted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "ir/ir.h"

/* Of the LLVM IR of one thread. */
typedef struct Size {
    int64_t instructions;
    int64_t accesses; /* those of them that are inline assembly or calls */
} Size;

/* At least what fn becomes. */
Size estimate_size(const Func *fn);
/* False after a diagnostic: for code of that size there is not enough of the call's time or memory
   left (base/limit.h). */
bool estimate_fits(const Func *fn, Size s, Arena *a, Diags *dx);
/* 32-bit registers of a thread that a computed block takes; what is made from constants or only
   renamed takes none of its own. */
int estimate_registers(const Op *op);
/* What makes the block that takes most of a thread's registers, or NULL. What is made of elements'
   numbers alone, or of rows and columns, as their offsets, is none: each is computed where an access
   needs it. */
const Op *estimate_largest(const Func *fn);
