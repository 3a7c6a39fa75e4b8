/* A region allocator: everything a compilation builds lives in one and is freed whole. */
#pragma once

#include <stdarg.h>
#include <stddef.h>

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena Arena;
struct Arena {
    ArenaChunk *chunk; /* newest first */
    char *cur, *end;   /* free bytes of the newest chunk */
    size_t used;       /* bytes handed out, for budgets and reports */
};

void arena_init(Arena *a);
/* For what will be small: chunks begin with a few KB. Raises. */
void arena_init_small(Arena *a);
void arena_fini(Arena *a);
/* Zeroed memory, aligned to 16. Raises (unwind.h) when the system has none; never NULL. */
void *arena_alloc(Arena *a, size_t size);
/* count * size with the product checked. */
void *arena_alloc_array(Arena *a, size_t count, size_t size);
void *arena_copy(Arena *a, const void *from, size_t size);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

/* Scratch use: everything allocated after the mark is freed by the reset. */
typedef struct ArenaMark { ArenaChunk *chunk; char *cur; size_t used; } ArenaMark;
static inline ArenaMark arena_mark(Arena *a) { return (ArenaMark){a->chunk, a->cur, a->used}; }
void arena_reset(Arena *a, ArenaMark mark);

#define arena_new(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc_array((a), (size_t)(n), sizeof(T)))
