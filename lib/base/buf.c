/* Text being built in an arena: doubled when full, NUL-terminated after every call. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/unwind.h"

/* Makes room for n more bytes and the NUL. */
static void reserve(Buf *b, size_t n)
{
    check(n < SIZE_MAX / 8 - b->len, "a text of %zu bytes cannot grow by %zu", b->len, n);
    size_t need = b->len + n + 1;
    if (need <= b->cap) return;
    size_t cap = b->cap ? 2 * b->cap : 64;
    if (cap < need) cap = need;
    char *data = arena_alloc(b->arena, cap);
    if (b->len) memcpy(data, b->data, b->len);
    b->data = data;
    b->cap = cap;
}

void buf_put(Buf *b, const char *s, size_t n)
{
    reserve(b, n);
    if (n) memmove(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void buf_putc(Buf *b, char c)
{
    buf_put(b, &c, 1);
}

void buf_puts(Buf *b, const char *s)
{
    buf_put(b, s, strlen(s));
}

void buf_printf(Buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    check(n >= 0, "cannot format '%s'", fmt);
    reserve(b, (size_t)n);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    b->len += (size_t)n;
    va_end(ap);
}
