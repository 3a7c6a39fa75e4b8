/* Integer arithmetic that wraps on the way to an address. It wraps silently, as on a GPU; where the
   result is in the address of an access, the access is an error, and the arithmetic is its cause.

   Which values lead to addresses is known before running: from the pointers of all accesses back
   through sums, products, shifts, casts, moves of lanes, branches and loops. Anything else ends the
   way: what a hash wraps and then masks is no address.

   Running, a launch is in one of two modes. Until something wraps, each sum or product of signed
   integers of 32 bits or less computes the least and the greatest its result can be from those that
   its operands have, and looks at single lanes only where those do not fit the type. From the moment something wraps until the program ends, every value on the
   way gets, lane by lane, its excess: what the exact result has more than the value. A wrap that
   is taken back again (a + b - c) ends with an excess of 0; a lane that is masked off at the access
   does not count.

       row = pid * stride          int32: 46341 * 46341 becomes -2147479015, excess 2^32
       x + row + arange            bytes: excess 2^34 in every lane
       load                        excess in a lane that is loaded: the error */
#include <stdio.h>
#include <stdlib.h>

#include "interp.h"

typedef struct Range {
    int64_t lo, hi;
} Range;

/* By Slot.offset_id. */
struct Overflow {
    const Interp *in;
    bool tracking, tracking_before;
    struct {
        Excess *now, *coming; /* of each lane, one where the slot is uniform; NULL: none */
    } of[];
};

/* ---- which values lead to addresses ---- */

typedef struct Marks {
    bool *marked;       /* by value id */
    const Value **list; /* marked, not yet visited */
    int n;
} Marks;

static void mark(Marks *m, const Value *v)
{
    const Type *e = tkc_type_element(v->type);
    DTypeKind kind = e->kind == TY_POINTER ? DK_UINT : tkc_dtype_info(e->dtype)->kind;
    if (m->marked[v->id] || (kind != DK_INT && kind != DK_UINT)) return;
    m->marked[v->id] = true;
    m->list[m->n++] = v;
}

static void mark_operands(Marks *m, const Op *op, int first, int end)
{
    for (int i = first; i < end; i++) mark(m, op_arg(op, i));
}

static bool is_step(OpKind kind)
{
    return kind == OP_ADD || kind == OP_SUB || kind == OP_MUL || kind == OP_SHL || kind == OP_NEG;
}

/* What it gives was an operand, or an element of one. */
static bool is_move(OpKind kind)
{
    return tkc_op_info(kind)->traits & OT_SHAPE || kind == OP_CAST || kind == OP_BITCAST ||
           kind == OP_HINT || kind == OP_SELECT || kind == OP_GATHER;
}

static void mark_sources(Marks *m, const Value *v)
{
    const Value *from[2];
    int n = flow_sources(v, from);
    for (int i = 0; i < n; i++) mark(m, from[i]);
    const Op *op = v->def;
    if (!op || n) return;
    switch (op->kind) {
    case OP_SELECT: mark_operands(m, op, 1, 3); break;
    case OP_GATHER: mark_operands(m, op, 0, 1); break;
    default:
        if (is_step(op->kind) || is_move(op->kind) || op->kind == OP_ADDPTR)
            mark_operands(m, op, 0, op->nargs);
    }
}

static void mark_accesses(Marks *m, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_LOAD || op->kind == OP_STORE ||
            (tkc_op_info(op->kind)->traits & OT_ATOMIC))
            mark(m, op_arg(op, 0));
        for (int i = 0; i < op->nregions; i++) mark_accesses(m, op->regions[i]);
    }
}

void overflow_mark(const Func *fn, bool *leads, const Value **room)
{
    Marks m = {leads, room, 0};
    mark_accesses(&m, fn->body);
    while (m.n > 0) mark_sources(&m, m.list[--m.n]);
}

/* ---- ranges ---- */

/* Of signed integers of at most 32 bits. */
static bool is_narrow(DType dt)
{
    return dt == DT_I32 || dt == DT_I16 || dt == DT_I8;
}

/* Of a narrow type. */
static bool fits(Range r, DType dt)
{
    const int64_t end = INT64_C(1) << (tkc_dtype_info(dt)->bits - 1);
    return r.lo >= -end && r.hi < end;
}

static Range range_over(Range r, int64_t v)
{
    return (Range){v < r.lo ? v : r.lo, v > r.hi ? v : r.hi};
}

/* The least and the greatest there are. */
static Range range_of(const Frame *f, const Slot *s)
{
    Range r = {slot_int(f, s, 0), slot_int(f, s, 0)};
    if (s->dtype == DT_I32 && !s->uniform) {
        const int32_t *v = slot_data(f, s);
        int32_t lo = v[0], hi = v[0];
        for (int64_t i = 0; i < s->count; i++) {
            lo = v[i] < lo ? v[i] : lo;
            hi = v[i] > hi ? v[i] : hi;
        }
        return (Range){lo, hi};
    }
    for (int64_t i = 0; i < s->count && !s->uniform; i++) r = range_over(r, slot_int(f, s, i));
    return r;
}

/* ---- sums, products, shifts ---- */

typedef __int128 Wide;

/* The exact result, of operands that leave room for it. A shift by the width or more, after which
   nothing is left, is one by the width. */
static Wide exact(OpKind kind, Wide x, Wide y, int bits)
{
    switch (kind) {
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    case OP_SHL: return x * ((Wide)1 << (y < 0 || y > bits ? bits : y));
    default: return -x; /* OP_NEG */
    }
}

/* Of operands within 32 bits. Each op is monotonic in each operand (a shift where its count is not
   negative): the ends of the results are at those of the operands. */
static Range range_of_op(OpKind kind, Range x, Range y, int bits)
{
    Range r = {INT64_MAX, INT64_MIN};
    if (kind == OP_SHL && y.lo < 0) return (Range){INT64_MIN, INT64_MAX};
    for (int i = 0; i < 4; i++)
        r = range_over(r, (int64_t)exact(kind, i & 1 ? x.hi : x.lo, i & 2 ? y.hi : y.lo, bits));
    return r;
}

static int64_t operand_at(const Frame *f, const Insn *in, int k, int64_t lane)
{
    return k < in->nargs ? slot_int(f, in->args[k], lane) : 0;
}

/* What the exact result of a narrow type has more than the result. */
static int64_t lost_at(const Frame *f, const Insn *in, int64_t lane)
{
    const Slot *out = in->results[0];
    const Wide meant = exact(in->op->kind, operand_at(f, in, 0, lane), operand_at(f, in, 1, lane),
                             8 * out->size);
    return (int64_t)meant - slot_int(f, out, lane);
}

static bool any_lane_wraps(const Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    int64_t n = out->uniform ? 1 : out->count;
    for (int64_t i = 0; i < n; i++)
        if (lost_at(f, in, i)) return true;
    return false;
}

/* False: some lane has wrapped. */
static bool step_fits(Frame *f, const Insn *in)
{
    const Slot *out = in->results[0];
    Range r[2] = {{0, 0}, {0, 0}};
    for (int i = 0; i < in->nargs; i++) r[i] = range_of(f, in->args[i]);
    return fits(range_of_op(in->op->kind, r[0], r[1], 8 * out->size), out->dtype) ||
           !any_lane_wraps(f, in);
}

/* ---- excess ---- */

/* At most a power of two that no distance in memory reaches, so that sums of these fit. */
static int64_t clamp(Wide v)
{
    const Wide most = (Wide)1 << 58;
    return (int64_t)(v > most ? most : v < -most ? -most : v);
}

static const Excess no_excess;

const Excess *overflow_at(const Frame *f, const Slot *s, int64_t lane)
{
    const Excess *e = f->overflow->tracking ? f->overflow->of[s->offset_id].now : NULL;
    return e ? &e[s->uniform ? 0 : lane] : &no_excess;
}

/* The excess of a result of the exact op on operands with these: but for a product's it is the op
   on theirs. A shift's count that has one is taken for any. */
static Wide excess_passed_on(const Frame *f, const Insn *in, int64_t lane, Wide a, Wide b)
{
    const OpKind kind = in->op->kind;
    Wide x = operand_at(f, in, 0, lane), y = operand_at(f, in, 1, lane);
    if (kind == OP_MUL) return a * y + x * b + a * b;
    if (kind == OP_SHL && b) return (Wide)1 << 58;
    return exact(kind, a, kind == OP_SHL ? y : b, 8 * in->results[0]->size);
}

/* Wrapping adds to it in a narrow signed type only. */
static void excess_of_step(const Frame *f, const Insn *in, int64_t lane, Excess *e)
{
    const Excess *x = overflow_at(f, in->args[0], lane),
                 *y = in->nargs > 1 ? overflow_at(f, in->args[1], lane) : &no_excess;
    int64_t lost = is_narrow(in->results[0]->dtype) ? lost_at(f, in, lane) : 0;
    if (x->by) *e = *x;
    else if (y->by) *e = *y;
    else *e = (Excess){0, operand_at(f, in, 0, lane), operand_at(f, in, 1, lane), in->op};
    e->by = clamp(excess_passed_on(f, in, lane, x->by, y->by) + lost);
}

/* Pointers count in bytes. */
static void excess_of_pointer(const Frame *f, const Insn *in, int64_t i, Excess *e)
{
    const Excess *x = overflow_at(f, in->args[0], i), *y = overflow_at(f, in->args[1], i);
    *e = x->by ? *x : *y;
    e->by = clamp(x->by + (Wide)y->by * in->n[0]);
}

/* Of a broadcast or transpose. */
static int64_t moved_lane(const Op *op, int64_t i)
{
    const Type *to = op_result(op, 0)->type, *from = op_arg(op, 0)->type;
    int64_t at[TKC_MAX_RANK], lane = 0;
    for (int d = to->rank - 1; d >= 0; d--) {
        const int was = tkc_moved_dim(op, d);
        at[was] = from->shape[was] == 1 ? 0 : i % to->shape[d];
        i /= to->shape[d];
    }
    for (int d = 0; d < from->rank; d++) lane = lane * from->shape[d] + at[d];
    return lane;
}

/* The operand, and its lane, that lane i of result r is; of a scalar any lane will do. */
static const Slot *source_of(const Frame *f, const Insn *in, int r, int64_t i, int64_t *lane)
{
    const Slot *const *args = in->args;
    *lane = i;
    switch (in->op->kind) {
    case OP_SELECT: return args[slot_int(f, args[0], i) ? 1 : 2];
    case OP_JOIN: *lane = i / 2; return args[i % 2];
    case OP_SPLIT: *lane = 2 * i + r; break;
    case OP_CAT:
        if (i < args[0]->count) break;
        *lane = i - args[0]->count;
        return args[1];
    case OP_BROADCAST:
    case OP_TRANS: *lane = moved_lane(in->op, i); break;
    case OP_GATHER:
        *lane = gathered_element(insn_axis(in), in->results[0]->count, i, slot_int(f, args[1], i));
        break;
    default: break;
    }
    return args[0];
}

static void excess_of(const Frame *f, const Insn *in, int r, int64_t i, Excess *e)
{
    if (is_step(in->op->kind)) {
        excess_of_step(f, in, i, e);
    } else if (in->op->kind == OP_ADDPTR) {
        excess_of_pointer(f, in, i, e);
    } else {
        int64_t lane;
        const Slot *from = source_of(f, in, r, i, &lane);
        *e = *overflow_at(f, from, lane);
    }
}

static void set_excess(Overflow *o, uint32_t id, Excess *e)
{
    free(o->of[id].now);
    o->of[id].now = e;
}

/* Keeps what an array of n lanes holds; nothing when that is nothing. */
static void keep_excess(Overflow *o, uint32_t id, Excess *e, int64_t n)
{
    bool any = false;
    for (int64_t i = 0; i < n && !any; i++) any = e[i].by != 0;
    set_excess(o, id, any ? e : NULL);
    if (!any) free(e);
}

static bool has_excess(const Overflow *o, const Insn *in)
{
    for (int i = 0; i < in->nargs; i++)
        if (o->of[in->args[i]->offset_id].now) return true;
    return false;
}

static Excess *new_lanes(Frame *f, const Insn *in, const Slot *s, int64_t *n)
{
    *n = s->uniform ? 1 : s->count;
    Excess *e = malloc((size_t)*n * sizeof *e);
    if (!e) interp_no_memory(f, in);
    return e;
}

/* The excess of the results of an instruction that has run. */
static void follow(Frame *f, const Insn *in)
{
    Overflow *o = f->overflow;
    bool may_wrap = is_step(in->op->kind) && is_narrow(in->results[0]->dtype);
    for (int r = 0; r < in->nresults; r++) {
        int64_t n;
        const Slot *s = in->results[r];
        if (!s->offset_id) continue;
        if (!has_excess(o, in) && !may_wrap) {
            set_excess(o, s->offset_id, NULL);
            continue;
        }
        Excess *e = new_lanes(f, in, s, &n);
        for (int64_t i = 0; e && i < n; i++) excess_of(f, in, r, i, &e[i]);
        if (e) keep_excess(o, s->offset_id, e, n);
    }
}

/* From now on; nothing has had an excess so far in this program. */
static void start_tracking(Overflow *o)
{
    for (uint32_t i = 0; i <= o->in->noffsets; i++) set_excess(o, i, NULL);
    o->tracking = true;
}

/* ---- instructions ---- */

static void run_step(Frame *f, const Insn *in)
{
    Overflow *o = f->overflow;
    in->plain(f, in);
    if (!o || f->failed) return;
    if (!o->tracking && !step_fits(f, in)) start_tracking(o);
    if (o->tracking) follow(f, in);
}

/* Pointers, arithmetic that may wrap, and what moves elements. */
static void run_carrying(Frame *f, const Insn *in)
{
    in->plain(f, in);
    if (f->overflow && f->overflow->tracking && !f->failed) follow(f, in);
}

void overflow_follow(Insn *in)
{
    OpKind kind = in->op->kind;
    bool leads = false;
    for (int i = 0; i < in->nresults; i++) leads |= in->results[i]->offset_id != 0;
    if (!leads || in->in_vector) return;
    if (!is_step(kind) && !is_move(kind) && kind != OP_ADDPTR) return;
    in->plain = in->run;
    in->run = is_step(kind) && is_narrow(in->results[0]->dtype) ? run_step : run_carrying;
}

/* ---- loops and branches hand values on ---- */

static void stage_excess(Frame *f, const Insn *in, const Slot *from, const Slot *to)
{
    Overflow *o = f->overflow;
    o->of[to->offset_id].coming = NULL;
    if (!o->of[from->offset_id].now) return;
    int64_t n;
    Excess *e = new_lanes(f, in, to, &n);
    for (int64_t i = 0; e && i < n; i++) e[i] = *overflow_at(f, from, i);
    o->of[to->offset_id].coming = e;
}

void overflow_move(Frame *f, const Insn *in, int n, const Slot *const *from, const Slot *const *to)
{
    Overflow *o = f->overflow;
    for (int i = 0; i < n && o->tracking; i++)
        if (to[i]->offset_id) stage_excess(f, in, from[i], to[i]);
    for (int i = 0; i < n && o->tracking; i++)
        if (to[i]->offset_id) set_excess(o, to[i]->offset_id, o->of[to[i]->offset_id].coming);
}

/* ---- a frame ---- */

Overflow *overflow_new(const Interp *in)
{
    Overflow *o = calloc(1, sizeof *o + ((size_t)in->noffsets + 1) * sizeof *o->of);
    if (o) o->in = in;
    return o;
}

void overflow_free(Overflow *o)
{
    for (uint32_t i = 0; o && i <= o->in->noffsets; i++) free(o->of[i].now);
    free(o);
}

void overflow_begin(Overflow *o)
{
    o->tracking = o->tracking_before;
}

void overflow_invariants_done(Overflow *o)
{
    o->tracking_before = o->tracking;
}

bool overflow_found(const Frame *f)
{
    return f->overflow && f->overflow->tracking;
}

void overflow_tell(Frame *f, const Excess *e)
{
    const DType dt = tkc_type_element(op_result(e->op, 0)->type)->dtype;
    const int bits = tkc_dtype_info(dt)->bits;
    const char *sign = e->op->kind == OP_ADD   ? "+"
                       : e->op->kind == OP_SUB ? "-"
                       : e->op->kind == OP_MUL ? "*"
                                               : "<<";
    long long x = e->x, y = e->y, value = (long long)exact(e->op->kind, x, y, bits);
    char text[80];
    if (e->op->kind == OP_NEG) snprintf(text, sizeof text, "-(%lld)", x);
    else snprintf(text, sizeof text, "%lld %s %lld", x, sign, y);
    interp_note(f, e->op->loc, "%s is %lld, which %s cannot hold; compute it in int64", text, value,
                tkc_dtype_info(dt)->name);
}
