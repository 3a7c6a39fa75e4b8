/* Sources: a file's text, parsed once, kept for any number of compilations. */
#include <stdlib.h>
#include <string.h>

#include "job.h"

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
    diags_enter(dx, DIAG_REQUEST);
    if (j->path) {
        const char *why;
        j->text = api_read_file(&s->arena, j->path, &j->len, &why);
        if (!j->text)
            return diag_fail_as(dx, DIAG_FILE, SPAN_NONE, "cannot read '%s': %s", j->path, why);
    }
    if (j->len > UINT32_MAX / 2)
        return diag_fail_as(dx, DIAG_FILE, SPAN_NONE, "'%s' is too large: %zu bytes", j->name,
                            j->len);
    s->names = intern_new(&s->arena);
    s->source = source_new(&s->arena, j->name, j->text, j->len);
    if (s->language == TKC_LANGUAGE_TK) s->file = syntax_parse(&s->arena, s->names, dx, s->source);
    return dx->nerrors == 0;
}

_Static_assert(sizeof(TkcSource) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

static TkcStatus source_make(TkcContext *cx, OpenJob *j, TkcLanguage language, TkcSource **out)
{
    if (!out) return api_misuse(cx, "there is no place for the source: the pointer is NULL");
    *out = NULL;
    if (!tkc_handle_is(cx, TKC_HANDLE_CONTEXT) || !j->name || (!j->path && !j->text))
        return api_misuse(cx, "the %s is NULL", j->name ? "text" : "name");
    if (language != TKC_LANGUAGE_TK && language != TKC_LANGUAGE_IR)
        return api_misuse(cx, "there is no such language");
    TkcSource *s = tkc_handle_new(TKC_HANDLE_SOURCE);
    if (!s) return tkc_no_memory(cx);
    tkc_handle_keep(cx, TKC_HANDLE_CONTEXT);
    arena_init(&s->arena);
    s->cx = cx;
    s->language = language;
    s->has_folder = j->path != NULL;
    j->source = s;
    TkcStatus status = api_run(cx, &s->arena, NULL, open_source, j);
    if (status == TKC_OK) *out = s;
    else tkc_source_free(s);
    return status;
}

TkcStatus tkc_source_open(TkcContext *cx, const char *path, TkcLanguage language, TkcSource **out)
{
    return source_make(cx, &(OpenJob){.path = path, .name = path}, language, out);
}

TkcStatus tkc_source_from_text(TkcContext *cx, const char *name, const char *text, size_t len,
                               TkcLanguage language, TkcSource **out)
{
    return source_make(cx, &(OpenJob){.name = name, .text = text, .len = len}, language, out);
}

bool api_is_source(const TkcSource *s)
{
    return tkc_handle_is(s, TKC_HANDLE_SOURCE) && tkc_handle_is(s->cx, TKC_HANDLE_CONTEXT);
}

void tkc_source_drop(TkcSource *s)
{
    if (!tkc_handle_drop(s)) return;
    arena_fini(&s->arena);
    tkc_context_drop(s->cx);
    tkc_handle_free(s);
}

void tkc_source_free(TkcSource *s)
{
    if (tkc_handle_close(s, TKC_HANDLE_SOURCE)) tkc_source_drop(s);
}

TkcContext *tkc_source_context(const TkcSource *source)
{
    return source->cx;
}

void tkc_source_describe(const TkcSource *s,
                         void (*give)(void *user, const char *what, const char *text, size_t len),
                         void *user)
{
    give(user, "name", s->source->name, strlen(s->source->name));
    give(user, "source", s->source->text, s->source->len);
    for (int i = 0; i < s->cx->ninclude; i++)
        give(user, "include", s->cx->include[i], strlen(s->cx->include[i]));
}

typedef struct ImportJob {
    TkcSource *source;
    Arena *scratch;
    const char *path;
    char *text; /* out, with its length */
    size_t len;
    bool is_there;
} ImportJob;

static bool read_now(Diags *dx, void *arg)
{
    (void)dx;
    ImportJob *j = arg;
    bool is_shown;
    const char *text = api_read_import(j->source, j->scratch, j->path, &j->len, &is_shown);
    j->is_there = text != NULL;
    if (text && (j->text = malloc(j->len + 1))) memcpy(j->text, text, j->len);
    return true;
}

TkcStatus tkc_source_import(TkcSource *s, const char *path, char **text, size_t *len)
{
    Arena scratch;
    ImportJob j = {.source = s, .scratch = &scratch, .path = path};
    arena_init(&scratch);
    TkcStatus status = api_run(s->cx, &scratch, NULL, read_now, &j);
    arena_fini(&scratch);
    *text = j.text;
    *len = j.len;
    return j.is_there && !j.text ? TKC_NO_MEMORY : status;
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
    if (!api_is_source(s)) return 0;
    if (!s->kernels_known) api_run(s->cx, &s->arena, NULL, find_kernels, s);
    return s->nkernels;
}

const char *tkc_source_kernel_name(TkcSource *s, int i)
{
    return i >= 0 && i < tkc_source_kernel_count(s) ? s->kernels[i] : NULL;
}

typedef struct ParamJob { TkcSource *source; const char *kernel; } ParamJob;

/* The definition of a kernel, with the file it is in, which takes memory of dx. NULL after an
   error. */
static const Ast *made_definition(Diags *dx, TkcSource *s, const char *kernel, const AstFile **file)
{
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = kernel;
    Job job = {.source = s, .options = &options, .dx = dx, .ir = ir_new(dx->arena, s->names)};
    SpecRequest rq = job_request(&job);
    return spec_definition(spec_module(job.ir, dx, s->file, &rq), &rq, file);
}

/* The same, without warnings, which are left to a compilation. */
static const Ast *find_definition(Diags *dx, TkcSource *s, const char *kernel, const AstFile **file)
{
    const Ast *def;
    diag_quietly(dx, def = made_definition(dx, s, kernel, file));
    return def ? def : made_definition(dx, s, kernel, file);
}

static bool read_params(Diags *dx, void *arg)
{
    const ParamJob *j = arg;
    TkcSource *s = j->source;
    const AstFile *file;
    diags_enter(dx, DIAG_REQUEST);
    if (s->language != TKC_LANGUAGE_TK)
        return diag_fail(dx, SPAN_NONE, "'%s' is block IR: its parameters are in its text",
                         s->source->name);
    const Ast *def = find_definition(dx, s, j->kernel, &file);
    if (!def) return false;
    s->nparams = def->def.params.len;
    TkcParam *params = arena_array(&s->arena, TkcParam, s->nparams + 1);
    for (int i = 0; i < s->nparams; i++) kernel_param(&s->arena, file, def, i, &params[i]);
    s->params_of = j->kernel ? arena_strndup(&s->arena, j->kernel, strlen(j->kernel)) : "";
    s->params = params;
    return true;
}

/* What finding takes is scratch; what is handed out is the source's. */
static TkcStatus know_params(TkcSource *s, const char *kernel)
{
    Arena scratch;
    arena_init(&scratch);
    s->params = NULL;
    s->nparams = 0;
    TkcStatus status = api_run(s->cx, &scratch, NULL, read_params, &(ParamJob){s, kernel});
    arena_fini(&scratch);
    return status;
}

TkcStatus tkc_source_param_count(TkcSource *s, const char *kernel, int *count)
{
    if (!api_is_source(s)) return TKC_MISUSE;
    if (!count) return api_misuse(s->cx, "there is no place for the count: the pointer is NULL");
    TkcStatus status = know_params(s, kernel);
    *count = s->nparams;
    return status;
}

/* Of the kernel whose parameters were asked for last, without finding it again: a file is a long
   text to evaluate, and its imports are more. */
TkcStatus tkc_source_param(TkcSource *s, const char *kernel, int i, TkcParam *out)
{
    if (!api_is_source(s)) return TKC_MISUSE;
    if (!out) return api_misuse(s->cx, "there is no place for the parameter: the pointer is NULL");
    const bool is_known = s->params && !strcmp(s->params_of, kernel ? kernel : "");
    TkcStatus status = is_known ? TKC_OK : know_params(s, kernel);
    if (status != TKC_OK) return status;
    if (i < 0 || i >= s->nparams)
        return api_misuse(s->cx, "the kernel has %d parameters; there is no parameter %d",
                          s->nparams, i);
    if (!tkc_give(out, &s->params[i], sizeof *s->params))
        return api_misuse(s->cx, "the size of the parameter is not set");
    return TKC_OK;
}
