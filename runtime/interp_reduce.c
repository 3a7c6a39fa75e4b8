/* Reductions, scans, histograms.

   Operands are seen as [outer][length][inner] around the axis. A reduction is a tree of fixed
   shape, so that its rounding depends on nothing but the length, with an error that grows with its
   logarithm.
     - One operand combined by one op: halves are added onto each other, which are long vectors
   without gaps. The order of the elements changes, which these ops do not mind.
     - Anything else: neighbours are combined, in order. All pairs of a level are gathered into
   vectors and the region runs once over them. A scan goes along its axis step by step; a step is a
   vector over outer and inner. */
#include <string.h>

#include "interp.h"

typedef struct Axis {
    int64_t outer, length, inner;
} Axis;

static Axis axis_of(const Insn *in)
{
    const Type *t = op_arg(in->op, 0)->type;
    int axis = (int)tkc_op_int(in->op, ATTR_AXIS, 0);
    Axis a = {1, t->shape[axis], 1};
    for (int i = 0; i < t->rank; i++) {
        a.outer *= i < axis ? t->shape[i] : 1;
        a.inner *= i > axis ? t->shape[i] : 1;
    }
    return a;
}

/* ---- regions that are one op ---- */

static bool is_commutative(OpKind kind)
{
    switch (kind) {
    case OP_ADD:
    case OP_MUL:
    case OP_MAX:
    case OP_MIN:
    case OP_MAX_NAN:
    case OP_MIN_NAN:
    case OP_AND:
    case OP_OR:
    case OP_XOR: return true;
    default: return false;
    }
}

/* The loop of a region `yield op(a, b)`; NULL when it is something else. */
static LoopFn single_loop(const Op *op)
{
    const Region *r = op->regions[0];
    const Op *first = r->first;
    if (op->nargs != 1 || !first || first->next != r->last || !is_commutative(first->kind))
        return NULL;
    const Value *x = op_arg(first, 0), *y = op_arg(first, 1);
    bool both = (x == r->args[0] && y == r->args[1]) || (x == r->args[1] && y == r->args[0]);
    if (!both || r->last->nargs != 1 || op_arg(r->last, 0) != op_result(first, 0)) return NULL;
    return interp_loop(first->kind, tkc_type_element(x->type)->dtype);
}

/* The operand's elements, one after the other. */
static const char *operand(Frame *f, const Slot *s, char *room)
{
    if (!s->uniform) return slot_data(f, s);
    slot_expand(f, s, room, s->count);
    return room;
}

/* Two buffers take turns: a loop's result may not be its operand. */
static void fold_halves(const Insn *in, const char *x, char *out, int64_t length, int64_t row,
                        char *const turn[2])
{
    int64_t bytes = row * in->args[0]->size;
    for (int k = 0; length > 1; k ^= 1) {
        int64_t half = (length + 1) / 2, pairs = length - half;
        char *to = half == 1 ? out : turn[k];
        in->loop(to, (const void *[]){x, x + half * bytes}, pairs * row, 0);
        if (pairs < half) memcpy(to + pairs * bytes, x + pairs * bytes, (size_t)bytes);
        x = to;
        length = half;
    }
}

static void run_reduce_single(Frame *f, const Insn *in)
{
    const Slot *s = in->args[0], *result = in->results[0];
    Axis a = axis_of(in);
    int64_t line = a.length * a.inner * s->size;
    char *room = interp_scratch(f, (size_t)(2 * line + (s->uniform ? s->count * s->size : 0)));
    if (!room) return;
    char *const turn[2] = {room, room + line};
    const char *x = operand(f, s, room + 2 * line);
    char *out = slot_data(f, result);
    if (a.length == 1) memcpy(out, x, (size_t)(result->count * s->size));
    for (int64_t i = 0; i < a.outer && a.length > 1; i++)
        fold_halves(in, x + i * line, out + i * a.inner * s->size, a.length, a.inner, turn);
}

/* ---- any region ---- */

enum { MOST = 16 }; /* operands of one reduction */

/* Runs the region on n pairs. `left` and `right` are its arguments' slots, filled; the results go
   to out. With control flow inside, each pair goes its own way. */
static void combine(Frame *f, const Insn *in, int64_t n, char *const *out)
{
    const Body *body = &in->bodies[0];
    f->vector = n;
    interp_run(f, body);
    if (f->failed) return;
    const Insn *last = &body->insns[body->n - 1];
    for (int i = 0; i < in->nargs; i++) slot_expand(f, last->args[i], out[i], n);
    f->vector = 1;
}

static void combine_each(Frame *f, const Insn *in, int64_t n, char *const *out,
                         const char *const *left, const char *const *right)
{
    const Slot *const *args = in->body_args[0];
    char *to[MOST];
    for (int64_t k = 0; k < n && !f->failed; k++) {
        for (int i = 0; i < in->nargs; i++) {
            int64_t size = in->args[i]->size;
            memcpy(slot_data(f, args[i]), left[i] + k * size, (size_t)size);
            memcpy(slot_data(f, args[in->nargs + i]), right[i] + k * size, (size_t)size);
            to[i] = out[i] + k * size;
        }
        combine(f, in, 1, to);
    }
}

/* out = region(left, right) over n elements; out may be left. */
static void combine_vectors(Frame *f, const Insn *in, int64_t n, char *const *out,
                            const char *const *left, const char *const *right)
{
    const Slot *const *args = in->body_args[0];
    if (in->n[0]) {
        combine_each(f, in, n, out, left, right);
        return;
    }
    for (int i = 0; i < in->nargs; i++) {
        memcpy(slot_data(f, args[i]), left[i], (size_t)(n * in->args[i]->size));
        memcpy(slot_data(f, args[in->nargs + i]), right[i], (size_t)(n * in->args[i]->size));
    }
    combine(f, in, n, out);
}

/* Control flow in a region is not done on vectors. */
static bool has_control(const Region *r)
{
    for (const Op *op = r->first; op; op = op->next)
        if (op->nregions > 0) return true;
    return false;
}

#define EVERY_SECOND(T)                                                                            \
    for (int64_t k = 0; k < n; k++) ((T *)out)[k] = ((const T *)x)[2 * k]

static void every_second(void *out, const void *x, int64_t n, int64_t size)
{
    switch (size) {
    case 1: EVERY_SECOND(uint8_t); break;
    case 2: EVERY_SECOND(uint16_t); break;
    case 4: EVERY_SECOND(uint32_t); break;
    default: EVERY_SECOND(uint64_t); break;
    }
}

/* Every second of the rows of x[outer][length][inner], from `first` on, `pairs` of them. */
static void take_every_second(char *out, const char *x, Axis a, int64_t first, int64_t pairs,
                              int64_t size)
{
    int64_t row = a.inner * size;
    for (int64_t o = 0; o < a.outer; o++) {
        x += (o ? a.length : first) * row;
        if (a.inner == 1) every_second(out, x, pairs, size);
        for (int64_t k = 0; k < pairs && a.inner > 1; k++)
            memcpy(out + k * row, x + 2 * k * row, (size_t)row);
        out += pairs * row;
    }
}

/* x[outer][length] becomes [outer][half]: the combined pairs, and the last row when the length is
   odd. */
static void put_level(char *to, const char *x, const char *combined, Axis a, int64_t pairs,
                      int64_t size)
{
    int64_t row = a.inner * size;
    for (int64_t o = 0; o < a.outer; o++) {
        memcpy(to, combined + o * pairs * row, (size_t)(pairs * row));
        to += pairs * row;
        if (a.length & 1) {
            memcpy(to, x + (o * a.length + a.length - 1) * row, (size_t)row);
            to += row;
        }
    }
}

/* Scratch of four buffers an operand, each as large as the operand. */
typedef struct Rooms {
    char *level[MOST], *left[MOST], *right[MOST], *next[MOST];
} Rooms;

static bool take_rooms(Frame *f, const Insn *in, Rooms *r)
{
    size_t total = 0;
    for (int i = 0; i < in->nargs; i++)
        total += 4 * (size_t)(in->args[i]->count * in->args[i]->size);
    char *at = interp_scratch(f, total);
    for (int i = 0; at && i < in->nargs; i++) {
        int64_t bytes = in->args[i]->count * in->args[i]->size;
        r->level[i] = at;
        r->left[i] = at + bytes;
        r->right[i] = at + 2 * bytes;
        r->next[i] = at + 3 * bytes;
        at += 4 * bytes;
        slot_expand(f, in->args[i], r->level[i], in->args[i]->count);
    }
    return at != NULL;
}

static void run_reduce(Frame *f, const Insn *in)
{
    Axis a = axis_of(in);
    Rooms r;
    if (!take_rooms(f, in, &r)) return;
    while (a.length > 1 && !f->failed) {
        int64_t pairs = a.length / 2;
        for (int i = 0; i < in->nargs; i++) {
            take_every_second(r.left[i], r.level[i], a, 0, pairs, in->args[i]->size);
            take_every_second(r.right[i], r.level[i], a, 1, pairs, in->args[i]->size);
        }
        combine_vectors(f, in, a.outer * pairs * a.inner, r.left, (const char *const *)r.left,
                        (const char *const *)r.right);
        for (int i = 0; i < in->nargs; i++) {
            put_level(r.next[i], r.level[i], r.left[i], a, pairs, in->args[i]->size);
            char *swap = r.level[i];
            r.level[i] = r.next[i];
            r.next[i] = swap;
        }
        a.length = pairs + (a.length & 1);
    }
    for (int i = 0; i < in->nargs && !f->failed; i++)
        memcpy(slot_data(f, in->results[i]), r.level[i],
               (size_t)(in->results[i]->count * in->args[i]->size));
}

/* ---- scan ---- */

/* Row k of each of the outer blocks, between its place in x and a vector. */
static void take_row(char *out, const char *x, Axis a, int64_t k, int64_t size)
{
    int64_t row = a.inner * size;
    for (int64_t o = 0; o < a.outer; o++)
        memcpy(out + o * row, x + (o * a.length + k) * row, (size_t)row);
}

static void put_row(char *x, const char *from, Axis a, int64_t k, int64_t size)
{
    int64_t row = a.inner * size;
    for (int64_t o = 0; o < a.outer; o++)
        memcpy(x + (o * a.length + k) * row, from + o * row, (size_t)row);
}

static int64_t row_at(const Insn *in, Axis a, int64_t step)
{
    return tkc_op_int(in->op, ATTR_REVERSE, 0) ? a.length - 1 - step : step;
}

static void run_scan(Frame *f, const Insn *in)
{
    Axis a = axis_of(in);
    Rooms r;
    if (!take_rooms(f, in, &r)) return;
    for (int64_t step = 0; step < a.length && !f->failed; step++) {
        int64_t k = row_at(in, a, step);
        for (int i = 0; i < in->nargs; i++)
            take_row(step ? r.right[i] : r.left[i], r.level[i], a, k, in->args[i]->size);
        if (step)
            combine_vectors(f, in, a.outer * a.inner, r.left, (const char *const *)r.left,
                            (const char *const *)r.right);
        for (int i = 0; i < in->nargs && !f->failed; i++)
            put_row(slot_data(f, in->results[i]), r.left[i], a, k, in->args[i]->size);
    }
}

/* One op: each row of the result from the one before it, in place. */
static void run_scan_single(Frame *f, const Insn *in)
{
    const Slot *s = in->args[0];
    Axis a = axis_of(in);
    char *room = interp_scratch(f, (size_t)(s->count * s->size)),
         *out = slot_data(f, in->results[0]);
    if (!room) return;
    const char *x = operand(f, s, room);
    int64_t row = a.inner * s->size;
    for (int64_t o = 0; o < a.outer; o++, x += a.length * row, out += a.length * row)
        for (int64_t step = 0, before = 0; step < a.length; step++) {
            int64_t k = row_at(in, a, step);
            if (step)
                in->loop(out + k * row, (const void *[]){out + before * row, x + k * row}, a.inner,
                         0);
            else memcpy(out + k * row, x + k * row, (size_t)row);
            before = k;
        }
}

static InsnFn combine_fn(Insn *in)
{
    if (in->nargs > MOST) return NULL;
    in->loop = single_loop(in->op);
    in->n[0] = has_control(in->op->regions[0]);
    if (in->op->kind == OP_SCAN) return in->loop ? run_scan_single : run_scan;
    return in->loop ? run_reduce_single : run_reduce;
}

/* ---- histogram ---- */

static void run_histogram(Frame *f, const Insn *in)
{
    const Slot *x = in->args[0], *mask = in->nargs > 1 ? in->args[1] : NULL, *out = in->results[0];
    int32_t *bins = slot_data(f, out);
    memset(bins, 0, (size_t)out->count * sizeof *bins);
    for (int64_t i = 0; i < x->count; i++) {
        bool on = !mask || ((const uint8_t *)slot_data(f, mask))[mask->uniform ? 0 : i];
        int64_t v = slot_int(x, slot_data(f, x), i);
        if (on && v >= 0 && v < out->count) bins[v]++;
    }
}

InsnFn interp_reduce_fn(Insn *in)
{
    switch (in->op->kind) {
    case OP_REDUCE:
    case OP_SCAN: return combine_fn(in);
    case OP_HISTOGRAM: return run_histogram;
    default: return NULL;
    }
}
