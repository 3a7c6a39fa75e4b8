/* A region allocator over a list of chunks that grow geometrically.
   All free bytes of a chunk are zero: chunks come from calloc and a reset clears what it takes
   back, so an allocation only moves a pointer. Under AddressSanitizer the free bytes are poisoned
   and every allocation is followed by a poisoned gap, so that running past an object of the arena
   is caught as with malloc. */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limit.h"
#include "base/unwind.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n) __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
enum { GAP = 16 };
#else
#define POISON(p, n) ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { GAP = 0 };
#endif

enum { ALIGN = 16, FIRST_CHUNK = 64 << 10, SMALL_CHUNK = 4000, LARGEST_STEP = 4 << 20 };

struct ArenaChunk {
    ArenaChunk *older;
    size_t size; /* bytes after this header */
    _Alignas(ALIGN) char bytes[];
};

void arena_init(Arena *a)
{
    *a = (Arena){0};
}

_Noreturn static void no_memory(size_t need)
{
    unwind_raise_as(UNWIND_NO_MEMORY, "out of memory: %zu bytes asked for", need);
}

static void free_newest(Arena *a)
{
    ArenaChunk *c = a->chunk;
    limit_give_back(sizeof *c + c->size);
    a->chunk = c->older;
    UNPOISON(c->bytes, c->size);
    free(c);
}

void arena_fini(Arena *a)
{
    while (a->chunk) free_newest(a);
    *a = (Arena){0};
}

static void add_chunk_of(Arena *a, size_t size, size_t need)
{
    limit_take(sizeof(ArenaChunk) + size);
    ArenaChunk *c = calloc(1, sizeof *c + size);
    if (!c) {
        limit_give_back(sizeof *c + size);
        no_memory(need);
    }
    c->older = a->chunk;
    c->size = size;
    POISON(c->bytes, size);
    a->chunk = c;
    a->cur = c->bytes;
    a->end = c->bytes + size;
}

static void add_chunk(Arena *a, size_t need)
{
    size_t size = a->chunk ? 2 * a->chunk->size : FIRST_CHUNK;
    if (size > LARGEST_STEP) size = LARGEST_STEP;
    add_chunk_of(a, size < need ? need : size, need);
}

void arena_init_small(Arena *a)
{
    arena_init(a);
    add_chunk_of(a, SMALL_CHUNK, SMALL_CHUNK);
}

void *arena_alloc(Arena *a, size_t size)
{
    if (size > SIZE_MAX / 4) no_memory(size);
    size_t step = ((size ? size : 1) + ALIGN - 1) / ALIGN * ALIGN + GAP;
    if (step > (size_t)(a->end - a->cur)) add_chunk(a, step);
    char *p = a->cur;
    a->cur += step;
    a->used += step;
    UNPOISON(p, size);
    return p;
}

void *arena_alloc_array(Arena *a, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        unwind_raise_as(UNWIND_NO_MEMORY, "out of memory: %zu elements of %zu bytes", count, size);
    return arena_alloc(a, total);
}

void *arena_copy(Arena *a, const void *from, size_t size)
{
    void *p = arena_alloc(a, size);
    if (size) memcpy(p, from, size);
    return p;
}

char *arena_strndup(Arena *a, const char *s, size_t n)
{
    char *p = arena_alloc(a, n + 1);
    if (n) memcpy(p, s, n);
    return p;
}

char *arena_vprintf(Arena *a, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    check(n >= 0, "cannot format '%s'", fmt);
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}

void arena_reset(Arena *a, ArenaMark mark)
{
    char *dirty_end = a->cur;
    while (a->chunk != mark.chunk) {
        free_newest(a);
        dirty_end = NULL;
    }
    if (!a->chunk) {
        *a = (Arena){0};
        return;
    }
    a->end = a->chunk->bytes + a->chunk->size;
    if (!dirty_end) dirty_end = a->end;
    size_t n = (size_t)(dirty_end - mark.cur);
    UNPOISON(mark.cur, n);
    memset(mark.cur, 0, n);
    POISON(mark.cur, n);
    a->cur = mark.cur;
    a->used = mark.used;
}
