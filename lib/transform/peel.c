/* A loop over elements asks in every turn which of them are inside, though only in its last turns
   some are not:

     for i in low..high by s: m = i * a + k < n; …     becomes

     for i in low..min(high, full) by s: …, where m is true
     for the rest of the turns: m = …; …

   where `full` is the first i for which i * a and the greatest of k are not below n. A thread has
   seven predicates: with many masks ptxas keeps some in registers, and loads elements behind the
   uses of those before (docs/measured.md has the figures). Fewer masks are no reason, for the
   body is there twice, nor are they where blocks are most that a thread has. */
#include "analysis/axis.h"
#include "ir/build.h"
#include "ir/machine.h"
#include "tkc/carry.h"
#include "transform/passes.h"

enum { MANY_MASKS = 8, MOST_SHARE = 32, MOST_OPS = 160 };

/* i * a, i the loop's, and what is added to that: from 0 to `most`. */
typedef struct Line {
    int64_t a, most;
} Line;

typedef struct Bound {
    Line line;
    Value *n; /* a scalar */
} Bound;

typedef struct Peel {
    Func *fn;
    Arena *scratch;
    AxisFacts *facts; /* NULL until a loop asks */
    bool peeled;
} Peel;

/* ---- which masks ---- */

static bool is_small(int64_t n)
{
    return 0 <= n && n <= INT32_MAX;
}

/* What does not change in the loop, or is made of nothing that does. */
static bool fixed_line(const Peel *p, const Value *v, Line *out)
{
    const AxisFact *fact = axis_of(p->facts, v);
    *out = (Line){0, fact->hi_all};
    return fact->lo_all >= 0 && is_small(fact->hi_all);
}

static bool line_of(const Peel *p, const Region *body, const Value *v, Line *out);

static bool product_line(const Peel *p, const Region *body, const Op *op, Line *out)
{
    int64_t by;
    if (!ir_const_int(op_arg(op, 1), &by) || by <= 0 || !is_small(by)) return false;
    if (!line_of(p, body, op_arg(op, 0), out)) return false;
    *out = (Line){out->a * by, out->most * by};
    return is_small(out->a) && is_small(out->most);
}

static bool sum_line(const Peel *p, const Region *body, const Op *op, Line *out)
{
    Line x, y;
    if (!line_of(p, body, op_arg(op, 0), &x) || !line_of(p, body, op_arg(op, 1), &y)) return false;
    *out = (Line){x.a + y.a, x.most + y.most};
    return is_small(out->a) && is_small(out->most);
}

static bool line_of(const Peel *p, const Region *body, const Value *v, Line *out)
{
    if (v == body->args[0]) return *out = (Line){1, 0}, true;
    if (ir_is_defined_outside(v, body)) return fixed_line(p, v, out);
    switch (v->def ? v->def->kind : OP_COUNT) {
    case OP_HINT:
    case OP_SPLAT:
    case OP_EXPAND_DIMS:
    case OP_BROADCAST: return line_of(p, body, op_arg(v->def, 0), out);
    case OP_ADD: return sum_line(p, body, v->def, out);
    case OP_MUL: return product_line(p, body, v->def, out);
    case OP_ARANGE:
    case OP_CONST: return fixed_line(p, v, out);
    default: return false;
    }
}

/* The scalar that a block has everywhere. */
static Value *scalar_of(Value *v)
{
    return ir_def(v, OP_SPLAT) ? op_arg(v->def, 0) : NULL;
}

/* cond is true of all elements while i * a + most < n. */
static bool bound_of(const Peel *p, const Region *body, const Value *cond, Bound *out)
{
    const Op *less = ir_def(cond, OP_LT), *more = ir_def(cond, OP_GT), *op = less ? less : more;
    if (!op || op->region != body) return false;
    const Value *x = op_arg(op, less ? 0 : 1);
    const Type *index = body->args[0]->type;
    out->n = scalar_of(op_arg(op, less ? 1 : 0));
    return out->n && out->n->type == index && type_dtype(x->type) == type_dtype(index) &&
           ir_is_defined_outside(out->n, body) && line_of(p, body, x, &out->line) && out->line.a;
}

static bool is_same(const Bound *x, const Bound *y)
{
    return x->n == y->n && x->line.a == y->line.a && x->line.most == y->line.most;
}

/* A part of the load's mask that has all its elements and a bound. */
static bool find_in(const Peel *p, const Op *load, const Value *cond, Bound *out)
{
    const Op *both = ir_def(cond, OP_AND);
    if (both)
        return find_in(p, load, op_arg(both, 0), out) || find_in(p, load, op_arg(both, 1), out);
    return bound_of(p, load->region, cond, out);
}

/* Of a thread, where the load moves what it can at once. */
static bool has_many_masks(Peel *p, const Op *op)
{
    enum { MOST_BYTES = 16 };
    const Type *ty = op->kind == OP_LOAD ? op_arg(op, 0)->type : NULL;
    uint8_t dims[TKC_MAX_RANK];
    if (!ty || op->nargs < 2 || !type_is_block(ty)) return false;
    if (!p->facts) p->facts = axis_analyze(p->scratch, p->fn, AXIS_PROVED, NULL);
    const int all = 1 << layout_pad(ty->rank, ty->shape, dims),
              share = all / (p->fn->num_warps * MACHINE_LANES),
              vector = axis_vector_width(p->facts, op_arg(op, 0), ty->rank - 1, MOST_BYTES);
    return share <= MOST_SHARE && share / vector >= MANY_MASKS;
}

static bool find_bound(Peel *p, const Region *body, Bound *out)
{
    for (const Op *op = body->first; op; op = op->next)
        if (has_many_masks(p, op) && find_in(p, op, op_arg(op, 1), out)) return true;
    return false;
}

/* ---- the loop twice ---- */

/* The first i whose turn may have elements outside. Nothing here passes the least integer, nor i
   behind its last turn the greatest: turns leave no gap, so i * a is n at most. */
static Value *full_turns(Builder *b, const Bound *bound)
{
    const DType dt = type_dtype(bound->n->type);
    const int64_t a = bound->line.a, most = bound->line.most,
                  least = a > 1 ? most : (int64_t)dtype_least(dt) + most;
    Value *n = build_binary(b, OP_MAX, bound->n, build_int(b, dt, least));
    n = build_binary(b, OP_SUB, n, build_int(b, dt, most - (a - 1)));
    return a > 1 ? build_binary(b, OP_DIV, n, build_int(b, dt, a)) : n;
}

static void copy_body(const Peel *p, const Op *loop, Op *full, const Bound *bound)
{
    const Region *from = loop->regions[0];
    Region *to = full->regions[0];
    const int n = carry_count(loop);
    Builder b = build_at_end(p->fn, to);
    ValueMap map = ir_value_map(p->scratch, p->fn);
    Value **next = arena_array(p->scratch, Value *, n + 1);
    for (int i = 0; i < from->nargs; i++) ir_map(&map, from->args[i], to->args[i]);
    for (const Op *op = from->first; op != from->last; op = op->next) {
        Bound own;
        if (op->nresults == 1 && bound_of(p, from, op_result(op, 0), &own) && is_same(&own, bound))
            ir_map(&map, op_result(op, 0), build_const(&b, op_result(op, 0)->type, 1));
        else build_put(&b, ir_clone(p->fn, op, &map));
    }
    for (int i = 0; i < n; i++) next[i] = ir_mapped(&map, carry_passed(from, i));
    next[n] = build_binary(&b, OP_ADD, to->args[0], op_arg(full, 2));
    build_yield(&b, n + 1, next);
}

static void peel(Peel *p, Op *loop, const Bound *bound)
{
    const int n = carry_count(loop);
    Builder b = build_before(loop);
    Value **inits = arena_array(p->scratch, Value *, n + 1),
          *end = build_binary(&b, OP_MIN, op_arg(loop, 1), full_turns(&b, bound));
    for (int i = 0; i < n; i++) inits[i] = carry_init(loop, i);
    inits[n] = op_arg(loop, 0);
    Op *full = build_for(&b, op_arg(loop, 0), end, op_arg(loop, 2), n + 1, inits);
    ir_copy_attrs(p->fn, full, loop);
    copy_body(p, loop, full, bound);
    ir_set_arg(loop, 0, op_result(full, n));
    for (int i = 0; i < n; i++) ir_set_arg(loop, carry_own_args(loop) + i, op_result(full, i));
    ir_set_int(p->fn, loop, ATTR_STAGES, 1);
    p->peeled = true;
}

static bool is_single(const Op *op)
{
    return !ir_is_loop(op) && op->kind != OP_DOT;
}

/* 0: it is not known, or goes down. */
static int64_t step_of(const Op *loop)
{
    int64_t step;
    return ir_const_int(op_arg(loop, 2), &step) && is_small(step) ? step : 0;
}

static bool is_fit(const Op *loop)
{
    return loop->kind == OP_FOR && step_of(loop) &&
           type_kind(op_arg(loop, 0)->type) == DK_INT && type_bits(op_arg(loop, 0)->type) >= 32 &&
           tkc_region_ops(loop->regions[0]) <= MOST_OPS &&
           ir_holds_for_all(loop->regions[0], is_single);
}

/* Turns leave no gap, and no index that is multiplied is below zero. */
static bool is_row(const Peel *p, const Op *loop, const Line *line)
{
    const AxisFact *index = axis_of(p->facts, loop->regions[0]->args[0]);
    if (step_of(loop) * line->a > line->most + 1) return false;
    return line->a == 1 || (index->lo_all >= 0 && line->most >= line->a - 1);
}

static void visit(Op *loop, void *user)
{
    Peel *p = user;
    Bound bound;
    if (is_fit(loop) && find_bound(p, loop->regions[0], &bound) && is_row(p, loop, &bound.line))
        peel(p, loop, &bound);
}

/* needs: nothing.  keeps: what every op computes.  changes: for loops without products become two. */
void peel_run(Pass *pass, Func *fn)
{
    Peel p = {.fn = fn, .scratch = pass->scratch};
    ir_walk(fn->body, visit, &p);
    if (!p.peeled) return;
    fold_run(pass, fn);
    mask_run(pass, fn);
}
