/* Text grows, stays terminated, and may be appended to itself. */
#include "base/buf.h"

#include "expect.h"

static void text_grows(void)
{
    Arena a;
    arena_init(&a);
    Buf b = buf_make(&a);
    EXPECT_STR(buf_text(&b), "");
    buf_putc(&b, 'a');
    buf_puts(&b, "bc");
    buf_put(&b, "defg", 2);
    buf_printf(&b, "[%d %s]", 5, "x");
    EXPECT_STR(buf_text(&b), "abcde[5 x]");
    EXPECT_INT(b.len, 10);
    arena_fini(&a);
}

static void long_text_goes_into_a_short_one(void)
{
    Arena a;
    arena_init(&a);
    char text[1001];
    memset(text, 'q', 1000);
    text[1000] = '\0';
    Buf b = buf_make(&a);
    buf_putc(&b, 'q');
    buf_puts(&b, text + 1);
    EXPECT_STR(buf_text(&b), text);
    arena_fini(&a);
}

static void every_length_is_terminated(void)
{
    Arena a;
    arena_init(&a);
    Buf b = buf_make(&a);
    for (size_t n = 1; n < 1000; n++) {
        buf_printf(&b, "%c", 'z');
        EXPECT(strlen(buf_text(&b)) == n && b.len == n);
    }
    buf_puts(&b, buf_text(&b));
    EXPECT_INT(strlen(buf_text(&b)), 2 * 999);
    buf_put(&b, "", 0);
    buf_putc(&b, '\0');
    EXPECT_INT(b.len, 2 * 999 + 1);
    arena_fini(&a);
}

int main(void)
{
    RUN(text_grows);
    RUN(long_text_goes_into_a_short_one);
    RUN(every_length_is_terminated);
    return expect_done();
}
