/* The texts of aot/, embedded at build time. */
#ifndef TKC_SRC_LAUNCH_TEXT_H
#define TKC_SRC_LAUNCH_TEXT_H

#include <stddef.h>

typedef struct LaunchText {
    const char *name; /* the file's own name, "launch.c" */
    const char *text; /* len bytes, then a NUL */
    size_t len;
} LaunchText;

extern const LaunchText launch_texts[]; /* in the order of their names: launch.c, launch.h */

#endif
