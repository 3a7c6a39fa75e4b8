/* Unique strings in an open-addressed table. Each string is preceded in memory by its length and
   hash, so a Str is a plain pointer that C code can print, and growing the table does not hash
   again. */
#include "base/intern.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/map.h"
#include "base/unwind.h"

typedef struct Entry {
    uint64_t hash;
    size_t len;
    char text[];
} Entry;

struct Interner {
    Arena *arena;
    Entry **slots;
    uint32_t cap, len; /* cap is a power of two */
};

enum { FIRST_SLOTS = 256 };

Interner *intern_new(Arena *a)
{
    Interner *t = arena_new(a, Interner);
    *t = (Interner){.arena = a, .cap = FIRST_SLOTS, .slots = arena_array(a, Entry *, FIRST_SLOTS)};
    return t;
}

static bool is_entry(const Entry *e, uint64_t hash, const char *s, size_t n)
{
    return e->hash == hash && e->len == n && memcmp(e->text, s, n) == 0;
}

static void grow(Interner *t)
{
    check(t->cap <= UINT32_MAX / 4, "a table of %u strings cannot grow", t->len);
    uint32_t cap = 2 * t->cap;
    Entry **slots = arena_array(t->arena, Entry *, cap);
    for (uint32_t i = 0; i < t->cap; i++) {
        if (!t->slots[i]) continue;
        uint32_t at = (uint32_t)t->slots[i]->hash & (cap - 1);
        while (slots[at]) at = (at + 1) & (cap - 1);
        slots[at] = t->slots[i];
    }
    t->slots = slots;
    t->cap = cap;
}

Str intern(Interner *t, const char *s, size_t n)
{
    if (!n) s = "";
    uint64_t hash = hash_bytes(s, n, 0);
    uint32_t at = (uint32_t)hash & (t->cap - 1);
    for (; t->slots[at]; at = (at + 1) & (t->cap - 1))
        if (is_entry(t->slots[at], hash, s, n)) return t->slots[at]->text;
    check(n < SIZE_MAX / 8, "a string of %zu bytes", n);
    Entry *e = arena_alloc(t->arena, sizeof *e + n + 1);
    e->hash = hash;
    e->len = n;
    memcpy(e->text, s, n);
    t->slots[at] = e;
    if (++t->len > t->cap / 2) grow(t);
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
