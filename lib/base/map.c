/* Open addressing with linear probing, at most three quarters full; nothing is ever removed. */
#include "base/map.h"

#include <string.h>

#include "base/unwind.h"

typedef struct MapSlot {
    uint64_t key;
    void *value;
    bool used;
} MapSlot;

void map_init(Map *m, Arena *a)
{
    *m = (Map){.arena = a};
}

/* Folds a 128-bit product into 64 bits, so that every bit of both factors reaches every bit of the
   result. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The slot that holds the key, or the free one where it would go. The map has slots. */
static MapSlot *find_slot(const Map *m, uint64_t key)
{
    uint32_t mask = m->cap - 1;
    uint32_t i = (uint32_t)mix(key ^ UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd1342543de82ef95));
    for (i &= mask; m->slots[i].used && m->slots[i].key != key;) i = (i + 1) & mask;
    return &m->slots[i];
}

void *map_get(const Map *m, uint64_t key)
{
    return m->cap ? find_slot(m, key)->value : NULL;
}

bool map_has(const Map *m, uint64_t key)
{
    return m->cap && find_slot(m, key)->used;
}

static void grow(Map *m)
{
    check(m->cap <= UINT32_MAX / 4, "a map of %u entries cannot grow", m->len);
    Map bigger = {.arena = m->arena, .cap = m->cap ? 2 * m->cap : 16, .len = m->len};
    bigger.slots = arena_array(m->arena, MapSlot, bigger.cap);
    for (uint32_t i = 0; i < m->cap; i++)
        if (m->slots[i].used) *find_slot(&bigger, m->slots[i].key) = m->slots[i];
    *m = bigger;
}

void map_set(Map *m, uint64_t key, void *value)
{
    if (m->len >= m->cap / 4 * 3) grow(m);
    MapSlot *slot = find_slot(m, key);
    if (!slot->used) m->len++;
    *slot = (MapSlot){key, value, true};
}

/* Up to 8 bytes as a little-endian number, whatever the machine. */
static uint64_t read_word(const unsigned char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

uint64_t hash_bytes(const void *data, size_t n, uint64_t seed)
{
    const uint64_t k0 = UINT64_C(0x8bb84b93962eacc9), k1 = UINT64_C(0x2d358dccaa6c78a5);
    const unsigned char *p = data;
    uint64_t h = mix(seed ^ k0, n ^ k1);
    for (; n > 8; p += 8, n -= 8) h = mix(h ^ read_word(p, 8), k0) + k1;
    if (n) h = mix(h ^ read_word(p, n), k0) + k1;
    return mix(h ^ k1, k0);
}
