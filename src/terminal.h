/* Text of others on a person's screen. */
#ifndef TKC_SRC_TERMINAL_H
#define TKC_SRC_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Writes a line and its end. On a terminal, what would steer it (control characters but tabs, bytes
   that are no UTF-8) is written as \x1b; elsewhere the bytes are left as they are. */
void terminal_put_line(FILE *out, bool is_terminal, const char *line);

#endif
