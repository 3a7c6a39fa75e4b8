/* Numbers as text: decimal, all digits when they are few, else the fewest that read back to the
   same bits. Only the characters of the "C" locale are written and read, whatever locale the host
   program is in. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/evaluate.h"
#include "ir/parse.h"
#include "ir/print.h"

enum { LONGEST_NUMBER = 400 }; /* characters; digits beyond are of no use to anybody */

static double read_double(const char *text, char **end)
{
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    double v = strtod(text, end);
    uselocale(before);
    return v;
}

static void write_double(char *text, size_t size, int digits, double v)
{
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(text, size, "%.*g", digits, v);
    uselocale(before);
}

/* In 6 to 8 digits, when that is all there is: 448.0 rather than 4.5e+02, which float8e4nv reads
   alike. */
static bool write_exactly(char *text, size_t size, double v)
{
    for (int digits = 6; digits <= 8; digits++) {
        write_double(text, size, digits, v);
        if (read_double(text, NULL) == v) return true;
    }
    return false;
}

static void write_shortest(char *text, size_t size, DType dt, uint64_t bits, double v)
{
    for (int digits = 1; digits <= 17; digits++) {
        write_double(text, size, digits, v);
        if (bits_from_double(dt, read_double(text, NULL)) == bits) return;
    }
}

static void print_float(Buf *out, DType dt, uint64_t bits)
{
    double v = bits_to_double(dt, bits);
    if (isnan(v)) {
        buf_printf(out, "nan(0x%0*llx)", tkc_dtype_info(dt)->bits / 4, (unsigned long long)bits);
        return;
    }
    if (isinf(v)) {
        buf_puts(out, v < 0 ? "-inf" : "inf");
        return;
    }
    char text[64];
    if (!write_exactly(text, sizeof text, v)) write_shortest(text, sizeof text, dt, bits, v);
    buf_puts(out, text);
    if (!strpbrk(text, ".e")) buf_puts(out, ".0");
}

void ir_print_number(Buf *out, DType dt, uint64_t bits)
{
    switch (tkc_dtype_info(dt)->kind) {
    case DK_NONE: buf_puts(out, "none"); break;
    case DK_BOOL: buf_puts(out, bits & 1 ? "true" : "false"); break;
    case DK_INT: buf_printf(out, "%lld", (long long)bits); break;
    case DK_UINT: buf_printf(out, "%llu", (unsigned long long)bits); break;
    case DK_FLOAT: print_float(out, dt, bits); break;
    }
}

static bool is_word(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

static bool parse_nan(DType dt, const char *text, uint64_t *bits)
{
    if (is_word(text, "nan")) return *bits = bits_nan(dt), true;
    if (strncmp(text, "nan(0x", 6) != 0) return false;
    char *end;
    errno = 0;
    *bits = strtoull(text + 6, &end, 16);
    int unused = 64 - tkc_dtype_info(dt)->bits;
    return end > text + 6 && is_word(end, ")") && !errno && *bits << unused >> unused == *bits &&
           isnan(bits_to_double(dt, *bits));
}

static bool parse_float(DType dt, const char *text, uint64_t *bits)
{
    bool negative = *text == '-';
    if (is_word(text + negative, "inf")) {
        *bits = bits_infinity(dt) | (negative ? UINT64_C(1) << (tkc_dtype_info(dt)->bits - 1) : 0);
        return dt != DT_F8E4;
    }
    if (*text == 'n') return parse_nan(dt, text, bits);
    if (text[strspn(text, "+-0123456789.eE")]) return false;
    char *end;
    *bits = bits_from_double(dt, read_double(text, &end));
    return *text && !*end;
}

static bool parse_int(DType dt, const char *text, uint64_t *bits)
{
    if (text[*text == '-'] < '0' || text[*text == '-'] > '9') return false;
    char *end;
    errno = 0;
    if (tkc_dtype_info(dt)->kind == DK_INT) *bits = (uint64_t)strtoll(text, &end, 10);
    else if (*text == '-') return false;
    else *bits = strtoull(text, &end, 10);
    return !*end && !errno && bits_from_uint(dt, *bits) == *bits;
}

bool ir_parse_number(DType dt, const char *text, size_t len, uint64_t *bits)
{
    char copy[LONGEST_NUMBER + 1];
    if (len > LONGEST_NUMBER || memchr(text, 0, len)) return false;
    memcpy(copy, text, len);
    copy[len] = 0;
    switch (tkc_dtype_info(dt)->kind) {
    case DK_NONE: return false;
    case DK_BOOL: *bits = is_word(copy, "true"); return *bits || is_word(copy, "false");
    case DK_INT:
    case DK_UINT: return parse_int(dt, copy, bits);
    case DK_FLOAT: return parse_float(dt, copy, bits);
    }
    return false;
}
