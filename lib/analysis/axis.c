/* The driver of the axis analysis: facts of every value by a fixpoint over the regions (flow.c),
   one rule an op (axis_rules.c, axis_shape.c).

   A loop-carried value starts as its initial one and is joined with what each round yields, so it
   only loses. Runs, divisors and constancy end at 1; bounds would grow a step a round, so after a
   few changes a value's moving bound is pushed to 0 or to the end of its type, and a value that
   still changes after that gives up everything.

   What a branch or loop proved about scalars holds for what is computed inside it: `if n > 0:`,
   `while i < n:`, and in the body of a `for` that its upper bound is above the lower one. On
   entering such a region the facts of the compared values are replaced by sharper ones, and put
   back on leaving; values defined inside keep what they gained. An `assume` does the same to the
   end of the region it stands in. */
#include "analysis/axis.h"

#include "analysis/axis_rules.h"
#include "analysis/flow.h"
#include "base/vec.h"
#include "ir/ir.h"
#include "ir/print.h"
#include "ir/type.h"

/* Changes of a loop head before its moving bounds are pushed out, and before nothing more is
   claimed of it. */
enum { WIDEN_AFTER = 2, GIVE_UP_AFTER = 12, MAX_GUARD_DEPTH = 16, GUESSED_DIVISOR = 16 };

typedef struct Sharpened {
    uint32_t id;
    AxisFact *before;
} Sharpened;

struct AxisFacts {
    Arena *arena;
    const Func *fn;
    const AxisGiven *given; /* NULL: nothing but what the function says */
    AxisTrust trust;
    uint32_t n;
    AxisFact **base;  /* by value id: what holds wherever the value is; NULL before it is reached */
    AxisFact **of;    /* the same, or sharper where the flow stands */
    uint8_t *changes; /* of loop heads */
    VEC(Sharpened) sharpened; /* facts to put back, innermost last */
    VEC(int) marks;           /* length of `sharpened` on entry of each open region */
};

static const AxisFact nothing = {
    .contiguity = {1, 1, 1, 1, 1, 1, 1, 1},
    .divisibility = {1, 1, 1, 1, 1, 1, 1, 1},
    .constancy = {1, 1, 1, 1, 1, 1, 1, 1},
    .lo = INT64_MIN,
    .hi = INT64_MAX,
    .lo_all = INT64_MIN,
    .hi_all = INT64_MAX,
};
_Static_assert(TKC_MAX_RANK == 8, "one initial value a dim");

/* ---- questions ---- */

const AxisFact *axis_of(const AxisFacts *facts, const Value *v)
{
    return v->id < facts->n && facts->of[v->id] ? facts->of[v->id] : &nothing;
}

int axis_vector_width(const AxisFacts *facts, const Value *ptr, int dim, int max_bytes)
{
    if (!type_is_block(ptr->type)) return 1;
    const AxisFact *f = axis_of(facts, ptr);
    int bytes = type_bytes(tkc_type_element(ptr->type)->elem), width = 1;
    while (2 * width * bytes <= max_bytes && 2 * width <= f->contiguity[dim] &&
           2 * width * bytes <= f->divisibility[dim]) {
        width *= 2;
    }
    return width;
}

int64_t axis_constancy(const AxisFacts *facts, const Value *v, int dim)
{
    return v && type_is_block(v->type) ? axis_of(facts, v)->constancy[dim] : INT64_MAX;
}

bool axis_is_prefix(const AxisFacts *facts, const Value *mask, int dim, int64_t n)
{
    const Op *op = mask->def;
    if (axis_constancy(facts, mask, dim) >= n) return true;
    if (!op) return false;
    if (op->kind == OP_LT || op->kind == OP_LE)
        return axis_of(facts, op_arg(op, 0))->contiguity[dim] >= n &&
               axis_constancy(facts, op_arg(op, 1), dim) >= n;
    if (op->kind == OP_EXPAND_DIMS)
        return axis_is_prefix(facts, op_arg(op, 0), dim - (dim > ir_axis(op)), n);
    if (op->kind == OP_BROADCAST) return axis_is_prefix(facts, op_arg(op, 0), dim, n);
    return op->kind == OP_AND && axis_is_prefix(facts, op_arg(op, 0), dim, n) &&
           axis_is_prefix(facts, op_arg(op, 1), dim, n);
}

int axis_truth(const AxisFacts *facts, const Value *cond)
{
    const AxisFact *f = axis_of(facts, cond);
    return f->lo == 1 ? 1 : f->hi == 0 ? 0 : -1;
}

/* ---- what holds inside a region only ---- */

static void sharpen(AxisFacts *facts, const Value *v, const AxisFact *f)
{
    vec_push(facts->arena, &facts->sharpened, ((Sharpened){v->id, facts->of[v->id]}));
    facts->of[v->id] = arena_copy(facts->arena, f, sizeof *f);
    axis_settle(facts->of[v->id], v->type);
}

/* A cast of an integer that fits. */
static bool is_same_number(const AxisFacts *facts, const Value *v)
{
    if (!v->def || v->def->kind != OP_CAST || type_is_bool(v->type)) return false;
    const Value *x = op_arg(v->def, 0);
    return type_is_int(x->type) && range_is_within(axis_range(axis_of(facts, x), x->type, true),
                                                   range_of_dtype(type_dtype(v->type)));
}

/* v lies in r too. Where that contradicts what is known, the region is never entered and nothing is
   gained. */
static void sharpen_range(AxisFacts *facts, const Value *v, Range r)
{
    if (type_is_block(v->type) || !facts->of[v->id]) return;
    AxisFact f = *facts->of[v->id];
    bool gains = false;
    for (int all = 0; all <= 1; all++) {
        Range known = axis_range(&f, v->type, all);
        Range both = {known.lo > r.lo ? known.lo : r.lo, known.hi < r.hi ? known.hi : r.hi};
        if (both.lo > both.hi) return;
        gains |= both.lo != known.lo || both.hi != known.hi;
        axis_set_range(&f, both, all);
    }
    if (!gains) return;
    sharpen(facts, v, &f);
    if (is_same_number(facts, v)) sharpen_range(facts, op_arg(v->def, 0), r);
}

/* v is not 0: a bound, where 0 is the end of what it may be. */
static void sharpen_nonzero(AxisFacts *facts, const Value *v)
{
    Range r = axis_range(facts->of[v->id], v->type, true);
    if (r.lo == 0 && r.hi > 0) sharpen_range(facts, v, (Range){1, r.hi});
    if (r.hi == 0 && r.lo < 0) sharpen_range(facts, v, (Range){r.lo, -1});
}

/* x and y compare as `kind` says. */
static void sharpen_compared(AxisFacts *facts, OpKind kind, const Value *x, const Value *y)
{
    if (!type_is_int(x->type) || type_is_block(x->type) || !facts->of[x->id] || !facts->of[y->id])
        return;
    Range rx = axis_range(facts->of[x->id], x->type, true),
          ry = axis_range(facts->of[y->id], y->type, true);
    Range all = range_of_dtype(type_dtype(x->type));
    if (kind == OP_GT || kind == OP_GE) {
        sharpen_compared(facts, kind == OP_GT ? OP_LT : OP_LE, y, x);
    } else if (kind == OP_LT || kind == OP_LE) {
        int strict = kind == OP_LT;
        sharpen_range(facts, x, (Range){all.lo, ry.hi - strict});
        sharpen_range(facts, y, (Range){rx.lo + strict, all.hi});
    } else if (kind == OP_EQ) {
        sharpen_range(facts, x, ry);
        sharpen_range(facts, y, rx);
    } else if (kind == OP_NE) {
        if (ry.lo == 0 && ry.hi == 0) sharpen_nonzero(facts, x);
        if (rx.lo == 0 && rx.hi == 0) sharpen_nonzero(facts, y);
    }
}

/* A scalar condition is known to be `truth`. */
static void sharpen_by(AxisFacts *facts, const Value *cond, bool truth, int depth)
{
    const Op *op = cond->def;
    if (!op || type_is_block(cond->type) || depth > MAX_GUARD_DEPTH) return;
    if (op->kind == OP_NOT) {
        sharpen_by(facts, op_arg(op, 0), !truth, depth + 1);
    } else if (op->kind == (truth ? OP_AND : OP_OR)) {
        sharpen_by(facts, op_arg(op, 0), truth, depth + 1);
        sharpen_by(facts, op_arg(op, 1), truth, depth + 1);
    } else if (ir_opposite_compare(op->kind) != OP_NONE) {
        sharpen_compared(facts, truth ? op->kind : ir_opposite_compare(op->kind), op_arg(op, 0),
                         op_arg(op, 1));
    }
}

void axis_enter(AxisFacts *facts, const Region *r)
{
    vec_push(facts->arena, &facts->marks, facts->sharpened.len);
    const Op *op = r->parent;
    if (!op) return;
    if (op->kind == OP_IF) {
        sharpen_by(facts, op_arg(op, 0), r == op->regions[0], 0);
    } else if (op->kind == OP_WHILE && r == op->regions[1]) {
        sharpen_by(facts, op_arg(op->regions[0]->last, 0), true, 0);
    } else if (op->kind == OP_FOR) {
        bool down = tkc_op_int(op, ATTR_DOWN, 0) != 0;
        sharpen_compared(facts, down ? OP_GT : OP_LT, op_arg(op, 0), op_arg(op, 1));
    }
}

void axis_leave(AxisFacts *facts)
{
    int mark = facts->marks.data[--facts->marks.len];
    while (facts->sharpened.len > mark) {
        Sharpened s = facts->sharpened.data[--facts->sharpened.len];
        facts->of[s.id] = s.before;
    }
}

/* ---- the flow ---- */

static void set(AxisFacts *facts, const Value *v, const AxisFact *f)
{
    if (facts->base[v->id]) *facts->base[v->id] = *f;
    else facts->of[v->id] = facts->base[v->id] = arena_copy(facts->arena, f, sizeof *f);
}

void axis_define(AxisFacts *facts, const Op *op)
{
    for (int i = 0; i < op->nresults; i++) {
        AxisFact f = axis_of_result(facts, op, i);
        set(facts, op_result(op, i), &f);
    }
    if (op->kind == OP_ASSUME) sharpen_by(facts, op_arg(op, 0), true, 0);
}

static AxisFact fact_of_param(const AxisFacts *facts, const Value *arg)
{
    AxisFact f = axis_unknown(arg->type);
    const AxisGiven given = facts->given ? facts->given[arg->index] : (AxisGiven){0};
    int64_t k = facts->trust == AXIS_GUESSED ? GUESSED_DIVISOR
                : given.divisibility         ? given.divisibility
                                             : facts->fn->params[arg->index].divisibility;
    if (k > 1) f.divisibility[0] = k & -k;
    if (given.is_one) f.lo = f.hi = f.lo_all = f.hi_all = 1;
    return f;
}

/* From lower on in steps, below upper (above, when it goes down). A step of unknown sign bounds
   nothing. */
static Range induction_range(const AxisFacts *facts, const Op *op, const Type *ty)
{
    Range lower = axis_range(axis_of(facts, op_arg(op, 0)), ty, true);
    Range upper = axis_range(axis_of(facts, op_arg(op, 1)), ty, true);
    Range step = axis_range(axis_of(facts, op_arg(op, 2)), ty, true);
    bool down = tkc_op_int(op, ATTR_DOWN, 0) != 0,
         exact = lower.lo == lower.hi && step.lo == step.hi;
    if (down ? step.hi >= 0 : step.lo <= 0) return range_of_dtype(type_dtype(ty));
    Wide last = down ? upper.lo + 1 : upper.hi - 1;
    if (exact) last = lower.lo + (last - lower.lo) / step.lo * step.lo;
    if (down) return last > lower.hi ? lower : (Range){last, lower.hi};
    return last < lower.lo ? lower : (Range){lower.lo, last};
}

static AxisFact fact_of_induction(const AxisFacts *facts, const Op *op, const Type *ty)
{
    AxisFact f = axis_unknown(ty);
    Range r = induction_range(facts, op, ty);
    axis_set_range(&f, r, false);
    axis_set_range(&f, r, true);
    int64_t from = axis_of(facts, op_arg(op, 0))->divisibility[0],
            step = axis_of(facts, op_arg(op, 2))->divisibility[0];
    f.divisibility[0] = from < step ? from : step;
    return f;
}

void axis_bind(AxisFacts *facts, const Value *arg)
{
    const Op *op = arg->region->parent;
    AxisFact f = !op                  ? fact_of_param(facts, arg)
                 : op->kind == OP_FOR ? fact_of_induction(facts, op, arg->type)
                                      : axis_unknown(arg->type);
    axis_settle(&f, arg->type);
    set(facts, arg, &f);
}

static bool is_equal(const AxisFact *a, const AxisFact *b, const Type *ty)
{
    for (int d = 0; d < axis_dims(ty); d++) {
        if (a->contiguity[d] != b->contiguity[d] || a->divisibility[d] != b->divisibility[d] ||
            a->constancy[d] != b->constancy[d]) {
            return false;
        }
    }
    return a->lo == b->lo && a->hi == b->hi && a->lo_all == b->lo_all && a->hi_all == b->hi_all;
}

/* Bounds that moved since `before` go on to 0 or to the end of the type. */
static void widen(AxisFact *f, const AxisFact *before, const Type *ty)
{
    if (!type_is_int(ty)) return;
    Range all = range_of_dtype(type_dtype(ty));
    for (int lanes = 0; lanes <= 1; lanes++) {
        Range now = axis_range(f, ty, lanes), was = axis_range(before, ty, lanes);
        if (now.lo < was.lo) now.lo = now.lo >= 0 ? 0 : all.lo;
        if (now.hi > was.hi) now.hi = now.hi <= 0 ? 0 : all.hi;
        axis_set_range(f, now, lanes);
    }
}

/* Where values go around. Other values that merge change only after one of these did. */
static bool is_loop_head(const Value *v)
{
    if (!v->region || !v->region->parent) return false;
    const Op *op = v->region->parent;
    return op->kind == OP_FOR || (op->kind == OP_WHILE && v->region == op->regions[0]);
}

bool axis_merge(AxisFacts *facts, const Value *into, const Value *from)
{
    AxisFact *old = facts->base[into->id];
    if (!old) {
        set(facts, into, axis_of(facts, from));
        return true;
    }
    AxisFact f = axis_join(old, axis_of(facts, from), into->type);
    if (is_equal(&f, old, into->type)) return false;
    uint8_t changes = is_loop_head(into) ? ++facts->changes[into->id] : 0;
    if (changes > GIVE_UP_AFTER) f = axis_unknown(into->type);
    else if (changes > WIDEN_AFTER) widen(&f, old, into->type);
    *old = f;
    return true;
}

AxisFacts *axis_analyze(Arena *a, const Func *fn, AxisTrust trust, const AxisGiven *given)
{
    AxisFacts *facts = arena_new(a, AxisFacts);
    *facts = (AxisFacts){.arena = a, .fn = fn, .given = given, .trust = trust, .n = fn->nvalues};
    facts->base = arena_array(a, AxisFact *, fn->nvalues);
    facts->of = arena_array(a, AxisFact *, fn->nvalues);
    facts->changes = arena_array(a, uint8_t, fn->nvalues);
    flow_run(facts, fn);
    return facts;
}

AxisTrust axis_trust(const AxisFacts *facts)
{
    return facts->trust;
}

/* ---- printing ---- */

static bool is_trivial(const int64_t *v, int n)
{
    for (int i = 0; i < n; i++)
        if (v[i] != 1) return false;
    return true;
}

static const char *separator(Buf *out, size_t start)
{
    return out->len == start ? " // " : ", ";
}

static void print_number(Buf *out, int64_t v)
{
    if (v == AXIS_MAX_DIVISOR) buf_puts(out, "any");
    else buf_printf(out, "%lld", (long long)v);
}

static void print_counts(Buf *out, size_t start, const char *name, const int64_t *v, const Type *ty)
{
    int n = axis_dims(ty);
    if (is_trivial(v, n)) return;
    buf_printf(out, "%s%s ", separator(out, start), name);
    if (ty->rank < 2) {
        print_number(out, v[0]);
        return;
    }
    for (int i = 0; i < n; i++) {
        buf_puts(out, i ? ", " : "[");
        print_number(out, v[i]);
    }
    buf_putc(out, ']');
}

static void print_bounds(Buf *out, size_t start, const char *name, int64_t lo, int64_t hi)
{
    buf_printf(out, "%s%s ", separator(out, start), name);
    if (lo != INT64_MIN) buf_printf(out, "%lld", (long long)lo);
    buf_puts(out, "..");
    if (hi != INT64_MAX) buf_printf(out, "%lld", (long long)hi);
}

static void print_fact(Buf *out, const Value *v, void *user)
{
    const AxisFacts *facts = user;
    const AxisFact *f = axis_of(facts, v);
    AxisFact unknown = axis_unknown(v->type);
    size_t start = out->len;
    print_counts(out, start, "contiguity", f->contiguity, v->type);
    print_counts(out, start, "divisibility", f->divisibility, v->type);
    print_counts(out, start, "constancy", f->constancy, v->type);
    if (f->lo != unknown.lo || f->hi != unknown.hi) print_bounds(out, start, "range", f->lo, f->hi);
    if (f->lo != f->lo_all || f->hi != f->hi_all)
        print_bounds(out, start, "all", f->lo_all, f->hi_all);
}

void axis_print(Buf *out, const Func *fn)
{
    ir_print_noted(out, fn, print_fact, axis_analyze(ir_of(fn)->arena, fn, AXIS_PROVED, NULL));
}
