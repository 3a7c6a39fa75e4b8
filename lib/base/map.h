/* Hash map from 64-bit keys (interned pointers, ids, hashes) to pointers. Never iterate a map keyed
   by address: output must not depend on addresses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

typedef struct Map Map;
struct Map {
    Arena *arena;
    struct MapSlot *slots;
    uint32_t cap, len; /* cap is 0 or a power of two */
};

void map_init(Map *m, Arena *a);
/* NULL when absent (a stored NULL reads the same). */
void *map_get(const Map *m, uint64_t key);
void map_set(Map *m, uint64_t key, void *value);
bool map_has(const Map *m, uint64_t key);

#define map_get_ptr(m, p) map_get((m), (uint64_t)(uintptr_t)(p))
#define map_set_ptr(m, p, v) map_set((m), (uint64_t)(uintptr_t)(p), (v))

/* Numbers from 0 on, by what they are of; -1 when absent. */
static inline int map_number(const Map *m, const void *of)
{
    return (int)(uintptr_t)map_get_ptr(m, of) - 1;
}
static inline void map_set_number(Map *m, const void *of, int number)
{
    map_set_ptr(m, of, (void *)(uintptr_t)(number + 1));
}

/* A good 64-bit hash of bytes, the same on every run and machine. */
uint64_t hash_bytes(const void *data, size_t n, uint64_t seed);
