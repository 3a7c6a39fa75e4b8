/* The loop around one that loads ahead, whose turns are tiles that programs share. */
#pragma once

#include "memory/pipeline.h"

/* The rings stay while what the turn's end needs is there, too. Three copies so are worth more than
   four that end with the loop: products of 128×256 in two parts, 512 along k, 113 µs for 132. What
   threads copy stays if last turns ask for the next tile's: asked for behind the loop, causal
   attention's chunks took 1.06 times as long (H200). */
void around_fit(Pipeline *p);
/* Before the loop around: rings, and copies of its first turn. Which copy is next, and the round,
   go on from turn to turn. */
Turn around_start(Pipeline *p);
/* So many turns as are ahead, where the loop has them, have nothing left to ask for but what comes
   first in the next turn of the loop around. Before the loop: where that is. */
void around_find_next(Pipeline *p, Builder *b, Turn *t);
/* The copy is of this turn of the loop around, if `here`, or of the next. Whether there is one. */
Value *around_flow_on(Pipeline *p, Builder *b, const Turn *t, Value *here);
/* Where there is no such turn here: the copies of that one by threads. */
void around_copy_next(Pipeline *p, Builder *b, const Turn *t, Value *here, Value *which);
/* Behind the loop: copies of the next turn of the loop around. All have met in the last turn, so
   nobody reads but what that has brought, where none of these goes; its products may be under way.
   Until the next turn begins there is time for them to come. */
void around_go_on(Pipeline *p, const Turn *t);
