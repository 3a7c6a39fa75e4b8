/* Unique strings, found by their hash. Each string is preceded in memory by its length, so a Str is a plain pointer
   that C code can print. */
#include "base/intern.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "base/unwind.h"

typedef struct Entry Entry;
struct Entry {
    Entry *next; /* same hash */
    size_t len;
    char text[];
};

struct Interner {
    Arena *arena;
    Map by_hash;
};

Interner *intern_new(Arena *a)
{
    Interner *t = arena_new(a, Interner);
    t->arena = a;
    map_init(&t->by_hash, a);
    return t;
}

Str intern(Interner *t, const char *s, size_t n)
{
    if (!n) s = "";
    const uint64_t hash = hash_bytes(s, n, 0);
    Entry *first = map_get(&t->by_hash, hash);
    for (Entry *e = first; e; e = e->next)
        if (e->len == n && memcmp(e->text, s, n) == 0) return e->text;
    check(n < SIZE_MAX / 8, "a string of %zu bytes", n);
    Entry *e = arena_alloc(t->arena, sizeof *e + n + 1);
    e->next = first;
    e->len = n;
    memcpy(e->text, s, n);
    map_set(&t->by_hash, hash, e);
    return e->text;
}

Str intern_cstr(Interner *t, const char *s)
{
    return intern(t, s, strlen(s));
}

Str intern_printf(Interner *t, const char *fmt, ...)
{
    ArenaMark mark = arena_mark(t->arena);
    va_list ap;
    va_start(ap, fmt);
    const char *s = arena_vprintf(t->arena, fmt, ap);
    va_end(ap);
    size_t n = strlen(s);
    char small[256];
    if (n >= sizeof small) return intern(t, s, n);
    memcpy(small, s, n);
    arena_reset(t->arena, mark);
    return intern(t, small, n);
}

size_t str_len(Str s)
{
    return ((const Entry *)(const void *)(s - offsetof(Entry, text)))->len;
}

bool str_among(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word) != 0) words++;
    return *words != NULL;
}
