/* The standard library's sources, embedded at build time from lib/std/. */
#pragma once

#include <stddef.h>

typedef struct StdFile {
    const char *name; /* the file's own name, such as "softmax.tk" */
    const char *text; /* len bytes, then a NUL */
    size_t len;
} StdFile;

extern const StdFile std_files[]; /* in the order of their names; a row of zeros follows the last */
extern const int std_file_count;
