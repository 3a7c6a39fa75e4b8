/* Text being built. */
#pragma once

#include <stddef.h>
#include "base/arena.h"

typedef struct Buf Buf;
struct Buf {
    Arena *arena;
    char *data; /* always NUL-terminated once something was put; NULL before */
    size_t len, cap;
};

static inline Buf buf_make(Arena *a) { return (Buf){.arena = a}; }
void buf_putc(Buf *b, char c);
void buf_put(Buf *b, const char *s, size_t n);
void buf_puts(Buf *b, const char *s);
void buf_printf(Buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text so far, "" when empty; lives as long as the arena. */
static inline const char *buf_text(const Buf *b) { return b->data ? b->data : ""; }
