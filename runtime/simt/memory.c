/* The device's memory under a lock: many look it up, few change it. */
#include "memory.h"

#include <pthread.h>
#include <stdlib.h>

#include "device/memory.h"

struct SimtMemory {
    pthread_rwlock_t lock;
    MemMap map;
    Freed freed;
};

SimtMemory *simt_memory_new(void)
{
    SimtMemory *m = calloc(1, sizeof *m);
    if (m && pthread_rwlock_init(&m->lock, NULL) != 0) {
        free(m);
        return NULL;
    }
    return m;
}

void simt_memory_free(SimtMemory *m)
{
    if (!m) return;
    for (int i = 0; i < m->map.n; i++) free((void *)(uintptr_t)m->map.ranges[i].begin);
    mem_fini(&m->map);
    freed_release(&m->freed);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

uint64_t simt_memory_alloc(SimtMemory *m, size_t bytes)
{
    pthread_rwlock_wrlock(&m->lock);
    const uint64_t begin = memory_take(&m->freed, bytes);
    const bool done = begin && mem_add(&m->map, begin, begin + bytes);
    pthread_rwlock_unlock(&m->lock);
    if (!done) free((void *)(uintptr_t)begin);
    return done ? begin : 0;
}

bool simt_memory_release(SimtMemory *m, uint64_t begin, size_t *bytes)
{
    pthread_rwlock_wrlock(&m->lock);
    const MemRange *r = mem_before(&m->map, begin);
    *bytes = r ? (size_t)(r->end - r->begin) : 0;
    const bool found = mem_remove(&m->map, begin);
    if (found) freed_add(&m->freed, begin, *bytes);
    pthread_rwlock_unlock(&m->lock);
    return found;
}

bool simt_memory_find(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end)
{
    pthread_rwlock_rdlock(&m->lock);
    const MemRange *r = mem_find(&m->map, address, address + 1);
    if (r) {
        *begin = r->begin;
        *end = r->end;
    }
    pthread_rwlock_unlock(&m->lock);
    return r != NULL;
}

bool simt_memory_near(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end, bool *freed)
{
    pthread_rwlock_rdlock(&m->lock);
    const MemRange *r = mem_before(&m->map, address);
    const FreedBlock *f = freed_find(&m->freed, address);
    *freed = f != NULL;
    *begin = f ? f->begin : r ? r->begin : 0;
    *end = f ? f->begin + f->bytes : r ? r->end : 0;
    pthread_rwlock_unlock(&m->lock);
    return *end != 0;
}

size_t simt_memory_count(const SimtMemory *m)
{
    return (size_t)m->map.n;
}
