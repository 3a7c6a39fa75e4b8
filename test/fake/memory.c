/* Memory that runs out once: preloaded, it fails the FAKE_MEMORY_FAIL-th allocation that the program
   itself makes (those of libraries are not counted). When the program ends without having come that
   far, it says so on standard error. With FAKE_MEMORY_CORES the machine has that many cores: with one
   the allocations are the same in each run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* glibc's own, under the names that it keeps for this. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

static uintptr_t code_begin, code_end; /* of the program */
static long wanted;
static atomic_long made;
static atomic_bool ended; /* the rest is the run time's, not the program's */

/* The first object is the program. */
static int find_code(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        code_begin = info->dlpi_addr + p->p_vaddr;
        code_end = code_begin + p->p_memsz;
    }
    return 1;
}

static __attribute__((constructor)) void start(void)
{
    const char *text = getenv("FAKE_MEMORY_FAIL");
    wanted = text ? atol(text) : 0;
    dl_iterate_phdr(find_code, NULL);
}

static __attribute__((destructor)) void finish(void)
{
    if (wanted > atomic_load(&made))
        fprintf(stderr, "fake memory: only %ld allocations\n", atomic_load(&made));
}

static void end(void)
{
    atomic_store(&ended, true);
}

static bool fails(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    if (at < code_begin || at >= code_end || atomic_load(&ended))
        return false;
    long n = atomic_fetch_add(&made, 1) + 1;
    if (n == 1)
        atexit(end);
    if (n != wanted)
        return false;
    errno = ENOMEM;
    return true;
}

EXPORT long sysconf(int name)
{
    const char *cores = getenv("FAKE_MEMORY_CORES");
    long (*real)(int);
    if (name == _SC_NPROCESSORS_ONLN && cores) return atol(cores);
    *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return real(name);
}

#define FAILS fails(__builtin_return_address(0))

EXPORT void *malloc(size_t size)
{
    return FAILS ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    return FAILS ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
    return FAILS ? NULL : __libc_realloc(old, size);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    return FAILS ? NULL : __libc_memalign(align, size);
}

EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = FAILS ? NULL : __libc_memalign(align, size);
    if (p)
        *out = p;
    return p ? 0 : ENOMEM;
}
