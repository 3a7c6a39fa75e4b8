/* Sets as arrays of 64-bit words; every index is checked against the size the set was made with. */
#include "base/bitset.h"

#include "base/unwind.h"

static int word_count(const Bitset *s)
{
    return (int)(((int64_t)s->nbits + 63) / 64);
}

static void check_index(const Bitset *s, int i)
{
    check(i >= 0 && i < s->nbits, "index %d is outside a set of %d", i, s->nbits);
}

static uint64_t bit_of(int i)
{
    return UINT64_C(1) << (i % 64);
}

Bitset bitset_make(Arena *a, int nbits)
{
    check(nbits >= 0, "a set of %d elements", nbits);
    Bitset s = {.nbits = nbits};
    s.words = arena_array(a, uint64_t, word_count(&s));
    return s;
}

bool bitset_has(const Bitset *s, int i)
{
    check_index(s, i);
    return s->words[i / 64] & bit_of(i);
}

bool bitset_add(Bitset *s, int i)
{
    if (bitset_has(s, i)) return false;
    s->words[i / 64] |= bit_of(i);
    return true;
}

void bitset_remove(Bitset *s, int i)
{
    check_index(s, i);
    s->words[i / 64] &= ~bit_of(i);
}

bool bitset_union(Bitset *into, const Bitset *from)
{
    check(into->nbits == from->nbits, "union of sets of %d and %d", into->nbits, from->nbits);
    uint64_t grown = 0;
    for (int w = 0; w < word_count(into); w++) {
        grown |= from->words[w] & ~into->words[w];
        into->words[w] |= from->words[w];
    }
    return grown;
}

int bitset_next(const Bitset *s, int from)
{
    if (from < 0) from = 0;
    if (from >= s->nbits) return -1;
    uint64_t word = s->words[from / 64] & ~(bit_of(from) - 1);
    for (int w = from / 64;; word = s->words[w]) {
        if (word) return w * 64 + __builtin_ctzll(word);
        if (++w == word_count(s)) return -1;
    }
}
