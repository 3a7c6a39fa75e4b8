/* One compilation: the pipeline, in order, and the artifact it leaves.

   source ─ specialize ─▶ IR ─ clean-up ─▶ facts ─ layouts ─▶ shared memory, barriers
          ─ lower ─▶ LLVM ─ backend ─▶ PTX

   `emit` says how far to go; the passes that run on the way are the rows of `pipeline`. Each stage
   either succeeds or leaves an error diagnostic; a stage whose IR does not verify is our bug and is
   reported as one. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/axis.h"
#include "analysis/masked.h"
#include "analysis/offset32.h"
#include "api.h"
#include "base/limit.h"
#include "base/unwind.h"
#include "base/vec.h"
#include "ir/machine.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/type.h"
#include "ir/verify.h"
#include "layout/passes.h"
#include "memory/passes.h"
#include "spec/kernel.h"
#include "spec/request.h"
#include "target/backend.h"
#include "transform/passes.h"

typedef struct ArtifactTime { const char *name; double ms; } ArtifactTime;

struct TkcArtifact {
    TkcSource *source;     /* kept: the IR points into it */
    Arena arena;
    Func *fn;              /* from TKC_EMIT_IR on */
    const char **param_types;
    SpecTaken taken;
    const char *text;
    size_t len;
    const char *symbol;    /* the kernel's name in LLVM IR and PTX */
    int shared_bytes;
    VEC(ArtifactTime) times;
};

/* ---- the passes ---- */

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
    {TKC_EMIT_FACTS, "fold"},    {TKC_EMIT_FACTS, "cse"},      {TKC_EMIT_FACTS, "licm"},
    {TKC_EMIT_FACTS, "ifconv"},  {TKC_EMIT_FACTS, "dce"},      {TKC_EMIT_LAYOUT, "mask"},
    {TKC_EMIT_LAYOUT, "fold"},   {TKC_EMIT_LAYOUT, "cse"},     {TKC_EMIT_LAYOUT, "dce"},
    {TKC_EMIT_LAYOUT, "layout"}, {TKC_EMIT_LAYOUT, "cse"},     {TKC_EMIT_LAYOUT, "dce"},
    {TKC_EMIT_LAYOUT, "expand"}, {TKC_EMIT_LAYOUT, "place"},   {TKC_EMIT_LAYOUT, "sync"},
};

/* ---- one job ---- */

typedef struct Job {
    TkcSource *source;
    const TkcOptions *options;
    TkcEmit emit;
    TkcArtifact *artifact;
    Ir *ir;
    Func **funcs;          /* nfuncs; artifact->fn is the one at work */
    int nfuncs;
    int state;             /* of PassState: what the passes have given artifact->fn */
    Arena scratch;
    Diags *dx;
} Job;

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void add_duration(Job *j, const char *name, double ms)
{
    if (j->options->time_report)
        vec_push(&j->artifact->arena, &j->artifact->times, ((ArtifactTime){name, ms}));
}

static void add_time(Job *j, const char *name, double since)
{
    add_duration(j, name, now_ms() - since);
}

/* ---- to IR ---- */

static const Machine *find_machine(Diags *dx, const char *name)
{
    const Machine *m = machine_find(name ? name : "sm_80");
    if (m)
        return m;
    Buf list = buf_make(dx->arena);
    machine_list(&list);
    Diag *d = diag_error(dx, SPAN_NONE, "there is no target '%s'; there are %s", name,
                         buf_text(&list));
    diag_suggest(dx, d, SPAN_NONE, name, machine_nearest(name));
    return NULL;
}

static bool is_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

/* The request without -D, which needs the module. NULL machine after an error. */
static SpecRequest make_request(Job *j)
{
    const TkcOptions *o = j->options;
    SpecRequest rq = {
        .kernel = o->kernel,
        .num_warps = o->num_warps,
        .num_stages = o->num_stages,
        .fp_contract = !o->no_fp_contract,
        .debug = o->debug,
        .limits = {.steps = (long)o->max_steps,
                   .ops = (long)o->max_ops,
                   .length = (long)o->max_length,
                   .nesting = (int)o->max_nesting,
                   .depth = (int)o->max_depth},
        .ninclude = j->source->cx->ninclude,
        .include = j->source->cx->include,
        .read_file = api_read_import,
        .read_user = j->source,
    };
    rq.machine = find_machine(j->dx, o->arch);
    return rq;
}

static bool check_budget(Job *j, const char *name, int64_t value, int64_t most)
{
    if (value >= 0 && value <= most)
        return true;
    diag_error(j->dx, SPAN_NONE, "the budget of %s is %lld; it must be from 1 to %lld", name,
               (long long)value, (long long)most);
    return false;
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

static bool check_options(Job *j, const SpecRequest *rq)
{
    const TkcOptions *o = j->options;
    int most = rq->machine->max_threads / rq->machine->warp_size;
    if (rq->num_warps && (!is_power_of_two(rq->num_warps) || rq->num_warps > most)) {
        diag_error(j->dx, SPAN_NONE,
                   "the number of warps is %d; it must be a power of two, at most %d",
                   rq->num_warps, most);
        return false;
    }
    if (rq->num_stages < 0) {
        diag_error(j->dx, SPAN_NONE, "the number of stages is %d; it must be 1 or more",
                   rq->num_stages);
        return false;
    }
    return check_limits(j) && check_budget(j, "steps", o->max_steps, LONG_MAX) &&
           check_budget(j, "ops", o->max_ops, LONG_MAX) &&
           check_budget(j, "length", o->max_length, LONG_MAX) &&
           check_budget(j, "nesting", o->max_nesting, INT_MAX) &&
           check_budget(j, "depth", o->max_depth, INT_MAX);
}

static bool complete_request(Job *j, SpecRequest *rq, SpecModule *m)
{
    const TkcOptions *o = j->options;
    if (o->signature && !request_add_signature(rq, j->ir, j->dx, o->signature))
        return false;
    for (size_t i = 0; i < o->ndefines; i++)
        if (!request_add_define(rq, m, j->ir, j->dx, o->defines[i].name, o->defines[i].value))
            return false;
    return true;
}

static Func *specialize(Job *j)
{
    SpecRequest rq = make_request(j);
    if (!rq.machine || !check_options(j, &rq))
        return NULL;
    rq.taken = &j->artifact->taken;
    SpecModule *m = spec_module(j->ir, j->dx, j->source->file, &rq);
    return complete_request(j, &rq, m) ? spec_kernel(m, &rq) : NULL;
}

static Func *choose_func(Job *j, Func **funcs, int n)
{
    const char *name = j->options->kernel;
    for (int i = 0; name && i < n; i++)
        if (!strcmp(funcs[i]->name, name))
            return funcs[i];
    if (!name && n == 1)
        return funcs[0];
    Buf list = buf_make(j->dx->arena);
    for (int i = 0; i < n; i++)
        buf_printf(&list, "%s'%s'", i ? ", " : "", funcs[i]->name);
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
    SpecRequest rq = make_request(j);
    if (!rq.machine || !check_options(j, &rq))
        return false;
    if (j->options->arch || !fn->machine)
        fn->machine = rq.machine;
    if (rq.num_warps)
        fn->num_warps = rq.num_warps;
    if (rq.num_stages)
        fn->num_stages = rq.num_stages;
    fn->debug |= rq.debug;
    return true;
}

/* The functions of IR text that are wanted: the one of -k; else the only one; as text, all. */
static bool read_ir(Job *j)
{
    double start = now_ms();
    diags_enter(j->dx, DIAG_IR_TEXT);
    int n = ir_parse(j->ir, j->dx, j->source->source, &j->funcs);
    diags_enter(j->dx, DIAG_REQUEST);
    if (n < 0 || j->dx->nerrors)
        return false;
    if (j->options->kernel || n != 1) {
        bool all = !j->options->kernel && n > 1 && j->emit <= TKC_EMIT_LAYOUT;
        Func *one = all ? NULL : choose_func(j, j->funcs, n);
        if (!all && !one)
            return false;
        if (one)
            j->funcs[0] = one, n = 1;
    }
    for (int i = 0; i < n; i++)
        if (!complete_func(j, j->funcs[i]))
            return false;
    add_time(j, "read", start);
    j->nfuncs = n;
    return true;
}

static bool read_kernel(Job *j)
{
    double start = now_ms();
    j->funcs = arena_array(&j->artifact->arena, Func *, 1);
    j->funcs[0] = specialize(j);
    add_time(j, "specialize", start);
    j->nfuncs = 1;
    if (!j->funcs[0] || j->dx->nerrors)
        return false;
    masked_check(j->dx, j->funcs[0]);
    offset32_check(j->dx, j->funcs[0]);
    return true;
}

static bool make_funcs(Job *j)
{
    bool is_ir = j->source->language == TKC_LANGUAGE_IR;
    if (!(is_ir ? read_ir(j) : read_kernel(j)))
        return false;
    for (int i = 0; i < j->nfuncs; i++) {
        if (ir_verify(j->funcs[i], j->dx))
            continue;
        if (!is_ir)
            diag_error_as(j->dx, DIAG_INTERNAL, SPAN_NONE,
                          "internal error: specialization made wrong IR of '%s'",
                          j->funcs[i]->name);
        return false;
    }
    return true;
}

/* ---- passes ---- */

static bool run_pass(Job *j, const PassInfo *info)
{
    double start = now_ms();
    limit_poll();
    bool ok = pass_run(info, j->artifact->fn, &j->scratch, j->dx, j->options->verify_each);
    j->state = (j->state & ~info->breaks) | info->gives;
    add_time(j, info->name, start);
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

static bool holds_for_all(const Region *region, bool (*holds)(const Op *op))
{
    for (const Op *op = region->first; op; op = op->next) {
        if (!holds(op))
            return false;
        for (int i = 0; i < op->nregions; i++)
            if (!holds_for_all(op->regions[i], holds))
                return false;
    }
    return true;
}

/* IR text that has layouts and places is taken to have barriers too. */
static int state_of_text(const Func *fn)
{
    if (!holds_for_all(fn->body, has_layouts))
        return STATE_NONE;
    if (fn->level == LEVEL_TENSOR)
        return STATE_LAYOUTS;
    return holds_for_all(fn->body, has_place) ? STATE_ALL : STATE_LAYOUTS | STATE_MEMORY;
}

/* What of `needs` the function lacks, the first of it. What it has not been given counts
   only where an op needs it. */
static PassState find_lack(const Job *j, int needs)
{
    const Region *body = j->artifact->fn->body;
    const int open = needs & ~j->state;
    if (open & STATE_LAYOUTS && !holds_for_all(body, has_layouts))
        return STATE_LAYOUTS;
    if (open & STATE_MEMORY && !holds_for_all(body, needs_no_buffer))
        return STATE_MEMORY;
    if (!(open & (STATE_PLACES | STATE_BARRIERS)) || holds_for_all(body, needs_no_place))
        return STATE_NONE;
    return open & STATE_PLACES ? STATE_PLACES : STATE_BARRIERS;
}

static const char *lack_text(PassState lack)
{
    return lack == STATE_LAYOUTS  ? "layouts of blocks"
           : lack == STATE_MEMORY ? "buffers in shared memory"
           : lack == STATE_PLACES ? "places of buffers"
                                  : "barriers";
}

/* A function with buffers has its layouts, and what needs buffers has them. */
static bool has_what_it_makes(const Job *j, const PassInfo *info)
{
    return j->artifact->fn->level == LEVEL_MEMORY && info->gives & (STATE_LAYOUTS | STATE_MEMORY);
}

static bool has_state(Job *j, const PassInfo *info)
{
    const PassState lack = find_lack(j, info->needs);
    if (has_what_it_makes(j, info)) {
        diag_error(j->dx, SPAN_NONE,
                   "the pass '%s' is for functions without buffers, it comes before them",
                   info->name);
        return false;
    }
    if (!lack)
        return true;
    for (int i = 0; i < PASSES; i++)
        if (passes[i].gives & lack)
            diag_error(j->dx, SPAN_NONE,
                       "the pass '%s' needs %s as the ops stand: '%s' must come before it",
                       info->name, lack_text(lack), passes[i].name);
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
            diag_error(j->dx, SPAN_NONE, "there is no pass '%s'; there are %s", name,
                       buf_text(&list));
            return false;
        }
        if (info && !(has_state(j, info) && run_pass(j, info)))
            return false;
        p += n + (p[n] == ',');
    }
    return true;
}

static bool run_pipeline(Job *j)
{
    for (size_t i = 0; i < sizeof pipeline / sizeof *pipeline; i++) {
        const PassInfo *info = pass_find(passes, PASSES, pipeline[i].pass);
        if (j->emit < pipeline[i].from || has_what_it_makes(j, info))
            continue;
        if (!run_pass(j, info))
            return false;
    }
    return true;
}

static bool run_passes(Job *j)
{
    j->state = j->source->language == TKC_LANGUAGE_IR ? state_of_text(j->artifact->fn) : 0;
    diags_enter(j->dx, DIAG_COMPILE);
    if (!(j->options->passes ? run_named(j, j->options->passes) : run_pipeline(j)))
        return false;
    if (ir_verify(j->artifact->fn, j->dx))
        return true;
    Diag *d = diag_error_as(j->dx, DIAG_INTERNAL, SPAN_NONE,
                            "internal error: the passes broke the IR of '%s'",
                            j->artifact->fn->name);
    diag_setting(j->dx, d, "verify_each", "1");
    return false;
}

/* ---- text ---- */

static bool emit_target(Job *j)
{
    TkcArtifact *a = j->artifact;
    BackendResult r;
    const PassState lack = find_lack(j, STATE_ALL);
    if (lack) {
        diag_error(j->dx, SPAN_NONE,
                   "there is no code without %s: the last passes must be layout,expand,place,sync",
                   lack_text(lack));
        return false;
    }
    const BackendWants wants = {.llvm = j->emit == TKC_EMIT_LLVM,
                                .line_info = j->options->line_info || j->options->debug};
    if (!backend_compile(&r, a->fn, wants, &a->arena, j->dx))
        return false;
    add_duration(j, "lower", r.lower_ms);
    add_duration(j, "optimize", r.optimize_ms);
    add_duration(j, "emit", r.emit_ms);
    a->text = r.text;
    a->len = r.len;
    a->symbol = r.symbol;
    a->shared_bytes = (int)r.shared_bytes;
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
    else if (j->emit == TKC_EMIT_TOKENS)
        tokens_print(out, j->source->file);
    else
        ast_print(out, j->source->file);
    return j->source->file != NULL;
}

static bool compile_funcs(Job *j, Buf *out)
{
    j->ir = ir_new(&j->artifact->arena, j->source->names);
    if (!make_funcs(j))
        return false;
    for (int i = 0; i < j->nfuncs; i++) {
        j->artifact->fn = j->funcs[i];
        if (i)
            buf_putc(out, '\n');
        if (!run_passes(j) || !emit_func(j, out))
            return false;
    }
    return true;
}

static void describe_params(TkcArtifact *a)
{
    int n = a->fn ? a->fn->nparams : 0;
    a->param_types = arena_array(&a->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        a->param_types[i] = type_signature(&a->arena, a->fn->params[i].type);
}

static bool compile(Diags *dx, void *arg)
{
    Job *j = arg;
    TkcArtifact *a = j->artifact;
    Buf out = buf_make(&a->arena);
    j->dx = dx;
    diags_enter(dx, DIAG_REQUEST);
    if (!(j->emit <= TKC_EMIT_AST ? emit_tree(j, &out) : compile_funcs(j, &out)))
        return false;
    if (!a->text) {
        a->text = buf_text(&out);
        a->len = out.len;
    }
    describe_params(a);
    return true;
}

/* ---- the public edge ---- */

_Static_assert(sizeof(TkcArtifact) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

static TkcArtifact *artifact_new(TkcSource *source)
{
    TkcArtifact *a = tkc_handle_new(TKC_HANDLE_ARTIFACT);
    if (!a)
        return NULL;
    arena_init(&a->arena);
    a->source = source;
    tkc_handle_keep(source, TKC_HANDLE_SOURCE);
    return a;
}

static bool is_artifact(const TkcArtifact *a)
{
    return tkc_handle_is(a, TKC_HANDLE_ARTIFACT);
}

TkcStatus tkc_compile(TkcSource *source, const TkcOptions *given, TkcEmit emit, TkcArtifact **out)
{
    TkcOptions options;
    if (out)
        *out = NULL;
    if (!api_is_source(source))
        return TKC_MISUSE;
    const char *misuse = tkc_options_read(&options, given);
    if (!misuse && !out)
        misuse = "there is no place for the artifact: the pointer is NULL";
    if (!misuse && (emit < TKC_EMIT_TOKENS || emit > TKC_EMIT_PTX))
        misuse = "there is no such emission";
    if (misuse)
        return api_misuse(source->cx, "%s", misuse);
    TkcArtifact *a = artifact_new(source);
    if (!a)
        return tkc_no_memory(source->cx);
    Job job = {.source = source, .options = &options, .emit = emit, .artifact = a};
    arena_init(&job.scratch);
    TkcStatus status = api_run(source->cx, &a->arena, &options, compile, &job);
    arena_fini(&job.scratch);
    if (status == TKC_OK)
        *out = a;
    else
        tkc_artifact_free(a);
    return status;
}

void tkc_artifact_free(TkcArtifact *a)
{
    if (!tkc_handle_close(a, TKC_HANDLE_ARTIFACT) || !tkc_handle_drop(a))
        return;
    arena_fini(&a->arena);
    tkc_source_drop(a->source);
    tkc_handle_free(a);
}

/* ---- what is kept of one for long ---- */

/* The same in an arena that has nothing else: of IR all of it, of what was made of IR the
   parameters. */
static SpecTaken copy_taken(Arena *a, const SpecTaken *t)
{
    SpecTaken copy = *t;
    copy.values = arena_array(a, TkcDefine, t->nvalues + 1);
    for (int i = 0; i < t->nvalues; i++) {
        const TkcDefine *v = &t->values[i];
        copy.values[i].name = arena_strndup(a, v->name, strlen(v->name));
        copy.values[i].value = arena_strndup(a, v->value, strlen(v->value));
    }
    return copy;
}

static void copy_artifact(TkcArtifact *to, const TkcArtifact *a, Arena *scratch)
{
    *to = (TkcArtifact){.source = a->source, .shared_bytes = a->shared_bytes, .len = a->len};
    arena_init_small(&to->arena);
    Arena *arena = &to->arena;
    const bool has_body = !a->symbol;
    to->fn = ir_func_transfer(ir_new(arena, a->source->names), scratch, a->fn, a->source->source,
                              has_body);
    to->text = arena_strndup(arena, a->text, a->len);
    to->taken = copy_taken(arena, &a->taken);
    to->symbol = a->symbol ? arena_strndup(arena, a->symbol, strlen(a->symbol)) : NULL;
    for (int i = 0; i < a->times.len; i++)
        vec_push(arena, &to->times, a->times.data[i]);
    describe_params(to);
}

void tkc_artifact_shrink(TkcArtifact *a)
{
    TkcArtifact *small = tkc_artifact_func(a) ? calloc(1, sizeof *small) : NULL;
    UnwindFrame frame;
    Arena scratch;
    if (!small)
        return;
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
    if (len)
        *len = is_artifact(a) ? a->len : 0;
    return is_artifact(a) ? a->text : NULL;
}

const Func *tkc_artifact_func(const TkcArtifact *a)
{
    return is_artifact(a) ? a->fn : NULL;
}

const char *tkc_artifact_kernel(const TkcArtifact *a)
{
    if (!is_artifact(a))
        return "";
    return a->symbol ? a->symbol : a->fn ? a->fn->name : "";
}

int tkc_artifact_num_warps(const TkcArtifact *a)
{
    return is_artifact(a) && a->fn ? a->fn->num_warps : 0;
}

int tkc_artifact_num_stages(const TkcArtifact *a)
{
    return is_artifact(a) && a->fn ? a->fn->num_stages : 0;
}

int tkc_artifact_shared_bytes(const TkcArtifact *a)
{
    return is_artifact(a) ? a->shared_bytes : 0;
}

int tkc_artifact_param_count(const TkcArtifact *a)
{
    return is_artifact(a) && a->fn ? a->fn->nparams : 0;
}

const char *tkc_artifact_param_name(const TkcArtifact *a, int i)
{
    return i >= 0 && i < tkc_artifact_param_count(a) ? a->fn->params[i].name : NULL;
}

const char *tkc_artifact_param_type(const TkcArtifact *a, int i)
{
    return i >= 0 && i < tkc_artifact_param_count(a) ? a->param_types[i] : NULL;
}

const TkcDefine *tkc_artifact_value(const TkcArtifact *a, int i)
{
    return is_artifact(a) && i >= 0 && i < a->taken.nvalues ? &a->taken.values[i] : NULL;
}

int tkc_artifact_config(const TkcArtifact *a, int *count)
{
    if (count)
        *count = is_artifact(a) ? a->taken.nconfigs : 0;
    return is_artifact(a) && a->taken.nconfigs ? a->taken.config : -1;
}

const char *tkc_artifact_time(const TkcArtifact *a, int i, double *ms)
{
    if (!is_artifact(a) || i < 0 || i >= a->times.len)
        return NULL;
    if (ms)
        *ms = a->times.data[i].ms;
    return a->times.data[i].name;
}

/* ---- checking without code ---- */

typedef struct CheckJob {
    Job job;
    int checked, incomplete;
    Map defs; /* jit functions by name */
} CheckJob;

static bool has_param(const Ast *def, Str name)
{
    for (int i = 0; i < def->def.params.len; i++)
        if (def->def.params.data[i].name == name)
            return true;
    return false;
}

/* The part of a request that concerns a kernel: the others have parameters of their own. */
static SpecRequest request_for(const SpecRequest *rq, Arena *a, const Ast *def, const char *kernel)
{
    SpecRequest mine = *rq;
    mine.kernel = kernel;
    mine.ndefines = mine.nsigs = 0;
    mine.defines = arena_array(a, SpecDefine, rq->ndefines + 1);
    mine.sigs = arena_array(a, SpecSig, rq->nsigs + 1);
    for (int i = 0; i < rq->ndefines; i++)
        if (has_param(def, rq->defines[i].name))
            mine.defines[mine.ndefines++] = rq->defines[i];
    for (int i = 0; i < rq->nsigs; i++)
        if (has_param(def, rq->sigs[i].name))
            mine.sigs[mine.nsigs++] = rq->sigs[i];
    return mine;
}

static SpecRequest kernel_request(const CheckJob *c, const SpecRequest *all, const char *kernel)
{
    const Job *j = &c->job;
    const Ast *def = map_get_ptr(&c->defs, kernel);
    SpecRequest rq =
        j->options->kernel || !def ? *all : request_for(all, &j->artifact->arena, def, kernel);
    rq.kernel = kernel;
    return rq;
}

static void check_kernel(CheckJob *c, SpecModule *m, const SpecRequest *all, const char *kernel)
{
    Job *j = &c->job;
    SpecRequest rq = kernel_request(c, all, kernel);
    if (!spec_is_complete(m, kernel, &rq)) {
        c->incomplete++;
        return;
    }
    c->checked++;
    Func *fn = spec_kernel(m, &rq);
    if (fn && j->dx->nerrors == 0 && !ir_verify(fn, j->dx))
        diag_error_as(j->dx, DIAG_INTERNAL, SPAN_NONE,
                      "internal error: specialization made wrong IR of '%s'", kernel);
}

/* What kernels need that were not checked: where all must be, and where none was. */
static void tell_unchecked(CheckJob *c, SpecModule *m, const SpecRequest *all, int n,
                           const Str *kernels)
{
    bool must = c->job.options->require_checked;
    for (int i = 0; i < n && c->incomplete && (must || !c->checked); i++) {
        SpecRequest rq = kernel_request(c, all, kernels[i]);
        if (!spec_is_complete(m, kernels[i], &rq)) spec_ask(m, kernels[i], &rq, must);
    }
}

/* What is given for no kernel at all is a mistake. */
static void check_given(CheckJob *c, const SpecRequest *rq, int n, const Str *kernels)
{
    Job *j = &c->job;
    for (int i = 0; i < rq->ndefines + rq->nsigs; i++) {
        bool is_define = i < rq->ndefines, known = false;
        Str name = is_define ? rq->defines[i].name : rq->sigs[i - rq->ndefines].name;
        for (int k = 0; k < n && !known; k++) {
            const Ast *def = map_get_ptr(&c->defs, kernels[k]);
            known = def && has_param(def, name);
        }
        if (!known)
            diag_error_as(j->dx, DIAG_UNKNOWN_ARGUMENT, SPAN_NONE,
                          "a %s is given for '%s', but no kernel of '%s' has such a parameter",
                          is_define ? "value" : "type", name, j->source->source->name);
    }
}

static void check_kernels(CheckJob *c, SpecModule *m, const SpecRequest *rq)
{
    Str *names;
    const char *only = c->job.options->kernel;
    kernel_index(&c->defs, &c->job.artifact->arena, c->job.source->file);
    if (only) {
        Str name = intern_cstr(c->job.source->names, only);
        if (!kernel_find(c->job.dx, c->job.source->file, only))
            return;
        check_kernel(c, m, rq, name);
        tell_unchecked(c, m, rq, 1, &name);
        return;
    }
    int n = spec_kernels(m, &names);
    check_given(c, rq, n, names);
    for (int i = 0; i < n; i++)
        check_kernel(c, m, rq, names[i]);
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
        bool ok = make_funcs(j);
        c->checked = ok ? j->nfuncs : 0;
        return ok;
    }
    SpecRequest rq = make_request(j);
    if (!rq.machine || !check_options(j, &rq))
        return false;
    SpecModule *m = spec_module(j->ir, dx, j->source->file, &rq);
    if (!complete_request(j, &rq, m))
        return false;
    spec_check_names(m);
    check_kernels(c, m, &rq);
    return dx->nerrors == 0;
}

TkcStatus tkc_check(TkcSource *source, const TkcOptions *given, int *checked, int *incomplete)
{
    TkcOptions options;
    if (!api_is_source(source))
        return TKC_MISUSE;
    const char *misuse = tkc_options_read(&options, given);
    if (misuse)
        return api_misuse(source->cx, "%s", misuse);
    CheckJob c = {.job = {.source = source, .options = &options, .artifact = artifact_new(source)}};
    if (!c.job.artifact)
        return tkc_no_memory(source->cx);
    TkcStatus status = api_run(source->cx, &c.job.artifact->arena, &options, check_source, &c);
    tkc_artifact_free(c.job.artifact);
    if (checked)
        *checked = c.checked;
    if (incomplete)
        *incomplete = c.incomplete;
    return status;
}

/* ---- configurations ---- */

typedef struct ConfigsJob {
    Job job;
    const char *const *texts;
    int count;
} ConfigsJob;

static bool read_configs(Diags *dx, void *arg)
{
    ConfigsJob *c = arg;
    Job *j = &c->job;
    j->dx = dx;
    if (j->source->language == TKC_LANGUAGE_IR)
        return true;
    const Ast *def = kernel_find(dx, j->source->file, j->options->kernel);
    if (!def)
        return false;
    j->ir = ir_new(&j->source->arena, j->source->names);
    SpecRequest rq = make_request(j);
    SpecModule *m = spec_module(j->ir, dx, j->source->file, &rq);
    c->count = spec_configs(m, def->def.name, &rq, &c->texts);
    return dx->nerrors == 0;
}

TkcStatus tkc_source_configs(TkcSource *source, const char *kernel, const char *const **texts,
                             int *count)
{
    TkcOptions options;
    tkc_options_init(&options);
    options.kernel = kernel;
    if (!api_is_source(source))
        return TKC_MISUSE;
    if (!texts || !count)
        return api_misuse(source->cx,
                          "there is no place for the configurations: the pointer is NULL");
    ConfigsJob c = {.job = {.source = source, .options = &options}};
    TkcStatus status = api_run(source->cx, &source->arena, &options, read_configs, &c);
    *texts = status == TKC_OK ? c.texts : NULL;
    *count = status == TKC_OK ? c.count : 0;
    return status;
}
