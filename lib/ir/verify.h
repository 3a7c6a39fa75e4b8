/* The rules of the IR, each a small function. */
#ifndef TKC_IR_VERIFY_H
#define TKC_IR_VERIFY_H

#include "base/diag.h"
#include "tkc/ir.h"

/* False after an error diagnostic for each broken rule (an internal error when the IR came from our
   own passes: the caller says which by reading the result). */
bool ir_verify(const Func *fn, Diags *dx);

#endif
