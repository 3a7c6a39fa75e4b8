/* Programs over all cores: a core takes the next program of the grid when it has none. One that
   takes long shares its core with some that come after it, as on a chip, so that programs may wait
   for each other. */
#include "launch.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "warp.h"

enum { RESIDENT = 8 };
static const uint64_t SLICE = 1 << 20; /* instructions */

uint64_t simt_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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
    block_begin(core->blocks[at], id, core->launch->seed);
    core->busy[at] = true;
    return true;
}

static void check_time(const Core *core, Block *b)
{
    const SimtLaunch *l = core->launch;
    if (!l->deadline_ns || simt_now_ns() < l->deadline_ns) return;
    for (int i = 0; i < b->nwarps; i++) {
        Warp *w = &b->warps[i];
        if (!w->live) continue;
        const int lane = simt_first(w->active ? w->active : w->live);
        simt_fault(w, &w->func->insns[w->active ? w->at : w->pc[lane]], lane, SIMT_LAUNCH_TIMEOUT,
                   "the launch takes longer than %g seconds", l->timeout);
        return;
    }
}

/* One slice of each program that is here; false: none is. */
static bool run_slices(Core *core)
{
    bool any = false;
    for (int i = 0; i < core->nblocks; i++) {
        if (!core->busy[i]) continue;
        BlockState state = block_run(core->blocks[i], SLICE);
        if (state == BLOCK_FAULT) return false;
        core->busy[i] = state == BLOCK_BUSY;
        any |= core->busy[i];
        if (core->busy[i]) check_time(core, core->blocks[i]);
    }
    return any;
}

static void *run_core(void *arg)
{
    Core core = {.launch = arg};
    while (!atomic_load(&core.launch->stop)) {
        const bool began = begin_program(&core), runs = run_slices(&core);
        if (!began && !runs) break;
    }
    for (int i = 0; i < core.nblocks; i++) block_free(core.blocks[i]);
    return NULL;
}

static int count_cores(const SimtLaunch *l)
{
    enum { MOST = 64 };
    const uint64_t programs = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    long n = l->threads ? l->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1) n = 1;
    if (n > MOST) n = MOST;
    return (uint64_t)n > programs ? (int)programs : (int)n;
}

int simt_launch_run(SimtLaunch *l)
{
    const int n = count_cores(l);
    pthread_t threads[64];
    int started = 0;
    atomic_init(&l->stop, 0);
    atomic_init(&l->next_block, 0);
    l->deadline_ns = l->timeout > 0 ? simt_now_ns() + (uint64_t)(l->timeout * 1e9) : 0;
    while (started < n - 1 && pthread_create(&threads[started], NULL, run_core, l) == 0) started++;
    run_core(l);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    return atomic_load(&l->stop);
}
