/* What the programs of first_result.py share. */
#ifndef TKC_TEST_FIRST_RESULT_H
#define TKC_TEST_FIRST_RESULT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 64, STRIDE = 784, WIDTH = 781 };

static inline double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The softmax of zeros; says so at once. */
static inline void is_right(const float *out)
{
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < WIDTH; i++)
            if (fabsf(out[r * STRIDE + i] * WIDTH - 1) > 1e-4f) exit(3);
    puts("ok");
    fflush(stdout);
}

#endif
