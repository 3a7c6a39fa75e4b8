/* What threads of a program do with its shared memory: who wrote and read which bytes, and in which
   order they stand (race.h). */
#ifndef TKC_SIMT_SHARED_H
#define TKC_SIMT_SHARED_H

#include "machine.h"

/* The lanes of m touch `bytes` at their offsets. False: that is a race, or memory that nothing has
   written; told. */
bool shared_touch(Warp *w, const SimtInsn *in, LaneMask m, const uint32_t *offset, uint32_t bytes,
                  SimtTouch touch);
/* What was done before is in order with what follows: among the lanes of m; between all warps that
   come to a barrier, and those that it lets go. */
void shared_warp_sync(Warp *w, LaneMask m);
void shared_arrive(Warp *w, int barrier);
void shared_leave(Warp *w, int barrier);
/* What the lanes of m wrote, and what they know of, is there for asynchronous accesses. */
void shared_proxy_fence(Warp *w, LaneMask m);

#endif
