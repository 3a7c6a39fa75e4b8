/* What a kernel prints is its author's; on a terminal it must not move the cursor, change the
   title or the clipboard. Control characters are those below 32, 127, and U+0080 to U+009F. */
#include "report.h"

size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    size_t len = s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    unsigned least = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
    unsigned most = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < len; i++) {
        if (s[i] < least || s[i] > most) return 0;
        least = 0x80, most = 0xBF;
    }
    return len;
}

static bool is_control(const unsigned char *p, size_t n)
{
    return n == 1 ? (*p < 32 && *p != '\t') || *p == 127 : n == 2 && *p == 0xC2 && p[1] < 0xA0;
}

void terminal_put_line(FILE *out, bool is_terminal, const char *line)
{
    const unsigned char *p = (const unsigned char *)line;
    while (*p) {
        size_t n = is_terminal ? utf8_length(p) : 1;
        bool shows = n && !(is_terminal && is_control(p, n));
        if (shows) fwrite(p, 1, n, out);
        for (size_t i = 0; !shows && i < (n ? n : 1); i++) fprintf(out, "\\x%02x", p[i]);
        p += n ? n : 1;
    }
    fputc('\n', out);
}
