#include "memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tkc/grow.h"

/* ---- ranges: few, looked up by halving ---- */

/* The number of ranges that begin at or before `at`. */
static int ranges_before(const MemMap *m, uint64_t at)
{
    int lo = 0, hi = m->n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (m->ranges[mid].begin <= at) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The last range that begins at or before an address, or NULL. */
static const MemRange *range_before(const MemMap *m, uint64_t at)
{
    int i = ranges_before(m, at) - 1;
    return i >= 0 ? &m->ranges[i] : NULL;
}

const MemRange *mem_find(const MemMap *m, uint64_t begin, uint64_t end)
{
    const MemRange *r = range_before(m, begin);
    return r && end <= r->end && begin < r->end ? r : NULL;
}

bool mem_add(MemMap *m, uint64_t begin, uint64_t end)
{
    if (!grow_array(&m->ranges, m->n)) return false;
    int i = ranges_before(m, begin);
    memmove(&m->ranges[i + 1], &m->ranges[i], (size_t)(m->n - i) * sizeof *m->ranges);
    m->ranges[i] = (MemRange){begin, end, NULL};
    m->n++;
    return true;
}

void mem_watch(MemMap *m, uint64_t begin, Shadow *shadow)
{
    m->ranges[ranges_before(m, begin) - 1].shadow = shadow;
}

bool mem_remove(MemMap *m, uint64_t begin)
{
    int i = ranges_before(m, begin) - 1;
    if (i < 0 || m->ranges[i].begin != begin) return false;
    memmove(&m->ranges[i], &m->ranges[i + 1], (size_t)(m->n - i - 1) * sizeof *m->ranges);
    m->n--;
    return true;
}

void mem_fini(MemMap *m)
{
    free(m->ranges);
    *m = (MemMap){0};
}

/* ---- what is freed: a ring of the newest blocks. Their whole pages go back to the system at once: what stays
   taken is addresses, and less than two pages a block ---- */

/* Of addresses: enough to notice, little against what a process may have. */
#define MOST_BYTES ((size_t)1 << 28)
enum { MOST_BLOCKS = 256 };

typedef struct FreedBlock { uint64_t begin; size_t bytes; } FreedBlock;
typedef struct Freed {
    FreedBlock blocks[MOST_BLOCKS];
    int oldest, n;
    size_t bytes; /* of all */
} Freed; /* all zero is empty */

static void release_oldest(Freed *f)
{
    const FreedBlock *b = &f->blocks[f->oldest];
    free((void *)(uintptr_t)b->begin);
    f->bytes -= b->bytes;
    f->oldest = (f->oldest + 1) % MOST_BLOCKS;
    f->n--;
}

static void release_pages(uint64_t begin, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = (begin + page - 1) / page * page,
                   end = (begin + bytes) / page * page;
    if (first < end) madvise((void *)(uintptr_t)first, (size_t)(end - first), MADV_DONTNEED);
}

static void freed_add(Freed *f, uint64_t begin, size_t bytes)
{
    while (f->n && (f->n == MOST_BLOCKS || bytes > MOST_BYTES - f->bytes)) release_oldest(f);
    if (bytes > MOST_BYTES) {
        free((void *)(uintptr_t)begin);
        return;
    }
    release_pages(begin, bytes);
    f->blocks[(f->oldest + f->n++) % MOST_BLOCKS] = (FreedBlock){begin, bytes};
    f->bytes += bytes;
}

static const FreedBlock *freed_find(const Freed *f, uint64_t address)
{
    for (int i = 0; i < f->n; i++) {
        const FreedBlock *b = &f->blocks[(f->oldest + i) % MOST_BLOCKS];
        if (address - b->begin < b->bytes || address == b->begin) return b;
    }
    return NULL;
}

/* False: there was none. */
static bool freed_release(Freed *f)
{
    const bool any = f->n > 0;
    while (f->n) release_oldest(f);
    return any;
}

/* ---- memory under a lock: many look it up, few change it ---- */

struct Memory {
    MemMap map;
    Freed freed;
    pthread_rwlock_t lock;
};

Memory *memory_new(void)
{
    Memory *m = calloc(1, sizeof *m);
    if (m && pthread_rwlock_init(&m->lock, NULL) != 0) {
        free(m);
        return NULL;
    }
    return m;
}

void memory_free(Memory *m)
{
    if (!m) return;
    for (int i = 0; i < m->map.n; i++) free((void *)(uintptr_t)m->map.ranges[i].begin);
    mem_fini(&m->map);
    freed_release(&m->freed);
    pthread_rwlock_destroy(&m->lock);
    free(m);
}

static uint64_t take(size_t bytes)
{
    enum { ALIGN = 256 };
    if (bytes > SIZE_MAX / 2) return 0;
    return (uintptr_t)aligned_alloc(ALIGN, bytes ? (bytes + ALIGN - 1) / ALIGN * ALIGN : ALIGN);
}

/* If need be in place of what is freed. */
uint64_t memory_alloc(Memory *m, size_t bytes)
{
    pthread_rwlock_wrlock(&m->lock);
    uint64_t begin = take(bytes);
    if (!begin && freed_release(&m->freed)) begin = take(bytes);
    const bool done = begin && mem_add(&m->map, begin, begin + bytes);
    pthread_rwlock_unlock(&m->lock);
    if (!done) free((void *)(uintptr_t)begin);
    return done ? begin : 0;
}

bool memory_release(Memory *m, uint64_t begin, size_t *bytes)
{
    pthread_rwlock_wrlock(&m->lock);
    const MemRange *r = range_before(&m->map, begin);
    *bytes = r ? (size_t)(r->end - r->begin) : 0;
    const bool found = mem_remove(&m->map, begin);
    if (found) freed_add(&m->freed, begin, *bytes);
    pthread_rwlock_unlock(&m->lock);
    return found;
}

bool memory_find(Memory *m, uint64_t address, uint64_t *begin, uint64_t *end)
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

bool memory_near(Memory *m, uint64_t address, uint64_t *begin, uint64_t *end, bool *freed)
{
    pthread_rwlock_rdlock(&m->lock);
    const MemRange *r = range_before(&m->map, address);
    const FreedBlock *f = freed_find(&m->freed, address);
    *freed = f != NULL;
    *begin = f ? f->begin : r ? r->begin : 0;
    *end = f ? f->begin + f->bytes : r ? r->end : 0;
    pthread_rwlock_unlock(&m->lock);
    return *end != 0;
}

const char *memory_fault(Memory *m, uint64_t address, size_t bytes, bool *held)
{
    uint64_t begin, end;
    bool freed;
    *held = memory_find(m, address, &begin, &end);
    if (*held)
        return bytes > end - address ? "it is told to have more bytes than its memory has from there on" : NULL;
    return memory_near(m, address, &begin, &end, &freed) && freed ? "tkc_free has freed the memory it points to" : NULL;
}

size_t memory_count(const Memory *m)
{
    return (size_t)m->map.n;
}
