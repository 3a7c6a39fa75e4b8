/* Arrays that grow. */
#ifndef TKC_RUNTIME_GROW_H
#define TKC_RUNTIME_GROW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more behind n. array: a pointer to the array's pointer; cap: its uint32_t or int of
   items. False: no memory, and all is as it was. */
static inline bool grow_array(void *array, size_t n, void *cap, size_t size)
{
    uint32_t room;
    void *old, *more;
    memcpy(&room, cap, sizeof room);
    if (n < room) return true;
    memcpy(&old, array, sizeof old);
    room = room ? room * 2 : 32;
    more = realloc(old, room * size);
    if (!more) return false;
    memcpy(array, &more, sizeof more);
    memcpy(cap, &room, sizeof room);
    return true;
}

#endif
