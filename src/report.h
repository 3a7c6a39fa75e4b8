/* What the command says on standard error: for people, in colours on a terminal, or a JSON object a
   line for programs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "tkc/tkc.h"

/* Exit codes of the command. */
enum { EXIT_FINE = 0, EXIT_REFUSED = 1, EXIT_MISUSE = 2, EXIT_BUG = 3 };

typedef enum ColorChoice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } ColorChoice;

/* How from now on; said once, before the first word. AUTO: on a terminal, unless NO_COLOR is set. */
void report_style(ColorChoice color, bool json);
/* Diagnostics of the context are printed from now on. */
void report_listen(TkcContext *cx);
/* What the exit code depends on is kept of it; of what report_listen prints it is. */
void report_heed(const TkcDiagnostic *d);
/* One of them was about a mistake of the compiler's own. */
bool report_told_bug(void);
/* "tkc: error: …" or, of a note, "tkc: …"; id: what it is about, as in docs/diagnostics.md. Gives
   EXIT_REFUSED. */
int report_own(TkcSeverity severity, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
#define report_error(id, ...) report_own(TKC_SEVERITY_ERROR, (id), __VA_ARGS__)
/* How long something took: "     1.234 ms  lower". */
void report_time(const char *what, double ms);
/* What is wrong with the command line. */
void report_misuse(const char *text);
/* "-DBLOCK=<int> -sig \"x=*fp32\"": how this command spells what would mend a diagnostic; "" when
   nothing does. Cut at size. */
const char *report_flags(const TkcDiagnostic *d, char *buffer, size_t size);

/* ---- json.c: a diagnostic as one line of JSON; the form is in docs/diagnostics.md ---- */
/* flags: of the command, "" for none. ms: how long what it tells of took, below 0 for no time. */
void json_print(FILE *out, const TkcDiagnostic *d, const char *flags, double ms);

/* ---- terminal.c: text of others on a person's screen ---- */
/* Length of the character at s, 0 when the bytes are not valid UTF-8 (surrogates and overlong forms are
   not). The text ends in a NUL, which continues nothing. */
size_t utf8_length(const unsigned char *s);
/* Writes a line and its end. On a terminal, what would steer it (control characters but tabs, bytes
   that are no UTF-8) is written as \x1b; elsewhere the bytes are left as they are. */
void terminal_put_line(FILE *out, bool is_terminal, const char *line);
