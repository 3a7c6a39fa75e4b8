/* One compilation: the pipeline, in order, and the artifact it leaves.

   source ─ specialize ─▶ IR ─ clean-up ─▶ facts ─ layouts ─▶ shared memory, barriers
          ─ lower ─▶ LLVM ─ backend ─▶ PTX

   `emit` says how far to go. Each stage either succeeds or leaves an error diagnostic. */
#include "cost.h"
#include "ir/print.h"
#include "ir/tensor_map.h"
#include "job.h"
#include "target/backend.h"

static bool emit_target(Job *j)
{
    TkcArtifact *a = j->artifact;
    BackendResult r;
    if (!job_is_ready_for_code(j)) return false;
    const BackendWants wants = {.llvm = j->emit == TKC_EMIT_LLVM,
                                .line_info = j->options->line_info || j->options->debug};
    if (!backend_compile(&r, a->fn, wants, &a->arena, j->dx)) return false;
    job_add_duration(j, "lower", r.lower_ms);
    job_add_duration(j, "optimize", r.optimize_ms);
    job_add_duration(j, "emit", r.emit_ms);
    a->text = r.text;
    a->len = r.len;
    a->symbol = r.symbol;
    a->shared_bytes = (int)r.shared_bytes;
    a->nmaps = tensor_maps(&a->arena, a->fn, &a->maps);
    return true;
}

static bool emit_func(Job *j, Buf *out)
{
    switch (j->emit) {
    case TKC_EMIT_FACTS: axis_print(out, j->artifact->fn); return true;
    case TKC_EMIT_IR:
    case TKC_EMIT_LAYOUT: ir_print(out, j->artifact->fn); return true;
    case TKC_EMIT_LLVM:
    case TKC_EMIT_PTX: return emit_target(j);
    case TKC_EMIT_EXPLAIN:
        if (!job_is_ready_for_code(j)) return false;
        explain_print(out, &j->scratch, j->artifact->fn);
        return true;
    case TKC_EMIT_TOKENS:
    case TKC_EMIT_AST: break;
    }
    return false;
}

static bool emit_tree(Job *j, Buf *out)
{
    if (!j->source->file)
        diag_error(j->dx, SPAN_NONE, "'%s' is block IR: it has no tokens and no tree",
                   j->source->source->name);
    else if (j->emit == TKC_EMIT_TOKENS) tokens_print(out, j->source->file);
    else ast_print(out, j->source->file);
    return j->source->file != NULL;
}

static bool compile_funcs(Job *j, Buf *out)
{
    j->ir = ir_new(&j->artifact->arena, j->source->names);
    if (!job_make_funcs(j)) return false;
    for (int i = 0; i < j->nfuncs; i++) {
        j->artifact->fn = j->funcs[i];
        if (i) buf_putc(out, '\n');
        if (!job_run_passes(j)) return false;
        if (j->emit >= TKC_EMIT_LAYOUT && job_can_give_code(j))
            remark_func(&j->scratch, j->dx, j->artifact->fn);
        if (!emit_func(j, out)) return false;
    }
    return true;
}

static bool compile(Diags *dx, void *arg)
{
    Job *j = arg;
    TkcArtifact *a = j->artifact;
    Buf out = buf_make(&a->arena);
    const Source *own = j->source->source;
    vec_push(&a->arena, &a->files, ((TkcFile){own->name, own->text, own->len}));
    j->dx = dx;
    diags_enter(dx, DIAG_REQUEST);
    if (!(j->emit <= TKC_EMIT_AST ? emit_tree(j, &out) : compile_funcs(j, &out))) {
        fit_advise(j);
        return false;
    }
    if (!a->text) {
        a->text = buf_text(&out);
        a->len = out.len;
    }
    artifact_describe_params(a);
    a->is_warned = dx->nwarnings > 0;
    return true;
}

/* ---- the public edge ---- */

TkcStatus tkc_compile(TkcSource *source, const TkcOptions *given, TkcEmit emit, TkcArtifact **out)
{
    TkcOptions options;
    if (out) *out = NULL;
    if (!api_is_source(source)) return TKC_MISUSE;
    const char *misuse = tkc_options_read(&options, given);
    if (!misuse && !out) misuse = "there is no place for the artifact: the pointer is NULL";
    if (!misuse && (emit < TKC_EMIT_TOKENS || emit > TKC_EMIT_EXPLAIN))
        misuse = "there is no such emission";
    if (misuse) return api_misuse(source->cx, "%s", misuse);
    TkcArtifact *a = artifact_new(source);
    if (!a) return tkc_no_memory(source->cx);
    Job job = {.source = source, .options = &options, .emit = emit, .artifact = a};
    arena_init(&job.scratch);
    TkcStatus status = api_run(source->cx, &a->arena, &options, compile, &job);
    arena_fini(&job.scratch);
    if (status == TKC_OK) *out = a;
    else tkc_artifact_free(a);
    return status;
}
