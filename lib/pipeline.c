/* The passes: which there are, what runs when nothing is asked for, and what each relies on. The
   function is verified after the last, in tests after each; IR that does not verify is our bug and
   is reported as one. */
#include <string.h>

#include "base/limit.h"
#include "ir/verify.h"
#include "job.h"
#include "tkc/clock.h"
#include "layout/passes.h"
#include "memory/passes.h"

static const PassInfo passes[] = {
#define PASS(name, run, needs, gives, breaks, help) {name, run, needs, gives, breaks, help},
#include "layout/passes.def"
#include "memory/passes.def"
#include "transform/passes.def"
#undef PASS
};
enum { PASSES = sizeof passes / sizeof *passes };

/* What runs when nothing is asked for, in order: each row for the emissions from its own on. */
static const struct { TkcEmit from; const char *pass; } pipeline[] = {
    {TKC_EMIT_FACTS, "hint"},
    {TKC_EMIT_FACTS, "desc"},    {TKC_EMIT_FACTS, "fold"},     {TKC_EMIT_FACTS, "cse"},
    {TKC_EMIT_FACTS, "licm"},    {TKC_EMIT_FACTS, "count"},    {TKC_EMIT_FACTS, "ifconv"},
    {TKC_EMIT_FACTS, "dce"},
    {TKC_EMIT_LAYOUT, "lines"},  {TKC_EMIT_LAYOUT, "reads"},
    {TKC_EMIT_LAYOUT, "mask"},   {TKC_EMIT_LAYOUT, "fold"},    {TKC_EMIT_LAYOUT, "cse"},
    {TKC_EMIT_LAYOUT, "contract"}, {TKC_EMIT_LAYOUT, "accumulate"}, {TKC_EMIT_LAYOUT, "sums"},
    {TKC_EMIT_LAYOUT, "steps"},  {TKC_EMIT_LAYOUT, "bits"},
    {TKC_EMIT_LAYOUT, "peel"},
    {TKC_EMIT_LAYOUT, "parts"},
    {TKC_EMIT_LAYOUT, "dce"},    {TKC_EMIT_LAYOUT, "rows"},    {TKC_EMIT_LAYOUT, "layout"},
    {TKC_EMIT_LAYOUT, "cse"},    {TKC_EMIT_LAYOUT, "dce"},     {TKC_EMIT_LAYOUT, "deal"},
    {TKC_EMIT_LAYOUT, "sink"},   {TKC_EMIT_LAYOUT, "again"},
    {TKC_EMIT_LAYOUT, "offset"}, {TKC_EMIT_LAYOUT, "access"},
    {TKC_EMIT_LAYOUT, "pipeline"}, {TKC_EMIT_LAYOUT, "groups"}, {TKC_EMIT_LAYOUT, "boxes"},
    {TKC_EMIT_LAYOUT, "dce"},    {TKC_EMIT_LAYOUT, "issue"},   {TKC_EMIT_LAYOUT, "expand"},
    {TKC_EMIT_LAYOUT, "place"},  {TKC_EMIT_LAYOUT, "sync"},
};

static bool run_pass(Job *j, const PassInfo *info)
{
    double start = clock_ms();
    limit_poll();
    bool ok = pass_run(info, j->artifact->fn, &j->scratch, j->dx, j->options->verify_each);
    j->state = (j->state & ~info->breaks) | info->gives;
    job_add_time(j, info->name, start);
    return ok;
}

/* ---- what passes rely on ---- */

static bool has_layouts(const Op *op)
{
    for (int i = 0; i < op->nresults; i++)
        if (op_result(op, i)->type->kind == TY_BLOCK && !op_result(op, i)->type->layout)
            return false;
    return true;
}

static bool needs_no_descriptor(const Op *op)
{
    return !ir_has(op, OT_DESC);
}

static bool needs_no_buffer(const Op *op)
{
    return !expand_wants(op);
}

static bool needs_no_place(const Op *op)
{
    return op->kind != OP_ALLOC;
}

static bool has_place(const Op *op)
{
    return needs_no_place(op) || tkc_op_attr(op, ATTR_OFFSET);
}

/* IR text that has layouts and places is taken to have barriers too. */
static int state_of_text(const Func *fn)
{
    if (!ir_holds_for_all(fn->body, has_layouts)) return STATE_NONE;
    if (fn->level == LEVEL_TENSOR) return STATE_LAYOUTS;
    return ir_holds_for_all(fn->body, has_place) ? STATE_ALL : STATE_LAYOUTS | STATE_MEMORY;
}

/* What passes give, in order: what an op is like that does without, and what a message calls it. */
static const struct Lack {
    PassState state;
    bool (*holds)(const Op *op);
    const char *text;
} lacks[] = {
    {STATE_LAYOUTS, has_layouts, "layouts of blocks"},
    {STATE_POINTERS, needs_no_descriptor, "pointers in place of descriptors"},
    {STATE_MEMORY, needs_no_buffer, "buffers in shared memory"},
    {STATE_PLACES, needs_no_place, "places of buffers"},
    {STATE_BARRIERS, needs_no_place, "barriers"},
};

/* What of `needs` the function lacks, the first of it, or NULL. What it has not been given counts
   only where an op needs it. */
static const struct Lack *find_lack(const Job *j, int needs)
{
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; i++)
        if (needs & ~j->state & lacks[i].state &&
            !ir_holds_for_all(j->artifact->fn->body, lacks[i].holds))
            return &lacks[i];
    return NULL;
}

/* A function with buffers has its layouts, and what needs buffers has them. */
static bool has_what_it_makes(const Job *j, const PassInfo *info)
{
    return j->artifact->fn->level == LEVEL_MEMORY && info->gives & (STATE_LAYOUTS | STATE_MEMORY);
}

static bool has_state(Job *j, const PassInfo *info)
{
    const struct Lack *lack = find_lack(j, info->needs);
    if (has_what_it_makes(j, info))
        return diag_fail(j->dx, SPAN_NONE,
                         "the pass '%s' is for functions without buffers, it comes before them",
                         info->name);
    if (!lack) return true;
    for (int i = 0; i < PASSES; i++)
        if (passes[i].gives & lack->state)
            diag_error(j->dx, SPAN_NONE,
                       "the pass '%s' needs %s as the ops stand: '%s' must come before it",
                       info->name, lack->text, passes[i].name);
    return false;
}

static bool run_named(Job *j, const char *names)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        const char *name = arena_strndup(&j->artifact->arena, p, n);
        const PassInfo *info = pass_find(passes, PASSES, name);
        if (n && !info) {
            Buf list = buf_make(j->dx->arena);
            for (int i = 0; i < PASSES; i++)
                buf_printf(&list, "%s%s", i ? ", " : "", passes[i].name);
            return diag_fail(j->dx, SPAN_NONE, "there is no pass '%s'; there are %s", name,
                             buf_text(&list));
        }
        if (info && !(has_state(j, info) && run_pass(j, info))) return false;
        p += n + (p[n] == ',');
    }
    return true;
}

static bool run_pipeline(Job *j)
{
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        const PassInfo *info = pass_find(passes, PASSES, pipeline[i].pass);
        if (j->emit < pipeline[i].from || has_what_it_makes(j, info)) continue;
        if (!run_pass(j, info)) return false;
    }
    return true;
}

bool job_run_passes(Job *j)
{
    j->state = j->source->language == TKC_LANGUAGE_IR ? state_of_text(j->artifact->fn) : 0;
    diags_enter(j->dx, DIAG_COMPILE);
    if (!(j->options->passes ? run_named(j, j->options->passes) : run_pipeline(j))) return false;
    if (ir_verify(j->artifact->fn, j->dx)) return true;
    Diag *d =
        diag_error_as(j->dx, DIAG_INTERNAL, SPAN_NONE,
                      "internal error: the passes broke the IR of '%s'", j->artifact->fn->name);
    diag_setting(j->dx, d, "verify_each", "1");
    return false;
}

Func *job_without_descriptors(Func *fn)
{
    if (ir_holds_for_all(fn->body, needs_no_descriptor)) return fn;
    fn = ir_func_clone(fn);
    desc_run(NULL, fn);
    return fn;
}

bool job_can_give_code(const Job *j)
{
    return !find_lack(j, STATE_ALL);
}

bool job_is_ready_for_code(Job *j)
{
    const struct Lack *lack = find_lack(j, STATE_ALL);
    if (lack)
        diag_error(j->dx, SPAN_NONE,
                   "there is no code without %s: the last passes must be layout,expand,place,sync",
                   lack->text);
    return !lack;
}
