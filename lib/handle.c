/* Handles. They lie in cells, which are made in blocks, are never given back, and of which the ones
   freed longest ago are used again first. So any pointer can be looked up by comparing it with the
   blocks' bounds, and a cell that it names can be read, whatever has become of it; no lock is taken.

   A cell's state is one number, what kind of handle is alive in it and how many keep it, so that
   asking for both and keeping it is one step. A handle that was closed is recognized until its cell
   is used again, which takes SPARE others that are freed meanwhile; from then on it is a handle that
   lives, or one of another kind.

   This table is the process's: a freed handle leads to no context that could be asked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tkc/edge.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { FIRST_BLOCK = 64, MOST_BLOCKS = 24, SPARE = 256, KIND_SHIFT = 32 };

typedef struct Cell Cell;
struct Cell {
    _Atomic uint64_t state; /* kind << KIND_SHIFT | keepers */
    Cell *after;            /* freed next */
    _Alignas(16) char bytes[TKC_HANDLE_BYTES];
};

/* Block i has FIRST_BLOCK << i cells. Everything but `blocks` is under the mutex. */
static struct {
    pthread_mutex_t mutex;
    _Atomic(Cell *) blocks[MOST_BLOCKS];
    int nblocks;
    int used; /* cells of the newest block that were ever given out */
    Cell *oldest, *newest; /* freed */
    int nfreed;
} handles = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- looking up ---- */

static size_t block_bytes(int i)
{
    return sizeof(Cell) * ((size_t)FIRST_BLOCK << i);
}

/* NULL: the address is not that of a handle, alive or not. */
static Cell *cell_of(const void *handle)
{
    const uintptr_t at = (uintptr_t)handle - offsetof(Cell, bytes);
    for (int i = 0; i < MOST_BLOCKS; i++) {
        Cell *block = atomic_load_explicit(&handles.blocks[i], memory_order_acquire);
        if (!block) return NULL;
        const uintptr_t offset = at - (uintptr_t)block;
        if (offset < block_bytes(i))
            return offset % sizeof(Cell) ? NULL : block + offset / sizeof(Cell);
    }
    return NULL;
}

static bool is_alive(uint64_t state, TkcHandleKind kind)
{
    return state >> KIND_SHIFT == kind;
}

bool tkc_handle_is(const void *handle, TkcHandleKind kind)
{
    Cell *cell = cell_of(handle);
    return cell && is_alive(atomic_load(&cell->state), kind);
}

/* ---- keeping ---- */

/* Changes the state if such a handle is alive. */
static bool change(const void *handle, TkcHandleKind kind, uint64_t by)
{
    Cell *cell = cell_of(handle);
    if (!cell) return false;
    uint64_t state = atomic_load(&cell->state);
    while (is_alive(state, kind))
        if (atomic_compare_exchange_weak(&cell->state, &state, state + by)) return true;
    return false;
}

bool tkc_handle_keep(const void *handle, TkcHandleKind kind)
{
    return change(handle, kind, 1);
}

bool tkc_handle_close(const void *handle, TkcHandleKind kind)
{
    return change(handle, kind, -((uint64_t)kind << KIND_SHIFT));
}

/* Of a handle that is kept, and so is one. */
static Cell *kept_cell(const void *handle)
{
    return (Cell *)((uintptr_t)handle - offsetof(Cell, bytes));
}

bool tkc_handle_is_open(const void *handle, TkcHandleKind kind)
{
    return is_alive(atomic_load(&kept_cell(handle)->state), kind);
}

bool tkc_handle_drop(const void *handle)
{
    const uint64_t keepers = ((uint64_t)1 << KIND_SHIFT) - 1;
    return ((atomic_fetch_sub(&kept_cell(handle)->state, 1) - 1) & keepers) == 0;
}

/* ---- cells ---- */

/* Under AddressSanitizer from the system, so that a leak behind a handle is one: what the heap leads
   to is taken for used. */
static Cell *make_block(int i)
{
#if defined(__SANITIZE_ADDRESS__)
    Cell *block = mmap(NULL, block_bytes(i), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    return block == MAP_FAILED ? NULL : block;
#else
    return calloc(1, block_bytes(i));
#endif
}

static Cell *take_freed(void)
{
    Cell *cell = handles.oldest;
    handles.oldest = cell->after;
    handles.nfreed--;
    return cell;
}

static Cell *take_new(void)
{
    int last = handles.nblocks - 1;
    if (last < 0 || handles.used == FIRST_BLOCK << last) {
        Cell *block = last + 1 < MOST_BLOCKS ? make_block(last + 1) : NULL;
        if (!block) return NULL;
        atomic_store_explicit(&handles.blocks[++last], block, memory_order_release);
        handles.nblocks = last + 1;
        handles.used = 0;
    }
    return atomic_load(&handles.blocks[last]) + handles.used++;
}

void *tkc_handle_new(TkcHandleKind kind)
{
    pthread_mutex_lock(&handles.mutex);
    Cell *cell = handles.nfreed > SPARE ? take_freed() : take_new();
    pthread_mutex_unlock(&handles.mutex);
    if (!cell) return NULL;
    UNPOISON(cell->bytes, sizeof cell->bytes);
    memset(cell->bytes, 0, sizeof cell->bytes);
    atomic_store(&cell->state, (uint64_t)kind << KIND_SHIFT | 1);
    return cell->bytes;
}

void tkc_handle_free(void *handle)
{
    Cell *cell = kept_cell(handle);
    POISON(cell->bytes, sizeof cell->bytes);
    cell->after = NULL;
    pthread_mutex_lock(&handles.mutex);
    if (handles.nfreed++) handles.newest->after = cell;
    else handles.oldest = cell;
    handles.newest = cell;
    pthread_mutex_unlock(&handles.mutex);
}
