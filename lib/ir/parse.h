/* Reads the IR's textual form. */
#ifndef TKC_IR_PARSE_H
#define TKC_IR_PARSE_H

#include "base/diag.h"
#include "ir/ir.h"

/* All functions of the text. Returns how many, or -1 after error diagnostics (several in one run where possible).
   *funcs is an array in the arena. Locations of the ops are places in this text. */
int ir_parse(Ir *ir, Diags *dx, const Source *source, Func ***funcs);

#endif
