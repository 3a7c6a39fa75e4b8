/* Lines and columns for every kind of line end, and spans. */
#include "base/source.h"

#include "expect.h"

static void expect_position(const Source *s, uint32_t offset, int line, int col)
{
    int got_line, got_col;
    source_position(s, offset, &got_line, &got_col);
    EXPECT_INT(got_line, line);
    EXPECT_INT(got_col, col);
}

static void expect_line(const Source *s, int line, const char *text)
{
    size_t len;
    const char *got = source_line(s, line, &len);
    EXPECT(len == strlen(text) && memcmp(got, text, len) == 0);
}

static void every_line_end_counts(void)
{
    Arena a;
    arena_init(&a);
    const char text[] = "one\ntwo\r\n\rfour";
    Source *s = source_new(&a, "x.tk", text, sizeof text - 1);
    EXPECT_INT(s->nlines, 4);
    expect_line(s, 1, "one");
    expect_line(s, 2, "two");
    expect_line(s, 3, "");
    expect_line(s, 4, "four");
    expect_position(s, 0, 1, 1);
    expect_position(s, 3, 1, 4);
    expect_position(s, 4, 2, 1);
    expect_position(s, 9, 3, 1);
    expect_position(s, 10, 4, 1);
    expect_position(s, 14, 4, 5);
    expect_position(s, 4000, 4, 5);
    arena_fini(&a);
}

static void empty_text_has_one_line(void)
{
    Arena a;
    arena_init(&a);
    Source *s = source_new(&a, "x.tk", "", 0);
    EXPECT_INT(s->nlines, 1);
    expect_line(s, 1, "");
    expect_position(s, 0, 1, 1);
    Source *ended = source_new(&a, "y.tk", "a\n", 2);
    EXPECT_INT(ended->nlines, 2);
    expect_line(ended, 2, "");
    EXPECT_RAISE(source_line(ended, 3, &(size_t){0}), "line 3 of 2");
    arena_fini(&a);
}

static void text_is_copied(void)
{
    Arena a;
    arena_init(&a);
    char name[] = "n", text[] = "abc";
    Source *s = source_new(&a, name, text, 3);
    name[0] = text[0] = '?';
    EXPECT_STR(s->name, "n");
    EXPECT_STR(s->text, "abc");
    arena_fini(&a);
}

static void spans_join(void)
{
    Source one = {0}, two = {0};
    Span joined = span_join((Span){&one, 5, 7}, (Span){&one, 1, 3});
    EXPECT(joined.source == &one && joined.begin == 1 && joined.end == 7);
    joined = span_join((Span){&one, 5, 7}, (Span){&two, 1, 3});
    EXPECT(joined.source == &one && joined.begin == 5);
    joined = span_join(SPAN_NONE, (Span){&two, 1, 3});
    EXPECT(joined.source == &two && joined.end == 3);
    EXPECT(span_join((Span){&two, 1, 3}, SPAN_NONE).source == &two);
}

int main(void)
{
    RUN(every_line_end_counts);
    RUN(empty_text_has_one_line);
    RUN(text_is_copied);
    RUN(spans_join);
    return expect_done();
}
