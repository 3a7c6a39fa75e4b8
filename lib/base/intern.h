/* Unique strings: equal text, equal pointer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "tkc/text.h"

/* A NUL-terminated interned string (its bytes may also hold NUL: ask str_len). Compare by
   pointer. */
typedef const char *Str;

typedef struct Interner Interner;
Interner *intern_new(Arena *a); /* lives as long as the arena */
Str intern(Interner *t, const char *s, size_t n);
Str intern_cstr(Interner *t, const char *s);
Str intern_printf(Interner *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t str_len(Str s);
/* The word is one of a list that ends in NULL. */
bool str_among(const char *word, const char *const *words);
