/* Keys tell launches apart by what changes the code and by nothing else. */
#include <stdlib.h>

#include "jit/key.h"
#include "expect.h"

static bool is_of(const Key *k, const TkcArg *args, size_t nargs)
{
    const unsigned char *at = k->data, *end = k->data + k->len;
    for (size_t i = 0; i < nargs; i++, at = key_next(at))
        if (at == end || !key_has_arg(at, &args[i])) return false;
    return at == end;
}

static bool same_key(const TkcArg *x, size_t nx, const TkcArg *y, size_t ny)
{
    Key a = {0}, b = {0};
    EXPECT(key_make(&a, x, nx) && key_make(&b, y, ny));
    bool same = a.len == b.len && (!a.len || !memcmp(a.data, b.data, a.len));
    EXPECT(!same || a.hash == b.hash);
    EXPECT(is_of(&a, x, nx) && is_of(&b, y, ny));
    EXPECT(is_of(&a, y, ny) == same && is_of(&b, x, nx) == same);
    key_fini(&a);
    key_fini(&b);
    return same;
}

static bool same_arg(TkcArg x, TkcArg y)
{
    return same_key(&x, 1, &y, 1);
}

static TkcArg typed(TkcArg a, const char *type)
{
    a.type = type;
    return a;
}

static void keys_differ_by_code(void)
{
    EXPECT(same_arg(tkc_int(48), tkc_int(64)));
    EXPECT(same_arg(tkc_int(3), tkc_int(5)));
    EXPECT(!same_arg(tkc_int(1), tkc_int(3)));      /* equal to 1 */
    EXPECT(!same_arg(tkc_int(16), tkc_int(17)));    /* divisible by 16 */
    EXPECT(!same_arg(tkc_int(3), tkc_int(3ll << 40 | 1))); /* int32, int64 */
    EXPECT(same_arg(typed(tkc_int(3), "i64"), typed(tkc_int(3ll << 40 | 1), "i64")));
    EXPECT(!same_arg(typed(tkc_int(3), "i64"), tkc_int(3)));
    EXPECT(same_arg(tkc_pointer("*fp32", 0x1000, 4), tkc_pointer("*fp32", 0x2000, 400)));
    EXPECT(!same_arg(tkc_pointer("*fp32", 0x1000, 4), tkc_pointer("*fp32", 0x2004, 4)));
    EXPECT(!same_arg(tkc_pointer("*fp32", 0x1000, 4), tkc_pointer("*fp32", 0x2008, 4)));
    EXPECT(same_arg(tkc_pointer("*fp32", 0x1004, 4), tkc_pointer("*fp32", 0x2008, 4)));
    EXPECT(!same_arg(tkc_pointer("*fp32", 0x1000, 4), tkc_pointer("*fp16", 0x1000, 4)));
    EXPECT(same_arg(tkc_float(1), tkc_float(2)));
    EXPECT(!same_arg(tkc_float(3), tkc_int(3)));
    EXPECT(same_arg(tkc_constexpr("128"), tkc_constexpr("128")));
    EXPECT(!same_arg(tkc_constexpr("128"), tkc_constexpr("12")));
    TkcArg two[] = {tkc_constexpr("1"), tkc_constexpr("23")}, other[] = {tkc_constexpr("12"), tkc_constexpr("3")};
    EXPECT(!same_key(two, 2, other, 2));
    EXPECT(!same_key(two, 2, two, 1));
    EXPECT(same_key(NULL, 0, NULL, 0));
}

int main(void)
{
    RUN(keys_differ_by_code);
    return expect_done();
}
