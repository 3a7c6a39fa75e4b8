/* The time that passes, whatever the date is set to. */
#ifndef TKC_CLOCK_H
#define TKC_CLOCK_H

#include <time.h>

static inline double clock_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double clock_ms(void)
{
    return clock_seconds() * 1e3;
}

#endif
