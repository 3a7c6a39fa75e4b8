/* Artifacts: made by compile.c and check.c, held by the user; shrunk, where one is kept for long, to
   what is asked of it later. */
#include <stdlib.h>

#include "base/unwind.h"
#include "ir/machine.h"
#include "job.h"
#include "tkc/clock.h"

_Static_assert(sizeof(TkcArtifact) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

TkcArtifact *artifact_new(TkcSource *source)
{
    TkcArtifact *a = tkc_handle_new(TKC_HANDLE_ARTIFACT);
    if (!a) return NULL;
    arena_init(&a->arena);
    a->source = source;
    tkc_handle_keep(source, TKC_HANDLE_SOURCE);
    return a;
}

static bool is_artifact(const TkcArtifact *a)
{
    return tkc_handle_is(a, TKC_HANDLE_ARTIFACT);
}

void tkc_artifact_free(TkcArtifact *a)
{
    if (!tkc_handle_close(a, TKC_HANDLE_ARTIFACT) || !tkc_handle_drop(a)) return;
    free(a->manifest);
    arena_fini(&a->arena);
    tkc_source_drop(a->source);
    tkc_handle_free(a);
}

void artifact_describe_params(TkcArtifact *a)
{
    int n = a->fn ? a->fn->nparams : 0;
    a->param_types = arena_array(&a->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        a->param_types[i] = type_signature(&a->arena, a->fn->params[i].type);
}

/* ---- the time report ---- */

void job_add_duration(Job *j, const char *name, double ms)
{
    if (j->options->time_report)
        vec_push(&j->artifact->arena, &j->artifact->times, ((ArtifactTime){name, ms}));
}

void job_add_time(Job *j, const char *name, double since)
{
    job_add_duration(j, name, clock_ms() - since);
}

/* ---- what is kept of one for long ---- */

/* IR and its text, in an arena that has nothing else. */
static void copy_artifact(TkcArtifact *to, const TkcArtifact *a, Arena *scratch)
{
    *to = (TkcArtifact){.source = a->source, .len = a->len};
    arena_init_small(&to->arena);
    Arena *arena = &to->arena;
    to->fn = ir_func_transfer(ir_new(arena, a->source->names), scratch, a->fn, a->source->source);
    to->text = arena_strndup(arena, a->text, a->len);
}

void tkc_artifact_shrink(TkcArtifact *a)
{
    TkcArtifact *small = tkc_artifact_func(a) ? calloc(1, sizeof *small) : NULL;
    UnwindFrame frame;
    Arena scratch;
    if (!small) return;
    arena_init(&scratch);
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) {
        copy_artifact(small, a, &scratch);
        arena_fini(&a->arena);
        *a = *small;
    } else {
        arena_fini(&small->arena); /* no memory to do with less, or blocks with layouts: it stays */
    }
    unwind_pop(&frame);
    arena_fini(&scratch);
    free(small);
}

const char *tkc_artifact_text(const TkcArtifact *a, size_t *len)
{
    if (len) *len = is_artifact(a) ? a->len : 0;
    return is_artifact(a) ? a->text : NULL;
}

const Func *tkc_artifact_func(const TkcArtifact *a)
{
    return is_artifact(a) ? a->fn : NULL;
}

const char *tkc_artifact_kernel(const TkcArtifact *a)
{
    if (!is_artifact(a)) return "";
    return a->symbol ? a->symbol : a->fn ? a->fn->name : "";
}

/* What the kernel has; `none` where there is none. */
#define OF_KERNEL(T, what, has, none)                                                              \
    T tkc_artifact_##what(const TkcArtifact *a)                                                    \
    {                                                                                              \
        return is_artifact(a) && a->fn ? a->fn->has : none;                                        \
    }
OF_KERNEL(int, num_warps, num_warps, 0)
OF_KERNEL(int, num_stages, num_stages, 0)
OF_KERNEL(int, param_count, nparams, 0)
OF_KERNEL(const char *, arch, machine->name, NULL)
#undef OF_KERNEL

/* What a parameter of it has. */
#define OF_PARAM(T, what, has, none)                                                               \
    T tkc_artifact_param_##what(const TkcArtifact *a, int i)                                       \
    {                                                                                              \
        return i >= 0 && i < tkc_artifact_param_count(a) ? a->has : none;                          \
    }
OF_PARAM(const char *, name, fn->params[i].name, NULL)
OF_PARAM(const char *, type, param_types[i], NULL)
OF_PARAM(int64_t, divisibility, fn->params[i].divisibility, 0)
#undef OF_PARAM

int tkc_artifact_shared_bytes(const TkcArtifact *a)
{
    return is_artifact(a) ? a->shared_bytes : 0;
}

bool tkc_artifact_tensor_map(const TkcArtifact *a, int i, TkcTensorMap *out)
{
    const bool is_there = is_artifact(a) && i >= 0 && i < a->nmaps;
    if (is_there) *out = a->maps[i];
    return is_there;
}

const TkcFile *tkc_artifact_file(const TkcArtifact *a, int i)
{
    return i < a->files.len ? &a->files.data[i] : NULL;
}

char **tkc_artifact_manifest_slot(TkcArtifact *a)
{
    return &a->manifest;
}

bool tkc_artifact_is_warned(const TkcArtifact *a)
{
    return a->is_warned;
}

const TkcDefine *tkc_artifact_value(const TkcArtifact *a, int i)
{
    return is_artifact(a) && i >= 0 && i < a->taken.nvalues ? &a->taken.values[i] : NULL;
}

int tkc_artifact_config(const TkcArtifact *a, int *count)
{
    if (count) *count = is_artifact(a) ? a->taken.nconfigs : 0;
    return is_artifact(a) && a->taken.nconfigs ? a->taken.config : -1;
}

const char *tkc_artifact_time(const TkcArtifact *a, int i, double *ms)
{
    if (!is_artifact(a) || i < 0 || i >= a->times.len) return NULL;
    if (ms) *ms = a->times.data[i].ms;
    return a->times.data[i].name;
}
