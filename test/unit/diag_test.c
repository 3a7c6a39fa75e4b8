/* What is kept, in which order, how it is drawn, and which word is suggested. */
#include "base/diag.h"

#include "expect.h"

typedef struct Fixture {
    Arena arena;
    Diags d;
} Fixture;

static Source *set_up(Fixture *f, const char *text)
{
    arena_init(&f->arena);
    diags_init(&f->d, &f->arena);
    return source_new(&f->arena, "add.tk", text, strlen(text));
}

static const char *render(Fixture *f)
{
    Buf out = buf_make(&f->arena);
    for (Diag *x = f->d.first; x; x = x->next) diag_draw(&out, x, false);
    return buf_text(&out);
}

/* The range of the first `word` in the text. */
static Span span_of(const Source *s, const char *word)
{
    uint32_t at = (uint32_t)(strstr(s->text, word) - s->text);
    return (Span){s, at, at + (uint32_t)strlen(word)};
}

static void error_with_note_is_drawn(void)
{
    Fixture f;
    Source *s = set_up(&f, "def k(bias):\n    y = x + bias\n");
    Diag *e = diag_error(&f.d, span_of(s, "x + bias"), "cannot broadcast %s with %s", "a", "b");
    diag_note(&f.d, e, span_of(s, "bias"), "'bias' gets its shape here");
    diag_note(&f.d, e, SPAN_NONE, "and another");
    diag_note(&f.d, NULL, span_of(s, "bias"), "never seen");
    EXPECT_STR(render(&f), "add.tk:2:9: error: cannot broadcast a with b\n"
                           "    y = x + bias\n"
                           "        ^~~~~~~~\n"
                           "add.tk:1:7: note: 'bias' gets its shape here\n"
                           "def k(bias):\n"
                           "      ^~~~\n"
                           "note: and another\n");
    arena_fini(&f.arena);
}

static void what_to_write_stands_below(void)
{
    Fixture f;
    Source *s = set_up(&f, "\tä = laod && tl.laod2\n");
    Diag *e = diag_error_as(&f.d, DIAG_UNKNOWN_NAME, span_of(s, "&&"), "no '&&'");
    diag_fixit(&f.d, e, span_of(s, "&&"), "and");
    diag_fixit(&f.d, e, (Span){s, 1, 1}, "x\n");
    diag_fixit(&f.d, NULL, span_of(s, "&&"), "or");
    diag_fixit(&f.d, e, SPAN_NONE, "nowhere");
    diag_suggest(&f.d, e, span_of(s, "laod &&"), "laod", "load");
    diag_suggest(&f.d, e, span_of(s, "tl.laod2"), "laod", "load"); /* it is not there as a word */
    diag_suggest(&f.d, e, span_of(s, "&&"), "laod", NULL);
    diag_setting(&f.d, e, "defines", "B=%d", 4);
    diag_setting(&f.d, NULL, "defines", "never");
    EXPECT_STR(render(&f), "add.tk:1:12: error: no '&&'\n"
                           "\tä = laod && tl.laod2\n"
                           "\t         ^~\n"
                           "\t         and\n"
                           "add.tk:1:7: note: did you mean 'load'?\n"
                           "\tä = laod && tl.laod2\n"
                           "\t    ^~~~\n"
                           "\t    load\n"
                           "add.tk:1:15: note: did you mean 'load'?\n"
                           "\tä = laod && tl.laod2\n"
                           "\t            ^~~~~~~~\n");
    EXPECT_STR(diag_id_name(e->id), "unknown-name");
    EXPECT_STR(e->settings->value, "B=4");
    EXPECT(!e->settings->next);
    arena_fini(&f.arena);
}

static void stage_names_what_has_no_name(void)
{
    Fixture f;
    Source *s = set_up(&f, "a b c\n");
    DiagId before = diags_enter(&f.d, DIAG_SYNTAX);
    EXPECT_STR(diag_id_name(diag_error(&f.d, span_of(s, "a"), "x")->id), "syntax");
    EXPECT_STR(diag_id_name(diag_warning(&f.d, DIAG_FILE, span_of(s, "b"), "x")->id), "file");
    diags_enter(&f.d, before);
    EXPECT_STR(diag_id_name(diag_remark(&f.d, DIAG_LANGUAGE, span_of(s, "c"), "x")->id), "language");
    EXPECT(!diag_remark(&f.d, DIAG_VEC, span_of(s, "c"), "narrow"));
    f.d.off[DIAG_VEC] = false;
    EXPECT_STR(diag_id_name(diag_remark(&f.d, DIAG_VEC, span_of(s, "c"), "narrow")->id), "vec");
    arena_fini(&f.arena);
}

static void tabs_and_wide_characters_line_up(void)
{
    Fixture f;
    Source *s = set_up(&f, "\tä = é + b\x01\n");
    diag_error(&f.d, span_of(s, "é + b"), "no");
    EXPECT_STR(render(&f), "add.tk:1:7: error: no\n\tä = é + b?\n\t    ^~~~~\n");
    arena_fini(&f.arena);
}

static void range_ends_with_its_line(void)
{
    Fixture f;
    Source *s = set_up(&f, "f(a,\n  b)\n");
    diag_error(&f.d, (Span){s, 0, 9}, "x");
    diag_error(&f.d, (Span){s, 10, 10}, "at the end");
    EXPECT_STR(render(&f), "add.tk:1:1: error: x\nf(a,\n^~~~\nadd.tk:3:1: error: at the end\n\n^\n");
    arena_fini(&f.arena);
}

static void long_lines_are_cut_around_the_caret(void)
{
    char line[1001];
    memset(line, 'x', 1000);
    line[1000] = '\0';
    line[500] = '!';
    Fixture f;
    Source *s = set_up(&f, line);
    diag_error(&f.d, span_of(s, "!"), "far");
    const char *text = render(&f);
    const char *caret = strchr(text, '^'), *mark = strchr(text, '!');
    EXPECT(strstr(text, "add.tk:1:501: error: far\n...xxx"));
    EXPECT(strstr(text, "xxx...\n"));
    EXPECT(strlen(text) < 400);
    const char *shown = strchr(text, '\n') + 1;
    EXPECT_INT(caret - (strchr(shown, '\n') + 1), mark - shown);
    arena_fini(&f.arena);
}

static void unlocated_ones_have_text_only(void)
{
    Fixture f;
    set_up(&f, "");
    diag_warning(&f.d, DIAG_LAUNCH, SPAN_NONE, "no device");
    diag_remark(&f.d, DIAG_LAUNCH, SPAN_NONE, "slow");
    EXPECT_STR(render(&f), "warning: no device\nremark: slow\n");
    EXPECT_INT(f.d.nwarnings, 1);
    EXPECT_INT(f.d.nerrors, 0);
    arena_fini(&f.arena);
}

static void one_place_one_error(void)
{
    Fixture f;
    Source *s = set_up(&f, "a b\n");
    EXPECT(diag_error(&f.d, span_of(s, "a"), "first"));
    EXPECT(!diag_error(&f.d, span_of(s, "a"), "consequence"));
    EXPECT(diag_warning(&f.d, DIAG_REGISTERS, span_of(s, "a"), "one"));
    EXPECT(diag_warning(&f.d, DIAG_REGISTERS, span_of(s, "a"), "two"));
    EXPECT(!diag_warning(&f.d, DIAG_REGISTERS, span_of(s, "a"), "two"));
    EXPECT(diag_error(&f.d, SPAN_NONE, "p"));
    EXPECT(diag_error(&f.d, SPAN_NONE, "q"));
    EXPECT(!diag_error(&f.d, SPAN_NONE, "q"));
    EXPECT_INT(f.d.nerrors, 3);
    EXPECT_INT(f.d.count, 5);
    arena_fini(&f.arena);
}

static void errors_beyond_the_limit_are_counted(void)
{
    Fixture f;
    char text[101];
    memset(text, 'x', 100);
    text[100] = '\0';
    Source *s = set_up(&f, text);
    for (uint32_t i = 0; i < 50; i++) EXPECT(!diag_error(&f.d, (Span){s, i, i + 1}, "e") == (i >= 20));
    EXPECT_INT(f.d.nerrors, 50);
    EXPECT_INT(f.d.count, 20);
    EXPECT(diag_warning(&f.d, DIAG_LAUNCH, SPAN_NONE, "still room for a warning"));
    arena_fini(&f.arena);
}

static void muted_records_nothing(void)
{
    Fixture f;
    Source *s = set_up(&f, "a\n");
    f.d.muted++;
    EXPECT(!diag_error(&f.d, span_of(s, "a"), "x"));
    EXPECT_INT(f.d.nerrors, 0);
    f.d.muted--;
    EXPECT(diag_error(&f.d, span_of(s, "a"), "x"));
    arena_fini(&f.arena);
}

static void sorted_by_file_then_position(void)
{
    Fixture f;
    Source *s = set_up(&f, "a b c\n");
    Source *other = source_new(&f.arena, "helper.tk", "z\n", 2);
    diag_error(&f.d, SPAN_NONE, "1");
    diag_error(&f.d, span_of(s, "c"), "2");
    diag_error(&f.d, span_of(other, "z"), "3");
    diag_error(&f.d, span_of(s, "a"), "4");
    diag_warning(&f.d, DIAG_REGISTERS, span_of(s, "c"), "5");
    diag_error(&f.d, SPAN_NONE, "6");
    diags_sort(&f.d);
    char order[7] = "";
    for (Diag *x = f.d.first; x; x = x->next) strcat(order, x->text);
    EXPECT_STR(order, "425316");
    EXPECT_STR(f.d.last->text, "6");
    arena_fini(&f.arena);
}

static void nearest_words(void)
{
    const char *const names[] = {"arange", "zeros", "maximum", "minimum", "max", "exp"};
    EXPECT_STR(nearest_word("arrange", names, 6), "arange");
    EXPECT_STR(nearest_word("zeors", names, 6), "zeros");
    EXPECT_STR(nearest_word("maximun", names, 6), "maximum");
    EXPECT_STR(nearest_word("exq", names, 6), "exp");
    EXPECT_STR(nearest_word("frobnicate", names, 6), NULL);
    EXPECT_STR(nearest_word("x", names, 6), NULL);
    const char *const capitals[] = {"k", "BLOCK", "blocks"};
    EXPECT_STR(nearest_word("block", capitals, 3), "BLOCK");
    EXPECT_STR(nearest_word("K", capitals, 3), "k");
    EXPECT_STR(nearest_word("blok", capitals, 3), NULL);
    EXPECT_STR(nearest_word("", names, 6), NULL);
}

static void texts_are_one_short_line(void)
{
    Fixture f;
    set_up(&f, "");
    char *name = arena_alloc(&f.arena, 100001);
    memset(name, 'a', 100000);
    memcpy(name + 3999, "\xc3\xa9", 2); /* one letter across the limit: it goes as a whole */
    Diag *d = diag_error(&f.d, SPAN_NONE, "a\nb\tc\x1b[31m'%s'", "x");
    EXPECT_STR(d->text, "a b?c?[31m'x'");
    d = diag_error(&f.d, SPAN_NONE, "%s", name);
    EXPECT_INT(strlen(d->text), 4002);
    EXPECT_STR(d->text + 3998, "a...");
    diag_note(&f.d, d, SPAN_NONE, "two\nlines");
    EXPECT_STR(d->notes->text, "two\nlines");
    arena_fini(&f.arena);
}

int main(void)
{
    RUN(error_with_note_is_drawn);
    RUN(what_to_write_stands_below);
    RUN(stage_names_what_has_no_name);
    RUN(tabs_and_wide_characters_line_up);
    RUN(range_ends_with_its_line);
    RUN(long_lines_are_cut_around_the_caret);
    RUN(unlocated_ones_have_text_only);
    RUN(one_place_one_error);
    RUN(errors_beyond_the_limit_are_counted);
    RUN(muted_records_nothing);
    RUN(sorted_by_file_then_position);
    RUN(nearest_words);
    RUN(texts_are_one_short_line);
    return expect_done();
}
