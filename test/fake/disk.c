/* A disk that goes wrong while files change: preloaded, the FAKE_DISK_AT-th of the calls below that the
   program makes kills it (FAKE_DISK=kill), or that and all later writes find the disk full (FAKE_DISK=full):
   of what is written some bytes fit, and of what a stream holds when it is closed none. What the run time
   does once main has returned is not counted. When the program ends without having come that far, it says so on
   standard error. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static long wanted;
static bool kills;
static atomic_long made;
static atomic_bool ended;

static __attribute__((constructor)) void start(void)
{
    const char *at = getenv("FAKE_DISK_AT"), *how = getenv("FAKE_DISK");
    wanted = at ? atol(at) : 0;
    kills = how && !strcmp(how, "kill");
}

static __attribute__((destructor)) void finish(void)
{
    if (wanted > atomic_load(&made))
        fprintf(stderr, "fake disk: only %ld calls\n", atomic_load(&made));
}

static void end(void)
{
    atomic_store(&ended, true);
}

/* One call more; true: from now on the disk is full. */
static bool count(void)
{
    if (atomic_load(&ended)) return false;
    const long n = atomic_fetch_add(&made, 1) + 1;
    if (n == 1) atexit(end);
    if (kills && n == wanted) raise(SIGKILL);
    return !kills && wanted && n >= wanted;
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int full(void)
{
    errno = ENOSPC;
    return -1;
}

/* Of a terminal or a pipe nothing is counted. */
static bool is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

EXPORT ssize_t write(int fd, const void *data, size_t n)
{
    ssize_t (*next)(int, const void *, size_t);
    *(void **)&next = real("write");
    if (!is_file(fd)) return next(fd, data, n);
    if (kills && atomic_load(&made) + 1 == wanted) next(fd, data, n / 2); /* in the middle of it */
    if (!count()) return next(fd, data, n);
    return n > 1 && atomic_load(&made) == wanted ? next(fd, data, n / 2) : full();
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    int (*next)(const char *, mode_t);
    *(void **)&next = real("mkdir");
    return count() ? full() : next(path, mode);
}

EXPORT int mkostemp(char *path, int flags)
{
    int (*next)(char *, int);
    *(void **)&next = real("mkostemp");
    return count() ? full() : next(path, flags);
}

EXPORT int mkostemp64(char *path, int flags)
{
    return mkostemp(path, flags);
}

EXPORT int rename(const char *from, const char *to)
{
    int (*next)(const char *, const char *);
    *(void **)&next = real("rename");
    return count() ? full() : next(from, to);
}

EXPORT int unlink(const char *path)
{
    int (*next)(const char *);
    *(void **)&next = real("unlink");
    count();
    return next(path);
}

EXPORT int open(const char *path, int flags, ...)
{
    int (*next)(const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    *(void **)&next = real("open");
    if (!(flags & O_CREAT)) return next(path, flags);
    return count() ? full() : next(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    return open(path, flags, mode);
}

static bool is_written(FILE *f)
{
    const int flags = fcntl(fileno(f), F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && is_file(fileno(f));
}

EXPORT int fclose(FILE *f)
{
    int (*next)(FILE *);
    *(void **)&next = real("fclose");
    const bool is_full = is_written(f) && count();
    const int closed = next(f);
    return is_full ? full() : closed;
}

EXPORT int flock(int fd, int operation)
{
    int (*next)(int, int);
    *(void **)&next = real("flock");
    count();
    return next(fd, operation);
}

EXPORT int utimensat(int folder, const char *path, const struct timespec times[2], int flags)
{
    int (*next)(int, const char *, const struct timespec *, int);
    *(void **)&next = real("utimensat");
    count();
    return next(folder, path, times, flags);
}
