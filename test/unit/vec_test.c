/* Pushing keeps what was there, also when the item comes from the array itself. */
#include "base/vec.h"

#include "expect.h"

static void push_keeps_order(void)
{
    Arena a;
    arena_init(&a);
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++) vec_push(&a, &v, i * 3);
    EXPECT_INT(v.len, 1000);
    EXPECT(v.cap >= v.len);
    for (int i = 0; i < v.len; i++) EXPECT_INT(v.data[i], i * 3);
    arena_fini(&a);
}

static void elements_may_be_structs(void)
{
    typedef struct Pair { char c; double d; } Pair;
    Arena a;
    arena_init(&a);
    VEC(Pair) v = {0};
    for (int i = 0; i < 100; i++) vec_push(&a, &v, ((Pair){(char)i, i / 2.0}));
    for (int i = 0; i < 100; i++) EXPECT(v.data[i].c == (char)i && v.data[i].d == i / 2.0);
    arena_fini(&a);
}

static void full_array_raises(void)
{
    Arena a;
    arena_init(&a);
    int cap = 0x7fffffff;
    EXPECT_RAISE(vec_grow(&a, NULL, 0, &cap, 4), "an array of 2147483647 elements cannot grow");
    arena_fini(&a);
}

int main(void)
{
    RUN(push_keeps_order);
    RUN(elements_may_be_structs);
    RUN(full_array_raises);
    return expect_done();
}
