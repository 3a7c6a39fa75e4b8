/* Literals: the scanner has found their text, here they get their value. The text of a wrong
   literal, already reported, gives some value; nothing is read past its end. */
#include "syntax/literal.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

static int radix_of(const char *s, size_t n)
{
    const char letter = n > 2 && s[0] == '0' ? (char)(s[1] | 0x20) : 0;
    return letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
}

static Number integer_number(const char *s, size_t n)
{
    Number v = {.kind = NUMBER_INT};
    int radix = radix_of(s, n);
    for (size_t i = radix == 10 ? 0 : 2; i < n; i++) {
        int digit = digit_value(s[i]);
        if (digit >= radix) continue; /* `_` */
        v.too_large |= __builtin_mul_overflow(v.integer, (uint64_t)radix, &v.integer);
        v.too_large |= __builtin_add_overflow(v.integer, (uint64_t)digit, &v.integer);
    }
    if (v.too_large) v.integer = 0;
    return v;
}

/* strtod, but always with a point. */
static double to_double(const char *s)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = c ? strtod_l(s, NULL, c) : strtod(s, NULL);
    if (c) freelocale(c);
    return value;
}

Number literal_number(Arena *a, const char *s, size_t n)
{
    bool imaginary = n > 0 && (s[n - 1] == 'j' || s[n - 1] == 'J');
    bool has_radix = radix_of(s, n) != 10;
    bool real = !has_radix && (memchr(s, '.', n) || memchr(s, 'e', n) || memchr(s, 'E', n));
    if (!imaginary && !real) return integer_number(s, n);
    Buf digits = buf_make(a);
    for (size_t i = 0; i < n - imaginary; i++)
        if (s[i] != '_') buf_putc(&digits, s[i]);
    return (Number){.kind = imaginary ? NUMBER_IMAGINARY : NUMBER_FLOAT,
                    .floating = to_double(buf_text(&digits))};
}

/* ---- strings ---- */

/* A byte, or in UTF-8 a character; also surrogates, which Python's strings may hold. */
static void put_code(Buf *out, uint32_t code, bool byte)
{
    static const uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
    int more = code < 0x80 || byte ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    buf_putc(out, (char)(lead[more] | code >> (6 * more)));
    while (more-- > 0) buf_putc(out, (char)(0x80 | (code >> (6 * more) & 0x3F)));
}

/* \x41 \u00e9 \U0001F600: exactly `digits` hexadecimal digits after s[i], which is the letter. */
static const char *decode_hex(Buf *out, const char *s, size_t n, size_t *i, int digits, bool bytes)
{
    uint32_t code = 0;
    for (int k = 0; k < digits; k++) {
        int v = *i + 1 < n ? digit_value(s[*i + 1]) : 99;
        if (v > 15) return "this escape needs more hexadecimal digits";
        code = code << 4 | (uint32_t)v;
        ++*i;
    }
    ++*i;
    if (code > 0x10FFFF) return "this escape is past the last character, U+10FFFF";
    put_code(out, code, bytes);
    return NULL;
}

static void decode_octal(Buf *out, const char *s, size_t n, size_t *i, bool bytes)
{
    uint32_t code = 0;
    for (int k = 0; k < 3 && *i < n && s[*i] >= '0' && s[*i] <= '7'; k++)
        code = code << 3 | (uint32_t)(s[(*i)++] - '0');
    put_code(out, code, bytes);
}

static char simple_escape(char c)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    const char *at = c ? strchr(from, c) : NULL;
    return at ? to[at - from] : 0;
}

/* s[*i] is the character after a backslash. */
static const char *decode_escape(Buf *out, const char *s, size_t n, size_t *i, bool bytes)
{
    char c = s[*i];
    if (c == '\r' || c == '\n') {
        *i += c == '\r' && *i + 1 < n && s[*i + 1] == '\n' ? 2 : 1;
        return NULL;
    }
    if (c >= '0' && c <= '7') {
        decode_octal(out, s, n, i, bytes);
        return NULL;
    }
    if (c == 'x') return decode_hex(out, s, n, i, 2, bytes);
    if (c == 'u' && !bytes) return decode_hex(out, s, n, i, 4, false);
    if (c == 'U' && !bytes) return decode_hex(out, s, n, i, 8, false);
    if (simple_escape(c)) {
        buf_putc(out, simple_escape(c));
    } else { /* not an escape: the backslash stays */
        buf_putc(out, '\\');
        return NULL;
    }
    ++*i;
    return NULL;
}

/* Length of \N{…} at s, or 0. */
static size_t named_length(const char *s, size_t n)
{
    if (n < 4 || s[1] != 'N' || s[2] != '{') return 0;
    const char *end = memchr(s, '}', n);
    return end ? (size_t)(end - s) + 1 : 0;
}

StringError literal_decode(Buf *out, const char *s, size_t n, StringForm form)
{
    for (size_t i = 0; i < n;) {
        size_t named = form.raw || form.bytes ? 0 : named_length(s + i, n - i);
        if (s[i] == '\\' && named > 0) {
            buf_put(out, s + i, named);
            i += named;
        } else if (s[i] == '\\' && !form.raw && i + 1 < n) {
            size_t begin = i++;
            const char *why = decode_escape(out, s, n, &i, form.bytes);
            if (why) return (StringError){why, begin, i + 1 < n ? i + 1 : n};
        } else if (s[i] == '\r') { /* any end of line reads as one newline */
            buf_putc(out, '\n');
            i += i + 1 < n && s[i + 1] == '\n' ? 2 : 1;
        } else {
            bool doubled =
                form.field && (s[i] == '{' || s[i] == '}') && i + 1 < n && s[i + 1] == s[i];
            buf_putc(out, s[i]);
            i += doubled ? 2 : 1;
        }
    }
    return (StringError){0};
}

StringForm literal_string_form(const char *s, size_t n, const char **body, size_t *len)
{
    StringForm form = {0};
    size_t i = 0;
    for (; i < n && s[i] != '\'' && s[i] != '"'; i++) {
        form.raw |= s[i] == 'r' || s[i] == 'R';
        form.bytes |= s[i] == 'b' || s[i] == 'B';
    }
    size_t quotes = n - i >= 6 && s[i + 1] == s[i] && s[i + 2] == s[i] ? 3 : 1;
    *body = s + i + quotes;
    *len = n - i >= 2 * quotes ? n - i - 2 * quotes : 0;
    return form;
}
