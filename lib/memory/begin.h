/* Where an asynchronous product begins. */
#pragma once

#include "ir/ir.h"

/* Of asynchronous dots in the order of the program, before any dot_wait is there: one that needs
   nothing that is computed since an earlier one began begins right behind that. */
void begin_beside(Op *const *dots, int n);
