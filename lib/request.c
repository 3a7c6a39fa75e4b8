/* From what is asked for to IR: the options checked, the kernel specialized or the IR text read, and
   the outcome verified. */
#include <limits.h>
#include <string.h>

#include "analysis/warnings.h"
#include "base/power.h"
#include "ir/machine.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "job.h"
#include "tkc/clock.h"

static const Machine *find_machine(Diags *dx, const char *name)
{
    const Machine *m = machine_find(name ? name : "sm_80");
    if (m) return m;
    Buf list = buf_make(dx->arena);
    machine_list(&list);
    Diag *d = diag_error(dx, SPAN_NONE, "there is no target '%s'; there are %s", name,
                         buf_text(&list));
    diag_suggest(dx, d, SPAN_NONE, name, machine_nearest(name));
    return NULL;
}

/* What was read, or looked for in vain, decides the outcome as the source itself does. */
static const char *read_import(void *user, Arena *a, const char *path, size_t *len, bool *is_shown)
{
    Job *j = user;
    const char *text = api_read_import(j->source, a, path, len, is_shown);
    if (j->artifact)
        vec_push(&j->artifact->arena, &j->artifact->files,
                 ((TkcFile){path, text, text ? *len : 0}));
    return text;
}

SpecRequest job_request(Job *j)
{
    const TkcOptions *o = j->options;
    SpecRequest rq = {
        .kernel = o->kernel,
        .num_warps = o->num_warps,
        .num_stages = o->num_stages,
        .fp_contract = !o->no_fp_contract,
        .debug = o->debug,
        .no_asserts = o->no_asserts,
        .sanitize_overflow = o->sanitize_overflow,
        .limits = {.steps = (long)o->max_steps,
                   .ops = (long)o->max_ops,
                   .length = (long)o->max_length,
                   .nesting = (int)o->max_nesting,
                   .depth = (int)o->max_depth},
        .ninclude = j->source->cx->ninclude,
        .include = j->source->cx->include,
        .read_file = read_import,
        .read_user = j,
    };
    rq.machine = find_machine(j->dx, o->arch);
    return rq;
}

static bool check_budget(Job *j, const char *name, int64_t value, int64_t most)
{
    if (value >= 0 && value <= most) return true;
    return diag_fail(j->dx, SPAN_NONE, "the budget of %s is %lld; it must be from 1 to %lld", name,
                     (long long)value, (long long)most);
}

static bool check_limits(Job *j)
{
    const TkcOptions *o = j->options;
    const bool seconds = o->max_seconds >= 0 || o->max_seconds == -1; /* NaN is neither */
    if (!seconds)
        diag_error(j->dx, SPAN_NONE, "the limit of seconds is %g; it must be -1, for none, or more",
                   o->max_seconds);
    if (o->max_memory < -1)
        diag_error(j->dx, SPAN_NONE, "the limit of memory is %lld; it must be -1, for none, or more",
                   (long long)o->max_memory);
    return seconds && o->max_memory >= -1;
}

bool job_check_options(Job *j, const SpecRequest *rq)
{
    const TkcOptions *o = j->options;
    int most = MACHINE_THREADS / MACHINE_LANES;
    if (rq->num_warps && (!is_power_of_two(rq->num_warps) || rq->num_warps > most))
        return diag_fail(j->dx, SPAN_NONE,
                         "the number of warps is %d; it must be a power of two, at most %d",
                         rq->num_warps, most);
    if (rq->num_stages < 0)
        return diag_fail(j->dx, SPAN_NONE, "the number of stages is %d; it must be 1 or more",
                         rq->num_stages);
    if (o->max_registers < 0 || o->max_registers > MACHINE_THREAD_REGISTERS)
        return diag_fail(j->dx, SPAN_NONE, "the number of registers is %d; it must be from 1 to %d",
                         o->max_registers, MACHINE_THREAD_REGISTERS);
    if (o->symbol && !*o->symbol)
        return diag_fail(j->dx, SPAN_NONE, "the symbol of the kernel is empty");
    return check_limits(j) && check_budget(j, "steps", o->max_steps, LONG_MAX) &&
           check_budget(j, "ops", o->max_ops, LONG_MAX) &&
           check_budget(j, "length", o->max_length, LONG_MAX) &&
           check_budget(j, "nesting", o->max_nesting, INT_MAX) &&
           check_budget(j, "depth", o->max_depth, INT_MAX);
}

bool job_complete_request(Job *j, SpecRequest *rq, SpecModule *m)
{
    const TkcOptions *o = j->options;
    if (o->signature && !request_add_signature(rq, j->ir, j->dx, o->signature)) return false;
    return request_add_values(&rq->defines, m, j->ir, j->dx, o->ndefines, o->defines) &&
           request_add_values(&rq->arguments, m, j->ir, j->dx, o->narguments, o->arguments);
}

static Func *specialize(Job *j)
{
    SpecRequest rq = job_request(j);
    if (!rq.machine || !job_check_options(j, &rq)) return NULL;
    rq.taken = &j->artifact->taken;
    SpecModule *m = spec_module(j->ir, j->dx, j->source->file, &rq);
    return job_complete_request(j, &rq, m) ? spec_kernel(m, &rq) : NULL;
}

static Func *choose_func(Job *j, Func **funcs, int n)
{
    const char *name = j->options->kernel;
    for (int i = 0; name && i < n; i++)
        if (!strcmp(funcs[i]->name, name)) return funcs[i];
    if (!name && n == 1) return funcs[0];
    Buf list = buf_make(j->dx->arena);
    for (int i = 0; i < n; i++) buf_printf(&list, "%s'%s'", i ? ", " : "", funcs[i]->name);
    if (name)
        diag_error_as(j->dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
                      "there is no function '%s' in '%s'; there are %s", name,
                      j->source->source->name, buf_text(&list));
    else
        diag_setting(j->dx,
                     diag_error_as(j->dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
                                   "which function of '%s'? there are %s", j->source->source->name,
                                   buf_text(&list)),
                     "kernel", "%s", n ? funcs[0]->name : "");
    return NULL;
}

/* What IR text leaves open, from the options; what it says itself (target, warps) they override
   when given. */
static bool complete_func(Job *j, Func *fn)
{
    SpecRequest rq = job_request(j);
    if (!rq.machine || !job_check_options(j, &rq)) return false;
    if (j->options->arch || !fn->machine) fn->machine = rq.machine;
    if (rq.num_warps) fn->num_warps = rq.num_warps;
    if (rq.num_stages) fn->num_stages = rq.num_stages;
    fn->debug |= rq.debug;
    return true;
}

/* The functions of IR text that are wanted: the one of -k; else the only one; as text, all. */
static bool read_ir(Job *j)
{
    double start = clock_ms();
    diags_enter(j->dx, DIAG_IR_TEXT);
    int n = ir_parse(j->ir, j->dx, j->source->source, &j->funcs);
    diags_enter(j->dx, DIAG_REQUEST);
    if (n < 0 || j->dx->nerrors) return false;
    if (j->options->kernel || n != 1) {
        bool all = !j->options->kernel && n > 1 && j->emit <= TKC_EMIT_LAYOUT;
        Func *one = all ? NULL : choose_func(j, j->funcs, n);
        if (!all && !one) return false;
        if (one) j->funcs[0] = one, n = 1;
    }
    for (int i = 0; i < n; i++)
        if (!complete_func(j, j->funcs[i])) return false;
    job_add_time(j, "read", start);
    j->nfuncs = n;
    return true;
}

static bool read_kernel(Job *j)
{
    double start = clock_ms();
    j->funcs = arena_array(&j->artifact->arena, Func *, 1);
    j->funcs[0] = specialize(j);
    job_add_time(j, "specialize", start);
    j->nfuncs = 1;
    if (!j->funcs[0] || j->dx->nerrors) return false;
    const Func *fn = job_without_descriptors(j->funcs[0]);
    masked_check(j->dx, fn);
    offset32_check(j->dx, fn);
    return true;
}

bool job_make_funcs(Job *j)
{
    bool is_ir = j->source->language == TKC_LANGUAGE_IR;
    if (!(is_ir ? read_ir(j) : read_kernel(j))) return false;
    for (int i = 0; i < j->nfuncs; i++) {
        const char *symbol = j->options->symbol;
        if (j->options->max_registers) j->funcs[i]->max_registers = j->options->max_registers;
        if (symbol) j->funcs[i]->name = arena_strndup(&j->artifact->arena, symbol, strlen(symbol));
        if (is_ir && !ir_verify(j->funcs[i], j->dx)) return false;
    }
    return true;
}
