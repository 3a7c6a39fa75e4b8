/* Text of others on a person's screen. */
#ifndef TKC_SRC_TERMINAL_H
#define TKC_SRC_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Length of the character at s, 0 when the bytes are not valid UTF-8 (surrogates and overlong forms are
   not). The text ends in a NUL, which continues nothing. */
size_t utf8_length(const unsigned char *s);
/* Writes a line and its end. On a terminal, what would steer it (control characters but tabs, bytes
   that are no UTF-8) is written as \x1b; elsewhere the bytes are left as they are. */
void terminal_put_line(FILE *out, bool is_terminal, const char *line);

#endif
