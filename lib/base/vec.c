/* The one growth path of every VEC: capacity doubles, the old array stays behind in the arena. */
#include "base/vec.h"

#include <limits.h>
#include <string.h>

#include "base/unwind.h"

void *vec_grow(Arena *a, void *data, int len, int *cap, size_t elem_size)
{
    check(*cap <= INT_MAX / 2, "an array of %d elements cannot grow", *cap);
    *cap = *cap ? 2 * *cap : 8;
    void *grown = arena_alloc_array(a, (size_t)*cap, elem_size);
    if (len) memcpy(grown, data, (size_t)len * elem_size);
    return grown;
}
