/* -batch FILE: one compile per line, one result line each on standard output:
     ok <TAB> file <TAB> kernel <TAB> milliseconds <TAB> bytes of output
     error <TAB> file <TAB> kernel <TAB> first diagnostic on one line
   A line is the words of a command, separated by tabs: FILE, KERNEL (or empty), then options; empty lines and lines from # are skipped.
   Options on the command line itself are the defaults of every line: give them there as -arch=, -emit=, -num-warps=, -I. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

enum { MAX_WORDS = 256, FIRST = 1024 };

/* The first error of a line's compile. */
typedef struct First { char text[FIRST]; } First;

static void keep_first(const TkcDiagnostic *d, void *user)
{
    First *f = user;
    if (f->text[0] || d->severity != TKC_SEVERITY_ERROR)
        return;
    if (d->file)
        snprintf(f->text, sizeof f->text, "%s:%d:%d: %s", d->file, d->line, d->column, d->text);
    else
        snprintf(f->text, sizeof f->text, "%s", d->text);
    for (char *p = f->text; *p; p++)
        if (*p == '\n' || *p == '\t')
            *p = ' ';
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int split_tabs(char *line, char **words)
{
    int n = 1;
    words[0] = "tkc";
    for (char *p = line; p && n < MAX_WORDS;) {
        char *tab = strchr(p, '\t');
        if (tab)
            *tab = 0;
        words[n++] = p;
        p = tab ? tab + 1 : NULL;
    }
    return n;
}

static void inherit(Options *line, const Options *from)
{
    TkcOptions *c = &line->compile;
    if (!c->arch)
        c->arch = from->compile.arch;
    if (!c->num_warps)
        c->num_warps = from->compile.num_warps;
    if (!c->num_stages)
        c->num_stages = from->compile.num_stages;
    if (line->emit == TKC_EMIT_PTX)
        line->emit = from->emit;
    c->verify_each |= from->compile.verify_each;
    c->warnings_as_errors |= from->compile.warnings_as_errors;
}

static TkcStatus compile_line(TkcContext *cx, Options *o, size_t *len)
{
    TkcSource *source = command_source(cx, o);
    TkcArtifact *artifact = NULL;
    if (!source)
        return TKC_ERROR;
    TkcStatus status = tkc_compile(source, &o->compile, o->emit, &artifact);
    if (status == TKC_OK)
        tkc_artifact_text(artifact, len);
    tkc_artifact_free(artifact);
    tkc_source_free(source);
    return status;
}

/* words: tkc FILE KERNEL option… ; the empty kernel word is dropped. */
static bool run_line(const Options *defaults, int n, char **words)
{
    TkcContext *cx = tkc_context_new();
    First first = {{0}};
    Options o;
    const char *kernel = n > 2 ? words[2] : "";
    char *argv[MAX_WORDS + 1];
    int argc = 0;
    for (int i = 0; i < n; i++)
        if (i != 2 && words[i][0])
            argv[argc++] = words[i];
    size_t len = 0;
    double start = now_ms();
    bool ok = cx && options_read(&o, argc, argv);
    if (ok) {
        if (kernel[0])
            o.compile.kernel = kernel;
        inherit(&o, defaults);
        tkc_context_on_diagnostic(cx, keep_first, &first);
        for (int i = 0; i < defaults->ninclude; i++)
            tkc_context_add_include(cx, defaults->include[i]);
        for (int i = 0; i < o.ninclude; i++)
            tkc_context_add_include(cx, o.include[i]);
        ok = compile_line(cx, &o, &len) == TKC_OK;
    } else {
        snprintf(first.text, sizeof first.text, "the line's options are not understood");
    }
    if (ok)
        printf("ok\t%s\t%s\t%.3f\t%zu\n", words[1], kernel, now_ms() - start, len);
    else
        printf("error\t%s\t%s\t%s\n", words[1], kernel, first.text);
    fflush(stdout);
    if (cx)
        options_fini(&o);
    tkc_context_free(cx);
    return ok;
}

int command_batch(TkcContext *cx, Options *o)
{
    (void)cx;
    FILE *f = strcmp(o->batch, "-") ? fopen(o->batch, "r") : stdin;
    if (!f)
        return command_fail("cannot read '%s'", o->batch);
    char *line = NULL;
    size_t cap = 0;
    bool all = true;
    while (getline(&line, &cap, f) > 0) {
        char *words[MAX_WORDS];
        line[strcspn(line, "\r\n")] = 0;
        if (!line[0] || line[0] == '#')
            continue;
        all &= run_line(o, split_tabs(line, words), words);
    }
    free(line);
    if (f != stdin)
        fclose(f);
    return all ? EXIT_FINE : EXIT_REFUSED;
}
