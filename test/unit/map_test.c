/* Keys of every kind are found again; the byte hash is the same everywhere and spreads. */
#include "base/map.h"

#include "expect.h"

static void what_is_set_is_got(void)
{
    enum { N = 10000 };
    static int values[N];
    Arena a;
    Map m;
    arena_init(&a);
    map_init(&m, &a);
    EXPECT(!map_get(&m, 0) && !map_has(&m, 0));
    for (uint64_t i = 0; i < N; i++) map_set(&m, i << 32, &values[i]);
    for (uint64_t i = 0; i < N; i++) EXPECT(map_get(&m, i << 32) == &values[i]);
    EXPECT(!map_has(&m, 1));
    EXPECT_INT(m.len, N);
    map_set(&m, 0, &values[7]);
    EXPECT(map_get(&m, 0) == &values[7]);
    EXPECT_INT(m.len, N);
    arena_fini(&a);
}

static void null_can_be_stored(void)
{
    Arena a;
    Map m;
    arena_init(&a);
    map_init(&m, &a);
    map_set_ptr(&m, &a, NULL);
    EXPECT(map_has(&m, (uint64_t)(uintptr_t)&a));
    EXPECT(!map_get_ptr(&m, &a));
    arena_fini(&a);
}

static void hash_is_stable_and_spreads(void)
{
    EXPECT(hash_bytes("", 0, 0) != hash_bytes("", 0, 1));
    EXPECT(hash_bytes("a", 1, 0) != hash_bytes("a\0", 2, 0));
    EXPECT(hash_bytes("abcdefgh", 8, 0) != hash_bytes("abcdefgi", 8, 0));
    /* Of 4096 numbers hashed into 4096 buckets, a random function leaves 1507 buckets empty. */
    static char used[4096];
    int empty = 4096;
    for (uint32_t i = 0; i < 4096; i++) {
        char *bucket = &used[hash_bytes(&i, sizeof i, 0) % 4096];
        empty -= !*bucket;
        *bucket = 1;
    }
    EXPECT(empty > 1400 && empty < 1600);
    /* Files of other runs and machines hold these numbers. */
    EXPECT(hash_bytes("tkc", 3, 0) == UINT64_C(0x56d6425925fd39f7));
    EXPECT(hash_bytes("a longer text", 13, 42) == UINT64_C(0x7fc4791d5e7d0e14));
}

int main(void)
{
    RUN(what_is_set_is_got);
    RUN(null_can_be_stored);
    RUN(hash_is_stable_and_spreads);
    return expect_done();
}
