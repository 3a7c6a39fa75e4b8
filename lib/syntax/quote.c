/* Printing of source text and string values on one line. */
#include "syntax/quote.h"

static void put(Buf *out, unsigned char c, char quote)
{
    if (c == '\n') buf_puts(out, "\\n");
    else if (c == '\t') buf_puts(out, "\\t");
    else if (c == '\r') buf_puts(out, "\\r");
    else if (c == '\\' && quote) buf_puts(out, "\\\\");
    else if (c == (unsigned char)quote && quote) buf_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7F) buf_printf(out, "\\x%02x", c);
    else buf_putc(out, (char)c);
}

void quote_plain(Buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) put(out, (unsigned char)s[i], 0);
}

void quote_string(Buf *out, const char *s, size_t n)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) put(out, (unsigned char)s[i], '"');
    buf_putc(out, '"');
}

void quote_bytes(Buf *out, const char *s, size_t n)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] < 0x80) put(out, (unsigned char)s[i], '"');
        else buf_printf(out, "\\x%02x", (unsigned char)s[i]);
    }
    buf_putc(out, '"');
}
