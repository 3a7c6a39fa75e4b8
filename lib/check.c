/* Kernels looked at without making code of them: tkc_check, and the configurations that a kernel
   names itself. */
#include "job.h"
#include "spec/walk.h"

/* ---- checking without code ---- */

typedef struct CheckJob {
    Job job;
    int checked, incomplete;
} CheckJob;

static void check_kernel(CheckJob *c, SpecModule *m, SpecRequest *rq, const char *kernel)
{
    rq->kernel = kernel;
    if (!spec_is_complete(m, rq)) {
        c->incomplete++;
        return;
    }
    c->checked++;
    spec_kernel(m, rq);
}

/* What kernels need that were not checked: where all must be, and where none was. */
static void tell_unchecked(CheckJob *c, SpecModule *m, SpecRequest *rq, int n, const Str *kernels)
{
    bool must = c->job.options->require_checked;
    for (int i = 0; i < n && c->incomplete && (must || !c->checked); i++) {
        rq->kernel = kernels[i];
        if (!spec_is_complete(m, rq)) spec_ask(m, rq, must);
    }
}

/* What is given for no kernel at all is a mistake. */
static void check_given(CheckJob *c, const char *what, Str name, int n, const Ast *const *kernels)
{
    for (int k = 0; k < n; k++) {
        const Ast *def = kernels[k];
        if (def && walk_param(&def->def.params, name)) return;
    }
    diag_error_as(c->job.dx, DIAG_UNKNOWN_ARGUMENT, SPAN_NONE,
                  "a %s is given for '%s', but no kernel of '%s' has such a parameter", what, name,
                  c->job.source->source->name);
}

static void check_all_given(CheckJob *c, SpecModule *m, SpecRequest *rq, int n, const Str *names)
{
    const AstFile *file;
    const Ast **defs = arena_array(&c->job.artifact->arena, const Ast *, n + 1);
    for (int i = 0; i < n; i++) {
        rq->kernel = names[i];
        diag_quietly(c->job.dx, defs[i] = spec_definition(m, rq, &file));
    }
    for (int i = 0; i < rq->defines.len; i++)
        check_given(c, "value", rq->defines.data[i].name, n, defs);
    for (int i = 0; i < rq->arguments.len; i++)
        check_given(c, "value", rq->arguments.data[i].name, n, defs);
    for (int i = 0; i < rq->sigs.len; i++) check_given(c, "type", rq->sigs.data[i].name, n, defs);
}

static void check_kernels(CheckJob *c, SpecModule *m, SpecRequest *rq)
{
    const char *only = c->job.options->kernel;
    Str one = only ? intern_cstr(c->job.source->names, only) : NULL, *names = &one;
    int n = only ? 1 : kernel_list(&c->job.artifact->arena, c->job.source->file, &names);
    if (!only) check_all_given(c, m, rq, n, names);
    rq->is_for_all = !only;
    for (int i = 0; i < n; i++) check_kernel(c, m, rq, names[i]);
    tell_unchecked(c, m, rq, n, names);
}

static bool check_source(Diags *dx, void *arg)
{
    CheckJob *c = arg;
    Job *j = &c->job;
    j->dx = dx;
    diags_enter(dx, DIAG_REQUEST);
    j->ir = ir_new(&j->artifact->arena, j->source->names);
    if (j->source->language == TKC_LANGUAGE_IR) {
        bool ok = job_make_funcs(j);
        c->checked = ok ? j->nfuncs : 0;
        return ok;
    }
    SpecRequest rq = job_request(j);
    if (!rq.machine || !job_check_options(j, &rq)) return false;
    SpecModule *m = spec_module(j->ir, dx, j->source->file, &rq);
    if (!job_complete_request(j, &rq, m)) return false;
    spec_check_names(m);
    check_kernels(c, m, &rq);
    return dx->nerrors == 0;
}

TkcStatus tkc_check(TkcSource *source, const TkcOptions *given, int *checked, int *incomplete)
{
    TkcOptions options;
    if (!api_is_source(source)) return TKC_MISUSE;
    const char *misuse = tkc_options_read(&options, given);
    if (misuse) return api_misuse(source->cx, "%s", misuse);
    CheckJob c = {.job = {.source = source, .options = &options, .artifact = artifact_new(source)}};
    if (!c.job.artifact) return tkc_no_memory(source->cx);
    TkcStatus status = api_run(source->cx, &c.job.artifact->arena, &options, check_source, &c);
    tkc_artifact_free(c.job.artifact);
    if (checked) *checked = c.checked;
    if (incomplete) *incomplete = c.incomplete;
    return status;
}

/* ---- configurations ---- */

typedef struct ConfigsJob {
    Job job;
    const char *const *texts;
    int count;
    TkcTuning tuning;
} ConfigsJob;

static bool read_configs(Diags *dx, void *arg)
{
    ConfigsJob *c = arg;
    Job *j = &c->job;
    j->dx = dx;
    if (j->source->language == TKC_LANGUAGE_IR) return true;
    j->ir = ir_new(&j->source->arena, j->source->names);
    SpecRequest rq = job_request(j);
    SpecModule *m = spec_module(j->ir, dx, j->source->file, &rq);
    c->count = spec_configs(m, &rq, &c->texts, &c->tuning);
    return dx->nerrors == 0;
}

static TkcStatus find_configs(TkcSource *source, const char *kernel, ConfigsJob *c)
{
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = kernel;
    *c = (ConfigsJob){.job = {.source = source, .options = &options}};
    return api_run(source->cx, &source->arena, &options, read_configs, c);
}

TkcStatus tkc_source_configs(TkcSource *source, const char *kernel, const char *const **texts,
                             int *count)
{
    ConfigsJob c;
    if (!api_is_source(source)) return TKC_MISUSE;
    if (!texts || !count)
        return api_misuse(source->cx,
                          "there is no place for the configurations: the pointer is NULL");
    TkcStatus status = find_configs(source, kernel, &c);
    *texts = status == TKC_OK ? c.texts : NULL;
    *count = status == TKC_OK ? c.count : 0;
    return status;
}

TkcStatus tkc_source_tuning(TkcSource *source, const char *kernel, TkcTuning *out)
{
    ConfigsJob c;
    if (!api_is_source(source)) return TKC_MISUSE;
    const TkcTuning none = {0};
    if (!out || !tkc_give(out, &none, sizeof none))
        return api_misuse(
            source->cx,
            "there is no place for what @autotune says: it is NULL, or its size is not set");
    TkcStatus status = find_configs(source, kernel, &c);
    if (status == TKC_OK) tkc_give(out, &c.tuning, sizeof c.tuning);
    return status;
}
