/* Running prepared functions: control flow, errors, programs on all cores.

   Programs are taken by number from one counter. When several fail, the error of the one with the
   lowest number is reported: programs before a failed one are still finished, those after it end
   early. So a report does not depend on the number of threads. */
#include "debug/debug.h"
#include "tkc/carry.h"
#include "tkc/clock.h"

#include <fenv.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

void interp_fail(Frame *f, const Insn *in, const char *fmt, ...)
{
    Launch *l = f->launch;
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    f->failed = true;
    pthread_mutex_lock(l->mutex);
    if (l->error_program < 0 || f->program < l->error_program) {
        l->error_program = f->program;
        l->error_loc = in ? in->op->loc : NULL;
        snprintf(l->error_text, sizeof l->error_text, "%s, in program (%lld, %lld, %lld)", text,
                 (long long)f->pid[0], (long long)f->pid[1], (long long)f->pid[2]);
        l->note_text[0] = 0;
    }
    atomic_store(&l->stop, 1);
    pthread_mutex_unlock(l->mutex);
}

void interp_no_memory(Frame *f, const Insn *in)
{
    interp_fail(f, in, "out of memory");
}

const char *interp_place(const Launch *l, int param, uint64_t address, int64_t size,
                         char text[PLACE_TEXT])
{
    if (param < 0) return "one element";
    const int64_t begin = (int64_t)l->args[param].bits;
    snprintf(text, PLACE_TEXT, "element %lld of '%.100s' (%lld elements)",
             (long long)(((int64_t)address - begin) / size), l->in->fn->params[param].name,
             (long long)(((int64_t)l->ranges[param].end - begin) / size));
    return text;
}

void interp_note(Frame *f, const Loc *loc, const char *fmt, ...)
{
    Launch *l = f->launch;
    va_list ap;
    va_start(ap, fmt);
    pthread_mutex_lock(l->mutex);
    if (l->error_program == f->program) {
        l->note_loc = loc;
        vsnprintf(l->note_text, sizeof l->note_text, fmt, ap);
    }
    pthread_mutex_unlock(l->mutex);
    va_end(ap);
}

/* A program with a lower number than the one that failed goes on: its error would come first.
   Programs that take turns have one order: its first error is the one. */
bool interp_stopped(Frame *f)
{
    Launch *l = f->launch;
    if (f->failed) return true;
    if (!atomic_load_explicit(&l->stop, memory_order_relaxed)) return false;
    pthread_mutex_lock(l->mutex);
    bool later = l->turns || f->program > l->error_program;
    pthread_mutex_unlock(l->mutex);
    f->failed = later;
    return later;
}

static void *grow(Frame *f, FrameBuffer *b, size_t bytes)
{
    if (bytes > b->cap) {
        free(b->data);
        b->data = malloc(bytes * 2);
        b->cap = b->data ? bytes * 2 : 0;
        if (!b->data) interp_no_memory(f, NULL);
    }
    return b->data;
}

void *interp_scratch(Frame *f, size_t bytes)
{
    return grow(f, &f->scratch, bytes + 1);
}

#define MOVE(T)                                                                                    \
    do {                                                                                           \
        T *to = out;                                                                               \
        const T *from = in, first = *from;                                                         \
        if (step_out == 1 && step_in == 0)                                                         \
            for (int64_t i = 0; i < n; i++) to[i] = first;                                         \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) to[i * step_out] = from[i * step_in];                  \
    } while (0)

void move_elements(void *out, const void *in, int64_t n, int64_t step_out, int64_t step_in, int size)
{
    if (step_out == 1 && step_in == 1) {
        memcpy(out, in, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: MOVE(uint8_t); break;
    case 2: MOVE(uint16_t); break;
    case 4: MOVE(uint32_t); break;
    default: MOVE(uint64_t); break;
    }
}

void slot_expand(const Frame *f, const Slot *s, void *out, int64_t count)
{
    move_elements(out, slot_data(f, s), count, 1, s->uniform ? 0 : 1, s->size);
}

const char *slot_elements(const Frame *f, const Slot *s, char *room)
{
    if (!s->uniform) return slot_data(f, s);
    slot_expand(f, s, room, s->count);
    return room;
}

void slot_copy(Frame *f, const Insn *in)
{
    const Slot *to = in->results[0];
    slot_expand(f, in->args[0], slot_data(f, to), slot_len(f, in, to));
}

int64_t slot_int(const Frame *f, const Slot *s, int64_t i)
{
    const void *data = slot_data(f, s);
    i = s->uniform ? 0 : i;
    switch (s->dtype) {
    case DT_I8: return ((const int8_t *)data)[i];
    case DT_I16: return ((const int16_t *)data)[i];
    case DT_I32: return ((const int32_t *)data)[i];
    default: break;
    }
    switch (s->size) {
    case 1: return ((const uint8_t *)data)[i];
    case 2: return ((const uint16_t *)data)[i];
    case 4: return ((const uint32_t *)data)[i];
    default: return ((const int64_t *)data)[i];
    }
}

/* ---- regions ---- */

/* True when time is up: then the frame has failed at the instruction. The clock is read now and
   then only. */
static bool is_late(Frame *f, const Insn *in)
{
    if ((++f->steps & 15) != 0 || clock_seconds() <= f->launch->deadline) return false;
    interp_fail(f, in, "the run took longer than %g seconds and was here", f->launch->dev->timeout);
    return true;
}

void interp_run(Frame *f, const Body *body)
{
    bool timed = f->launch->deadline > 0;
    for (const Insn *in = body->insns, *end = in + body->n; in < end && !f->failed; in++)
        if (!timed || !is_late(f, in)) in->run(f, in);
}

static const Insn *last_insn(const Body *body)
{
    return &body->insns[body->n - 1];
}

/* from[i] to to[i], all at once: a source may be one of the targets. */
static void move_slots(Frame *f, const Insn *in, int n, const Slot *const *from,
                       const Slot *const *to)
{
    size_t total = 0;
    bool overlap = false;
    if (f->overflow) overflow_move(f, in, n, from, to);
    for (int i = 0; i < n; i++) {
        total += (size_t)slot_len(f, in, to[i]) * to[i]->size;
        for (int k = 0; k < i; k++) overlap |= from[i]->offset == to[k]->offset;
    }
    if (!overlap) {
        for (int i = 0; i < n; i++)
            if (from[i]->offset != to[i]->offset || from[i]->uniform != to[i]->uniform)
                slot_expand(f, from[i], slot_data(f, to[i]), slot_len(f, in, to[i]));
        return;
    }
    char *stage = grow(f, &f->moves, total + 1);
    for (int pass = 0; pass < 2 && stage; pass++) {
        char *p = stage;
        for (int i = 0; i < n; i++) {
            int64_t count = slot_len(f, in, to[i]);
            if (pass == 0) slot_expand(f, from[i], p, count);
            else memcpy(slot_data(f, to[i]), p, (size_t)count * to[i]->size);
            p += (size_t)count * to[i]->size;
        }
    }
}

static void write_int(const Frame *f, const Slot *s, int64_t v)
{
    memcpy(slot_data(f, s), &v, s->size); /* little endian */
}

/* A step that goes down is negative, in an unsigned type too. */
static int64_t read_step(const Frame *f, const Insn *in)
{
    int64_t step = slot_int(f, in->args[2], 0);
    int unused = 64 - 8 * in->args[2]->size;
    return tkc_op_int(in->op, ATTR_DOWN, 0) ? (int64_t)((uint64_t)step << unused) >> unused : step;
}

/* Iterations of `for`, fixed on entry; in 128 bits nothing overflows. -1: the step is zero. */
static __int128 trip_count(const Frame *f, const Insn *in)
{
    bool is_u64 = in->args[0]->dtype == DT_U64, down = tkc_op_int(in->op, ATTR_DOWN, 0);
    int64_t first = slot_int(f, in->args[0], 0), last = slot_int(f, in->args[1], 0),
            raw = read_step(f, in);
    __int128 lower = is_u64 ? (__int128)(uint64_t)first : first,
             upper = is_u64 ? (__int128)(uint64_t)last : last;
    __int128 step = is_u64 && !down ? (__int128)(uint64_t)raw : raw;
    if (step == 0) return -1;
    if (down) return lower <= upper || step > 0 ? 0 : (lower - upper - step - 1) / -step;
    return lower >= upper || step < 0 ? 0 : (upper - lower + step - 1) / step;
}

void insn_for(Frame *f, const Insn *in)
{
    const Body *body = &in->bodies[0];
    const Slot *const *args = in->body_args[0];
    int n = in->nresults;
    __int128 trips = trip_count(f, in);
    if (trips < 0) {
        interp_fail(f, in, "the step of a loop is zero");
        return;
    }
    int64_t i = slot_int(f, in->args[0], 0), step = read_step(f, in);
    move_slots(f, in, n, in->args + carry_own_args(in->op), args + 1);
    for (; trips > 0 && !interp_stopped(f); trips--) {
        write_int(f, args[0], i);
        if (overflow_found(f)) overflow_move(f, in, 1, in->args, args);
        interp_run(f, body);
        if (f->failed) return;
        move_slots(f, in, n, last_insn(body)->args, args + 1);
        i = (int64_t)((uint64_t)i + (uint64_t)step);
    }
    if (!f->failed) move_slots(f, in, n, args + 1, in->results);
}

/* The values a round of a loop hands on are those it was given. */
static bool same_slots(const Frame *f, const Insn *in, int n, const Slot *const *from,
                       const Slot *const *to)
{
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; k < slot_len(f, in, to[i]); k++)
            if (memcmp(slot_at(f, from[i], k), slot_at(f, to[i], k), to[i]->size)) return false;
    return true;
}

void insn_while(Frame *f, const Insn *in)
{
    const Body *before = &in->bodies[0], *body = &in->bodies[1];
    move_slots(f, in, in->nargs, in->args, in->body_args[0]);
    while (!interp_stopped(f)) {
        uint64_t changes = f->runner ? turns_changes(f) : 0;
        interp_run(f, before);
        if (f->failed) return;
        const Insn *cond = last_insn(before);
        bool go_on = *(const uint8_t *)slot_data(f, cond->args[0]);
        const Slot *const *to = go_on ? in->body_args[1] : in->results;
        move_slots(f, in, in->nresults, cond->args + carry_own_ends(cond->op), to);
        if (!go_on) return;
        interp_run(f, body);
        if (f->failed) return;
        const Insn *yield = last_insn(body);
        if (f->runner)
            turns_yield(f, in,
                        changes == turns_changes(f) &&
                            same_slots(f, in, yield->nargs, yield->args, in->body_args[0]));
        move_slots(f, in, yield->nargs, yield->args, in->body_args[0]);
    }
}

void insn_if(Frame *f, const Insn *in)
{
    const Body *body = &in->bodies[*(const uint8_t *)slot_data(f, in->args[0]) ? 0 : 1];
    interp_run(f, body);
    if (!f->failed) move_slots(f, in, in->nresults, last_insn(body)->args, in->results);
}

int flow_sources(const Value *v, const Value *from[2])
{
    const Op *op = v->def ? NULL : v->region->parent;
    if (!op || op->kind != OP_FOR || v->index >= carry_own_params(op))
        return tkc_carry_sources(v, from);
    from[0] = op_arg(op, 0);
    return 1;
}

void insn_nothing(Frame *f, const Insn *in)
{
    (void)f, (void)in;
}

void insn_grid(Frame *f, const Insn *in)
{
    const int64_t *of = in->op->kind == OP_PROGRAM_ID ? f->pid : f->launch->grid;
    write_int(f, in->results[0], of[tkc_op_int(in->op, ATTR_AXIS, 0)]);
}

void insn_const(Frame *f, const Insn *in)
{
    write_int(f, in->results[0], tkc_op_int(in->op, ATTR_VALUE, 0));
}

void insn_arange(Frame *f, const Insn *in)
{
    int32_t *out = slot_data(f, in->results[0]), start = (int32_t)tkc_op_int(in->op, ATTR_START, 0);
    for (int64_t i = 0; i < in->results[0]->count; i++) out[i] = start + (int32_t)i;
}

/* ---- programs ---- */

/* The launch has set the arithmetic of its own thread; one that it started sets it here. */
bool frame_open(Frame *f, Launch *l)
{
    fesetenv(FE_DFL_ENV);
    *f = (Frame){.launch = l, .vector = 1};
    f->memory = aligned_alloc(64, (l->in->frame_bytes + 63) / 64 * 64);
    if (!f->memory) return false;
    for (int i = 0; i < l->in->fn->nparams; i++) {
        const Slot *s = &l->in->slots[l->in->fn->body->args[i]->id];
        memcpy(slot_data(f, s), &l->args[i].bits, s->size);
    }
    if (l->in->debug && !debug_frame_open(f)) return false;
    if (!l->dev->unchecked && !(f->overflow = overflow_new(l->in))) return false;
    interp_run(f, &l->in->prologue);
    if (f->overflow) overflow_invariants_done(f->overflow);
    return true;
}

void frame_close(Frame *f)
{
    pthread_mutex_lock(f->launch->mutex);
    race_merge(&f->launch->race, &f->race);
    pthread_mutex_unlock(f->launch->mutex);
    debug_frame_close(f);
    overflow_free(f->overflow);
    free(f->memory);
    free(f->scratch.data);
    free(f->moves.data);
}

static void run_program(Frame *f, int64_t number)
{
    const int64_t *grid = f->launch->grid;
    f->program = number;
    if (f->overflow) overflow_begin(f->overflow);
    f->readings = 0;
    f->pid[0] = number % grid[0];
    f->pid[1] = number / grid[0] % grid[1];
    f->pid[2] = number / grid[0] / grid[1];
    if (f->debug) debug_frame_reset(f);
    interp_run(f, &f->launch->in->body);
}

/* With atomics the order is a permutation fixed by the seed; seed 0 keeps the order of numbers. An odd
   multiplier modulo a power of two visits each number once; those past the grid are skipped by the
   caller. */
static bool is_permuted(const Launch *l)
{
    return l->dev->seed && l->in->in_turn;
}

static int64_t order_length(const Launch *l, int64_t total)
{
    int64_t cap = 1;
    if (!is_permuted(l)) return total;
    while (cap < total) cap *= 2;
    return cap;
}

/* The k-th program to run. */
static int64_t program_at(const Launch *l, int64_t k, int64_t length)
{
    uint64_t seed = l->dev->seed;
    if (!is_permuted(l)) return k;
    return (int64_t)(((uint64_t)k * (seed * 2 + 1) + (seed >> 7)) & (uint64_t)(length - 1));
}

static int64_t program_count(const Launch *l)
{
    return l->grid[0] * l->grid[1] * l->grid[2];
}

bool launch_has_more(Launch *l)
{
    return !atomic_load(&l->stop) && atomic_load(&l->next) < order_length(l, program_count(l));
}

void launch_work(Frame *f)
{
    Launch *l = f->launch;
    int64_t total = program_count(l), length = order_length(l, total),
            chunk = f->runner ? 1 : length / 512 + 1;
    while (!f->failed) {
        int64_t first = atomic_fetch_add(&l->next, chunk);
        if (first >= length) break;
        for (int64_t k = first; k < first + chunk && k < length && !f->failed; k++) {
            f->program = program_at(l, k, length);
            if (f->program < total && !interp_stopped(f)) run_program(f, f->program);
        }
    }
}

typedef struct Worker {
    Launch *launch;
    pthread_t thread;
    bool no_memory;
} Worker;

static void *work(void *arg)
{
    Worker *w = arg;
    Frame f;
    w->no_memory = !frame_open(&f, w->launch);
    if (!w->no_memory) launch_work(&f);
    frame_close(&f);
    return NULL;
}

static int thread_count(const TkcDevice *dev, const Interp *in, int64_t programs)
{
    long cores = dev->threads > 0 ? dev->threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (cores < 1 || in->has_print || in->debug) cores = 1;
    if (cores > 256) cores = 256;
    return (int)(cores < programs ? cores : programs);
}

static bool run_workers(Launch *l)
{
    Worker workers[256];
    int n = thread_count(l->dev, l->in, program_count(l)), started = 1;
    for (int i = 0; i < n; i++) workers[i] = (Worker){.launch = l};
    while (started < n && !pthread_create(&workers[started].thread, NULL, work, &workers[started]))
        started++;
    work(&workers[0]);
    bool ok = !workers[0].no_memory;
    for (int i = 1; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
        ok &= !workers[i].no_memory;
    }
    return ok;
}

/* What may be reached through a pointer argument: the memory it points into, at most to the end the
   caller gave. Behind a null pointer there is nothing, whatever the caller says. */
static MemRange range_of(const MemMap *memory, const LaunchArg *arg)
{
    const MemRange *r = mem_find(memory, arg->bits, arg->bits + 1);
    uint64_t end = arg->bytes ? arg->bits + arg->bytes : r ? r->end : arg->bits;
    if (end < arg->bits) end = UINT64_MAX;
    if (!arg->bits) end = 0;
    if (!r) return (MemRange){arg->bits, end, NULL};
    return (MemRange){r->begin, end < r->end ? end : r->end, r->shadow};
}

/* The device's memory and the arguments'. False: no memory. */
static bool map_arguments(const Interp *in, const MemMap *memory, const LaunchArg *args,
                          MemMap *all, MemRange *ranges)
{
    for (int i = 0; i < memory->n; i++)
        if (!mem_add(all, memory->ranges[i].begin, memory->ranges[i].end)) return false;
    for (int i = 0; i < in->fn->nparams; i++) {
        if (in->fn->params[i].type->kind != TY_POINTER) continue;
        ranges[i] = range_of(memory, &args[i]);
        if (!mem_find(all, ranges[i].begin, ranges[i].begin + 1) &&
            !mem_add(all, ranges[i].begin, ranges[i].end))
            return false;
    }
    return true;
}

static TkcStatus launch(Launch *l)
{
    TkcDevice *dev = l->dev;
    if (program_count(l) > INT64_MAX / 4) { /* room to count on */
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL,
                   "the grid has too many programs for the cpu device");
        return TKC_ERROR;
    }
    if (dev->timeout > 0) l->deadline = clock_seconds() + dev->timeout;
    if (!(l->in->in_turn ? turns_run(l) : run_workers(l))) {
        tkc_report(dev->cx, TKC_SEVERITY_ERROR, NULL,
                   "no memory for the blocks of the kernel (%zu bytes a thread)",
                   l->in->frame_bytes);
        return TKC_NO_MEMORY;
    }
    if (l->error_program < 0) return check_report(l);
    tkc_report_begin(dev->cx);
    tkc_report(dev->cx, TKC_SEVERITY_ERROR, l->error_loc, "%s", l->error_text);
    if (l->note_text[0]) tkc_report_note(dev->cx, l->note_loc, "%s", l->note_text);
    tkc_report_end(dev->cx);
    return TKC_ERROR;
}

TkcStatus interp_launch(TkcDevice *dev, const Interp *in, const MemMap *memory,
                        const int64_t grid[3], const LaunchArg *args)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    MemMap all = {0};
    MemRange *ranges = calloc((size_t)in->fn->nparams + 1, sizeof *ranges);
    TkcStatus status = TKC_OK;
    bool has_memory = ranges && map_arguments(in, memory, args, &all, ranges);
    if (has_memory) {
        Launch l = {.in = in,
                    .dev = dev,
                    .memory = &all,
                    .grid = {grid[0], grid[1], grid[2]},
                    .args = args,
                    .ranges = ranges,
                    .mutex = &mutex,
                    .error_program = -1};
        has_memory = check_begin(&l, &all, ranges);
        if (has_memory) status = launch(&l);
        check_end(&l, &all);
    }
    mem_fini(&all);
    free(ranges);
    return has_memory ? status : tkc_no_memory(dev->cx);
}
