/* Bytes that grow. All zero is none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct Bytes {
    char *data;     /* malloc'ed; a NUL follows the last */
    size_t len, cap;
    bool no_memory; /* something is missing */
} Bytes;
void bytes_add(Bytes *b, const void *data, size_t len);
void bytes_put(Bytes *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The file becomes these bytes, of that mode, at once: another process that writes it may win, never mix with this one.
   False: it is as it was; errno says why, or is 0. */
bool bytes_write(const char *path, const void *data, size_t len, mode_t mode);
