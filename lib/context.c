/* Contexts, and how diagnostics leave the library: collected during a call, sorted, rendered once,
   handed to the caller's handler. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/limit.h"
#include "base/unwind.h"
#include "tkc/float_env.h"

const char *tkc_status_text(TkcStatus status)
{
    switch (status) {
    case TKC_OK: return "ok";
    case TKC_ERROR: return "error in the input";
    case TKC_MISUSE: return "misuse of the library";
    case TKC_NO_MEMORY: return "out of memory";
    case TKC_NO_DEVICE: return "no such device";
    case TKC_INTERNAL: return "internal error";
    case TKC_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

_Static_assert(sizeof(TkcContext) <= TKC_HANDLE_BYTES, "a handle's cell is too small");

TkcContext *tkc_context_new(void)
{
    pthread_mutexattr_t recursive;
    TkcContext *cx = tkc_handle_new(TKC_HANDLE_CONTEXT);
    if (!cx) return NULL;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&cx->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    return cx;
}

static void free_last_errors(TkcContext *cx)
{
    for (LastError *e = cx->last_errors, *next; e; e = next) {
        next = e->next;
        free(e->text);
        free(e);
    }
}

void tkc_context_drop(TkcContext *cx)
{
    if (!tkc_handle_drop(cx)) return;
    if (cx->report_depth) arena_fini(&cx->report_arena);
    for (int i = 0; i < cx->ninclude; i++) free((char *)cx->include[i]);
    free(cx->include);
    free_last_errors(cx);
    own_stack_free(&cx->stacks);
    pthread_mutex_destroy(&cx->lock);
    tkc_handle_free(cx);
}

static bool is_context(const TkcContext *cx)
{
    return tkc_handle_is(cx, TKC_HANDLE_CONTEXT);
}

void tkc_context_free(TkcContext *cx)
{
    if (tkc_handle_close(cx, TKC_HANDLE_CONTEXT)) tkc_context_drop(cx);
}

void tkc_context_lock(TkcContext *cx)
{
    pthread_mutex_lock(&cx->lock);
}

void tkc_context_unlock(TkcContext *cx)
{
    pthread_mutex_unlock(&cx->lock);
}

void tkc_context_on_diagnostic(TkcContext *cx, TkcDiagnosticFn fn, void *user)
{
    if (!is_context(cx)) return;
    tkc_context_lock(cx);
    cx->handler = fn;
    cx->user = user;
    tkc_context_unlock(cx);
}

void tkc_context_color(TkcContext *cx, bool color)
{
    if (is_context(cx)) cx->color = color;
}

void tkc_context_mute(TkcContext *cx, int by)
{
    if (by > 0) tkc_context_lock(cx);
    cx->muted += by;
    if (by < 0) tkc_context_unlock(cx);
}

void tkc_context_on_import(TkcContext *cx, TkcImportFn fn, void *user)
{
    if (!is_context(cx)) return;
    tkc_context_lock(cx);
    cx->has_import_hook = true;
    cx->import = fn;
    cx->import_user = user;
    tkc_context_unlock(cx);
}

/* The calling thread's; NULL: it has none yet. */
static LastError *find_last_error(const TkcContext *cx)
{
    LastError *e = cx->last_errors;
    while (e && !pthread_equal(e->thread, pthread_self())) e = e->next;
    return e;
}

static void set_last_error(TkcContext *cx, const char *text)
{
    LastError *e = find_last_error(cx);
    if (!e && (e = calloc(1, sizeof *e))) {
        *e = (LastError){.thread = pthread_self(), .next = cx->last_errors};
        cx->last_errors = e;
    }
    if (!e) return;
    free(e->text);
    e->text = strdup(text);
}

void tkc_context_cancel(TkcContext *cx, bool cancel)
{
    if (cx) atomic_store(&cx->cancelled, cancel);
}

const char *tkc_last_error(const TkcContext *cx)
{
    if (!is_context(cx)) return "";
    tkc_context_lock((TkcContext *)cx);
    const LastError *e = find_last_error(cx);
    const char *text = e && e->text ? e->text : "";
    tkc_context_unlock((TkcContext *)cx);
    return text;
}

static TkcStatus add_include(TkcContext *cx, const char *directory)
{
    const char **all = realloc(cx->include, sizeof *all * (size_t)(cx->ninclude + 1));
    if (!all) return tkc_no_memory(cx);
    cx->include = all;
    char *copy = strdup(directory);
    if (!copy) return tkc_no_memory(cx);
    all[cx->ninclude++] = copy;
    return TKC_OK;
}

TkcStatus tkc_context_add_include(TkcContext *cx, const char *directory)
{
    if (!is_context(cx) || !directory) return api_misuse(cx, "the directory is NULL");
    tkc_context_lock(cx);
    TkcStatus status = add_include(cx, directory);
    tkc_context_unlock(cx);
    return status;
}

/* ---- delivery ---- */

static void deliver_one(TkcContext *cx, Arena *a, const Diag *d, Buf *all)
{
    Buf plain = buf_make(a), colored = buf_make(a);
    diag_draw(&plain, d, false);
    buf_puts(all, buf_text(&plain));
    if (!cx->handler) return;
    if (cx->color) diag_draw(&colored, d, true);
    cx->handler(api_diagnostic(a, d, buf_text(cx->color ? &colored : &plain)), cx->user);
}

/* Errors past the limit are counted only; the last line says how many. */
static void add_count(Diags *dx)
{
    int more = dx->nerrors - dx->max_errors;
    dx->max_errors = dx->nerrors + 1;
    if (more > 0)
        diag_error_as(dx, DIAG_COUNT_ONLY, SPAN_NONE, "too many errors: %d more %s not shown", more,
                      more == 1 ? "is" : "are");
}

static bool has_bug(const Diags *dx)
{
    const Diag *d = dx->first;
    while (d && d->id != DIAG_INTERNAL) d = d->next;
    return d != NULL;
}

/* A mistake of our own is worth telling us. */
static void ask_for_reports(Diags *dx)
{
    for (Diag *d = dx->first; d; d = d->next)
        if (d->id == DIAG_INTERNAL)
            diag_note(dx, d, SPAN_NONE,
                      "this is a bug of %s: please report it, with the source and the options",
                      tkc_version_long());
}

/* The reports of one call, in order of place, and the text that tkc_last_error gives. */
static void deliver(TkcContext *cx, Arena *a, Diags *dx, bool remarks)
{
    if (!dx->first || cx->muted) return;
    diags_sort(dx);
    add_count(dx);
    ask_for_reports(dx);
    Buf all = buf_make(a);
    for (const Diag *d = dx->first; d; d = d->next)
        if (d->severity != SEV_REMARK || remarks) deliver_one(cx, a, d, &all);
    if (dx->nerrors > 0) set_last_error(cx, buf_text(&all));
}

/* What the kinds of a raise mean. */
static const struct {
    TkcStatus status;
    DiagId id;
    const char *option; /* that allows more */
} raises[] = {
    [UNWIND_BUG] = {TKC_INTERNAL, DIAG_INTERNAL, NULL},
    [UNWIND_LLVM] = {TKC_INTERNAL, DIAG_INTERNAL, NULL},
    [UNWIND_NO_MEMORY] = {TKC_NO_MEMORY, DIAG_MEMORY, NULL},
    [UNWIND_SECONDS] = {TKC_ERROR, DIAG_LIMIT, "max_seconds"},
    [UNWIND_BYTES] = {TKC_ERROR, DIAG_LIMIT, "max_memory"},
    [UNWIND_CANCELLED] = {TKC_CANCELLED, DIAG_CANCELLED, NULL},
};

/* What a raise left. */
static TkcStatus report_raise(TkcContext *cx, const UnwindFrame *caught)
{
    const TkcStatus status = raises[caught->kind].status;
    Arena a;
    UnwindFrame frame;
    unwind_push(&frame);
    arena_init(&a);
    if (setjmp(frame.env) == 0) {
        Diags dx;
        diags_init(&dx, &a);
        Diag *d =
            diag_error_as(&dx, raises[caught->kind].id, SPAN_NONE,
                          status == TKC_INTERNAL ? "internal error: %s" : "%s", caught->message);
        if (raises[caught->kind].option) diag_larger(&dx, d, raises[caught->kind].option);
        deliver(cx, &a, &dx, false);
    }
    unwind_pop(&frame);
    arena_fini(&a);
    return status;
}

/* 0 is the default, -1 no limit, which is 0 here. */
static Limit limits_of(TkcContext *cx, const TkcOptions *options)
{
    const double default_seconds = 300;
    const int64_t default_bytes = (int64_t)4 << 30;
    double seconds = options ? options->max_seconds : 0;
    int64_t bytes = options ? options->max_memory : 0;
    seconds = seconds < 0 ? 0 : seconds > 0 ? seconds : default_seconds;
    bytes = bytes < 0 ? 0 : bytes > 0 ? bytes : default_bytes;
    return limit_start(seconds, (size_t)bytes, &cx->cancelled);
}

/* One call on its own stack. What is raised ends there. */
typedef struct Run {
    TkcContext *cx;
    Arena *arena;
    const TkcOptions *options;
    ApiWork work;
    void *arg;
    Diags *dx;
    Limit limit;
    bool ok, raised;
    UnwindFrame frame; /* after a raise: why */
} Run;

static bool run_work(Run *r)
{
    Diags *dx = r->dx = arena_new(r->arena, Diags);
    diags_init(dx, r->arena);
    limit_poll(); /* who is cancelled does not begin */
    bool ok = (!r->options || api_switch_kinds(dx, r->options)) &&
              r->work(dx, r->arg) && dx->nerrors == 0;
    if (ok && r->options && r->options->warnings_as_errors && dx->nwarnings > 0) {
        diag_error_as(dx, DIAG_COUNT_ONLY, SPAN_NONE, "%d warning%s treated as an error",
                      dx->nwarnings, dx->nwarnings == 1 ? "" : "s");
        ok = false;
    }
    check(ok || dx->nerrors > 0, "a failure without a diagnostic");
    return ok;
}

/* Calls step, which the limit is for, and catches what it raises. */
static void run_caught(Run *r, bool (*step)(Run *r), Limit *limit)
{
    unwind_push(&r->frame);
    r->frame.limit = limit;
    r->raised = setjmp(r->frame.env) != 0;
    if (!r->raised) r->ok = step(r);
    unwind_pop(&r->frame);
}

static void run_inside(void *arg)
{
    Run *r = arg;
    run_caught(r, run_work, &r->limit);
}

static bool run_delivery(Run *r)
{
    deliver(r->cx, r->arena, r->dx, r->options && r->options->remarks);
    return r->ok;
}

static TkcStatus run(Run *r)
{
    if (!own_stack_run(&r->cx->stacks, run_inside, r)) return tkc_no_memory(r->cx);
    if (!r->raised) run_caught(r, run_delivery, NULL);
    if (r->raised) return report_raise(r->cx, &r->frame);
    return r->ok ? TKC_OK : has_bug(r->dx) ? TKC_INTERNAL : TKC_ERROR;
}

TkcStatus api_run(TkcContext *cx, Arena *arena, const TkcOptions *options, ApiWork work, void *arg)
{
    Run r = {.cx = cx, .arena = arena, .options = options, .work = work, .arg = arg};
    FloatEnv callers;
    float_env_enter(&callers);
    tkc_context_lock(cx);
    r.limit = limits_of(cx, options);
    TkcStatus status = run(&r);
    tkc_context_unlock(cx);
    float_env_leave(&callers);
    return status;
}

/* An error of a kind; `as` has one %s for the text. */
static void report_as(TkcContext *cx, DiagId id, const Loc *loc, const char *as, const char *fmt,
                      va_list ap)
{
    char text[512];
    vsnprintf(text, sizeof text, fmt, ap);
    cx->report_id = id;
    tkc_report(cx, TKC_SEVERITY_ERROR, loc, as, text);
    cx->report_id = DIAG_NONE;
}

TkcStatus api_misuse(TkcContext *cx, const char *fmt, ...)
{
    if (!is_context(cx)) return TKC_MISUSE;
    tkc_report_begin(cx);
    va_list ap;
    va_start(ap, fmt);
    report_as(cx, DIAG_MISUSE, NULL, "%s", fmt, ap);
    va_end(ap);
    tkc_report_end(cx);
    return TKC_MISUSE;
}

/* ---- reports from outside the compiler ---- */

void tkc_report_begin(TkcContext *cx)
{
    tkc_context_lock(cx);
    if (cx->report_depth++ == 0) {
        arena_init(&cx->report_arena);
        diags_init(&cx->reports, &cx->report_arena);
    }
}

static Diag *report_v(TkcContext *cx, TkcSeverity severity, const Loc *loc, const char *text)
{
    Diags *dx = &cx->reports;
    diags_enter(dx, cx->report_id ? cx->report_id : ir_span(loc).source ? DIAG_FAULT : DIAG_LAUNCH);
    switch (severity) {
    case TKC_SEVERITY_ERROR: return diag_error(dx, ir_span(loc), "%s", text);
    case TKC_WARNING: return diag_warning(dx, dx->id, ir_span(loc), "%s", text);
    case TKC_REMARK: return diag_remark(dx, dx->id, ir_span(loc), "%s", text);
    case TKC_NOTE: diag_note(dx, dx->last, ir_span(loc), "%s", text); return NULL;
    }
    return NULL;
}

static void report_text(TkcContext *cx, TkcSeverity severity, const Loc *loc, const char *fmt,
                        va_list ap)
{
    UnwindFrame frame;
    unwind_push(&frame);
    const bool raised = setjmp(frame.env) != 0;
    if (!raised) {
        Diag *d = report_v(cx, severity, loc, arena_vprintf(&cx->report_arena, fmt, ap));
        if (d) ir_note_callers(&cx->reports, d, loc);
    }
    unwind_pop(&frame);
    if (raised) /* for the report itself there was no memory: that is said instead */
        report_raise(cx, &frame);
}

void tkc_report(TkcContext *cx, TkcSeverity severity, const Loc *loc, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tkc_report_begin(cx);
    report_text(cx, severity, loc, fmt, ap);
    tkc_report_end(cx);
    va_end(ap);
}

void tkc_report_note(TkcContext *cx, const Loc *loc, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (cx->report_depth) report_text(cx, TKC_NOTE, loc, fmt, ap);
    va_end(ap);
}

/* A handler may make calls that report, so what it is told is no longer the context's by then. */
static void deliver_reports(TkcContext *cx)
{
    UnwindFrame frame;
    Arena arena = cx->report_arena;
    Diags reports = cx->reports;
    reports.arena = &arena;
    unwind_push(&frame);
    const bool raised = setjmp(frame.env) != 0;
    if (!raised) deliver(cx, &arena, &reports, true);
    unwind_pop(&frame);
    if (raised) report_raise(cx, &frame);
    arena_fini(&arena);
}

void tkc_report_end(TkcContext *cx)
{
    if (--cx->report_depth == 0) deliver_reports(cx);
    tkc_context_unlock(cx);
}

void tkc_report_bug(TkcContext *cx, const Loc *loc, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    report_as(cx, DIAG_INTERNAL, loc, "internal error: %s", fmt, ap);
    va_end(ap);
}

TkcStatus tkc_no_memory(TkcContext *cx)
{
    tkc_context_lock(cx);
    cx->report_id = DIAG_MEMORY;
    tkc_report(cx, TKC_SEVERITY_ERROR, NULL, "out of memory");
    cx->report_id = DIAG_NONE;
    tkc_context_unlock(cx);
    return TKC_NO_MEMORY;
}
