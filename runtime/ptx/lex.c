/* Words of PTX: names with their dots in one piece, numbers in every notation (decimal, 0x, 0, 0b,
   a decimal point, 0f and 0d with the bits), $N for a register of the constraints, single marks. */
#include "lex.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tkc/edge.h"

bool ptx_word_is(PtxWord w, const char *text)
{
    return (size_t)w.len == strlen(text) && !memcmp(w.text, text, (size_t)w.len);
}

bool ptx_same_word(PtxWord a, PtxWord b)
{
    return a.len == b.len && !memcmp(a.text, b.text, (size_t)b.len);
}

static const char *skip_blanks(const char *p)
{
    for (;;) {
        if (isspace((unsigned char)*p)) p++;
        else if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
        else if (p[0] == '/' && p[1] == '*' && strstr(p + 2, "*/")) p = strstr(p + 2, "*/") + 2;
        else return p;
    }
}

/* $ begins the names of modules; before a digit it is an operand of inline assembly. */
static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '%' || c == '.' || c == '$';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

/* 0f or 0d and exactly that many digits. */
static bool read_bits(PtxWord *w, const char **p, int digits)
{
    const char *at = *p + 2;
    uint64_t bits = 0;
    for (int i = 0; i < digits; i++) {
        if (!isxdigit((unsigned char)at[i])) return false;
        char c = (char)tolower((unsigned char)at[i]);
        bits = bits << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    if (isalnum((unsigned char)at[digits])) return false;
    w->kind = PTXW_FLOAT;
    w->single = digits == 8;
    w->number = bits;
    *p = at + digits;
    return true;
}

static void read_number(PtxWord *w, const char **p)
{
    const char *at = *p;
    const char mark = (char)tolower((unsigned char)at[1]);
    const bool hex = at[0] == '0' && mark == 'x', binary = at[0] == '0' && mark == 'b';
    const size_t digits = strspn(at, "0123456789");
    char *end = (char *)at + digits;
    w->kind = PTXW_BAD;
    if (at[0] == '0' && (mark == 'f' || mark == 'd')) {
        if (read_bits(w, p, mark == 'f' ? 8 : 16)) return;
    } else if (!hex && !binary && *end && strchr(".eE", *end)) {
        w->number = tkc_bits_from_double(DT_F64, strtod(at, &end));
        w->kind = PTXW_FLOAT;
    } else {
        errno = 0;
        w->number = strtoull(binary ? at + 2 : at, &end, binary ? 2 : 0);
        end += *end == 'U';
        if (!errno) w->kind = PTXW_INT;
    }
    if (is_name(*end)) w->kind = PTXW_BAD;
    while (is_name(*end)) end++;
    *p = end;
}

/* $2 or ${2}; tkc/inline_asm.h has seen to their form. */
static void read_operand(PtxWord *w, const char **p)
{
    const char *at = *p + 1;
    char *end;
    const bool braced = *at == '{';
    w->kind = PTXW_OPERAND;
    w->number = strtoull(at + braced, &end, 10);
    *p = end + (braced && *end == '}');
}

PtxWord ptx_word(const char **p)
{
    *p = skip_blanks(*p);
    PtxWord w = {.kind = PTXW_MARK, .text = *p};
    if (!**p) w.kind = PTXW_END;
    else if (**p == '$' && (isdigit((unsigned char)(*p)[1]) || (*p)[1] == '{')) read_operand(&w, p);
    else if (isdigit((unsigned char)**p)) read_number(&w, p);
    else if (is_name_start(**p)) {
        w.kind = PTXW_NAME;
        do (*p)++;
        while (is_name(**p) || (**p == '$' && (is_name_start((*p)[1]) || w.text[0] == '$')));
    } else {
        (*p)++;
    }
    w.len = (int)(*p - w.text);
    return w;
}
