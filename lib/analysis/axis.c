/* The driver of the axis analysis: facts of every value by a fixpoint over the regions (flow.c),
   one rule an op (axis_rules.c, axis_shape.c).

   A loop-carried value starts as its initial one and is joined with what each round yields, so it
   only loses. Runs, divisors and constancy end at 1; bounds would grow a step a round, so after a
   few changes a value's moving bound is pushed to 0 or to the end of its type, and a value that
   still changes after that gives up everything. */
#include "analysis/axis.h"

#include "analysis/axis_rules.h"
#include "analysis/flow.h"
#include "base/vec.h"
#include "ir/ir.h"
#include "ir/print.h"

/* Changes of a loop head before its moving bounds are pushed out, and before nothing more is
   claimed of it. */
enum { WIDEN_AFTER = 2, GIVE_UP_AFTER = 12, GUESSED_DIVISOR = 16 };

struct AxisFacts {
    Arena *arena;
    const Func *fn;
    const AxisGiven *given; /* NULL: nothing but what the function says */
    AxisTrust trust;
    uint32_t n;
    AxisFact **of;    /* by value id; NULL before it is reached */
    uint8_t *changes; /* of loop heads */
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
    if (op->kind == OP_EXPAND_DIMS && dim > tkc_op_int(op, ATTR_AXIS, 0))
        return axis_is_prefix(facts, op_arg(op, 0), dim - 1, n);
    if (op->kind == OP_BROADCAST) return axis_is_prefix(facts, op_arg(op, 0), dim, n);
    return op->kind == OP_AND && axis_is_prefix(facts, op_arg(op, 0), dim, n) &&
           axis_is_prefix(facts, op_arg(op, 1), dim, n);
}

int axis_truth(const AxisFacts *facts, const Value *cond)
{
    const AxisFact *f = axis_of(facts, cond);
    return f->lo == 1 ? 1 : f->hi == 0 ? 0 : -1;
}

/* ---- the flow ---- */

static void set(AxisFacts *facts, const Value *v, const AxisFact *f)
{
    if (facts->of[v->id]) *facts->of[v->id] = *f;
    else facts->of[v->id] = arena_copy(facts->arena, f, sizeof *f);
}

void axis_define(AxisFacts *facts, const Op *op)
{
    for (int i = 0; i < op->nresults; i++) {
        AxisFact f = axis_of_result(facts, op, i);
        set(facts, op_result(op, i), &f);
    }
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
    AxisFact *old = facts->of[into->id];
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
