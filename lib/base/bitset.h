/* Fixed-size sets of small integers, such as value ids. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"

typedef struct Bitset { uint64_t *words; int nbits; } Bitset;

Bitset bitset_make(Arena *a, int nbits); /* empty */
bool bitset_has(const Bitset *s, int i);
bool bitset_add(Bitset *s, int i);    /* true if it was not in */
void bitset_remove(Bitset *s, int i);
bool bitset_union(Bitset *into, const Bitset *from); /* true if it grew */
int bitset_next(const Bitset *s, int from);          /* first member >= from, or -1 */
