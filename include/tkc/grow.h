/* Arrays that grow, and memory that is given back together. Arrays have room for a power of two of
   items, LEAST at least, so that nobody keeps for how many. */
#ifndef TKC_GROW_H
#define TKC_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more behind n. array: a pointer to the array's pointer, NULL at first. False: no memory, and all is
   as it was. */
static inline bool grow_items(void *array, size_t n, size_t size)
{
    enum { LEAST = 32 };
    void *old, *more;
    memcpy(&old, array, sizeof old);
    if (old && (n < LEAST || (n & (n - 1)))) return true;
    more = realloc(old, (n < LEAST ? LEAST : 2 * n) * size);
    if (!more) return false;
    memcpy(array, &more, sizeof more);
    return true;
}
#define grow_array(array, n) grow_items((array), (size_t)(n), sizeof **(array))

/* A list of memory, the newest first; NULL: none. */
typedef struct Owned {
    struct Owned *next;
    _Alignas(16) char bytes[];
} Owned;

/* Zeros; NULL: no memory. */
static inline void *owned_take(Owned **all, size_t bytes)
{
    Owned *one = calloc(1, sizeof *one + bytes);
    if (!one) return NULL;
    one->next = *all;
    *all = one;
    return one->bytes;
}

static inline void owned_free(Owned *all)
{
    for (Owned *next; all; all = next) {
        next = all->next;
        free(all);
    }
}

#endif
