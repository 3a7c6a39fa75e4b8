/* Allocations in the order of their addresses; found by halving. Freed ones are remembered for a
   while, so that a message can say that an address is of memory that is no more. */
#include "memory.h"

#include <pthread.h>

#include "grow.h"

typedef struct Range {
    uint64_t begin, end;
} Range;

enum { GRAVES = 64, ALIGN = 256 };

struct SimtMemory {
    pthread_rwlock_t lock;
    Range *ranges;
    size_t n;
    uint32_t cap;
    Range graves[GRAVES];
    size_t ngraves;
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
    for (size_t i = 0; i < m->n; i++) free((void *)(uintptr_t)m->ranges[i].begin);
    free(m->ranges);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

/* How many ranges begin at or below the address. */
static size_t count_below(const SimtMemory *m, uint64_t address)
{
    size_t low = 0, high = m->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->ranges[middle].begin <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool insert(SimtMemory *m, Range r)
{
    if (!simt_grow(&m->ranges, m->n, &m->cap, sizeof r)) return false;
    size_t at = count_below(m, r.begin);
    memmove(m->ranges + at + 1, m->ranges + at, (m->n - at) * sizeof *m->ranges);
    m->ranges[at] = r;
    m->n++;
    return true;
}

uint64_t simt_memory_alloc(SimtMemory *m, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return 0;
    void *p = aligned_alloc(ALIGN, bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN);
    if (!p) return 0;
    pthread_rwlock_wrlock(&m->lock);
    uint64_t begin = (uintptr_t)p;
    bool done = insert(m, (Range){begin, begin + bytes});
    pthread_rwlock_unlock(&m->lock);
    if (!done) free(p);
    return done ? begin : 0;
}

bool simt_memory_release(SimtMemory *m, uint64_t begin, size_t *bytes)
{
    pthread_rwlock_wrlock(&m->lock);
    size_t at = count_below(m, begin);
    bool found = at && m->ranges[at - 1].begin == begin;
    if (found) {
        Range r = m->ranges[at - 1];
        *bytes = (size_t)(r.end - r.begin);
        m->graves[m->ngraves++ % GRAVES] = r;
        memmove(m->ranges + at - 1, m->ranges + at, (m->n - at) * sizeof *m->ranges);
        m->n--;
    }
    pthread_rwlock_unlock(&m->lock);
    if (found) free((void *)(uintptr_t)begin);
    return found;
}

bool simt_memory_find(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end)
{
    pthread_rwlock_rdlock(&m->lock);
    size_t at = count_below(m, address);
    bool found = at && address < m->ranges[at - 1].end;
    if (found) {
        *begin = m->ranges[at - 1].begin;
        *end = m->ranges[at - 1].end;
    }
    pthread_rwlock_unlock(&m->lock);
    return found;
}

bool simt_memory_near(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end, bool *freed)
{
    pthread_rwlock_rdlock(&m->lock);
    size_t at = count_below(m, address);
    Range best = at ? m->ranges[at - 1] : (Range){0, 0};
    *freed = false;
    for (size_t i = 0; i < m->ngraves && i < GRAVES; i++) {
        const Range r = m->graves[i];
        if (address < r.begin || address >= r.end) continue;
        best = r;
        *freed = true;
    }
    pthread_rwlock_unlock(&m->lock);
    *begin = best.begin;
    *end = best.end;
    return best.end != 0;
}

size_t simt_memory_count(const SimtMemory *m)
{
    return m->n;
}
