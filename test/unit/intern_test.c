/* Equal text, equal pointer; NUL bytes count; growth keeps pointers. */
#include "base/intern.h"

#include "expect.h"

static void equal_text_equal_pointer(void)
{
    Arena a;
    arena_init(&a);
    Interner *t = intern_new(&a);
    char copy[] = "block";
    EXPECT(intern_cstr(t, "block") == intern_cstr(t, copy));
    EXPECT(intern_cstr(t, "block") != intern_cstr(t, "blocks"));
    EXPECT(intern(t, "blocks", 5) == intern_cstr(t, "block"));
    EXPECT(intern_printf(t, "%s%d", "x", 12) == intern_cstr(t, "x12"));
    EXPECT(intern(t, NULL, 0) == intern_cstr(t, ""));
    EXPECT_STR(intern_cstr(t, "block"), "block");
    arena_fini(&a);
}

static void bytes_may_be_nul(void)
{
    Arena a;
    arena_init(&a);
    Interner *t = intern_new(&a);
    Str s = intern(t, "a\0b", 3);
    EXPECT_INT(str_len(s), 3);
    EXPECT(s != intern_cstr(t, "a"));
    EXPECT(s == intern(t, "a\0b", 3));
    EXPECT_INT(str_len(intern_cstr(t, "")), 0);
    arena_fini(&a);
}

static void growth_keeps_pointers(void)
{
    enum { N = 20000 };
    Arena a;
    arena_init(&a);
    Interner *t = intern_new(&a);
    Str *s = arena_array(&a, Str, N);
    for (int i = 0; i < N; i++) s[i] = intern_printf(t, "name%d", i);
    for (int i = 0; i < N; i++) EXPECT(s[i] == intern_printf(t, "name%d", i));
    char longer[1000];
    memset(longer, 'y', sizeof longer);
    longer[999] = '\0';
    EXPECT(intern_printf(t, "%s", longer) == intern_cstr(t, longer));
    arena_fini(&a);
}

int main(void)
{
    RUN(equal_text_equal_pointer);
    RUN(bytes_may_be_nul);
    RUN(growth_keeps_pointers);
    return expect_done();
}
