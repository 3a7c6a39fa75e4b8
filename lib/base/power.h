/* Powers of two. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool is_power_of_two(int64_t x) { return x > 0 && !(x & (x - 1)); }
/* Rounded down; 0 of what is less than 1. */
static inline int log2_floor(int64_t x) { return x <= 1 ? 0 : 63 - __builtin_clzll((uint64_t)x); }
/* The least that is not below x. */
static inline int64_t power_of_two_for(int64_t x)
{
    int64_t n = 1;
    while (n < x) n *= 2;
    return n;
}
