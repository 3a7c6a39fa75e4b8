/* A program (CTA): its warps run in turns, in an order and for times that the seed chooses. When
   none can go on and not all have ended, that is a deadlock, told with what each waits for. */
#include <stdlib.h>
#include <string.h>

#include "async.h"
#include "shared.h"
#include "warp.h"

/* splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators). */
uint64_t simt_random(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* ---- memory ---- */

enum { ALIGN = 256, LOCAL_MARGIN = 16 };

static size_t padded(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint32_t count_threads(const SimtLaunch *l)
{
    return l->block[0] * l->block[1] * l->block[2];
}

/* Dynamic shared memory begins aligned as tensor maps and swizzles want it. */
static uint32_t dynamic_offset(const SimtLaunch *l)
{
    return (l->func->shared_bytes + 1023) / 1024 * 1024;
}

Block *block_new(SimtLaunch *l)
{
    const SimtFunc *f = l->func;
    const int nwarps = (int)((count_threads(l) + SIMT_LANES - 1) / SIMT_LANES);
    const uint32_t shared = l->shared_bytes ? dynamic_offset(l) + l->shared_bytes : f->shared_bytes;
    const size_t regs = padded(f->reg_bytes), written = padded(f->nregs * sizeof(LaneMask)),
                 local = padded((size_t)f->local_bytes * SIMT_LANES + LOCAL_MARGIN),
                 each = regs + written + local;
    Block *b = calloc(1, sizeof *b + (size_t)nwarps * sizeof *b->warps);
    if (!b) return NULL;
    b->launch = l;
    b->func = f;
    b->nwarps = nwarps;
    b->shared_bytes = shared;
    b->dynamic_base = SIMT_SHARED_BASE + dynamic_offset(l);
    b->memory = aligned_alloc(1024, (padded(shared) + each * (size_t)nwarps + 1023) / 1024 * 1024);
    b->shared_state = shared_new(shared, nwarps);
    b->spin = spin_new(nwarps);
    if (!b->memory || !b->shared_state || !b->spin) {
        block_free(b);
        return NULL;
    }
    b->shared = b->memory;
    for (int i = 0; i < nwarps; i++) {
        uint8_t *at = (uint8_t *)b->memory + padded(shared) + each * (size_t)i;
        b->warps[i] = (Warp){.block = b, .func = f, .index = i, .regs = at,
                             .written = (LaneMask *)(at + regs), .local = at + regs + written};
    }
    return b;
}

void block_free(Block *b)
{
    if (!b) return;
    shared_free(b->shared_state);
    free(b->spin);
    for (int i = 0; i < b->nwarps; i++) {
        warp_group_free(&b->warps[i]);
        copies_free(&b->warps[i]);
    }
    free(b->bulk);
    free(b->memory);
    free(b);
}

/* ---- beginning ---- */

static void set_specials(Warp *w)
{
    const Block *b = w->block;
    const SimtLaunch *l = b->launch;
    const uint32_t n[] = {l->block[0], l->block[1], l->block[2]};
    const uint32_t first = (uint32_t)w->index * SIMT_LANES;
    uint8_t *const regs = w->regs;
#define SPECIAL(id, name, bits, dim, value)                                                        \
    {                                                                                              \
        enum { i = dim };                                                                          \
        const uint##bits##_t x = value;                                                            \
        uint##bits##_t *to = (uint##bits##_t *)(regs + 256 * SIMT_##id);                        \
        for (int lane = 0; lane < SIMT_LANES; lane++) to[lane] = x;                                \
    }
#define LANE_SPECIAL(id, name, bits, dim, value)
#include "specials.def"
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        const uint32_t t = first + (uint32_t)lane;
#define SPECIAL(id, name, bits, dim, value)
#define LANE_SPECIAL(id, name, bits, dim, value)                                                   \
    ((uint##bits##_t *)(regs + 256 * SIMT_##id))[lane] = value;
#include "specials.def"
    }
}

/* Registers hold what the seed says until they are written: code that counts on anything there
   goes wrong under some seed. */
static void begin_warp(Warp *w)
{
    const Block *b = w->block;
    const uint32_t first = (uint32_t)w->index * SIMT_LANES, threads = b->threads - first;
    const LaneMask live = threads >= SIMT_LANES ? SIMT_ALL_LANES : (1u << threads) - 1;
    uint64_t garbage = b->random ^ (uint64_t)w->index;
    memset(w->regs, (int)(simt_random(&garbage) & 0xff), w->func->reg_bytes);
    memset(w->written, 0, w->func->nregs * sizeof *w->written);
    memset(w->written, 0xff, SIMT_SPECIALS * sizeof *w->written);
    warp_group_reset(w);
    copies_free(w);
    *w = (Warp){.block = w->block, .func = w->func, .index = w->index, .regs = w->regs,
                .written = w->written, .local = w->local, .group = w->group, .live = live,
                .began = live};
    set_specials(w);
}

void block_begin(Block *b, const uint32_t id[3], uint64_t seed)
{
    memcpy(b->id, id, sizeof b->id);
    b->random = seed ^ ((uint64_t)id[2] << 42 ^ (uint64_t)id[1] << 21 ^ id[0]);
    simt_random(&b->random);
    b->threads = b->live = count_threads(b->launch);
    b->waits = b->idle_rounds = 0;
    b->quiet = b->goes_round = false;
    spin_forget(b->spin);
    b->nbulk = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    memset(b->shared, (int)(b->random & 0xff), b->shared_bytes);
    shared_reset(b->shared_state);
    for (int i = 0; i < b->nwarps; i++) begin_warp(&b->warps[i]);
}

/* ---- barriers ---- */

/* What barrier.red gives goes into the destination of each lane's instruction. */
static void give_reduction(Warp *w, const SimtBarrier *bar, int lane)
{
    const SimtInsn *in = &w->func->insns[w->pc[lane]];
    const uint32_t results[] = {bar->count, bar->and_bits, bar->or_bits};
    if (in->nd) simt_write(w, in->d[0], lane, results[in->b]);
}

static void release(Block *b, int id)
{
    SimtBarrier *bar = &b->barriers[id];
    order_complete(&b->shared_state->barriers[id]);
    for (int i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        LaneMask here = 0;
        SIMT_EACH_LANE(lane, w->barred) if (w->barrier[lane] == id) here |= 1u << lane;
        SIMT_EACH_LANE(lane, here) give_reduction(w, bar, lane);
        if (!here) continue;
        warp_unbar(w, here);
        order_acquire(shared_order(w), &b->shared_state->barriers[id], i, here);
    }
    *bar = (SimtBarrier){0};
    b->progress = true;
}

static uint32_t live_warps(const Block *b)
{
    uint32_t n = 0;
    for (int i = 0; i < b->nwarps; i++) n += b->warps[i].live != 0;
    return n;
}

void block_check_barriers(Block *b)
{
    for (int i = 0; i <= SIMT_BARRIERS; i++) {
        const SimtBarrier *bar = &b->barriers[i];
        if (!bar->arrived) continue;
        const uint32_t expected = bar->expected ? bar->expected : live_warps(b) * SIMT_LANES;
        if (bar->arrived >= expected) release(b, i);
    }
}

/* ---- running ---- */

static SimtStep tell_missing_lanes(Warp *w)
{
    const int lane = simt_first(w->gathered);
    const SimtInsn *in = &w->func->insns[w->pc[lane]];
    LaneMask here = 0;
    SIMT_EACH_LANE(other, w->gathered) if (w->pc[other] == w->pc[lane]) here |= 1u << other;
    return simt_fault(w, in, lane, SIMT_LAUNCH_FAILED,
                      "lanes that the instruction names do not come to it: only 0x%08x wait here of "
                      "0x%08x that run", here, w->live);
}

static SimtStep tell_deadlock(Block *b)
{
    Warp *at_barrier = NULL;
    int waiting = 0;
    for (int i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        if (w->gathered) return tell_missing_lanes(w);
        if (!w->barred) continue;
        waiting++;
        if (!at_barrier) at_barrier = w;
    }
    if (!at_barrier) return STEP_FAULT;
    const int lane = simt_first(at_barrier->barred), id = at_barrier->barrier[lane];
    return simt_fault(at_barrier, &b->func->insns[at_barrier->pc[lane]], lane, SIMT_LAUNCH_FAILED,
                      "deadlock: %d of %d warps wait at barriers, %u threads have come to barrier "
                      "%d, and nothing else runs", waiting, b->nwarps, b->barriers[id].arrived, id);
}

static SimtStep tell_endless_wait(Block *b)
{
    for (int i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        if (!w->live || !w->active) continue;
        return simt_fault(w, &b->func->insns[w->at], simt_first(w->active), SIMT_LAUNCH_FAILED,
                          "deadlock: all warps that can run wait at mbarriers, and nothing is under "
                          "way that could complete one");
    }
    return tell_deadlock(b);
}

/* Each warp that can run has its turn; gives the instructions done, UINT64_MAX on a fault. */
static uint64_t run_round(Block *b, uint64_t budget)
{
    uint64_t done = 0, ran = 0;
    const uint64_t r = simt_random(&b->random), waits = b->waits;
    const int first = (int)(r % (uint64_t)b->nwarps);
    const uint64_t turn = (r >> 32) % 4 ? 16 + (r >> 40) % 1024 : 1 + (r >> 40) % 16;
    b->progress = false;
    for (int k = 0; k < b->nwarps && done < budget; k++) {
        Warp *w = &b->warps[(first + k) % b->nwarps];
        if (!w->live) continue;
        uint64_t n = warp_run(w, turn);
        if (n == UINT64_MAX) return n;
        done += n;
        ran += n != 0;
    }
    const bool idle = ran && b->waits - waits >= ran && !b->progress;
    b->idle_rounds = idle ? b->idle_rounds + 1 : 0;
    return done;
}

/* False: it cannot go on; told. */
static bool make_progress(Block *b, uint64_t done)
{
    enum { PATIENCE = 64 };
    const bool stuck = !done || b->idle_rounds > 0;
    const bool any = async_progress(b, stuck);
    if (any || atomic_load_explicit(&b->launch->stop, memory_order_relaxed)) return any;
    if (!done) tell_deadlock(b);
    else if (b->idle_rounds > PATIENCE) tell_endless_wait(b);
    else return true;
    return false;
}

static BlockState run_rounds(Block *b, uint64_t budget)
{
    for (uint64_t done = 0; b->live && done < budget;) {
        if (atomic_load_explicit(&b->launch->stop, memory_order_relaxed)) return BLOCK_FAULT;
        uint64_t n = run_round(b, budget);
        if (n == UINT64_MAX || (b->live && !make_progress(b, n))) return BLOCK_FAULT;
        done += n;
        if (b->quiet) spin_look(b);
    }
    if (b->live) return BLOCK_BUSY;
    async_progress(b, true); /* what nobody has waited for takes place all the same */
    return atomic_load_explicit(&b->launch->stop, memory_order_relaxed) ? BLOCK_FAULT : BLOCK_DONE;
}

/* What was seen of its warps holds as long as nobody changes anything. */
static void note_changes(Block *b, uint64_t version)
{
    b->quiet = b->version == version;
    b->version = version;
    b->goes_round &= b->quiet;
    if (!b->quiet) spin_forget(b->spin);
}

BlockState block_run(Block *b, uint64_t budget)
{
    SimtLaunch *l = b->launch;
    const uint64_t before = b->changes;
    note_changes(b, atomic_load(&l->changes));
    const BlockState state = run_rounds(b, budget);
    if (b->changes != before) atomic_fetch_add(&l->changes, 1);
    return state;
}
