/* What a handler is given besides the text: ids, notes, fix-its and settings as data. */
#include <string.h>

#include "expect.h"
#include "tkc/tkc.h"

static const char text[] = "import triton, triton.language as tl\n"
                           "@triton.jit\n"
                           "def add(y, BLOCK: tl.constexpr):\n"
                           "    value = BLOCK; tl.store(y, vlaue)\n";

/* Compiles the text and expects to be told once, what `handler` looks at. */
static void compile(const char *signature, const TkcDefine *define, TkcDiagnosticFn handler)
{
    TkcContext *cx = tkc_context_new();
    TkcSource *source;
    TkcArtifact *artifact;
    TkcOptions o;
    int calls = 0;
    tkc_context_on_diagnostic(cx, handler, &calls);
    tkc_context_color(cx, true);
    tkc_context_color(NULL, true);
    tkc_options_init(&o);
    o.signature = signature;
    o.defines = define;
    o.ndefines = define != NULL;
    EXPECT_INT(tkc_source_from_text(cx, "t.tk", text, strlen(text), TKC_LANGUAGE_TK, &source),
               TKC_OK);
    EXPECT_INT(tkc_compile(source, &o, TKC_EMIT_IR, &artifact), TKC_ERROR);
    EXPECT_INT(calls, 1);
    EXPECT(!strchr(tkc_last_error(cx), '\033')); /* the colours are for the handler */
    tkc_source_free(source);
    tkc_context_free(cx);
}

static void look_at_notes(const TkcDiagnostic *d, void *user)
{
    *(int *)user += 1;
    EXPECT_STR(d->id, "unknown-argument");
    EXPECT(!d->file && d->severity == TKC_SEVERITY_ERROR && !d->fixits && !d->next);
    EXPECT(strstr(d->rendered, "\033[1;31merror: ") != NULL);
    const TkcDiagnostic *n = d->notes;
    EXPECT_STR(n->text, "did you mean 'BLOCK'?");
    EXPECT(n->severity == TKC_NOTE && n->size == sizeof *n && !strcmp(n->id, d->id));
    EXPECT_STR(n->rendered, "");
    n = n->next;
    EXPECT(n->line == 3 && n->column == 5 && n->end_column == 8 && !n->next);
}

static void notes_are_data(void)
{
    compile("y=*fp32", &(TkcDefine){"BLOKC", "1"}, look_at_notes);
}

static void look_at_settings(const TkcDiagnostic *d, void *user)
{
    *(int *)user += 1;
    EXPECT_STR(d->id, "missing-types");
    EXPECT_STR(d->text, "kernel 'add' needs the value of 'BLOCK' and the type of 'y'");
    const TkcSetting *s = d->settings;
    EXPECT(s->size == sizeof *s && !strcmp(s->option, "defines") && !strcmp(s->value, "BLOCK=<int>"));
    s = s->next;
    EXPECT(!strcmp(s->option, "signature") && !strcmp(s->value, "y=*fp32") && !s->next);
}

static void settings_are_data(void)
{
    compile(NULL, NULL, look_at_settings);
}

static void look_at_fixit(const TkcDiagnostic *d, void *user)
{
    *(int *)user += 1;
    EXPECT_STR(d->id, "unknown-name");
    EXPECT(d->line == 4 && d->column == 32 && !d->fixits && !d->settings);
    const TkcFixit *f = d->notes->fixits;
    EXPECT(f->size == sizeof *f && !f->next && !strcmp(f->file, "t.tk"));
    EXPECT(f->line == 4 && f->column == 32 && f->end_line == 4 && f->end_column == 37);
    EXPECT_STR(f->text, "value");
}

static void fixits_are_data(void)
{
    compile("y=*fp32", &(TkcDefine){"BLOCK", "1"}, look_at_fixit);
}

static void nearest_words(void)
{
    const char *const words[] = {"load", "store", "atomic_add"};
    EXPECT_STR(tkc_nearest_word("laod", words, 3), "load");
    EXPECT_STR(tkc_nearest_word("sotre", words, 3), "store");
    EXPECT(!tkc_nearest_word("x", words, 3) && !tkc_nearest_word("laod", words, 0));
    EXPECT(!tkc_nearest_word(NULL, words, 3) && !tkc_nearest_word("load", NULL, 3));
}

int main(void)
{
    RUN(nearest_words);
    RUN(notes_are_data);
    RUN(settings_are_data);
    RUN(fixits_are_data);
    return expect_done();
}
