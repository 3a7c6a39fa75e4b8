/* In: a path and what is written to the stream. Out: the whole new file, or the old one.

   What is written goes to a file of its own in the target's folder, which takes the target's name
   only when all of it is there: rename is atomic, so that a full disk or a kill at any moment
   leaves the old file or the new one. A kill may leave the temporary, named .tkc-PID-N. A link is
   followed first: it is the file behind it that is replaced, with that file's permissions. What is
   no plain file (a terminal, a pipe, /dev/null) is written in place. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40, MOST_NAMES = 100 };

/* The length of the folder's part of a path, with its last '/'. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* What the link at `path` points to, as seen from here; takes the path. NULL: no memory, or it
   cannot be read. */
static char *follow_link(char *path, off_t length)
{
    size_t folder = folder_length(path), room = (size_t)length + 1;
    char *target = malloc(folder + room + 1);
    ssize_t n = target ? readlink(path, target + folder, room) : -1;
    if (n >= 0) {
        target[folder + (size_t)n] = 0;
        if (target[folder] == '/') memmove(target, target + folder, (size_t)n + 1);
        else memcpy(target, path, folder);
    }
    free(path);
    if (n >= 0) return target;
    free(target);
    return NULL;
}

/* The path of the file itself; *st of it, with st_mode 0 when there is none. NULL: errno says
   why. */
static char *resolve(const char *path, struct stat *st)
{
    char *target = strdup(path);
    for (int i = 0; target && i < MOST_LINKS; i++) {
        *st = (struct stat){0};
        if (lstat(target, st) == 0 && S_ISLNK(st->st_mode)) {
            target = follow_link(target, st->st_size);
            continue;
        }
        if (st->st_mode || errno == ENOENT) return target;
        free(target);
        return NULL;
    }
    free(target);
    errno = target ? ELOOP : errno;
    return NULL;
}

/* A new file in the target's folder, with its permissions. */
static FILE *create_temporary(Output *out, const struct stat *old)
{
    size_t folder = folder_length(out->path), size = folder + 64;
    int fd = -1;
    out->temporary = malloc(size);
    if (!out->temporary) return NULL;
    for (int i = 0; i < MOST_NAMES && fd < 0; i++) {
        snprintf(out->temporary, size, "%.*s.tkc-%ld-%d", (int)folder, out->path, (long)getpid(),
                 i);
        fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) return NULL;
    }
    if (fd >= 0 && old->st_mode) fchmod(fd, old->st_mode & 07777);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (fd >= 0 && !f) {
        close(fd);
        remove(out->temporary);
    }
    return f;
}

static bool forget(Output *out)
{
    free(out->path);
    free(out->temporary);
    *out = (Output){0};
    return false;
}

bool output_open(Output *out, const char *path, const char **why)
{
    struct stat old = {0};
    errno = 0;
    *out = (Output){0};
    /* Of a pipe's descriptor the link in /proc names no path. */
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        out->f = fopen(path, "wb");
    } else {
        out->path = resolve(path, &old);
        if (out->path && !(old.st_mode && access(out->path, W_OK) != 0))
            out->f = create_temporary(out, &old);
    }
    if (out->f) return true;
    *why = strerror(errno);
    return forget(out);
}

bool output_close(Output *out, bool ok, const char **why)
{
    int error = ok ? 0 : errno ? errno : EIO;
    if (fclose(out->f) != 0 && ok) ok = false, error = errno;
    if (ok && out->temporary && rename(out->temporary, out->path) != 0) ok = false, error = errno;
    if (!ok && out->temporary) remove(out->temporary);
    forget(out);
    *why = strerror(error);
    return ok;
}

bool output_is_same_file(const char *a, const char *b)
{
    struct stat sa, sb;
    return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) &&
           sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}
