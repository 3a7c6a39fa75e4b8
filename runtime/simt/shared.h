/* What threads of a program, and what works for them asynchronously, do with its shared memory: who
   wrote and read which bytes, and in which order they stand (order.h, race.h). */
#pragma once

#include "machine.h"

typedef struct MemoryClock {
    uint32_t offset;
    OrderClock clock;
} MemoryClock;

typedef struct SharedState {
    Order *order;
    struct Race *race;
    OrderClock barriers[SIMT_BARRIERS + 1]; /* between all that come to one and those it lets go */
    MemoryClock *clocks;
    int nclocks;
} SharedState;

/* For a program's bytes and warps. NULL: no memory. */
SharedState *shared_new(uint32_t bytes, int warps);
void shared_free(SharedState *s);
void shared_reset(SharedState *s); /* nothing is written, nobody knows anything */

/* The lanes of m, of the warp or of an agent that works for it (order.h), touch `bytes` at their
   offsets. False: that is a race, or memory that nothing has written; told. */
bool shared_touch(Warp *w, const SimtInsn *in, int unit, LaneMask m, const uint32_t *offset,
                  uint32_t bytes, Touch touch);
/* An agent's lane 0 touches a whole range. */
bool shared_agent_range(Warp *w, const SimtInsn *in, int agent, uint32_t offset, uint32_t bytes,
                        Touch touch);

/* ---- order ---- */
static inline Order *shared_order(const Warp *w) { return w->block->shared_state->order; }
/* The clock of the mbarrier at the offset, until another is asked for; NULL: no memory. */
OrderClock *shared_clock(Block *b, uint32_t offset);
