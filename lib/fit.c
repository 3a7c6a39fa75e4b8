/* A kernel that needs more shared memory than a program has: what of it to make smaller. Tried, not
   estimated, by making its IR again, without code; what that finds is a note of the error. Numbers
   of stages are not among it: loops take as many as fit (memory/pipeline.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/unwind.h"
#include "job.h"

enum { MOST_TRIES = 16, LEAST_EXTENT = 16 };

typedef struct Fit {
    Job *job;
    Diag *error;
    int tries;
} Fit;

/* What goes wrong in it is nobody's affair; but for want of time or memory there are no more tries.
 */
static bool try_options(Fit *f, const TkcOptions *o)
{
    UnwindFrame frame;
    Diags unheard;
    TkcArtifact trial = {.source = f->job->source};
    Job job = {.source = trial.source,
               .options = o,
               .emit = TKC_EMIT_LLVM,
               .artifact = &trial,
               .dx = &unheard};
    volatile bool fits = false;
    if (f->tries++ >= MOST_TRIES) return false;
    arena_init(&trial.arena);
    arena_init(&job.scratch);
    diags_init(&unheard, &job.scratch);
    unwind_push(&frame);
    if (setjmp(frame.env) == 0) {
        job.ir = ir_new(&trial.arena, trial.source->names);
        if (job_make_funcs(&job)) {
            trial.fn = job.funcs[0];
            fits = job_run_passes(&job);
        }
    } else {
        f->tries = MOST_TRIES;
    }
    unwind_pop(&frame);
    arena_fini(&job.scratch);
    arena_fini(&trial.arena);
    return fits;
}

/* The largest half, quarter, … of the value that fits. */
static void try_value(Fit *f, const char *name, const char *value)
{
    TkcOptions o = *f->job->options;
    char *end, number[32], text[160];
    long long n = strtoll(value, &end, 10);
    if (*end || n < 2 * LEAST_EXTENT || (n & (n - 1))) return;
    TkcDefine *defines = arena_array(&f->job->scratch, TkcDefine, o.ndefines + 1);
    size_t at = 0;
    while (at < o.ndefines && strcmp(o.defines[at].name, name)) at++;
    if (o.ndefines) memcpy(defines, o.defines, o.ndefines * sizeof *defines);
    o.ndefines += at == o.ndefines;
    o.defines = defines;
    defines[at] = (TkcDefine){name, number};
    for (n /= 2; n >= LEAST_EXTENT; n /= 2) {
        snprintf(number, sizeof number, "%lld", n);
        if (!try_options(f, &o)) continue;
        snprintf(text, sizeof text, "%s=%lld", name, n);
        diag_note(f->job->dx, f->error, SPAN_NONE, "with %s it fits", text);
        if (!f->error->settings) diag_setting(f->job->dx, f->error, "defines", "%s", text);
        return;
    }
}

void fit_advise(Job *j)
{
    Fit f = {.job = j, .error = j->dx->first};
    while (f.error && f.error->id != DIAG_SHARED_MEMORY) f.error = f.error->next;
    if (!f.error || !j->source->file) return;
    const SpecTaken taken = j->artifact->taken;
    for (size_t i = 0; i < j->options->ndefines; i++)
        try_value(&f, j->options->defines[i].name, j->options->defines[i].value);
    for (int i = 0; i < taken.nvalues; i++) {
        bool is_told = false;
        for (size_t k = 0; k < j->options->ndefines; k++)
            is_told |= !strcmp(j->options->defines[k].name, taken.values[i].name);
        if (!is_told) try_value(&f, taken.values[i].name, taken.values[i].value);
    }
}
