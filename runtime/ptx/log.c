/* A complaint names a line of PTX ("…, line 60; error : …"). If that line stands between LLVM's
   "// begin inline asm" and "// end inline asm", and a comment with a place follows the first, then
   the text between is a user's and came from that place. */
#include "ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *after(const char *p, const char *what)
{
    p = p ? strstr(p, what) : NULL;
    return p ? p + strlen(what) : NULL;
}

static const char *line_start(const char *text, long line)
{
    for (; text && line > 1; line--) text = after(text, "\n");
    return text;
}

bool ptx_log_place(char *place, size_t size, const char *log, const char *ptx)
{
    const char *number = after(log, "line ");
    const char *at = number ? line_start(ptx, strtol(number, NULL, 10)) : NULL;
    if (!at) return false;
    const char *begin = NULL;
    for (const char *p = after(ptx, "// begin inline asm\n"); p && p <= at;
         p = after(p, "// begin inline asm\n"))
        begin = p;
    const char *end = after(begin, "// end inline asm");
    if (!begin || !end || end < at) return false;
    begin += strspn(begin, "\t");
    if (strncmp(begin, "// ", 3)) return false;
    snprintf(place, size, "%.*s", (int)strcspn(begin + 3, "\n"), begin + 3);
    return true;
}
