/* Characters that are not ASCII and look as if they were: letters of other alphabets, quotes and
   dashes of word processors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tkc/text.h"

/* Decodes one character of UTF-8; its length, or 0 when the n bytes do not begin with a valid one. */
int utf8_decode(const unsigned char *s, size_t n, uint32_t *code);
/* The byte goes on a character of UTF-8. */
static inline bool is_utf8_tail(char c) { return ((unsigned char)c & 0xc0) == 0x80; }
/* The byte may stand in a name: a letter, a digit, '_', or part of a character that is not ASCII. */
static inline bool is_name_byte(char c)
{
    return char_is_word(c) || (unsigned char)c >= 0x80;
}
/* What a character looks like: "a", "-", "<="; " " for blanks, "" for what cannot be seen. False: like
   nothing of ASCII. */
bool lookalike_of(uint32_t code, char out[3]);
/* The text with each such character replaced, in out[size]; cut at size. The first that was, or 0. */
uint32_t lookalike_fold(const char *text, char *out, size_t size);
