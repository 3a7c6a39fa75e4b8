/* The threads of a program are not in step. An element that one of them stores, and another loads
   before or behind it in the kernel's order, needs a barrier between, and so do two stores or
   atomics to it, but for those that give the same in any order. It needs none where one thread has
   it in both: the pointers are one value, so one layout says who holds what, and either that layout
   gives each element to one thread only or what the others load goes nowhere but to stores, which
   they leave to one of them; of atomics, where no two elements are in one place. Nor where the
   addresses are apart: the pointers are sums, of which what is the same for all elements cancels
   out, and the bounds of the rest do not meet, or it goes by steps that do not: what is stored at
   3 i and at 3 i + 1. */
#include "memory/global.h"

#include <string.h>

#include "analysis/alias.h"
#include "analysis/axis.h"
#include "analysis/range.h"
#include "memory/flow.h"

struct Global {
    Arena *scratch;
    const Func *fn;
    AxisFacts *facts; /* made when first asked for */
    Map bases;        /* pointer to a Bitset of ids of values */
    Map safe;         /* load to what is known of it: 1, or 2 when it is */
    uint32_t *seen;   /* by value: the last walk that came by */
    uint32_t walk;
};

Global *global_new(Arena *scratch, const Func *fn)
{
    Global *g = arena_new(scratch, Global);
    *g = (Global){.scratch = scratch, .fn = fn};
    map_init(&g->bases, scratch);
    map_init(&g->safe, scratch);
    g->seen = arena_alloc(scratch, fn->nvalues * sizeof *g->seen);
    return g;
}

/* For the first time in this walk. */
static bool comes_by(const Global *g, const Value *v)
{
    const bool first = g->seen[v->id] != g->walk;
    g->seen[v->id] = g->walk;
    return first;
}

static AccessKind kind_of(const Op *op)
{
    if (ir_has(op, OT_ATOMIC)) return ACCESS_ATOMIC;
    if (op->kind == OP_LOAD || op->kind == OP_COPY_ASYNC || op->kind == OP_COPY_BOX)
        return ACCESS_READ;
    return op->kind == OP_STORE ? ACCESS_WRITE : ACCESS_NONE;
}

bool global_access(const Op *op)
{
    return kind_of(op) != ACCESS_NONE;
}

/* ---- bases ---- */

static const Bitset *bases_of(Global *g, const Op *access)
{
    const Value *v = op_arg(access, 0);
    while (v->def && (v->def->kind == OP_ADDPTR || (v->def->nargs == 1 && ir_has(v->def, OT_SHAPE))))
        v = op_arg(v->def, 0);
    Bitset *s = map_get_ptr(&g->bases, v);
    if (s) return s;
    s = arena_new(g->scratch, Bitset);
    *s = bitset_make(g->scratch, (int)g->fn->nvalues);
    alias_bases(g->scratch, g->fn, v, s);
    map_set_ptr(&g->bases, v, s);
    return s;
}

static bool share_base(Global *g, const Op *a, const Op *b)
{
    const Bitset *x = bases_of(g, a), *y = bases_of(g, b);
    for (int i = bitset_next(x, 0); i >= 0; i = bitset_next(x, i + 1))
        if (bitset_has(y, i)) return true;
    return false;
}

/* ---- one thread ---- */

/* A scalar that chooses, or masks, a block is one for all threads. */
static bool is_for_stores(const Global *g, const Value *v)
{
    if (!comes_by(g, v)) return true;
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *op = u->user;
        const bool stores = op->kind == OP_STORE;
        if (!stores && (!ir_has(op, OT_EW) || op->nregions)) return false;
        const Value *to = stores ? op_arg(op, 0) : op_result(op, 0);
        if (type_is_block(to->type) != type_is_block(v->type)) return false;
        if (!stores && !is_for_stores(g, to)) return false;
    }
    return true;
}

static bool has_one_holder(const Type *ty)
{
    return type_is_block(ty) && !layout_has_free_threads(ty->layout);
}

static const AxisFact *fact_of(Global *g, const Value *v)
{
    if (!g->facts) g->facts = axis_analyze(g->scratch, g->fn, AXIS_PROVED, NULL);
    return axis_of(g->facts, v);
}

/* That no two of a block's pointers lead to one place is known where they count up. */
static bool are_places_apart(Global *g, const Value *pointers)
{
    return pointers->type->rank == 1 &&
           fact_of(g, pointers)->contiguity[0] >= pointers->type->shape[0];
}

/* Of two accesses by one value. Duplicates are of no matter to those that store, all the same as
   they must, and to those that load: each thread has stored before it loads. An atomic finds what
   those of other elements left. */
static bool is_safe(Global *g, const Op *access)
{
    const Value *pointers = op_arg(access, 0);
    if (kind_of(access) == ACCESS_ATOMIC && !are_places_apart(g, pointers)) return false;
    if (access->kind == OP_STORE || has_one_holder(pointers->type)) return true;
    if (access->kind != OP_LOAD) return false;
    uintptr_t known = (uintptr_t)map_get_ptr(&g->safe, access);
    if (!known) {
        g->walk++;
        known = is_for_stores(g, op_result(access, 0)) ? 2 : 1;
        map_set_ptr(&g->safe, access, (void *)known);
    }
    return known == 2;
}

/* ---- addresses ---- */

/* base + sum of terms + what is between lo and hi, in elements. */
enum { TERMS = 24 };
typedef struct Sum {
    Global *g;
    int n;
    const Value *term[TERMS]; /* scalars, how often each */
    int64_t by[TERMS];
    Wide lo, hi;
    Wide number;   /* of lo and hi, what is the same */
    uint64_t step; /* the rest is a multiple of it */
    bool is_known;
} Sum;

static void add_term(Sum *s, const Value *v, int64_t by)
{
    int i = 0;
    while (i < s->n && s->term[i] != v) i++;
    if (i == TERMS) {
        s->is_known = false;
        return;
    }
    if (i == s->n) s->term[s->n] = v, s->by[s->n++] = 0;
    s->is_known &= !__builtin_add_overflow(s->by[i], by, &s->by[i]);
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static void add_bounds(Sum *s, const Value *v, int64_t by)
{
    s->step = common_divisor(s->step, by < 0 ? 0 - (uint64_t)by : (uint64_t)by);
    const AxisFact *f = fact_of(s->g, v);
    if (f->lo == INT64_MIN || f->hi == INT64_MAX || type_is_pointer(v->type)) s->is_known = false;
    s->lo += (Wide)by * (by < 0 ? f->hi : f->lo);
    s->hi += (Wide)by * (by < 0 ? f->lo : f->hi);
}

/* What wrapped before is off by multiples of 2^32, by which no two sums come together. */
static bool is_widened(const Op *op)
{
    if (op->kind != OP_CAST) return false;
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    return type_is_int(from) && type_is_int(to) && type_bits(from) > 1 &&
           type_bits(from) <= type_bits(to);
}

/* What wraps there may come together: its bounds are all that is known. */
static bool is_narrow(const Type *ty)
{
    return type_is_int(ty) && type_bits(ty) < 32;
}

static void add_value(Sum *s, const Value *v, int64_t by)
{
    int64_t number;
    const Op *op = is_narrow(v->type) ? NULL : v->def;
    if (ir_const_int(v, &number)) {
        const Wide more = (Wide)by * number;
        s->lo += more, s->hi += more, s->number += more;
    } else if (op && (op->kind == OP_ADD || op->kind == OP_ADDPTR || op->kind == OP_SUB)) {
        add_value(s, op_arg(op, 0), by);
        add_value(s, op_arg(op, 1), op->kind == OP_SUB ? -by : by);
    } else if (op && op->kind == OP_MUL && ir_const_int(op_arg(op, 1), &number) &&
               !__builtin_mul_overflow(number, by, &number)) {
        add_value(s, op_arg(op, 0), number);
    } else if (op && op->nargs == 1 && (ir_has(op, OT_SHAPE) || is_widened(op))) {
        add_value(s, op_arg(op, 0), by);
    } else if (type_is_block(v->type)) {
        add_bounds(s, v, by);
    } else {
        add_term(s, v, by);
    }
}

static bool cancel(const Sum *a, const Sum *b)
{
    for (int i = 0; i < a->n; i++) {
        int k = 0;
        while (k < b->n && b->term[k] != a->term[i]) k++;
        if (a->by[i] != (k < b->n ? b->by[k] : 0)) return false;
    }
    return true;
}

/* Both go by steps from places between these, and not so far that what wraps could meet. */
static bool are_between_steps(const Sum *a, const Sum *b)
{
    const uint64_t step = common_divisor(a->step, b->step);
    const Wide lo = a->lo < b->lo ? a->lo : b->lo, hi = a->hi > b->hi ? a->hi : b->hi;
    return step > 1 && (a->number - b->number) % (Wide)step && hi - lo < (Wide)1 << 32;
}

static bool are_apart(Global *g, const Value *p, const Value *q)
{
    Sum a = {.g = g, .is_known = true}, b = a;
    if (tkc_type_element(p->type) != tkc_type_element(q->type)) return false;
    add_value(&a, p, 1);
    add_value(&b, q, 1);
    return a.is_known && b.is_known && cancel(&a, &b) && cancel(&b, &a) &&
           (a.hi < b.lo || b.hi < a.lo || are_between_steps(&a, &b));
}

/* What adds, or the like, numbers of one type and is not asked what there was, gives the same in any
   order. */
static bool commutes(const Op *rmw, const Op *other)
{
    const char *how = tkc_op_str(rmw, ATTR_RMW, NULL);
    return how && strcmp(how, "xchg") && !strcmp(how, tkc_op_str(other, ATTR_RMW, "")) &&
           tkc_type_element(op_arg(rmw, 0)->type) == tkc_type_element(op_arg(other, 0)->type) &&
           !op_result(rmw, 0)->uses && !op_result(other, 0)->uses;
}

/* Both only read, one thread does both, or their order is of no matter. */
static bool need_no_order(const Op *earlier, const Op *later)
{
    const AccessKind kind = kind_of(earlier);
    if (kind != kind_of(later) || kind == ACCESS_WRITE) return false;
    return kind == ACCESS_READ || commutes(earlier, later) ||
           (earlier->kind == OP_ATOMIC_LOAD && later->kind == OP_ATOMIC_LOAD) ||
           (!type_is_block(op_arg(earlier, 0)->type) && !type_is_block(op_arg(later, 0)->type));
}

bool global_conflict(Global *g, const Op *earlier, const Op *later)
{
    if (!global_access(earlier) || !global_access(later)) return false;
    const Value *p = op_arg(earlier, 0), *q = op_arg(later, 0);
    if (need_no_order(earlier, later)) return false;
    if (!share_base(g, earlier, later)) return false;
    if (p == q && is_safe(g, earlier) && is_safe(g, later)) return false;
    return earlier->kind == OP_COPY_BOX || later->kind == OP_COPY_BOX || !are_apart(g, p, q);
}

/* ---- loops ---- */

static bool changes(const Global *g, const Value *v, const Op *loop)
{
    const Region *at = v->def ? v->def->region : v->region;
    while (at && at->parent != loop) at = at->parent ? at->parent->region : NULL;
    if (!at || !comes_by(g, v)) return false;
    if (!v->def || !ir_has(v->def, OT_PURE)) return true;
    for (int i = 0; i < v->def->nargs; i++)
        if (changes(g, op_arg(v->def, i), loop)) return true;
    return false;
}

bool global_is_moved(Global *g, const Op *access, const Op *loop)
{
    g->walk++;
    return changes(g, op_arg(access, 0), loop);
}
