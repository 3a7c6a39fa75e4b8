/* Programs that wait in loops for memory to change, when nobody is left to change it.

   What a warp does follows from its registers, from where its lanes are and from memory. A warp that
   comes back to an earlier state, while memory has not changed, will come back for ever. So when all
   warps of all programs that run have done so, none of them will ever end. */
#ifndef TKC_SIMT_SPIN_H
#define TKC_SIMT_SPIN_H

#include "machine.h"

typedef struct Spin Spin;
/* To be freed by free(). NULL: no memory. */
Spin *spin_new(int nwarps);
/* Memory has changed, or may have: what was seen is of no use. */
void spin_forget(Spin *s);
/* Between turns of the warps, memory being as it was since spin_forget. */
void spin_look(Block *b);
/* All its warps go round, or wait for those that do. */
bool spin_found(const Spin *s);
/* The fault, at what a warp that goes round reads. `more`: there are programs that have not begun. */
void spin_tell(Block *b, bool more);

#endif
