/* A ring of the newest blocks. Their whole pages go back to the system at once: what stays taken is
   addresses, and less than two pages a block. */
#include "freed.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of addresses: enough to notice, little against what a process may have. */
#define MOST_BYTES ((size_t)1 << 28)

static void release_oldest(Freed *f)
{
    const FreedBlock *b = &f->blocks[f->oldest];
    free((void *)(uintptr_t)b->begin);
    f->bytes -= b->bytes;
    f->oldest = (f->oldest + 1) % FREED_MOST;
    f->n--;
}

static void release_pages(uint64_t begin, size_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = (begin + page - 1) / page * page,
                   end = (begin + bytes) / page * page;
    if (first < end) madvise((void *)(uintptr_t)first, (size_t)(end - first), MADV_DONTNEED);
}

void freed_add(Freed *f, uint64_t begin, size_t bytes)
{
    while (f->n && (f->n == FREED_MOST || bytes > MOST_BYTES - f->bytes)) release_oldest(f);
    if (bytes > MOST_BYTES) {
        free((void *)(uintptr_t)begin);
        return;
    }
    release_pages(begin, bytes);
    f->blocks[(f->oldest + f->n++) % FREED_MOST] = (FreedBlock){begin, bytes};
    f->bytes += bytes;
}

bool freed_has(const Freed *f, uint64_t address)
{
    for (int i = 0; i < f->n; i++) {
        const FreedBlock *b = &f->blocks[(f->oldest + i) % FREED_MOST];
        if (address - b->begin < b->bytes || address == b->begin) return true;
    }
    return false;
}

bool freed_release(Freed *f)
{
    const bool any = f->n > 0;
    while (f->n) release_oldest(f);
    return any;
}
