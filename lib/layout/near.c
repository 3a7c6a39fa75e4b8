/* Pixels whose number was divided by a width run along it, as far as the width goes; what is a
   stride apart does not, and is further apart where 16 divides the stride. */
#include "layout/near.h"

#include "ir/ir.h"

typedef struct Key {
    int64_t run, divisor;
} Key;

static bool runs(const AxisFact *fact)
{
    for (int d = 0; d < fact->rank; d++)
        if (fact->contiguity[d] > 1) return true;
    return false;
}

static const AxisFact *running_fact(Near *n, const Value *ptr)
{
    const AxisFact *fact = axis_of(n->facts, ptr);
    if (fact->rank < 2 || runs(fact)) return fact;
    if (!n->guessed) n->guessed = axis_analyze(n->arena, n->fn, AXIS_GUESSED, NULL);
    return axis_of(n->guessed, ptr);
}

static bool stays_along(const Near *n, const Value *v, int d)
{
    return axis_of(n->facts, v)->constancy[d] >= v->type->shape[d];
}

/* What is assumed of steps that are not known. What all of a block steps by differs from what
   neighbours nearly always do: quotients change here and there. */
typedef struct Guess {
    int64_t stride; /* divides numbers that the launch brings */
    int64_t odd;    /* those that 16 is not known to divide, and that are no products */
    bool stays;     /* quotients of steps shorter than the divisor; else they step by 1 */
} Guess;

static int64_t step_divisor(const Near *n, const Value *v, int d, const Guess *g);

/* Of what stays along a dim, beside what is known to divide it. */
static int64_t guessed(const Near *n, const Value *by, const Guess *g)
{
    enum { ALIGNED = 16 };
    uint64_t bits;
    if (ir_const_bits(by, &bits)) return 1;
    if (ir_def(by, OP_SPLAT)) return guessed(n, op_arg(by->def, 0), g);
    const bool is_far = ir_def(by, OP_MUL) || axis_of(n->facts, by)->divisibility[0] >= ALIGNED;
    return is_far ? g->stride : g->odd;
}

/* Of a product by what stays along the dim. */
static int64_t scaled_divisor(const Near *n, const Value *v, const Value *by, int d, const Guess *g)
{
    int64_t step = step_divisor(n, v, d, g), product;
    if (__builtin_mul_overflow(step, axis_of(n->facts, by)->divisibility[d], &product) ||
        __builtin_mul_overflow(product, guessed(n, by, g), &product))
        return INT64_MAX;
    return product;
}

static int64_t quotient_step(const Op *op, int64_t step, const Guess *g)
{
    int64_t by;
    if (!ir_const_int(op_arg(op, 1), &by) || by < 1) by = step == 1 ? INT64_MAX : step;
    return step >= by ? step / by : g->stays ? INT64_MAX : 1;
}

/* Of remainders by little few neighbours are near: the places of a window of 3 by 3 are told apart
   so (its maxima, lanes along pixels instead: 5.4 times as fast, H200). */
static int64_t remainder_step(const Op *op, int64_t step, const Guess *g)
{
    enum { NEIGHBOURS = 16 };
    int64_t by;
    if (g->stays || !ir_const_int(op_arg(op, 1), &by) || by < 1 || by >= NEIGHBOURS) return step;
    return step < by ? step * ((NEIGHBOURS + by - 1) / by) : step;
}

/* What divides the steps of v along a dim: of sums what divides all parts that change. */
static int64_t step_divisor(const Near *n, const Value *v, int d, const Guess *g)
{
    const Op *op = v->def;
    const AxisFact *fact = axis_of(n->facts, v);
    if (stays_along(n, v, d)) return INT64_MAX;
    if (fact->contiguity[d] > 1) return 1;
    if (op && op->kind == OP_BROADCAST) return step_divisor(n, op_arg(op, 0), d, g);
    if (op && op->kind == OP_EXPAND_DIMS)
        return step_divisor(n, op_arg(op, 0), d - (d > tkc_op_int(op, ATTR_AXIS, 0)), g);
    if (op && (op->kind == OP_DIV || op->kind == OP_REM) && stays_along(n, op_arg(op, 1), d)) {
        const int64_t step = step_divisor(n, op_arg(op, 0), d, g);
        if (step == INT64_MAX) return step;
        return op->kind == OP_DIV ? quotient_step(op, step, g)
                                  : remainder_step(op, fact->divisibility[d], g);
    }
    if (op && op->kind == OP_MUL) {
        const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
        if (stays_along(n, y, d)) return scaled_divisor(n, x, y, d, g);
        if (stays_along(n, x, d)) return scaled_divisor(n, y, x, d, g);
    }
    if (op && (op->kind == OP_MIN || op->kind == OP_MAX)) { /* what bounds it seldom does */
        const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
        if (stays_along(n, y, d)) return step_divisor(n, x, d, g);
        if (stays_along(n, x, d)) return step_divisor(n, y, d, g);
    }
    if (!op || (op->kind != OP_ADD && op->kind != OP_SUB && op->kind != OP_ADDPTR))
        return fact->divisibility[d];
    const int64_t a = step_divisor(n, op_arg(op, 0), d, g), b = step_divisor(n, op_arg(op, 1), d, g);
    return a < b ? a : b;
}

int64_t near_step(const Near *n, const Value *v, int d)
{
    const Guess g = {.stride = 16, .odd = 16, .stays = true};
    return step_divisor(n, v, d, &g);
}

static bool is_nearer(Key a, Key b)
{
    return a.run > b.run || (a.run == b.run && a.divisor < b.divisor);
}

bool near_order(Near *n, const Value *ptr, int order[TKC_MAX_RANK])
{
    const Type *block = ptr->type;
    const AxisFact *fact = running_fact(n, ptr);
    /* longer than what a kernel has as a constant; by what windows move */
    const Guess for_order = {.stride = 128, .odd = 4};
    Key key[TKC_MAX_RANK];
    for (int d = 0; d < block->rank; d++)
        key[d] = block->shape[d] == 1
                     ? (Key){0, INT64_MAX}
                     : (Key){fact->contiguity[d], step_divisor(n, ptr, d, &for_order)};
    for (int i = 0; i < block->rank; i++) {
        int dim = block->rank - 1 - i, at = i;
        for (; at > 0 && is_nearer(key[dim], key[order[at - 1]]); at--) order[at] = order[at - 1];
        order[at] = dim;
    }
    return fact->contiguity[order[0]] > 1;
}
