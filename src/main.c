/* The tkc command: options in, the library's public API, an exit code out. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tkc/runtime.h"

static void print_diagnostic(const TkcDiagnostic *d, void *user)
{
    (void)user;
    fputs(d->rendered, stderr);
}

int command_exit(TkcStatus status)
{
    return status == TKC_OK ? EXIT_FINE : status == TKC_MISUSE ? EXIT_MISUSE : EXIT_REFUSED;
}

int command_fail(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("tkc: error: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return EXIT_REFUSED;
}

/* ---- input and output ---- */

static char *read_all(FILE *f, size_t *len)
{
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap);
    for (size_t got; text && (got = fread(text + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n < cap)
            continue;
        char *bigger = realloc(text, cap *= 2);
        if (!bigger)
            free(text);
        text = bigger;
    }
    *len = n;
    return text;
}

TkcSource *command_source(TkcContext *cx, const Options *o)
{
    TkcSource *source = NULL;
    if (strcmp(o->file, "-")) {
        tkc_source_open(cx, o->file, o->language, &source);
        return source;
    }
    size_t len;
    char *text = read_all(stdin, &len);
    if (!text)
        command_fail("no memory for standard input");
    else
        tkc_source_from_text(cx, "<stdin>", text, len, o->language, &source);
    free(text);
    return source;
}

static int write_output(const Options *o, const char *text, size_t len)
{
    FILE *f = o->output ? fopen(o->output, "wb") : stdout;
    if (!f)
        return command_fail("cannot write '%s': %s", o->output, strerror(errno));
    bool ok = fwrite(text, 1, len, f) == len;
    ok = (o->output ? fclose(f) : fflush(f)) == 0 && ok;
    return ok ? EXIT_FINE : command_fail("cannot write '%s': %s", o->output ? o->output : "standard output", strerror(errno));
}

/* ---- compiling ---- */

const char *command_default_arch(TkcContext *cx, char *buffer, size_t size)
{
    TkcDevice *dev;
    tkc_context_on_diagnostic(cx, NULL, NULL); /* having none is fine */
    TkcStatus status = tkc_device_open(cx, "cuda", 0, &dev);
    tkc_context_on_diagnostic(cx, print_diagnostic, NULL);
    if (status != TKC_OK)
        return NULL;
    snprintf(buffer, size, "%s", tkc_device_arch(dev));
    tkc_device_free(dev);
    return buffer;
}

static void print_times(const TkcArtifact *a)
{
    double ms, total = 0;
    const char *name;
    for (int i = 0; (name = tkc_artifact_time(a, i, &ms)); i++) {
        fprintf(stderr, "%10.3f ms  %s\n", ms, name);
        total += ms;
    }
    fprintf(stderr, "%10.3f ms  total\n", total);
}

int command_compile(TkcContext *cx, Options *o)
{
    char arch[16];
    TkcSource *source = command_source(cx, o);
    if (!source)
        return EXIT_REFUSED;
    if (!o->compile.arch && o->emit >= TKC_EMIT_LAYOUT)
        o->compile.arch = command_default_arch(cx, arch, sizeof arch);
    TkcArtifact *artifact = NULL;
    TkcStatus status = tkc_compile(source, &o->compile, o->emit, &artifact);
    int code = command_exit(status);
    if (status == TKC_OK) {
        size_t len;
        const char *text = tkc_artifact_text(artifact, &len);
        code = write_output(o, text, len);
        if (o->compile.time_report)
            print_times(artifact);
        if (o->verbose && o->emit >= TKC_EMIT_LLVM)
            fprintf(stderr, "tkc: %s: %d warps, %d bytes of shared memory, %zu bytes of text\n", tkc_artifact_kernel(artifact),
                    tkc_artifact_num_warps(artifact), tkc_artifact_shared_bytes(artifact), len);
    }
    tkc_artifact_free(artifact);
    tkc_source_free(source);
    return code;
}

int command_check(TkcContext *cx, Options *o)
{
    TkcSource *source = command_source(cx, o);
    if (!source)
        return EXIT_REFUSED;
    int checked, incomplete;
    TkcStatus status = tkc_check(source, &o->compile, &checked, &incomplete);
    if (status == TKC_OK && (o->verbose || incomplete))
        fprintf(stderr, "tkc: %d kernel%s checked, %d not: types or constexprs are missing\n", checked, checked == 1 ? "" : "s",
                incomplete);
    tkc_source_free(source);
    return command_exit(status);
}

int main(int argc, char **argv)
{
    Options o;
    int code = EXIT_MISUSE;
    if (options_read(&o, argc, argv)) {
        TkcContext *cx = tkc_context_new();
        if (cx)
            tkc_context_on_diagnostic(cx, print_diagnostic, NULL);
        for (int i = 0; cx && i < o.ninclude; i++)
            tkc_context_add_include(cx, o.include[i]);
        if (o.help)
            options_help(stdout), code = EXIT_FINE;
        else if (o.version)
            puts(tkc_version_long()), code = EXIT_FINE;
        else if (!cx)
            code = command_fail("no memory");
        else if (o.batch)
            code = command_batch(cx, &o);
        else if (o.syntax_only)
            code = command_check(cx, &o);
        else if (o.run)
            code = command_run(cx, &o);
        else
            code = command_compile(cx, &o);
        tkc_context_free(cx);
    }
    options_fini(&o);
    return code;
}
