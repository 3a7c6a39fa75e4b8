/* -batch FILE: one compile per line, one result line each on standard output:
     ok <TAB> file <TAB> kernel <TAB> milliseconds <TAB> bytes of output
     error <TAB> file <TAB> kernel <TAB> first diagnostic on one line
   A line is the words of a command, separated by tabs: FILE, KERNEL (or empty), then options;
   blanks separate them in a line without tabs. Empty lines and lines from # are skipped. Options on
   the command line itself are the defaults of every line. Without -emit a line is compiled to IR:
   types, shapes and values are checked, a GPU's limits are not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tkc/clock.h"
#include "tkc/text.h"

enum { MAX_WORDS = 256, FIRST = 1024 };

/* The first error of a line's compile. */
static void set_first(char first[FIRST], const char *text)
{
    snprintf(first, FIRST, "%s", text);
    for (char *p = first; *p; p++)
        if ((unsigned char)*p < 32) *p = ' ';
}

static void keep_first(const TkcDiagnostic *d, void *user)
{
    char *first = user;
    report_heed(d);
    char text[FIRST], flags[FIRST / 2];
    if (*first || d->severity != TKC_SEVERITY_ERROR) return;
    Text t = {text, sizeof text, 0};
    if (d->file) text_put(&t, "%s:%d:%d: ", d->file, d->line, d->column);
    text_put(&t, "%s", d->text);
    if (*report_flags(d, flags, sizeof flags)) text_put(&t, "; add %s", flags);
    set_first(first, text);
}

/* Blanks around a word are not of it. */
static char *trim(char *word)
{
    word += strspn(word, " ");
    for (size_t n = strlen(word); n && word[n - 1] == ' '; n--) word[n - 1] = 0;
    return word;
}

/* The words of a line, in place; MAX_WORDS + 1 when there are more. */
static int split_words(char *line, char **words)
{
    const bool has_tabs = strchr(line, '\t') != NULL;
    int n = 0;
    for (char *word; n <= MAX_WORDS && (word = has_tabs ? strsep(&line, "\t") : words_next(&line)); n++)
        if (n < MAX_WORDS) words[n] = has_tabs ? trim(word) : word;
    return n;
}

static TkcStatus compile_line(TkcContext *cx, Options *o, size_t *len)
{
    TkcSource *source = command_source(cx, o);
    TkcArtifact *artifact = NULL;
    if (!source) return TKC_ERROR;
    TkcStatus status = tkc_compile(source, &o->compile, o->emit, &artifact);
    if (status == TKC_OK) tkc_artifact_text(artifact, len);
    tkc_artifact_free(artifact);
    tkc_source_free(source);
    return status;
}

typedef struct Line {
    const char *file, *kernel;
    int argc;
    char *argv[MAX_WORDS + 1]; /* "tkc", the file, options */
} Line;

/* FILE, KERNEL or nothing, options: an option in the kernel's place means that none is named. */
static bool read_line(Line *l, char *text, char *first)
{
    char *words[MAX_WORDS];
    int n = split_words(text, words);
    *l = (Line){.file = words[0], .kernel = "", .argc = 1};
    if (n > MAX_WORDS) return set_first(first, "the line has too many words"), false;
    for (int i = 0; i < n; i++)
        if (i == 1 && words[i][0] != '-') l->kernel = words[i];
        else if (words[i][0]) l->argv[l->argc++] = words[i];
    return true;
}

static bool compile_words(const Line *l, const Options *defaults, char *first, size_t *len)
{
    Options o;
    bool ok = options_read_line(&o, defaults, l->argc, (char **)l->argv);
    TkcContext *cx = tkc_context_new();
    if (!ok || !cx) {
        set_first(first, ok ? "no memory" : o.error);
        ok = false;
    } else {
        if (l->kernel[0]) o.compile.kernel = l->kernel;
        tkc_context_on_diagnostic(cx, keep_first, first);
        for (int i = 0; i < defaults->ninclude; i++)
            tkc_context_add_include(cx, defaults->include[i]);
        for (int i = 0; i < o.ninclude; i++) tkc_context_add_include(cx, o.include[i]);
        ok = compile_line(cx, &o, len) == TKC_OK;
    }
    options_fini(&o);
    tkc_context_free(cx);
    return ok;
}

/* Each line has a context of its own: nothing of one reaches the next. */
static bool run_line(const Options *defaults, char *text)
{
    Line l;
    char first[FIRST] = "";
    size_t len = 0;
    double start = clock_ms();
    bool ok = read_line(&l, text, first) && compile_words(&l, defaults, first, &len);
    if (ok) printf("ok\t%s\t%s\t%.3f\t%zu\n", l.file, l.kernel, clock_ms() - start, len);
    else printf("error\t%s\t%s\t%s\n", l.file, l.kernel, first);
    fflush(stdout);
    return ok;
}

/* True when every line is fine; *error: why not all of them were read, 0 when they were. */
static bool run_lines(FILE *f, const Options *o, int *error)
{
    char *line = NULL;
    size_t cap = 0;
    bool all = true;
    ssize_t n;
    while (errno = 0, (n = getline(&line, &cap, f)) > 0) {
        bool has_nul = strlen(line) < (size_t)n;
        line[strcspn(line, "\r\n")] = 0;
        const char first = line[strspn(line, " \t")];
        if (has_nul) {
            printf("error\t%s\t\tthe line holds a NUL byte\n", line);
            all = false;
        } else if (first && first != '#') {
            all &= run_line(o, line);
        }
    }
    /* A line too long for memory is no error of the stream. */
    *error = feof(f) ? 0 : errno ? errno : EIO;
    free(line);
    return all;
}

static int cannot_read(const Options *o, int error)
{
    bool is_stdin = !strcmp(o->batch, "-");
    return command_fail("cannot read %s%s%s: %s", is_stdin ? "" : "'",
                        is_stdin ? "standard input" : o->batch, is_stdin ? "" : "'",
                        strerror(error));
}

int command_batch(TkcContext *cx, Options *o)
{
    errno = 0;
    FILE *f = strcmp(o->batch, "-") ? fopen(o->batch, "r") : stdin;
    if (!f) return cannot_read(o, errno);
    command_default_arch(cx, o);
    int error, code = run_lines(f, o, &error) ? EXIT_FINE : EXIT_REFUSED;
    if (error) code = cannot_read(o, error);
    if (f != stdin) fclose(f);
    return code;
}
