/* Words in a text, and text put piece by piece into memory of a given size: what has no room is cut off. */
#ifndef TKC_TEXT_H
#define TKC_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Part of a name. */
static inline bool char_is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
/* The word stands in the text, and no part of a name is beside it. */
static inline bool text_has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = text; n && (at = strstr(at, word)); at += n)
        if ((at == text || !char_is_word(at[-1])) && !char_is_word(at[n])) return true;
    return false;
}

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
