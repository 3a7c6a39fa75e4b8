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
#include "tkc/vector.h"

/* ---- regions that are one op ---- */

/* The loop of a region `yield op(a, b)`; NULL when it is something else. */
static LoopFn single_loop(const Op *op)
{
    const Region *r = op->regions[0];
    const Op *first = r->first;
    if (op->nargs != 1 || !first || first->next != r->last || !(tkc_op_info(first->kind)->traits & OT_COMMUTE))
        return NULL;
    const Value *x = op_arg(first, 0), *y = op_arg(first, 1);
    bool both = (x == r->args[0] && y == r->args[1]) || (x == r->args[1] && y == r->args[0]);
    if (!both || r->last->nargs != 1 || op_arg(r->last, 0) != op_result(first, 0)) return NULL;
    return interp_loop(first->kind, tkc_type_element(x->type)->dtype, DT_NONE);
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
    Axis a = insn_axis(in);
    int64_t line = a.length * a.inner * s->size;
    char *room = interp_scratch(f, (size_t)(2 * line + (s->uniform ? s->count * s->size : 0)));
    if (!room) return;
    char *const turn[2] = {room, room + line};
    const char *x = slot_elements(f, s, room + 2 * line);
    char *out = slot_data(f, result);
    if (a.length == 1) memcpy(out, x, (size_t)(result->count * s->size));
    for (int64_t i = 0; i < a.outer && a.length > 1; i++)
        fold_halves(in, x + i * line, out + i * a.inner * s->size, a.length, a.inner, turn);
}

/* ---- any region ---- */

enum { MOST = 16 }; /* operands of one reduction */

/* Where the two sides of n pairs go, and where the region's results are: in its own slots or, where
   each pair goes its own way (is_by_pair), in scratch memory. A result that is one
   for all pairs is expanded into scratch memory too. `kept` is nobody's. */
typedef struct Sides {
    char *left[MOST], *right[MOST], *expanded[MOST], *kept[MOST];
    const char *result[MOST];
} Sides;

/* A carry has totals behind them. */
static int operands_of(const Insn *in)
{
    return in->op->regions[0]->nargs / 2;
}

static const Slot *const *yielded(const Insn *in)
{
    const Body *body = &in->bodies[0];
    return body->insns[body->n - 1].args;
}

static void run_region(Frame *f, const Insn *in, int64_t n)
{
    f->vector = n;
    interp_run(f, &in->bodies[0]);
    f->vector = 1;
}

/* Pair after pair. */
static void combine_each(Frame *f, const Insn *in, int64_t n, const Sides *s)
{
    const Slot *const *args = in->body_args[0], *const *results = yielded(in);
    for (int64_t k = 0; k < n; k++) {
        for (int i = 0; i < operands_of(in); i++) {
            int64_t size = in->args[i]->size;
            memcpy(slot_data(f, args[i]), s->left[i] + k * size, (size_t)size);
            memcpy(slot_data(f, args[operands_of(in) + i]), s->right[i] + k * size, (size_t)size);
        }
        run_region(f, in, 1);
        if (f->failed) return;
        for (int i = 0; i < operands_of(in); i++)
            slot_expand(f, results[i], s->expanded[i] + k * in->args[i]->size, 1);
    }
}

/* The region over n pairs, whose sides are filled. */
static void combine(Frame *f, const Insn *in, int64_t n, const Sides *s)
{
    if (in->n[0]) {
        combine_each(f, in, n, s);
        return;
    }
    run_region(f, in, n);
    for (int i = 0; i < operands_of(in) && !f->failed; i++)
        if (yielded(in)[i]->uniform) slot_expand(f, yielded(in)[i], s->expanded[i], n);
}

/* So that any type is aligned after it. */
static int64_t padded(int64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Room for count pairs, and more buffers as large for each operand. */
static bool take_sides(Frame *f, const Insn *in, int64_t count, Sides *s, char *const **more)
{
    enum { BUFFERS = 6 };
    size_t total = 2 * MOST * sizeof(char *);
    for (int i = 0; i < operands_of(in); i++)
        total += BUFFERS * (size_t)padded(count * in->args[i]->size);
    char **spare = interp_scratch(f, total), *at = (char *)(spare + 2 * MOST);
    *more = spare;
    for (int i = 0; spare && i < operands_of(in); i++) {
        const Slot *result = yielded(in)[i], *const *args = in->body_args[0];
        int64_t bytes = padded(count * in->args[i]->size);
        s->left[i] = in->n[0] ? at : slot_data(f, args[i]);
        s->right[i] = in->n[0] ? at + bytes : slot_data(f, args[operands_of(in) + i]);
        s->expanded[i] = at + 2 * bytes;
        s->result[i] = in->n[0] || result->uniform ? s->expanded[i] : slot_data(f, result);
        spare[2 * i] = at + 3 * bytes;
        spare[2 * i + 1] = at + 4 * bytes;
        s->kept[i] = at + 5 * bytes;
        at += BUFFERS * bytes;
    }
    return spare != NULL;
}

/* Control flow in a region, and an assertion, is not done on vectors. */
static bool is_by_pair(const Region *r)
{
    for (const Op *op = r->first; op; op = op->next)
        if (op->nregions > 0 || op->kind == OP_ASSERT) return true;
    return false;
}

#define SPLIT_PAIRS(T)                                                                             \
    for (int64_t k = 0; k < n; k++) {                                                              \
        ((T *)left)[k] = ((const T *)x)[2 * k];                                                    \
        ((T *)right)[k] = ((const T *)x)[2 * k + 1];                                               \
    }

VECTOR static void split_pairs(void *restrict left, void *restrict right, const void *restrict x,
                               int64_t n, int64_t size)
{
    switch (size) {
    case 1: SPLIT_PAIRS(uint8_t); break;
    case 2: SPLIT_PAIRS(uint16_t); break;
    case 4: SPLIT_PAIRS(uint32_t); break;
    default: SPLIT_PAIRS(uint64_t); break;
    }
}

/* Neighbours along the axis of x[outer][length][inner]; the last of an odd length is left out. */
static void take_pairs(char *left, char *right, const char *x, Axis a, int64_t size)
{
    if (a.length % 2 == 0) { /* no gaps: one long axis */
        a.length *= a.outer;
        a.outer = 1;
    }
    int64_t row = a.inner * size, pairs = a.length / 2;
    for (int64_t o = 0; o < a.outer; o++, x += a.length * row) {
        if (a.inner == 1) split_pairs(left, right, x, pairs, size);
        for (int64_t k = 0; k < pairs && a.inner > 1; k++) {
            memcpy(left + k * row, x + 2 * k * row, (size_t)row);
            memcpy(right + k * row, x + (2 * k + 1) * row, (size_t)row);
        }
        left += pairs * row;
        right += pairs * row;
    }
}

/* x[outer][length] becomes [outer][half]: the combined pairs, and the last row when the length is
   odd. */
static void put_level(char *to, const char *x, const char *combined, Axis a, int64_t size)
{
    int64_t row = a.inner * size, pairs = a.length / 2;
    if (a.length % 2 == 0) {
        memcpy(to, combined, (size_t)(a.outer * pairs * row));
        return;
    }
    for (int64_t o = 0; o < a.outer; o++) {
        memcpy(to, combined + o * pairs * row, (size_t)(pairs * row));
        memcpy(to + pairs * row, x + (o * a.length + a.length - 1) * row, (size_t)row);
        to += (pairs + 1) * row;
    }
}

/* A result is the next level as it is, in its slot, if neither level leaves a row out, and if it is
   no side, which the next level overwrites. */
static bool is_level(const Insn *in, const Sides *s, int i, Axis a)
{
    bool is_side = false;
    for (int k = 0; k < in->nargs; k++)
        is_side |= s->result[i] == s->left[k] || s->result[i] == s->right[k];
    return (a.length % 4 == 0 || a.length == 2) && !is_side;
}

static void run_reduce(Frame *f, const Insn *in)
{
    Axis a = insn_axis(in);
    Sides s;
    char *const *spare;
    const char *level[MOST];
    if (!take_sides(f, in, in->args[0]->count, &s, &spare)) return;
    for (int i = 0; i < in->nargs; i++) level[i] = slot_elements(f, in->args[i], spare[2 * i]);
    for (int turn = 1; a.length > 1; turn ^= 1) {
        for (int i = 0; i < in->nargs; i++)
            take_pairs(s.left[i], s.right[i], level[i], a, in->args[i]->size);
        combine(f, in, a.outer * (a.length / 2) * a.inner, &s);
        if (f->failed) return;
        for (int i = 0; i < in->nargs; i++) {
            char *to = spare[2 * i + turn];
            bool as_it_is = is_level(in, &s, i, a);
            if (!as_it_is) put_level(to, level[i], s.result[i], a, in->args[i]->size);
            level[i] = as_it_is ? s.result[i] : to;
        }
        a.length -= a.length / 2;
    }
    for (int i = 0; i < in->nargs; i++)
        memcpy(slot_data(f, in->results[i]), level[i],
               (size_t)(in->results[i]->count * in->args[i]->size));
}

/* ---- row by row ---- */

/* Operands or results, seen along one axis. */
typedef struct Rows {
    Axis a;
    char *data[MOST];
} Rows;

/* Of n slots; room: of each second one, where uniform ones are expanded, or NULL where none is. */
static Rows rows_of(Frame *f, Axis a, int n, const Slot *const *slots, char *const *room)
{
    Rows r = {.a = a};
    for (int i = 0; i < n; i++)
        r.data[i] = room ? (char *)slot_elements(f, slots[i], room[2 * i]) : slot_data(f, slots[i]);
    return r;
}

/* Row k of each of the outer blocks. */
static void copy_row(char *to, Axis at, int64_t k, const char *from, Axis af, int64_t j, int64_t size)
{
    const int64_t row = at.inner * size;
    to += k * row, from += j * row;
    for (int64_t o = 0; o < at.outer; o++, to += at.length * row, from += af.length * row) {
        if (row == 4) memcpy(to, from, 4);
        else if (row == 8) memcpy(to, from, 8);
        else memcpy(to, from, (size_t)row);
    }
}

/* Row k of `to` becomes row j of `from`. */
static void copy_rows(const Insn *in, const Rows *to, int64_t k, const Rows *from, int64_t j)
{
    for (int i = 0; i < operands_of(in); i++)
        copy_row(to->data[i], to->a, k, from->data[i], from->a, j, in->args[i]->size);
}

/* Row k of `to` becomes row j of `left` and row l of `right`, combined. */
static void combine_rows(Frame *f, const Insn *in, const Sides *s, const Rows *to, int64_t k,
                         const Rows *left, int64_t j, const Rows *right, int64_t l)
{
    const Axis one = {to->a.outer, 1, to->a.inner};
    for (int i = 0; i < operands_of(in); i++) {
        const int64_t size = in->args[i]->size;
        copy_row(s->left[i], one, 0, left->data[i], left->a, j, size);
        copy_row(s->right[i], one, 0, right->data[i], right->a, l, size);
    }
    combine(f, in, one.outer * one.inner, s);
    for (int i = 0; i < operands_of(in) && !f->failed; i++)
        copy_row(to->data[i], to->a, k, s->result[i], one, 0, in->args[i]->size);
}

/* The coordinate after c with the same kept bits; as large as the padded extent at the end. */
static int64_t next_of_slot(int64_t c, int64_t kept)
{
    return ((c | kept) + 1) & ~kept;
}

/* Slot after slot: its rows, one after the other. They are few, and nobody waits for them. */
static void run_reduce_slots(Frame *f, const Insn *in)
{
    const Axis a = insn_axis(in);
    const int64_t kept = tkc_op_int(in->op, ATTR_SLOTS, 0);
    Axis result = a;
    Sides s;
    char *const *spare;
    if (!take_sides(f, in, in->args[0]->count, &s, &spare)) return;
    result.length = in->results[0]->count / (a.outer * a.inner);
    const Rows x = rows_of(f, a, in->nargs, in->args, spare),
               out = rows_of(f, result, in->nargs, in->results, NULL);
    for (int64_t slot = 0, least = 0; slot < result.length;
         slot++, least = ((least | ~kept) + 1) & kept) {
        copy_rows(in, &out, slot, &x, least);
        for (int64_t c = next_of_slot(0, kept); (c | least) < a.length && !f->failed;
             c = next_of_slot(c, kept))
            combine_rows(f, in, &s, &out, slot, &out, slot, &x, c | least);
    }
}

/* ---- scan ---- */

static int64_t row_at(Axis a, bool reverse, int64_t step)
{
    return reverse ? a.length - 1 - step : step;
}

/* The row before is the left side, and the row of the operand the right side, of each row. Where a
   segment begins there is no row before. */
static void run_scan(Frame *f, const Insn *in)
{
    const Axis a = insn_axis(in);
    Sides s;
    char *const *spare;
    const bool reverse = tkc_op_int(in->op, ATTR_REVERSE, 0);
    const int64_t slots = tkc_op_int(in->op, ATTR_SLOTS, 0);
    if (!take_sides(f, in, in->args[0]->count, &s, &spare)) return;
    const Rows x = rows_of(f, a, in->nargs, in->args, spare),
               out = rows_of(f, a, in->nargs, in->results, NULL);
    for (int64_t step = 0; step < a.length && !f->failed; step++) {
        const int64_t k = row_at(a, reverse, step), before = row_at(a, reverse, step - 1);
        const bool begins = step == 0 || (k & slots) != (before & slots);
        if (begins) copy_rows(in, &out, k, &x, k);
        else combine_rows(f, in, &s, &out, k, &out, before, &x, k);
    }
}

/* The axis of the segments' totals; *length: of a segment. */
static Axis segments_of(const Insn *in, Axis a, int64_t *length)
{
    *length = INT64_C(1) << __builtin_ctzll((uint64_t)tkc_op_int(in->op, ATTR_SLOTS, 0));
    return (Axis){a.outer, (a.length + *length - 1) / *length, a.inner};
}

/* The total of a segment is what its last element has. */
static void run_scan_segments(Frame *f, const Insn *in)
{
    int64_t length;
    const Axis a = insn_axis(in), segments = segments_of(in, a, &length);
    const bool reverse = tkc_op_int(in->op, ATTR_REVERSE, 0);
    run_scan(f, in);
    if (f->failed) return;
    const Rows out = rows_of(f, a, in->nargs, in->results, NULL),
               totals = rows_of(f, segments, in->nargs, in->results + in->nargs, NULL);
    for (int64_t k = 0; k < segments.length; k++) {
        const int64_t first = k * length,
                      after = first + length < a.length ? first + length : a.length;
        copy_rows(in, &totals, k, &out, reverse ? first : after - 1);
    }
}

/* Segment after segment: what comes before it is the left side of each of its rows. */
static void run_carry(Frame *f, const Insn *in)
{
    int64_t length;
    const Axis a = insn_axis(in), segments = segments_of(in, a, &length);
    const int n = operands_of(in);
    const bool reverse = tkc_op_int(in->op, ATTR_REVERSE, 0);
    Sides s;
    char *const *spare;
    if (!take_sides(f, in, in->args[0]->count, &s, &spare)) return;
    const Rows x = rows_of(f, a, n, in->args, spare),
               totals = rows_of(f, segments, n, in->args + n, spare + 1),
               out = rows_of(f, a, n, in->results, NULL);
    Rows before = {.a = {a.outer, 1, a.inner}};
    memcpy(before.data, s.kept, (size_t)n * sizeof *s.kept);
    for (int64_t step = 0; step < segments.length && !f->failed; step++) {
        const int64_t slot = row_at(segments, reverse, step);
        if (step == 1) copy_rows(in, &before, 0, &totals, slot);
        if (step > 1) combine_rows(f, in, &s, &before, 0, &before, 0, &totals, slot);
        for (int64_t k = slot * length; k < a.length && k < (slot + 1) * length; k++) {
            if (step == 0) copy_rows(in, &out, k, &x, k);
            else combine_rows(f, in, &s, &out, k, &before, 0, &x, k);
        }
    }
}

/* One op: each row of the result from the one before it, in place. */
static void run_scan_single(Frame *f, const Insn *in)
{
    const Slot *s = in->args[0];
    Axis a = insn_axis(in);
    bool reverse = tkc_op_int(in->op, ATTR_REVERSE, 0);
    char *room = interp_scratch(f, (size_t)(s->count * s->size)),
         *out = slot_data(f, in->results[0]);
    if (!room) return;
    const char *x = slot_elements(f, s, room);
    int64_t row = a.inner * s->size;
    for (int64_t o = 0; o < a.outer; o++, x += a.length * row, out += a.length * row)
        for (int64_t step = 0, before = 0; step < a.length; step++) {
            int64_t k = row_at(a, reverse, step);
            if (step)
                in->loop(out + k * row, (const void *[]){out + before * row, x + k * row}, a.inner,
                         0);
            else memcpy(out + k * row, x + k * row, (size_t)row);
            before = k;
        }
}

InsnFn combine_fn(Insn *in)
{
    if (operands_of(in) > MOST) return NULL;
    in->loop = single_loop(in->op);
    in->n[0] = is_by_pair(in->op->regions[0]);
    const bool has_slots = tkc_op_attr(in->op, ATTR_SLOTS);
    if (in->op->kind == OP_CARRY) return run_carry;
    if (in->op->kind == OP_SCAN)
        return has_slots ? run_scan_segments : in->loop ? run_scan_single : run_scan;
    if (has_slots) return run_reduce_slots;
    return in->loop ? run_reduce_single : run_reduce;
}

/* ---- histogram ---- */

void insn_histogram(Frame *f, const Insn *in)
{
    const Slot *x = in->args[0], *mask = in->nargs > 1 ? in->args[1] : NULL, *out = in->results[0];
    int32_t *bins = slot_data(f, out);
    memset(bins, 0, (size_t)out->count * sizeof *bins);
    for (int64_t i = 0; i < x->count; i++) {
        bool on = !mask || *slot_at(f, mask, i);
        int64_t v = slot_int(f, x, i);
        if (on && v >= 0 && v < out->count) bins[v]++;
    }
}
