#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for so many more and a NUL; NULL: there is none. */
static char *reserve(Bytes *b, size_t more)
{
    if (b->cap - b->len <= more) {
        const size_t cap = (b->len + more + 1) * 2;
        char *data = realloc(b->data, cap);
        b->no_memory |= !data;
        if (!data) return NULL;
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

void bytes_add(Bytes *b, const void *data, size_t len)
{
    char *at = reserve(b, len);
    if (!at) return;
    if (len) memcpy(at, data, len);
    at[len] = 0;
    b->len += len;
}

void bytes_put(Bytes *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, again);
    char *at = n < 0 ? NULL : reserve(b, (size_t)n);
    if (at) {
        vsnprintf(at, (size_t)n + 1, fmt, ap);
        b->len += (size_t)n;
    }
    b->no_memory |= n < 0;
    va_end(again);
    va_end(ap);
}
