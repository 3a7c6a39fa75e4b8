/* The tkc command: options in, the library's public API, an exit code out. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble.h"
#include "command.h"
#include "output.h"
#include "tkc/text.h"

int command_exit(TkcStatus status)
{
    return status == TKC_OK ? EXIT_FINE : status == TKC_MISUSE ? EXIT_MISUSE : EXIT_REFUSED;
}

/* ---- input and output ---- */

/* The longest text that is read; a pipe may never end. */
enum { MOST_INPUT = 1 << 28 };

char *command_read(FILE *f, size_t *len, const char **why)
{
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap + 1);
    *why = "no memory";
    errno = 0;
    for (size_t got; text && (got = fread(text + n, 1, cap - n, f)) > 0;) {
        n += got;
        if (n < cap) continue;
        char *bigger = cap < MOST_INPUT ? realloc(text, (cap *= 2) + 1) : NULL;
        *why = cap < MOST_INPUT ? "no memory" : "it does not end";
        if (!bigger) free(text);
        text = bigger;
    }
    if (text && ferror(f)) {
        *why = strerror(errno);
        free(text);
        return NULL;
    }
    if (text) text[*len = n] = 0;
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
    const char *why;
    char *text = command_read(stdin, &len, &why);
    if (!text) command_fail("cannot read standard input: %s", why);
    else if (tkc_context_add_include(cx, ".") == TKC_OK) /* it imports from here, as in Python */
        tkc_source_from_text(cx, "<stdin>", text, len, o->language, &source);
    free(text);
    return source;
}

int command_write(const Options *o, const char *text, size_t len)
{
    const char *why = NULL;
    if (!o->output) {
        fwrite(text, 1, len, stdout); /* what cannot be written shows when main flushes */
        return EXIT_FINE;
    }
    if (output_is_same_file(o->file, o->output))
        return command_fail("'%s' is the input; it is not overwritten", o->output);
    Output out;
    if (output_open(&out, o->output, &why) &&
        output_close(&out, fwrite(text, 1, len, out.f) == len, &why))
        return EXIT_FINE;
    return command_fail("cannot write '%s': %s", o->output, why);
}

/* ---- compiling ---- */

TkcDevice *command_gpu(TkcContext *cx)
{
    TkcDevice *dev;
    tkc_context_on_diagnostic(cx, NULL, NULL); /* having none is fine */
    TkcStatus status = tkc_device_open(cx, "cuda", 0, &dev);
    report_listen(cx);
    return status == TKC_OK ? dev : NULL;
}

void command_default_arch(TkcContext *cx, Options *o)
{
    TkcDevice *dev = o->compile.arch || o->emit < TKC_EMIT_LAYOUT ? NULL : command_gpu(cx);
    if (dev) o->compile.arch = options_keep(o, tkc_device_arch(dev));
    tkc_device_free(dev);
}

static void print_times(const TkcArtifact *a)
{
    double ms, total = 0;
    const char *name;
    for (int i = 0; (name = tkc_artifact_time(a, i, &ms)); i++) {
        report_time(name, ms);
        total += ms;
    }
    report_time("total", total);
}

void command_tell_taken(int config, int nconfigs, const TkcDefine *values, size_t n)
{
    char text[1024];
    Text t = {text, sizeof text, 0};
    if (config >= 0) command_say("configuration %d of %d", config + 1, nconfigs);
    for (size_t i = 0; i < n; i++) text_put(&t, " %s=%s", values[i].name, values[i].value);
    if (n) command_say("with%s", text);
}

const char *command_value(const TkcDefine *all, size_t n, const char *name, size_t len)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(all[i].name) == len && !memcmp(all[i].name, name, len)) return all[i].value;
    return NULL;
}

TkcParam *command_params(Options *o, TkcSource *source, const char *kernel, int *n)
{
    if (tkc_source_param_count(source, kernel, n) != TKC_OK) return NULL;
    TkcParam *all = options_alloc(o, (size_t)*n + 1, sizeof *all);
    for (int i = 0; i < *n; i++) {
        all[i].size = sizeof *all;
        if (tkc_source_param(source, kernel, i, &all[i]) != TKC_OK) return NULL;
    }
    return all;
}

bool command_has_param(Options *o, TkcSource *source, const char *kernel, const char *name,
                       bool *has)
{
    int n = 0;
    const TkcParam *all = command_params(o, source, kernel, &n);
    *has = false;
    for (int i = 0; all && i < n; i++) *has |= !strcmp(all[i].name, name);
    return all;
}

/* Its PTX assembled, malloc'ed; NULL: said why not. */
static char *make_cubin(Options *o, TkcContext *cx, const TkcArtifact *a, size_t *len)
{
    char *cubin;
    Assembler by = assemble_find(o, cx);
    if (assemble(&by, a, &cubin, len) && !cubin)
        command_fail("there is no ptxas to make a cubin, nor a driver that links: install NVIDIA's "
                     "cuda-nvcc (the CUDA toolkit) or name one, "
                     "-ptxas=FILE; -emit=ptx needs none, a driver compiles PTX when it loads it");
    assemble_end(&by);
    return cubin;
}

static int write_artifact(Options *o, TkcContext *cx, TkcArtifact *a)
{
    size_t len;
    const char *text = tkc_artifact_text(a, &len);
    if (o->product == PRODUCT_CUBIN) {
        char *cubin = make_cubin(o, cx, a, &len);
        const int code = cubin ? command_write(o, cubin, len) : EXIT_REFUSED;
        free(cubin);
        return code;
    }
    if (o->product == PRODUCT_MANIFEST && (text = tkc_artifact_manifest(a))) len = strlen(text);
    return text ? command_write(o, text, len) : command_fail("out of memory");
}

static int write_with_depends(Options *o, TkcContext *cx, TkcArtifact *a)
{
    Depends d = {.o = o};
    const int code = write_artifact(o, cx, a);
    depend_add(&d, a);
    return depend_write(&d, code);
}

static void tell_taken(const TkcArtifact *a)
{
    int n = 0, count, config = tkc_artifact_config(a, &count);
    while (tkc_artifact_value(a, n)) n++;
    command_tell_taken(config, count, tkc_artifact_value(a, 0), (size_t)n);
}

int command_compile(TkcContext *cx, Options *o)
{
    TkcSource *source = command_source(cx, o);
    if (!source) return EXIT_REFUSED;
    if (o->product == PRODUCT_CUBIN && !o->output && isatty(1)) {
        tkc_source_free(source);
        return command_fail("a cubin is no text for a terminal; -o FILE.cubin says where to");
    }
    command_default_arch(cx, o);
    TkcArtifact *artifact = NULL;
    TkcStatus status = tkc_compile(source, &o->compile, o->emit, &artifact);
    int code = command_exit(status);
    if (status == TKC_OK) {
        size_t len;
        tkc_artifact_text(artifact, &len);
        code = write_with_depends(o, cx, artifact);
        if (o->compile.time_report) print_times(artifact);
        if (o->verbose) tell_taken(artifact);
        if (o->verbose && o->emit >= TKC_EMIT_LLVM)
            command_say("%s: %d warps, %d bytes of shared memory, %zu bytes of text",
                        tkc_artifact_kernel(artifact), tkc_artifact_num_warps(artifact),
                    tkc_artifact_shared_bytes(artifact), len);
    }
    tkc_artifact_free(artifact);
    tkc_source_free(source);
    return code;
}

/* ---- the process ---- */

/* A standard stream that is closed would give its number to the next file that is opened. What
   stands in for it fails when used. */
static void keep_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) != fd)
            return;
}

/* The exit code, unless what was to be printed could not be. */
static int finish_output(int code)
{
    bool failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) == 0 && !failed) return code;
    if (!errno) (void)(putchar('\n') == EOF || fflush(stdout)); /* what failed before fails again */
    command_fail("cannot write standard output: %s", strerror(errno ? errno : EIO));
    return code == EXIT_FINE ? EXIT_REFUSED : code;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int run_command(TkcContext *cx, Options *o)
{
    report_listen(cx);
    for (int i = 0; i < o->ninclude; i++) {
        if (!is_folder(o->include[i]))
            return command_fail("-I %s: there is no such folder", o->include[i]);
        tkc_context_add_include(cx, o->include[i]);
    }
    return o->cache                       ? command_cache(cx, o)
           : o->batch                     ? command_batch(cx, o)
           : o->syntax_only               ? command_check(cx, o)
           : o->list                      ? command_list(cx, o)
           : o->explain                   ? command_explain(cx, o)
           : o->bench                     ? command_bench(cx, o)
           : o->run                       ? command_run(cx, o)
           : o->product == PRODUCT_HEADER ? command_header(cx, o)
                                          : command_compile(cx, o);
}

static int start(Options *o)
{
    if (o->help) {
        options_help(stdout);
        return EXIT_FINE;
    }
    if (o->version) {
        puts(tkc_version_long());
        return EXIT_FINE;
    }
    TkcContext *cx = tkc_context_new();
    int code = cx ? run_command(cx, o) : command_fail("out of memory");
    tkc_context_free(cx);
    return code;
}

int main(int argc, char **argv)
{
    Options o;
    int code = EXIT_MISUSE;
    keep_standard_streams();
    options_read_style(&o, argc, argv);
    report_style(o.color, o.json);
    if (options_read(&o, argc, argv)) code = finish_output(start(&o));
    else report_misuse(o.error);
    options_fini(&o);
    return report_told_bug() ? EXIT_BUG : code;
}
