/* mbarrier: a counter of arrivals and of bytes in shared memory. A phase is over when neither are
   pending; then the next begins. How a chip lays out the 64 bits is its own affair; here: the phase,
   the arrivals expected and pending of 20 bits each, the bytes pending of 21, signed. */
#include <string.h>

#include "async.h"
#include "decode.h"
#include "shared.h"
#include "warp.h"

typedef struct Mbarrier {
    uint32_t phase, expected, pending;
    int64_t bytes;
} Mbarrier;

enum { COUNT_BITS = 20, BYTES_BITS = 21, MOST_COUNT = (1 << COUNT_BITS) - 1,
       MOST_BYTES = (1 << (BYTES_BITS - 1)) - 1 };

static Mbarrier unpack(uint64_t x)
{
    return (Mbarrier){.phase = x & 1,
                      .expected = (uint32_t)(x >> 1) & MOST_COUNT,
                      .pending = (uint32_t)(x >> (1 + COUNT_BITS)) & MOST_COUNT,
                      .bytes = ptx_signed(x >> (1 + 2 * COUNT_BITS), BYTES_BITS)};
}

static uint64_t pack(const Mbarrier *b)
{
    return b->phase | (uint64_t)b->expected << 1 | (uint64_t)b->pending << (1 + COUNT_BITS) |
           ptx_low((uint64_t)b->bytes, BYTES_BITS) << (1 + 2 * COUNT_BITS);
}

/* ---- one barrier ---- */

typedef struct Place {
    uint8_t *host;
    uint32_t address; /* shared */
    OrderClock *clock;
} Place;

static Mbarrier read_at(const Place *p)
{
    uint64_t x;
    memcpy(&x, p->host, sizeof x);
    return unpack(x);
}

/* A phase that is over lets those who wait for it know all that its arrivals knew. */
static void write_at(Block *b, const Place *p, Mbarrier m)
{
    if (!m.pending && !m.bytes) {
        m.phase ^= 1;
        m.pending = m.expected;
        order_complete(p->clock);
    }
    const uint64_t x = pack(&m);
    memcpy(p->host, &x, sizeof x);
    b->progress = true;
    b->changes++;
}

static bool find_place(Warp *w, const SimtInsn *in, int lane, uint32_t address, Place *p)
{
    const Block *b = w->block;
    const uint32_t at = address - SIMT_SHARED_BASE;
    if (address & 7 || at > b->shared_bytes || b->shared_bytes - at < 8)
        return simt_refuse(w, in, lane, address & 7 ? SIMT_MISALIGNED : SIMT_ILLEGAL_ADDRESS,
                           "an mbarrier at the shared address 0x%x, which is %s", address,
                           address & 7 ? "no multiple of 8" : "outside of shared memory");
    *p = (Place){b->shared + at, address, shared_clock(w->block, at)};
    if (!p->clock) simt_fault(w, in, lane, SIMT_OUT_OF_MEMORY, "no memory for an mbarrier");
    return p->clock != NULL;
}

/* `m` without arrivals that the phase does not expect, and no more bytes than it counts. */
static bool check_counts(Warp *w, const SimtInsn *in, int lane, const Mbarrier *m, uint32_t arrivals)
{
    if (!m->expected)
        return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED, "an mbarrier that is not initialized");
    if (arrivals > m->pending)
        return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED,
                           "%u arrivals at an mbarrier whose phase expects %u more", arrivals,
                           m->pending);
    return (m->bytes <= MOST_BYTES && m->bytes >= -MOST_BYTES) ||
           simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED,
                       "an mbarrier that %lld bytes are pending at; at most %d",
                       (long long)m->bytes, MOST_BYTES);
}

bool mbarrier_arrive(Warp *w, const SimtInsn *in, int lane, uint32_t address, uint32_t bytes,
                     uint32_t arrivals, int unit, LaneMask knowing)
{
    Place p;
    if (!find_place(w, in, lane, address, &p)) return false;
    Mbarrier m = read_at(&p);
    m.bytes -= bytes;
    if (!check_counts(w, in, lane, &m, arrivals)) return false;
    order_release(shared_order(w), p.clock, unit, knowing);
    m.pending -= arrivals;
    write_at(w->block, &p, m);
    return true;
}

/* ---- instructions ---- */

enum { MB_INIT, MB_INVAL, MB_ARRIVE, MB_ARRIVE_DROP, MB_EXPECT_TX, MB_COMPLETE_TX, MB_TEST_WAIT,
       MB_TRY_WAIT };

bool mbarrier_addresses(Warp *w, const SimtInsn *in, LaneMask m, uint64_t *address)
{
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address)) return false;
    SIMT_EACH_LANE(lane, m) {
        if (address[lane] >> 56 == SPACE_SHARED) address[lane] = ptx_low(address[lane], 56);
        if (address[lane] <= UINT32_MAX) continue;
        return simt_refuse(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                           "0x%llx is no address of shared memory",
                           (unsigned long long)address[lane]);
    }
    return true;
}

/* Everything but init is an atomic access of the barrier's bytes. */
static bool touch_barrier(Warp *w, const SimtInsn *in, int lane, const Place *p)
{
    uint32_t offset[SIMT_LANES] = {0};
    offset[lane] = p->address - SIMT_SHARED_BASE;
    return shared_touch(w, in, w->index, 1u << lane, offset, 8,
                        in->a <= MB_INVAL ? TOUCH_WRITE : TOUCH_ATOMIC);
}

static bool init(Warp *w, const SimtInsn *in, int lane, const Place *p)
{
    const uint32_t count = in->a == MB_INIT ? (uint32_t)simt_read(w, in->s[1], lane) : 0;
    if (in->a == MB_INIT && (!count || count > MOST_COUNT))
        return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED, "an mbarrier for %u arrivals; 1 to %d",
                           count, MOST_COUNT);
    const Mbarrier b = {.expected = count, .pending = count};
    const uint64_t x = in->a == MB_INIT ? pack(&b) : 0;
    memcpy(p->host, &x, sizeof x);
    return true;
}

/* arrive, arrive_drop, expect_tx, complete_tx. */
static bool arrive(Warp *w, const SimtInsn *in, int lane, const Place *p)
{
    const bool arrives = in->a == MB_ARRIVE || in->a == MB_ARRIVE_DROP, has = in->s[1].bits != 0;
    const uint32_t number = has ? (uint32_t)simt_read(w, in->s[1], lane) : 1;
    const uint32_t count = !arrives ? 0 : in->b ? 1 : number;
    Mbarrier b = read_at(p);
    const Mbarrier before = b;
    if (in->b || in->a == MB_EXPECT_TX) b.bytes += number;
    if (in->a == MB_COMPLETE_TX) b.bytes -= number;
    if (!check_counts(w, in, lane, &b, count)) return false;
    b.pending -= count;
    if (in->a == MB_ARRIVE_DROP) b.expected -= count;
    if (arrives) order_release(shared_order(w), p->clock, w->index, 1u << lane);
    write_at(w->block, p, b);
    if (in->nd) simt_write(w, in->d[0], lane, pack(&before));
    return true;
}

/* A token is the barrier as it was: its phase is over when that of now is another. */
static bool is_over(const Warp *w, const SimtInsn *in, int lane, const Mbarrier *b)
{
    const uint64_t x = simt_read(w, in->s[1], lane);
    return in->c ? (x & 1) != b->phase : unpack(x).phase != b->phase;
}

static SimtStep exec_mbarrier(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    if (!mbarrier_addresses(w, in, m, address)) return STEP_FAULT;
    SIMT_EACH_LANE(lane, m) {
        Place p;
        if (!find_place(w, in, lane, (uint32_t)address[lane], &p) ||
            !touch_barrier(w, in, lane, &p) ||
            !(in->a <= MB_INVAL ? init(w, in, lane, &p) : arrive(w, in, lane, &p)))
            return STEP_FAULT;
    }
    return STEP_NEXT;
}

/* A wait that has to be tried again lets the others go on first. */
static SimtStep exec_wait(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    LaneMask over = 0;
    if (!mbarrier_addresses(w, in, m, address)) return STEP_FAULT;
    SIMT_EACH_LANE(lane, m) {
        Place p;
        if (!find_place(w, in, lane, (uint32_t)address[lane], &p) || !touch_barrier(w, in, lane, &p))
            return STEP_FAULT;
        const Mbarrier b = read_at(&p);
        if (!check_counts(w, in, lane, &b, 0)) return STEP_FAULT;
        if (!is_over(w, in, lane, &b)) continue;
        over |= 1u << lane;
        order_acquire(shared_order(w), p.clock, w->index, 1u << lane);
    }
    simt_write_lanes(w, in->d[0], &over, m);
    if (over == m) return STEP_NEXT;
    w->block->waits++;
    return STEP_YIELD;
}

/* mbarrier.pending_count: how many arrivals the token's phase still expects. */
SimtStep exec_pending_count(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m)
        simt_write(w, in->d[0], lane, unpack(simt_read(w, in->s[0], lane)).pending);
    return STEP_NEXT;
}

/* Behind what is waited for may stand how long. */
void decode_mbarrier(Decoder *dc, SimtInsn *in)
{
    const int what =
        op_choose(dc, "init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait");
    const bool waits = what >= MB_TEST_WAIT, arrives = what == MB_ARRIVE || what == MB_ARRIVE_DROP;
    in->b = op_take(dc, "expect_tx");
    in->c = waits && op_take(dc, "parity");
    op_take(dc, "noComplete");
    dc_memory_order(dc);
    dc_space(dc);
    if (what < 0 || op_type(dc) != ptx_type("b64") || dc->chip < 80) op_refuse(dc);
    in->a = (uint8_t)what;
    in->space = SPACE_SHARED;
    if (waits) dc_form(dc, in, exec_wait, in->c ? ">pred [ <b32 :b32" : ">pred [ <b64 :b32", NULL);
    else if (arrives && !ptx_at_mark(&dc->ps, '[')) dc_form(dc, in, exec_mbarrier, ">b64 [ :b32", NULL);
    else dc_form(dc, in, exec_mbarrier, "[ :b32", NULL);
}
