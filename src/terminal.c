/* What a kernel prints is its author's; on a terminal it must not move the cursor, change the
   title or the clipboard. Control characters are those below 32, 127, and U+0080 to U+009F. */
#include "terminal.h"

#include <stddef.h>

/* The bytes of the character at p, by its first; 0: it is none of UTF-8. */
static size_t length_of(const unsigned char *p)
{
    size_t n = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : *p < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return n;
}

static bool is_control(const unsigned char *p, size_t n)
{
    return n == 1 ? (*p < 32 && *p != '\t') || *p == 127 : n == 2 && *p == 0xC2 && p[1] < 0xA0;
}

void terminal_put_line(FILE *out, bool is_terminal, const char *line)
{
    const unsigned char *p = (const unsigned char *)line;
    while (*p) {
        size_t n = is_terminal ? length_of(p) : 1;
        bool shows = n && !(is_terminal && is_control(p, n));
        if (shows)
            fwrite(p, 1, n, out);
        for (size_t i = 0; !shows && i < (n ? n : 1); i++)
            fprintf(out, "\\x%02x", p[i]);
        p += n ? n : 1;
    }
    fputc('\n', out);
}
