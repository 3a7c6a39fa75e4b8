/* The characters that keyboards and word processors really give: Cyrillic and Greek letters, full
   width forms, and punctuation. Unicode's own list of look-alikes has ten thousand rows; these are
   the ones that get into programs by accident. */
#include "base/lookalike.h"

#include <string.h>

int utf8_decode(const unsigned char *s, size_t n, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int len = s[0] < 0x80   ? 1
              : s[0] < 0xC0 ? 0
              : s[0] < 0xE0 ? 2
              : s[0] < 0xF0 ? 3
              : s[0] < 0xF8 ? 4
                            : 0;
    if (len == 0 || (size_t)len > n) return 0;
    *code = len == 1 ? s[0] : s[0] & (0x7Fu >> len);
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (s[i] & 0x3F);
    }
    return *code >= least[len] && *code <= 0x10FFFF ? len : 0;
}

static const struct { uint32_t code; char plain[3]; } rows[] = {
    /* Cyrillic */
    {0x0410, "A"}, {0x0412, "B"}, {0x0415, "E"}, {0x041A, "K"}, {0x041C, "M"}, {0x041D, "H"},
    {0x041E, "O"}, {0x0420, "P"}, {0x0421, "C"}, {0x0422, "T"}, {0x0425, "X"}, {0x0405, "S"},
    {0x0406, "I"}, {0x0408, "J"}, {0x0430, "a"}, {0x0435, "e"}, {0x043E, "o"}, {0x0440, "p"},
    {0x0441, "c"}, {0x0443, "y"}, {0x0445, "x"}, {0x0455, "s"}, {0x0456, "i"}, {0x0458, "j"},
    {0x04BB, "h"}, {0x0501, "d"}, {0x051B, "q"}, {0x051D, "w"},
    /* Greek */
    {0x0391, "A"}, {0x0392, "B"}, {0x0395, "E"}, {0x0396, "Z"}, {0x0397, "H"}, {0x0399, "I"},
    {0x039A, "K"}, {0x039C, "M"}, {0x039D, "N"}, {0x039F, "O"}, {0x03A1, "P"}, {0x03A4, "T"},
    {0x03A5, "Y"}, {0x03A7, "X"}, {0x03BD, "v"}, {0x03BF, "o"}, {0x03B9, "i"}, {0x03C1, "p"},
    /* punctuation */
    {0x00A0, " "}, {0x00AB, "\""}, {0x00AD, ""}, {0x00B4, "'"}, {0x00BB, "\""}, {0x00D7, "*"},
    {0x00F7, "/"}, {0x02C6, "^"}, {0x02DC, "~"}, {0x200B, ""}, {0x200C, ""}, {0x200D, ""},
    {0x2010, "-"}, {0x2011, "-"}, {0x2012, "-"}, {0x2013, "-"}, {0x2014, "-"}, {0x2015, "-"},
    {0x2018, "'"}, {0x2019, "'"}, {0x201A, "'"}, {0x201C, "\""}, {0x201D, "\""}, {0x201E, "\""},
    {0x2032, "'"}, {0x2033, "\""}, {0x202F, " "}, {0x2044, "/"}, {0x2060, ""}, {0x2212, "-"},
    {0x2215, "/"}, {0x2217, "*"}, {0x2219, "*"}, {0x2223, "|"}, {0x2227, "&"}, {0x2228, "|"},
    {0x223C, "~"}, {0x2260, "!="}, {0x2264, "<="}, {0x2265, ">="}, {0x2192, "->"}, {0x22C5, "*"},
    {0x3000, " "}, {0x3001, ","}, {0x3002, "."}, {0xFEFF, ""},
};

bool lookalike_of(uint32_t code, char out[3])
{
    enum { WIDE_FIRST = 0xFF01, WIDE_LAST = 0xFF5E }; /* full width forms of ASCII, from '!' on */
    if (code >= WIDE_FIRST && code <= WIDE_LAST) {
        out[0] = (char)('!' + (code - WIDE_FIRST));
        out[1] = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code != code) continue;
        memcpy(out, rows[i].plain, sizeof rows[i].plain);
        return true;
    }
    return false;
}

uint32_t lookalike_fold(const char *text, char *out, size_t size)
{
    uint32_t first = 0, code;
    size_t n = 0, left = strlen(text);
    while (left > 0) {
        char plain[3];
        int len = utf8_decode((const unsigned char *)text, left, &code);
        bool is_like = len > 1 && lookalike_of(code, plain);
        size_t step = len ? (size_t)len : 1, add = is_like ? strlen(plain) : step;
        if (is_like && !first) first = code;
        if (n + add + 1 > size) break;
        memcpy(out + n, is_like ? plain : text, add);
        n += add;
        text += step;
        left -= step;
    }
    out[n] = 0;
    return first;
}
