#define _GNU_SOURCE
#include "bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for so many more and a NUL; NULL: there is none. */
static char *reserve(Bytes *b, size_t more)
{
    if (b->cap - b->len <= more) {
        const size_t cap = (b->len + more + 1) * 2;
        char *data = realloc(b->data, cap);
        b->no_memory |= !data;
        if (!data) return NULL;
        b->data = data;
        b->cap = cap;
    }
    return b->data + b->len;
}

void bytes_add(Bytes *b, const void *data, size_t len)
{
    char *at = reserve(b, len);
    if (!at) return;
    if (len) memcpy(at, data, len);
    at[len] = 0;
    b->len += len;
}

void bytes_put(Bytes *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, again);
    char *at = n < 0 ? NULL : reserve(b, (size_t)n);
    if (at) {
        vsnprintf(at, (size_t)n + 1, fmt, ap);
        b->len += (size_t)n;
    }
    b->no_memory |= n < 0;
    va_end(again);
    va_end(ap);
}

static bool write_all(int fd, const char *data, size_t len)
{
    for (ssize_t n; len; data += n, len -= (size_t)n)
        if ((n = write(fd, data, len)) <= 0) return false;
    return true;
}

bool bytes_write(const char *path, const void *data, size_t len, mode_t mode)
{
    char *temporary;
    errno = 0;
    if (asprintf(&temporary, "%s.XXXXXX", path) < 0) return false;
    const int fd = mkostemp(temporary, O_CLOEXEC);
    bool ok = fd >= 0 && write_all(fd, data, len);
    ok = ok && fchmod(fd, mode) == 0;
    if (fd >= 0) ok &= close(fd) == 0;
    ok = ok && rename(temporary, path) == 0;
    const int error = errno;
    if (fd >= 0 && !ok) unlink(temporary);
    free(temporary);
    errno = error;
    return ok;
}
