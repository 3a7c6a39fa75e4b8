/* Sources: a file's text, parsed once, kept for any number of compilations. */
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/sha256.h"
#include "spec/kernel.h"
#include "spec/std_files.h"

typedef struct OpenJob {
    TkcSource *source;
    const char *path; /* to read; NULL when text is given */
    const char *name, *text;
    size_t len;
} OpenJob;

static bool open_source(Diags *dx, void *arg)
{
    OpenJob *j = arg;
    TkcSource *s = j->source;
    if (j->path) {
        const char *why;
        j->text = api_read_file(&s->arena, j->path, &j->len, &why);
        if (!j->text) {
            diag_error(dx, SPAN_NONE, "cannot read '%s': %s", j->path, why);
            return false;
        }
    }
    if (j->len > UINT32_MAX / 2) {
        diag_error(dx, SPAN_NONE, "'%s' is too large: %zu bytes", j->name, j->len);
        return false;
    }
    s->names = intern_new(&s->arena);
    s->source = source_new(&s->arena, j->name, j->text, j->len);
    if (s->language == TKC_LANGUAGE_TK)
        s->file = syntax_parse(&s->arena, s->names, dx, s->source);
    return dx->nerrors == 0;
}

static TkcStatus source_make(TkcContext *cx, OpenJob *j, TkcLanguage language, TkcSource **out)
{
    *out = NULL;
    TkcSource *s = calloc(1, sizeof *s);
    if (!s)
        return TKC_NO_MEMORY;
    arena_init(&s->arena);
    s->cx = cx;
    s->language = language;
    j->source = s;
    TkcStatus status = api_run(cx, &s->arena, NULL, open_source, j);
    if (status == TKC_OK)
        *out = s;
    else
        tkc_source_free(s);
    return status;
}

TkcStatus tkc_source_open(TkcContext *cx, const char *path, TkcLanguage language, TkcSource **out)
{
    return source_make(cx, &(OpenJob){.path = path, .name = path}, language, out);
}

TkcStatus tkc_source_from_text(TkcContext *cx, const char *name, const char *text, size_t len, TkcLanguage language,
                               TkcSource **out)
{
    return source_make(cx, &(OpenJob){.name = name, .text = text, .len = len}, language, out);
}

void tkc_source_free(TkcSource *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}

TkcContext *tkc_source_context(const TkcSource *source)
{
    return source->cx;
}

/* ---- kernels and their parameters ---- */

static bool find_kernels(Diags *dx, void *arg)
{
    (void)dx;
    TkcSource *s = arg;
    s->nkernels = s->language == TKC_LANGUAGE_TK ? kernel_list(&s->arena, s->file, &s->kernels) : 0;
    s->kernels_known = true;
    return true;
}

int tkc_source_kernel_count(TkcSource *s)
{
    if (!s->kernels_known)
        api_run(s->cx, &s->arena, NULL, find_kernels, s);
    return s->nkernels;
}

const char *tkc_source_kernel_name(TkcSource *s, int i)
{
    return i >= 0 && i < tkc_source_kernel_count(s) ? s->kernels[i] : NULL;
}

typedef struct ParamJob {
    TkcSource *source;
    const char *kernel;
    const Ast *def; /* out */
    int index;
    TkcParam *out;
} ParamJob;

static bool find_def(Diags *dx, void *arg)
{
    ParamJob *j = arg;
    if (j->source->language != TKC_LANGUAGE_TK) {
        diag_error(dx, SPAN_NONE, "'%s' is block IR: its parameters are in its text", j->source->source->name);
        return false;
    }
    j->def = kernel_find(dx, j->source->file, j->kernel);
    if (j->def && j->out)
        kernel_param(&j->source->arena, j->source->names, j->def, j->index, j->out);
    return j->def != NULL;
}

TkcStatus tkc_source_param_count(TkcSource *s, const char *kernel, int *count)
{
    ParamJob j = {.source = s, .kernel = kernel};
    TkcStatus status = api_run(s->cx, &s->arena, NULL, find_def, &j);
    *count = status == TKC_OK ? kernel_param_count(j.def) : 0;
    return status;
}

TkcStatus tkc_source_param(TkcSource *s, const char *kernel, int i, TkcParam *out)
{
    int count;
    TkcStatus status = tkc_source_param_count(s, kernel, &count);
    if (status != TKC_OK)
        return status;
    if (i < 0 || i >= count)
        return api_misuse(s->cx, "the kernel has %d parameters; there is no parameter %d", count, i);
    ParamJob j = {.source = s, .kernel = kernel, .index = i, .out = out};
    return api_run(s->cx, &s->arena, NULL, find_def, &j);
}

/* ---- the part of a cache key that the source decides ---- */

void tkc_source_hash(const TkcSource *source, uint8_t out[32])
{
    Sha256 h;
    sha256_init(&h);
    sha256_update(&h, source->source->hash, 32);
    for (int i = 0; i < std_file_count; i++)
        sha256_update(&h, std_files[i].text, std_files[i].len);
    const char *version = tkc_version_long();
    sha256_update(&h, version, strlen(version));
    sha256_final(&h, out);
}
