/* What threads of a program, and what works for them asynchronously, do with its shared memory: who
   wrote and read which bytes, and in which order they stand (order.h, race.h). */
#ifndef TKC_SIMT_SHARED_H
#define TKC_SIMT_SHARED_H

#include "machine.h"

typedef struct SharedState SharedState;
typedef struct OrderClock OrderClock;

/* For a program's bytes and warps. NULL: no memory. */
SharedState *shared_new(uint32_t bytes, int warps);
void shared_free(SharedState *s);
void shared_reset(SharedState *s); /* nothing is written, nobody knows anything */

/* The lanes of m touch `bytes` at their offsets. False: that is a race, or memory that nothing has
   written; told. */
bool shared_touch(Warp *w, const SimtInsn *in, LaneMask m, const uint32_t *offset, uint32_t bytes,
                  SimtTouch touch);

/* ---- order ---- */
/* What was done before is in order with what follows: among the lanes of m; between all warps that
   come to a barrier, and those that it lets go once it is complete. */
void shared_warp_sync(Warp *w, LaneMask m);
void shared_arrive(Warp *w, int barrier);
void shared_complete(Block *b, int barrier);
void shared_leave(Warp *w, int barrier, LaneMask m);
/* What the lanes of m know of is there for asynchronous accesses. */
void shared_proxy_fence(Warp *w, LaneMask m);

/* The clock of the mbarrier at the offset; NULL: no memory. */
OrderClock *shared_clock(Block *b, uint32_t offset);
void shared_clock_release(Warp *w, OrderClock *c, LaneMask m);
void shared_clock_complete(OrderClock *c);
void shared_clock_acquire(Warp *w, OrderClock *c, LaneMask m);

/* ---- agents: what works asynchronously for lanes of a warp ---- */
/* By one lane each, or together (joint). -1: no memory. */
int shared_fork(Warp *w, LaneMask m, bool joint, bool async_proxy);
void shared_fork_into(Warp *w, int agent, LaneMask m);
bool shared_agent_touch(Warp *w, const SimtInsn *in, int agent, LaneMask m, const uint32_t *offset,
                        uint32_t bytes, SimtTouch touch);
bool shared_agent_range(Warp *w, const SimtInsn *in, int agent, int lane, uint32_t offset,
                        uint32_t bytes, SimtTouch touch);
/* The lanes of m have waited for it; or it has arrived at an mbarrier. Then it is over. */
void shared_join(Warp *w, int agent, LaneMask m);
void shared_agent_release(Block *b, int agent, OrderClock *c);
void shared_agent_fence(Block *b, int agent, LaneMask m);
void shared_agent_end(Block *b, int agent);

#endif
