/* What happens before what in one program (CTA), by vector clocks.

   Who acts is a unit and a lane of it: units 0 … warps-1 are the warps, others are agents, what
   works asynchronously for a warp (a group of copies, a matrix product). Every lane of a unit has
   its own view: of each lane of each unit, up to which of its times it knows everything. Times of a
   unit's lanes are one counter, so that what 32 lanes do together has one time. Beside what a lane
   knows it has what it knows to be fenced for the async proxy (fence.proxy.async).

   Nothing here is shared between host threads. When memory runs out, order_failed tells it from
   then on, and what is known is no longer complete. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_LANES = 32 };
#define SIMT_EACH_LANE(lane, m)                                                                    \
    for (uint32_t rest_##lane = (m); rest_##lane; rest_##lane &= rest_##lane - 1)                  \
        for (int lane = __builtin_ctz(rest_##lane), once_##lane = 1; once_##lane; once_##lane = 0)

typedef struct Order Order;
/* What a barrier passes on: of all that arrived, and when the last phase was complete; what is
   known, and what is known to be fenced. All zero is a new one. */
typedef struct OrderClock {
    struct OrderView *now[2], *done[2];
} OrderClock;

Order *order_new(int warps); /* NULL: no memory */
void order_free(Order *o);
void order_reset(Order *o); /* as new; clocks have to be freed before */
bool order_failed(const Order *o);

/* bar.warp.sync and its like: each of the lanes knows what all of them know. */
void order_sync(Order *o, int unit, uint32_t lanes);
/* fence.proxy.async: what the lanes know is fenced. */
void order_fence(Order *o, int unit, uint32_t lanes);

/* A new agent that knows what its issuers know: with the same lanes, each knowing what the one of
   the warp does; or (joint) one lane 0 that knows what all of them do. -1: no memory, and what is
   then told of that agent is nothing. */
int order_fork(Order *o, int unit, uint32_t lanes, bool joint, bool async_proxy);
/* An agent that exists gets more to do: it knows what its issuers know by now. */
void order_fork_into(Order *o, int agent, int unit, uint32_t lanes);
/* The lanes have waited for the agent: each for the agent's same lane, or all for a joint one. */
void order_join(Order *o, int unit, uint32_t lanes, int agent);
/* It is over: its number may be given to another one. */
void order_end(Order *o, int agent);

/* A barrier's clock. Arrivals release what they know into it; when its phase completes, that is
   what waiters acquire: not what arrives for the next phase before they do. */
void order_clock_reset(OrderClock *c); /* as new */
void order_release(Order *o, OrderClock *c, int unit, uint32_t lanes);
void order_complete(OrderClock *c);
void order_acquire(Order *o, const OrderClock *c, int unit, uint32_t lanes);

/* ---- for who records accesses ---- */

/* A time of some lanes of a unit. */
typedef struct OrderStamp {
    uint32_t clock, lanes;
    int unit;
} OrderStamp;

/* What a lane has learned; lanes that have met share it. */
typedef struct OrderView {
    int refs, nunits;
    uint32_t clocks[]; /* ORDER_ROW a unit: the least of its lanes, then each lane */
} OrderView;
enum { ORDER_ROW = 1 + ORDER_LANES };

/* The unit's present time, at which the lanes access something. */
uint32_t order_touch(Order *o, int unit, uint32_t lanes);
bool order_is_async(const Order *o, int unit); /* of the async proxy */
/* Of each lane, for quick answers; NULL: nothing yet. Until the order changes. */
OrderView *const *order_views(const Order *o, int unit);
/* Whether the lane knows all of that; whether it knows it to be fenced. */
bool order_knows(const Order *o, int unit, int lane, const OrderStamp *s);
bool order_knows_fenced(const Order *o, int unit, int lane, const OrderStamp *s);

/* True: a lane with that view knows all that the unit did up to then. False: it may. */
static inline bool order_saw(const OrderView *v, int unit, uint32_t clock)
{
    return v && unit < v->nunits && v->clocks[ORDER_ROW * unit] >= clock;
}
