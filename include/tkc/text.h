/* Text put piece by piece into memory of a given size: what has no room is cut off. */
#ifndef TKC_TEXT_H
#define TKC_TEXT_H

#include <stdarg.h>
#include <stdio.h>

typedef struct Text {
    char *data;
    size_t size, len; /* of the memory; of the text in it, without its end */
} Text;

__attribute__((format(printf, 2, 3))) static inline void text_put(Text *t, const char *fmt, ...)
{
    const size_t room = t->size - t->len;
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(t->data + t->len, room, fmt, ap);
    va_end(ap);
    if (n > 0 && room) t->len += (size_t)n < room ? (size_t)n : room - 1;
}

#endif
