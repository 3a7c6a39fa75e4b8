/* Reads the IR's textual form. */
#pragma once

#include "ir/ir.h"

/* All functions of the text. Returns how many, or -1 after error diagnostics (several in one run
   where possible).
   *funcs is an array in the arena. Locations of the ops are places in this text. */
int ir_parse(Ir *ir, Diags *dx, const Source *source, Func ***funcs);
/* Reads what ir_print_number writes, and other spellings of a number. False when it is none, or an
   integer out of range. */
bool ir_parse_number(DType dt, const char *text, size_t len, uint64_t *bits);
