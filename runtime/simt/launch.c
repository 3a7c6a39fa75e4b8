/* Programs over all cores: a core takes the next program of the grid when it has none. One that
   takes long shares its core with some that come after it, as on a chip, so that programs may wait
   for each other. */
#include <pthread.h>
#include <unistd.h>

#include "tkc/clock.h"
#include "warp.h"

enum { RESIDENT = 8 };
/* Instructions; of a launch that may take so long only, the clock is looked at in between. */
static const uint64_t SLICE = 1 << 20, TIMED_SLICE = 1 << 16;

/* False: there is none left. */
static bool next_program(SimtLaunch *l, uint32_t id[3])
{
    const uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    const uint64_t i = atomic_fetch_add(&l->next_block, 1);
    if (i >= all) return false;
    id[0] = (uint32_t)(i % l->grid[0]);
    id[1] = (uint32_t)(i / l->grid[0] % l->grid[1]);
    id[2] = (uint32_t)(i / l->grid[0] / l->grid[1]);
    return true;
}

typedef struct Core {
    SimtLaunch *launch;
    int index;
    Block *blocks[RESIDENT];
    bool busy[RESIDENT];
    int nblocks;
} Core;

/* A program begins in a free place. False: there is none to begin. */
static bool begin_program(Core *core)
{
    uint32_t id[3];
    int at = 0;
    while (at < core->nblocks && core->busy[at]) at++;
    if (at == RESIDENT || !next_program(core->launch, id)) return false;
    if (at == core->nblocks) {
        core->blocks[at] = block_new(core->launch);
        if (!core->blocks[at]) {
            int none = 0;
            atomic_compare_exchange_strong(&core->launch->stop, &none, SIMT_OUT_OF_MEMORY);
            return false;
        }
        core->nblocks++;
    }
    block_begin(core->blocks[at], id, core->launch->run.seed);
    atomic_fetch_add(&core->launch->changes, 1);
    core->busy[at] = true;
    return true;
}

static void check_time(const Core *core, Block *b)
{
    const SimtLaunch *l = core->launch;
    if (l->deadline <= 0 || clock_seconds() < l->deadline) return;
    for (int i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        if (!w->live) continue;
        const int lane = simt_first(w->active ? w->active : w->live);
        simt_fault(w, &w->func->insns[w->active ? w->at : w->pc[lane]], lane, SIMT_LAUNCH_TIMEOUT,
                   "the launch takes longer than %g seconds", l->run.timeout);
        return;
    }
}

/* One slice of each program that is here; false: none is. */
static bool run_slices(Core *core)
{
    bool any = false;
    for (int i = 0; i < core->nblocks; i++) {
        if (!core->busy[i]) continue;
        BlockState state =
            block_run(core->blocks[i], core->launch->deadline > 0 ? TIMED_SLICE : SLICE);
        if (state == BLOCK_FAULT) return false;
        core->busy[i] = state == BLOCK_BUSY;
        any |= core->busy[i];
        if (core->busy[i]) check_time(core, core->blocks[i]);
    }
    return any;
}

/* ---- programs that all wait ---- */

#define CORE_ENDED UINT64_MAX

/* All its programs go round, and nothing has changed since `version`. */
static bool goes_round(const Core *core, uint64_t version)
{
    for (int i = 0; i < core->nblocks; i++) {
        const Block *b = core->blocks[i];
        if (core->busy[i] && (b->version != version || !b->goes_round)) return false;
    }
    return true;
}

static bool more_to_begin(const SimtLaunch *l)
{
    return atomic_load(&l->next_block) < (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

/* Of a core that has begun no program in this round. Each core says for which version of memory its
   programs go round: when that is the same for all, nobody will change it. */
static void check_deadlock(Core *core)
{
    SimtLaunch *l = core->launch;
    const uint64_t version = atomic_load(&l->changes);
    if (!goes_round(core, version)) return;
    atomic_store(&l->idle_at[core->index], version + 1);
    for (int i = 0; i < l->cores; i++) {
        const uint64_t at = atomic_load(&l->idle_at[i]);
        if (at != version + 1 && at != CORE_ENDED) return;
    }
    for (int i = 0; i < core->nblocks; i++)
        if (core->busy[i] && atomic_load(&l->changes) == version)
            spin_tell(core->blocks[i], more_to_begin(l));
}

static void *run_core(void *arg)
{
    Core *core = arg;
    SimtLaunch *l = core->launch;
    while (!atomic_load(&l->stop)) {
        const bool began = begin_program(core), runs = run_slices(core);
        if (!began && !runs) break;
        if (!began && runs) check_deadlock(core);
    }
    atomic_store(&l->idle_at[core->index], CORE_ENDED);
    for (int i = 0; i < core->nblocks; i++) block_free(core->blocks[i]);
    return NULL;
}

enum { MOST_CORES = 64 };

static int count_cores(const SimtLaunch *l)
{
    const uint64_t programs = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    long n = l->run.threads ? l->run.threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) n = 1;
    if (n > MOST_CORES) n = MOST_CORES;
    return (uint64_t)n > programs ? (int)programs : (int)n;
}

int simt_launch_run(SimtLaunch *l)
{
    pthread_t threads[MOST_CORES];
    Core cores[MOST_CORES];
    atomic_ullong idle_at[MOST_CORES];
    int started = 0;
    atomic_init(&l->stop, 0);
    atomic_init(&l->next_block, 0);
    atomic_init(&l->changes, 0);
    l->cores = count_cores(l);
    l->idle_at = idle_at;
    for (int i = 0; i < l->cores; i++) {
        cores[i] = (Core){.launch = l, .index = i};
        atomic_init(&idle_at[i], 0);
    }
    l->deadline = l->run.timeout > 0 ? clock_seconds() + l->run.timeout : 0;
    while (started < l->cores - 1 &&
           pthread_create(&threads[started], NULL, run_core, &cores[started]) == 0)
        started++;
    for (int i = started; i < l->cores - 1; i++) atomic_store(&idle_at[i], CORE_ENDED);
    run_core(&cores[l->cores - 1]);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return atomic_load(&l->stop);
}
