/* Members at word edges, union, iteration, indices outside. */
#include "base/bitset.h"

#include "expect.h"

static void members_at_word_edges(void)
{
    Arena a;
    arena_init(&a);
    const int members[] = {0, 1, 63, 64, 65, 127, 128, 199};
    Bitset s = bitset_make(&a, 200);
    EXPECT_INT(bitset_next(&s, 0), -1);
    for (int i = 0; i < 8; i++) {
        EXPECT(bitset_add(&s, members[i]));
        EXPECT(!bitset_add(&s, members[i]));
    }
    int at = -1;
    for (int i = 0; i < 8; i++) {
        at = bitset_next(&s, at + 1);
        EXPECT_INT(at, members[i]);
    }
    EXPECT_INT(bitset_next(&s, 200), -1);
    bitset_remove(&s, 64);
    EXPECT(!bitset_has(&s, 64) && bitset_has(&s, 65));
    EXPECT_INT(bitset_next(&s, 64), 65);
    Bitset one_over = bitset_make(&a, 65);
    EXPECT(bitset_add(&one_over, 64));
    EXPECT_INT(bitset_next(&one_over, 0), 64);
    arena_fini(&a);
}

static void union_says_if_it_grew(void)
{
    Arena a;
    arena_init(&a);
    Bitset s = bitset_make(&a, 70), t = bitset_make(&a, 70);
    bitset_add(&t, 69);
    EXPECT(bitset_union(&s, &t));
    EXPECT(!bitset_union(&s, &t));
    EXPECT(bitset_has(&s, 69));
    Bitset other = bitset_make(&a, 71);
    EXPECT_RAISE(bitset_union(&s, &other), "union of sets of 70 and 71");
    arena_fini(&a);
}

static void indices_outside_raise(void)
{
    Arena a;
    arena_init(&a);
    Bitset s = bitset_make(&a, 64), none = bitset_make(&a, 0);
    EXPECT_RAISE(bitset_has(&s, 64), "index 64 is outside a set of 64");
    EXPECT_RAISE(bitset_add(&s, -1), "index -1 is outside a set of 64");
    EXPECT_INT(bitset_next(&none, 0), -1);
    arena_fini(&a);
}

int main(void)
{
    RUN(members_at_word_edges);
    RUN(union_says_if_it_grew);
    RUN(indices_outside_raise);
    return expect_done();
}
