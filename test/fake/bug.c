/* A mistake of the compiler's own: preloaded, it makes one format fail that the back end composes,
   which the compiler takes for what cannot happen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) int vsnprintf(char *out, size_t size, const char *format,
                                                     va_list ap)
{
    int (*real)(char *, size_t, const char *, va_list);
    if (!strcmp(format, "+ptx%d")) return -1;
    *(void **)&real = dlsym(RTLD_NEXT, "vsnprintf");
    return real(out, size, format, ap);
}
