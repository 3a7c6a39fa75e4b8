/* Races in shared memory: each kind is found, each legal pattern is silent, and random programs are
   judged as an oracle does that keeps, for every lane, the set of all accesses it knows. */
#include <stdlib.h>

#include "expect.h"
#include "simt/race.h"

enum { BYTES = 1 << 16 };

static Order *order;
static Race *race;
static RaceReport told;

static void begin(int warps)
{
    order = order_new(warps);
    race = race_new(BYTES, order);
}

static void end(void)
{
    EXPECT(!order_failed(order) && !race_failed(race));
    race_free(race);
    order_free(order);
}

/* 32 lanes, `bytes` each, side by side from `at` on. */
static RaceProblem rows(int unit, Touch kind, uint32_t at, uint32_t bytes, uint32_t insn)
{
    uint32_t offsets[ORDER_LANES];
    for (uint32_t l = 0; l < ORDER_LANES; l++) offsets[l] = at + l * bytes;
    race_access(race, unit, UINT32_MAX, offsets, bytes, kind, insn, &told);
    return told.problem;
}

static RaceProblem one(int unit, int lane, Touch kind, uint32_t at, uint32_t bytes,
                       uint32_t insn)
{
    uint32_t offsets[ORDER_LANES];
    offsets[lane] = at;
    race_access(race, unit, UINT32_C(1) << lane, offsets, bytes, kind, insn, &told);
    return told.problem;
}

static void barrier(OrderClock *c, int warps)
{
    for (int w = 0; w < warps; w++) order_release(order, c, w, UINT32_MAX);
    order_complete(c);
    for (int w = 0; w < warps; w++) order_acquire(order, c, w, UINT32_MAX);
}

/* ---- what is wrong ---- */

static void finds_each_kind(void)
{
    begin(2);
    EXPECT_INT(rows(0, TOUCH_WRITE, 0, 4, 11), RACE_NONE);
    EXPECT_INT(one(1, 3, TOUCH_READ, 20, 4, 12), RACE_CONFLICT);
    EXPECT_INT(told.earlier_unit, 0);
    EXPECT_INT(told.earlier_lane, 5);
    EXPECT_INT(told.earlier_insn, 11);
    EXPECT_INT(told.earlier_kind, TOUCH_WRITE);
    EXPECT_INT(told.lane, 3);
    EXPECT_INT(told.offset, 20);
    EXPECT_INT(one(1, 0, TOUCH_WRITE, 40, 4, 13), RACE_CONFLICT);
    EXPECT_INT(one(0, 0, TOUCH_READ, 1024, 16, 14), RACE_UNWRITTEN);
    EXPECT_INT(told.offset, 1024);
    EXPECT_INT(one(0, 0, TOUCH_ATOMIC, 1024, 16, 15), RACE_UNWRITTEN);
    end();

    begin(2); /* a write over what is still read */
    OrderClock *c = &(OrderClock){0};
    rows(0, TOUCH_WRITE, 0, 16, 1);
    barrier(c, 2);
    EXPECT_INT(rows(1, TOUCH_READ, 0, 16, 2), RACE_NONE);
    EXPECT_INT(rows(0, TOUCH_READ, 0, 16, 3), RACE_NONE);
    EXPECT_INT(rows(0, TOUCH_WRITE, 0, 16, 4), RACE_CONFLICT);
    EXPECT_INT(told.earlier_insn, 2);
    EXPECT_INT(told.earlier_kind, TOUCH_READ);
    order_clock_reset(c);
    end();
}

static void finds_lanes_of_a_warp(void)
{
    begin(1);
    rows(0, TOUCH_WRITE, 0, 4, 1);
    EXPECT_INT(one(0, 0, TOUCH_READ, 0, 4, 2), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 4, 4, 2), RACE_CONFLICT);
    order_sync(order, 0, 0xf);
    EXPECT_INT(one(0, 0, TOUCH_READ, 12, 4, 2), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 16, 4, 2), RACE_CONFLICT);
    const uint32_t same[ORDER_LANES] = {[1] = 2, [2] = 256};
    EXPECT(!race_access(race, 0, 7, same, 4, TOUCH_WRITE, 3, &told));
    EXPECT_INT(told.problem, RACE_CONFLICT);
    EXPECT(told.together);
    EXPECT_INT(told.lane, 1);
    EXPECT_INT(told.offset, 2);
    end();
}

static void tells_bytes_apart(void)
{
    begin(2);
    for (uint32_t i = 0; i < 4; i++) EXPECT_INT(one((int)i & 1, 0, TOUCH_WRITE, i, 1, i), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 0, 1, 9), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 0, 4, 9), RACE_CONFLICT);
    EXPECT_INT(told.offset, 1);
    EXPECT_INT(told.earlier_insn, 1);
    EXPECT_INT(one(0, 0, TOUCH_WRITE, 8, 2, 10), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 8, 4, 11), RACE_UNWRITTEN);
    EXPECT_INT(told.offset, 10);
    end();
}

static void finds_an_elected_lane_that_speaks_for_others(void)
{
    begin(2);
    OrderClock *c = &(OrderClock){0};
    rows(0, TOUCH_WRITE, 0, 4, 1);
    order_release(order, c, 0, 1); /* without bar.warp.sync before */
    order_complete(c);
    order_acquire(order, c, 1, UINT32_MAX);
    EXPECT_INT(one(1, 9, TOUCH_READ, 0, 4, 2), RACE_NONE);
    EXPECT_INT(one(1, 9, TOUCH_READ, 4, 4, 2), RACE_CONFLICT);
    order_clock_reset(c);
    end();
}

static void finds_pending_copies(void)
{
    begin(2);
    OrderClock *c = &(OrderClock){0};
    const int copy = order_fork(order, 0, UINT32_MAX, false, false);
    EXPECT_INT(rows(copy, TOUCH_WRITE, 0, 16, 7), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 0, 4, 8), RACE_CONFLICT);
    EXPECT_INT(told.earlier_unit, copy);
    EXPECT_INT(told.earlier_insn, 7);
    order_join(order, 0, UINT32_MAX, copy);
    EXPECT_INT(one(0, 0, TOUCH_READ, 0, 16, 8), RACE_NONE);
    EXPECT_INT(one(0, 0, TOUCH_READ, 16, 4, 8), RACE_CONFLICT); /* each lane waits for its own */
    barrier(c, 2);
    EXPECT_INT(rows(1, TOUCH_READ, 0, 16, 9), RACE_NONE);
    order_end(order, copy);
    const int next = order_fork(order, 0, UINT32_MAX, false, false);
    EXPECT_INT(next, copy);
    EXPECT_INT(rows(next, TOUCH_WRITE, 0, 16, 10), RACE_CONFLICT); /* while warp 1 reads */
    EXPECT_INT(told.earlier_insn, 9);
    order_clock_reset(c);
    end();
}

static void finds_missing_fences(void)
{
    begin(2);
    OrderClock *c = &(OrderClock){0};
    rows(0, TOUCH_WRITE, 0, 16, 1);
    barrier(c, 2);
    int product = order_fork(order, 1, UINT32_MAX, true, true);
    EXPECT_INT(one(product, 0, TOUCH_READ, 0, 512, 2), RACE_UNFENCED);
    EXPECT_INT(told.earlier_insn, 1);
    order_join(order, 1, UINT32_MAX, product);
    order_end(order, product);
    order_fence(order, 0, UINT32_MAX); /* by the writers, and then again a barrier */
    product = order_fork(order, 1, UINT32_MAX, true, true);
    EXPECT_INT(one(product, 0, TOUCH_READ, 0, 512, 3), RACE_UNFENCED);
    order_join(order, 1, UINT32_MAX, product);
    order_end(order, product);
    barrier(c, 2);
    product = order_fork(order, 1, UINT32_MAX, true, true);
    EXPECT_INT(one(product, 0, TOUCH_READ, 0, 512, 4), RACE_NONE);
    order_fence(order, 0, UINT32_MAX);
    barrier(c, 2);
    EXPECT_INT(rows(0, TOUCH_WRITE, 0, 16, 5), RACE_CONFLICT); /* the product is not waited for */
    EXPECT_INT(told.earlier_insn, 4);
    order_clock_reset(c);
    end();
}

/* What comes after a fork, an arrival or a wait is not covered by it. */
static void tells_after_from_before(void)
{
    begin(2);
    const int copy = order_fork(order, 0, UINT32_MAX, false, false);
    EXPECT_INT(rows(0, TOUCH_WRITE, 0, 4, 1), RACE_NONE);
    EXPECT_INT(rows(copy, TOUCH_READ, 0, 4, 2), RACE_CONFLICT);
    EXPECT_INT(rows(copy, TOUCH_WRITE, 128, 4, 3), RACE_NONE);
    order_join(order, 0, UINT32_MAX, copy);
    EXPECT_INT(rows(copy, TOUCH_WRITE, 256, 4, 4), RACE_NONE);
    EXPECT_INT(rows(0, TOUCH_READ, 128, 4, 5), RACE_NONE);
    EXPECT_INT(rows(0, TOUCH_READ, 256, 4, 6), RACE_CONFLICT);
    end();

    begin(2);
    OrderClock *c = &(OrderClock){0};
    rows(0, TOUCH_WRITE, 0, 4, 1);
    order_release(order, c, 0, UINT32_MAX);
    order_complete(c);
    EXPECT_INT(rows(0, TOUCH_WRITE, 128, 4, 2), RACE_NONE);
    order_release(order, c, 0, UINT32_MAX); /* for the next phase, which does not complete */
    order_acquire(order, c, 1, UINT32_MAX);
    EXPECT_INT(rows(1, TOUCH_READ, 0, 4, 3), RACE_NONE);
    EXPECT_INT(rows(1, TOUCH_READ, 128, 4, 4), RACE_CONFLICT);
    order_clock_reset(c);
    end();
}

/* ---- what is right ---- */

static void allows_double_buffers(void)
{
    begin(4);
    OrderClock *c = &(OrderClock){0};
    for (uint32_t i = 0; i < 200; i++) {
        const uint32_t buffer = i % 2 * 8192;
        for (int w = 0; w < 4; w++)
            EXPECT_INT(rows(w, TOUCH_WRITE, buffer + 512 * (uint32_t)w, 16, 1), RACE_NONE);
        barrier(c, 4);
        for (int w = 0; w < 4; w++) {
            for (uint32_t k = 0; k < 4; k++)
                EXPECT_INT(rows(w, TOUCH_READ, buffer + 512 * k, 16, 2), RACE_NONE);
        }
    }
    for (int w = 0; w < 4; w++) rows(w, TOUCH_WRITE, 512 * (uint32_t)w, 16, 3);
    EXPECT_INT(rows(0, TOUCH_WRITE, 8192, 16, 4), RACE_CONFLICT); /* one buffer more would do */
    EXPECT_INT(told.earlier_insn, 2);
    order_clock_reset(c);
    end();
}

/* Copies by an elected lane, completion and reuse by two clocks a slot. */
static void allows_producers_and_consumers(void)
{
    enum { SLOTS = 3, CONSUMERS = 2 };
    OrderClock full[SLOTS] = {0}, empty[SLOTS] = {0};
    int copies[SLOTS] = {-1, -1, -1};
    begin(1 + CONSUMERS);
    for (uint32_t i = 0; i < 100; i++) {
        const int s = (int)(i % SLOTS);
        const uint32_t at = 2048 * (uint32_t)s;
        order_acquire(order, &empty[s], 0, 1);
        copies[s] = order_fork(order, 0, 1, false, true);
        EXPECT_INT(one(copies[s], 0, TOUCH_WRITE, at, 2048, 1), RACE_NONE);
        order_release(order, &full[s], copies[s], 1);
        order_end(order, copies[s]);
        order_complete(&full[s]);
        for (int w = 1; w <= CONSUMERS; w++) {
            order_acquire(order, &full[s], w, UINT32_MAX);
            const int product = order_fork(order, w, UINT32_MAX, true, true);
            EXPECT_INT(one(product, 0, TOUCH_READ, at, 2048, 2), RACE_NONE);
            order_join(order, w, UINT32_MAX, product);
            order_end(order, product);
            order_release(order, &empty[s], w, 1);
        }
        order_complete(&empty[s]);
    }
    EXPECT_INT(one(0, 0, TOUCH_WRITE, 0, 4, 3),
               RACE_CONFLICT); /* of slot 0, which was not waited for */
    for (int s = 0; s < SLOTS; s++) {
        order_clock_reset(&full[s]);
        order_clock_reset(&empty[s]);
    }
    end();
}

static void allows_exchanges_in_a_warp(void)
{
    begin(2);
    for (uint32_t i = 0; i < 50; i++) {
        for (int w = 0; w < 2; w++) {
            const uint32_t at = 128 * (uint32_t)w;
            EXPECT_INT(rows(w, TOUCH_WRITE, at, 4, 1), RACE_NONE);
            order_sync(order, w, UINT32_MAX);
            for (int l = 0; l < ORDER_LANES; l++)
                EXPECT_INT(one(w, l, TOUCH_READ, at + 4 * (uint32_t)(l ^ 1), 4, 2), RACE_NONE);
            order_sync(order, w, UINT32_MAX);
        }
    }
    end();
}

static void allows_atomics_together(void)
{
    begin(3);
    OrderClock *c = &(OrderClock){0};
    rows(0, TOUCH_WRITE, 0, 4, 1);
    barrier(c, 3);
    for (int w = 0; w < 3; w++) {
        for (int l = 0; l < ORDER_LANES; l++)
            EXPECT_INT(one(w, l, TOUCH_ATOMIC, 0, 4, 2), RACE_NONE);
    }
    EXPECT_INT(one(1, 0, TOUCH_READ, 0, 4, 3), RACE_CONFLICT);
    EXPECT_INT(told.earlier_kind, TOUCH_ATOMIC);
    barrier(c, 3);
    EXPECT_INT(one(1, 0, TOUCH_READ, 0, 4, 4), RACE_NONE);
    order_clock_reset(c);
    end();
}

static void begins_again(void)
{
    begin(2);
    rows(0, TOUCH_WRITE, 0, 2, 1);
    order_reset(order);
    race_reset(race);
    EXPECT_INT(one(1, 0, TOUCH_READ, 0, 4, 2), RACE_UNWRITTEN);
    EXPECT_INT(rows(1, TOUCH_WRITE, 4, 2, 1), RACE_NONE);
    end();
}

/* ---- the oracle ---- */

enum {
    WARPS = 3,
    UNITS = 24,
    LIVE = 5,
    USED = 5,
    CLOCKS = 3,
    MOST = 960,
    WORDS = MOST / 64,
    MEMORY = 12,
    STEPS = 800
};

typedef struct Set {
    uint64_t w[WORDS];
} Set;

typedef struct Event {
    int unit, lane;
    Touch kind;
    uint32_t at, bytes;
    bool async;
} Event;

static struct {
    Event events[MOST];
    int n;
    Set known[UNITS][USED], fenced[UNITS][USED];         /* of a lane, its own accesses included */
    Set clock_known[CLOCKS][2], clock_fenced[CLOCKS][2]; /* what arrived, what was complete */
    bool live[UNITS], joint[UNITS], async[UNITS];
    int issuer[UNITS];
} oracle;

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((state >> 33) % n);
}

static void unite(Set *into, const Set *s)
{
    for (int i = 0; i < WORDS; i++) into->w[i] |= s->w[i];
}

static bool has(const Set *s, int event)
{
    return s->w[event / 64] >> (event % 64) & 1;
}

/* A bit a problem that an access of the lane has now. */
static unsigned problems(int unit, int lane, Touch kind, uint32_t at, uint32_t bytes)
{
    unsigned found = 0;
    for (uint32_t b = at; b < at + bytes; b++) {
        bool written = false;
        for (int i = 0; i < oracle.n; i++) {
            const Event *e = &oracle.events[i];
            if (b < e->at || b >= e->at + e->bytes) continue;
            const bool writes = e->kind != TOUCH_READ,
                       both_atomic = kind == TOUCH_ATOMIC && e->kind == kind;
            written |= writes;
            if ((writes || kind != TOUCH_READ) && !both_atomic && !has(&oracle.known[unit][lane], i))
                found |= 1u << RACE_CONFLICT;
            if (writes && !both_atomic && oracle.async[unit] && !e->async &&
                !has(&oracle.fenced[unit][lane], i))
                found |= 1u << RACE_UNFENCED;
        }
        if (kind != TOUCH_WRITE && !written) found |= 1u << RACE_UNWRITTEN;
    }
    return found;
}

static void add_event(int unit, int lane, Touch kind, uint32_t at, uint32_t bytes)
{
    const int i = oracle.n++;
    oracle.events[i] = (Event){unit, lane, kind, at, bytes, oracle.async[unit]};
    oracle.known[unit][lane].w[i / 64] |= UINT64_C(1) << (i % 64);
}

static void take_back(int n)
{
    while (oracle.n > n) {
        const Event *e = &oracle.events[--oracle.n];
        oracle.known[e->unit][e->lane].w[oracle.n / 64] &= ~(UINT64_C(1) << (oracle.n % 64));
    }
}

static uint32_t some_lanes(int unit)
{
    if (oracle.joint[unit]) return 1;
    return below(3) ? 1 + below((1u << USED) - 1) : (1u << USED) - 1;
}

static void oracle_union(int unit, uint32_t lanes, Set *known, Set *fenced)
{
    for (int l = 0; l < USED; l++) {
        if (!(lanes >> l & 1)) continue;
        unite(known, &oracle.known[unit][l]);
        unite(fenced, &oracle.fenced[unit][l]);
    }
}

static void oracle_learn(int unit, uint32_t lanes, const Set *known, const Set *fenced)
{
    for (int l = 0; l < USED; l++) {
        if (!(lanes >> l & 1)) continue;
        unite(&oracle.known[unit][l], known);
        unite(&oracle.fenced[unit][l], fenced);
    }
}

/* A barrier for all warps and agents. */
static void meet(void)
{
    const uint32_t all = (1u << USED) - 1;
    Set known = {{0}}, fenced = {{0}};
    OrderClock *c = &(OrderClock){0};
    for (int u = 0; u < UNITS; u++) {
        if (!oracle.live[u]) continue;
        oracle_union(u, oracle.joint[u] ? 1 : all, &known, &fenced);
        order_release(order, c, u, oracle.joint[u] ? 1 : all);
    }
    order_complete(c);
    for (int w = 0; w < WARPS; w++) {
        oracle_learn(w, all, &known, &fenced);
        order_acquire(order, c, w, all);
    }
    order_clock_reset(c);
}

/* False: a problem was to be found, the trial is over. Most problems are kept out instead, half of
   them by a barrier for all. */
static bool try_access(void)
{
    const int unit = (int)below(below(2) ? WARPS : UNITS);
    if (!oracle.live[unit]) return true;
    const uint32_t lanes = some_lanes(unit), bytes = 1u << below(3);
    const Touch kind = (Touch)(TOUCH_READ + below(3));
    uint32_t offsets[ORDER_LANES] = {0};
    unsigned found = 0;
    const int before = oracle.n;
    const bool same = below(2), aligned = below(4) > 0;
    for (int l = 0; l < USED; l++) {
        offsets[l] = same && l ? offsets[0] : below(MEMORY - bytes + 1);
        if (aligned) offsets[l] &= ~(bytes - 1);
        if (!(lanes >> l & 1)) continue;
        found |= problems(unit, l, kind, offsets[l], bytes);
        add_event(unit, l, kind, offsets[l], bytes);
    }
    if (found && below(found == 1u << RACE_UNFENCED ? 16 : 200)) {
        take_back(before);
        if (below(4) == 0) meet();
        return true;
    }
    race_access(race, unit, lanes, offsets, bytes, kind, 1, &told);
    EXPECT(found ? found >> told.problem & 1 : told.problem == RACE_NONE);
    return !found;
}

static void try_sync(void)
{
    const int unit = (int)below(WARPS);
    const uint32_t lanes = some_lanes(unit);
    Set known = {{0}}, fenced = {{0}};
    oracle_union(unit, lanes, &known, &fenced);
    oracle_learn(unit, lanes, &known, &fenced);
    order_sync(order, unit, lanes);
}

static void try_fence(void)
{
    const int unit = (int)below(WARPS);
    const uint32_t lanes = some_lanes(unit);
    for (int l = 0; l < USED; l++) {
        if (lanes >> l & 1) unite(&oracle.fenced[unit][l], &oracle.known[unit][l]);
    }
    order_fence(order, unit, lanes);
}

static void inherit(int agent, int unit, uint32_t lanes)
{
    if (oracle.joint[agent])
        oracle_union(unit, lanes, &oracle.known[agent][0], &oracle.fenced[agent][0]);
    for (int l = 0; l < USED && !oracle.joint[agent]; l++) {
        if (!(lanes >> l & 1)) continue;
        unite(&oracle.known[agent][l], &oracle.known[unit][l]);
        unite(&oracle.fenced[agent][l], &oracle.fenced[unit][l]);
    }
}

static void try_fork(void)
{
    const int unit = (int)below(WARPS);
    const uint32_t lanes = some_lanes(unit);
    const bool joint = below(2), async = below(2);
    int free = 0;
    for (int i = WARPS; i < UNITS; i++) free += !oracle.live[i];
    if (free < UNITS - WARPS - LIVE) return;
    const int agent = order_fork(order, unit, lanes, joint, async);
    EXPECT(agent >= WARPS && agent < UNITS && !oracle.live[agent]);
    memset(oracle.known[agent], 0, sizeof oracle.known[agent]);
    memset(oracle.fenced[agent], 0, sizeof oracle.fenced[agent]);
    oracle.live[agent] = true;
    oracle.joint[agent] = joint;
    oracle.async[agent] = async;
    oracle.issuer[agent] = joint ? -1 : unit;
    inherit(agent, unit, lanes);
}

static void try_agent(void)
{
    const int agent = WARPS + (int)below(UNITS - WARPS), unit = (int)below(WARPS);
    const uint32_t lanes = some_lanes(unit);
    const bool own = oracle.issuer[agent] == unit, joint = oracle.joint[agent];
    if (!oracle.live[agent]) return;
    switch (below(4)) {
    case 0:
        if (!own && !joint) break;
        inherit(agent, unit, lanes);
        order_fork_into(order, agent, unit, lanes);
        break;
    case 1:
        oracle.live[agent] = false;
        order_end(order, agent);
        break;
    default: {
        Set known = {{0}}, fenced = {{0}};
        oracle_union(agent, joint ? 1 : lanes, &known, &fenced);
        for (int l = 0; l < USED && own; l++) {
            if (lanes >> l & 1)
                oracle_learn(unit, 1u << l, &oracle.known[agent][l], &oracle.fenced[agent][l]);
        }
        if (!own) oracle_learn(unit, lanes, &known, &fenced);
        order_join(order, unit, lanes, agent);
    }
    }
}

static void try_clock(OrderClock *clocks)
{
    const int i = (int)below(CLOCKS), unit = (int)below(UNITS);
    const uint32_t lanes = some_lanes(unit);
    if (!oracle.live[unit]) return;
    switch (below(3)) {
    case 0:
        oracle_union(unit, lanes, &oracle.clock_known[i][0], &oracle.clock_fenced[i][0]);
        order_release(order, &clocks[i], unit, lanes);
        break;
    case 1:
        unite(&oracle.clock_known[i][1], &oracle.clock_known[i][0]);
        unite(&oracle.clock_fenced[i][1], &oracle.clock_fenced[i][0]);
        order_complete(&clocks[i]);
        break;
    case 2:
        if (unit >= WARPS) break;
        oracle_learn(unit, lanes, &oracle.clock_known[i][1], &oracle.clock_fenced[i][1]);
        order_acquire(order, &clocks[i], unit, lanes);
        break;
    }
}

static bool trial(void)
{
    OrderClock clocks[CLOCKS] = {0};
    bool silent = true;
    begin(WARPS);
    memset(&oracle, 0, sizeof oracle);
    for (int w = 0; w < WARPS; w++) oracle.live[w] = true;
    add_event(0, 0, TOUCH_WRITE, 0, MEMORY - 1); /* the last byte is not written */
    EXPECT_INT(one(0, 0, TOUCH_WRITE, 0, MEMORY - 1, 1), RACE_NONE);
    meet();
    for (int step = 0; step < STEPS && silent && oracle.n < MOST - USED; step++) {
        switch (below(16)) {
        case 0: try_sync(); break;
        case 1: try_fence(); break;
        case 2: try_fork(); break;
        case 3:
        case 4: try_agent(); break;
        case 5:
        case 6:
        case 7:
        case 8: try_clock(clocks); break;
        default: silent = try_access();
        }
    }
    for (int i = 0; i < CLOCKS; i++) order_clock_reset(&clocks[i]);
    end();
    return silent;
}

static void agrees_with_the_oracle(void)
{
    int silent = 0, found[4] = {0};
    for (uint64_t seed = 1; seed <= 2000 && !expect_failures; seed++) {
        state = seed * UINT64_C(0x9e3779b97f4a7c15);
        if (trial()) silent++;
        else found[told.problem]++;
        if (expect_failures) printf("seed %llu\n", (unsigned long long)seed);
    }
    printf("%d silent, %d conflicts, %d unfenced, %d unwritten\n", silent, found[RACE_CONFLICT],
           found[RACE_UNFENCED], found[RACE_UNWRITTEN]);
    EXPECT(silent > 100 && found[RACE_CONFLICT] > 100 && found[RACE_UNFENCED] > 10);
}

int main(void)
{
    RUN(finds_each_kind);
    RUN(finds_lanes_of_a_warp);
    RUN(tells_bytes_apart);
    RUN(finds_an_elected_lane_that_speaks_for_others);
    RUN(finds_pending_copies);
    RUN(finds_missing_fences);
    RUN(tells_after_from_before);
    RUN(allows_double_buffers);
    RUN(allows_producers_and_consumers);
    RUN(allows_exchanges_in_a_warp);
    RUN(allows_atomics_together);
    RUN(begins_again);
    RUN(agrees_with_the_oracle);
    return expect_done();
}
