/* Which line of the source each instruction is of. */
#pragma once

#include "lower/target.h"

typedef struct Lines Lines;

/* From here on L's builders mark what they make; before it, and where it was not called, they do
   not. The kernel and the builders are there; its head is the first place. */
void lines_open(Lower *L);
/* Code that is made from now on is of that place (NULL: of the one before). Returns the one
   before. */
const Loc *lines_at(Lower *L, const Loc *loc);
/* The module is complete. Returns how many places there are, *locs names them, the callers too. */
int lines_close(Lower *L, const Loc *const **locs);

/* How a place is written: its file's name without what an assembler's string cannot hold; its
   column, 0 where it is further right than LLVM counts. */
const char *lines_file(Arena *a, const Loc *loc);
unsigned lines_column(const Loc *loc);
