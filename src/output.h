/* Files that the command writes: whole, or not at all. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef struct Output {
    FILE *f;
    char *path;      /* where it shall be, links followed */
    char *temporary; /* where it is until then; NULL: it is written in place (a device, a pipe) */
} Output;

/* Opens out->f for writing; the file at `path` stays as it is until output_close. False, with *why:
   it cannot be written. */
bool output_open(Output *out, const char *path, const char **why);
/* Puts what was written in the place of the old file, which it replaces at once. `ok` false, or
   what cannot be written, leaves the old one. False, with *why. Once for each output_open that gave
   true. */
bool output_close(Output *out, bool ok, const char **why);
/* Both paths name one plain file that exists. */
bool output_is_same_file(const char *a, const char *b);
