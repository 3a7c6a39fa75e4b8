/* Digits in one of four bases, underscores between them, no leading zeros in decimal: what Python's
   own scanner takes. */
#include "tkc/expr.h"

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 36;
}

/* The base that a prefix says, and the text after the prefix. */
static int base_of(const char **p)
{
    char letter = (*p)[0] == '0' ? (char)((*p)[1] | 0x20) : 0;
    int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 10;
    if (base != 10) *p += 2;
    return base;
}

NumberRead number_read_digits(const char *text, const char **end, uint64_t *out)
{
    const char *p = text;
    int base = base_of(&p);
    const char *first = p;
    bool fits = true;
    for (*out = 0; digit_of(*p) < base; p += p[1] == '_' && digit_of(p[2]) < base ? 2 : 1)
        fits &= !__builtin_mul_overflow(*out, (uint64_t)base, out) &&
                !__builtin_add_overflow(*out, (uint64_t)digit_of(*p), out);
    *end = p;
    bool padded = base == 10 && *first == '0' && *out != 0; /* 010 is no number of Python's */
    if (p == first || padded || digit_of(*p) < 36 || *p == '_') return NUMBER_NONE;
    return !fits ? NUMBER_TOO_LARGE : *out > INT64_MAX ? NUMBER_UNSIGNED : NUMBER_FITS;
}

NumberRead number_read(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    const char *end;
    uint64_t n;
    NumberRead read = number_read_digits(text + (negative || *text == '+'), &end, &n);
    if (read == NUMBER_NONE || *end) return NUMBER_NONE;
    if (negative && n > (uint64_t)INT64_MAX + 1) return NUMBER_TOO_LARGE;
    *out = (int64_t)(negative ? 0 - n : n);
    return negative && read == NUMBER_UNSIGNED ? NUMBER_FITS : read;
}
