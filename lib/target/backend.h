/* From a function of the block IR, laid out, to PTX. The only header of lower/ and target/ without
   LLVM in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/diag.h"
#include "tkc/ir.h"

typedef struct BackendResult {
    const char *text; /* PTX, or LLVM IR after the chosen passes; ends in NUL, lives in the arena */
    size_t len;
    const char *symbol;    /* the kernel's name in it */
    uint32_t shared_bytes; /* the launch must give as dynamic shared memory */
    double lower_ms, optimize_ms, emit_ms;
} BackendResult;

typedef struct BackendWants {
    bool llvm;      /* LLVM IR instead of PTX */
    bool line_info; /* which line of the source each instruction is of; the code stays the same */
} BackendWants;

/* fn: verified, every block with a layout, conversions explicit, scratch memory assigned, barriers
   placed. False after an error diagnostic. Raises (base/unwind.h) on a bug of ours or a fatal error
   of LLVM's. Any number of threads may call it at once. */
bool backend_compile(BackendResult *out, const Func *fn, BackendWants wants, Arena *a, Diags *dx);
