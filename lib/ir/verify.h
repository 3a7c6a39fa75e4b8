/* The rules of the IR, each a small function. */
#pragma once

#include "base/diag.h"
#include "tkc/ir.h"

/* False after an error diagnostic for each broken rule (an internal error when the IR came from our
   own passes: the caller says which by reading the result). */
bool ir_verify(const Func *fn, Diags *dx);
