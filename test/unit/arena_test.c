/* Zeroed and aligned memory, marks, sizes that cannot be had. */
#include "base/arena.h"

#include <stdint.h>

#include "expect.h"

static int is_zero(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i]) return 0;
    }
    return 1;
}

static void memory_is_zero_and_aligned(void)
{
    Arena a;
    arena_init(&a);
    for (size_t size = 0; size < 3000; size += 7) {
        char *p = arena_alloc(&a, size);
        EXPECT((uintptr_t)p % 16 == 0);
        EXPECT(is_zero(p, size));
        memset(p, 0xff, size);
    }
    arena_fini(&a);
    EXPECT(a.used == 0 && !a.chunk);
}

static void objects_do_not_overlap(void)
{
    Arena a;
    arena_init(&a);
    enum { N = 5000 };
    int **p = arena_array(&a, int *, N);
    for (int i = 0; i < N; i++) {
        p[i] = arena_new(&a, int);
        *p[i] = i;
    }
    for (int i = 0; i < N; i++) EXPECT(*p[i] == i);
    char *large = arena_alloc(&a, 20 << 20);
    EXPECT(is_zero(large, 20 << 20));
    large[(20 << 20) - 1] = 1;
    EXPECT(*p[N - 1] == N - 1);
    arena_fini(&a);
}

static void reset_frees_and_clears(void)
{
    Arena a;
    arena_init(&a);
    ArenaMark empty = arena_mark(&a);
    char *kept = arena_strndup(&a, "kept", 4);
    ArenaMark mark = arena_mark(&a);
    for (int round = 0; round < 3; round++) {
        char *small = arena_alloc(&a, 100);
        EXPECT(is_zero(small, 100));
        memset(small, 1, 100);
        if (round != 1) memset(arena_alloc(&a, 1 << 20), 1, 1 << 20);
        arena_reset(&a, mark);
        EXPECT_STR(kept, "kept");
        EXPECT(a.used == mark.used);
    }
    arena_reset(&a, empty);
    EXPECT(!a.chunk && a.used == 0);
    arena_fini(&a);
}

static void impossible_sizes_raise(void)
{
    Arena a;
    arena_init(&a);
    EXPECT_RAISE(arena_alloc(&a, SIZE_MAX - 3), "out of memory: 18446744073709551612 bytes asked for");
    EXPECT_RAISE(arena_alloc_array(&a, SIZE_MAX / 2, 3),
                 "out of memory: 9223372036854775807 elements of 3 bytes");
    EXPECT_STR(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    arena_fini(&a);
}

int main(void)
{
    RUN(memory_is_zero_and_aligned);
    RUN(objects_do_not_overlap);
    RUN(reset_frees_and_clears);
    RUN(impossible_sizes_raise);
    return expect_done();
}
