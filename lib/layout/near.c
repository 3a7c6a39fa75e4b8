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
    if (!n->guessed) n->guessed = axis_guess(n->arena, n->fn);
    return axis_of(n->guessed, ptr);
}

static bool stays_along(const Near *n, const Value *v, int d)
{
    return axis_of(n->facts, v)->constancy[d] >= v->type->shape[d];
}

static int64_t step_divisor(const Near *n, const Value *v, int d);

/* Of a product by what stays along the dim. A number that the launch brings is a stride, longer than
   what a kernel has as a constant. */
static int64_t scaled_divisor(const Near *n, const Value *v, const Value *by, int d)
{
    enum { STRIDE = 128 };
    int64_t step = step_divisor(n, v, d), product;
    uint64_t bits;
    if (__builtin_mul_overflow(step, axis_of(n->facts, by)->divisibility[d], &product) ||
        (!ir_const_bits(by, &bits) && __builtin_mul_overflow(product, STRIDE, &product)))
        return INT64_MAX;
    return product;
}

/* What divides the steps of v along a dim: of sums what divides all parts that change. */
static int64_t step_divisor(const Near *n, const Value *v, int d)
{
    const Op *op = v->def;
    const AxisFact *fact = axis_of(n->facts, v);
    if (stays_along(n, v, d)) return INT64_MAX;
    if (fact->contiguity[d] > 1) return 1;
    if (op && op->kind == OP_BROADCAST) return step_divisor(n, op_arg(op, 0), d);
    if (op && op->kind == OP_EXPAND_DIMS)
        return step_divisor(n, op_arg(op, 0), d - (d > tkc_op_int(op, ATTR_AXIS, 0)));
    if (op && op->kind == OP_MUL) {
        const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
        if (stays_along(n, y, d)) return scaled_divisor(n, x, y, d);
        if (stays_along(n, x, d)) return scaled_divisor(n, y, x, d);
    }
    if (!op || (op->kind != OP_ADD && op->kind != OP_SUB && op->kind != OP_ADDPTR))
        return fact->divisibility[d];
    const int64_t a = step_divisor(n, op_arg(op, 0), d), b = step_divisor(n, op_arg(op, 1), d);
    return a < b ? a : b;
}

static bool is_nearer(Key a, Key b)
{
    return a.run > b.run || (a.run == b.run && a.divisor < b.divisor);
}

bool near_order(Near *n, const Value *ptr, int order[TKC_MAX_RANK])
{
    const Type *block = ptr->type;
    const AxisFact *fact = running_fact(n, ptr);
    Key key[TKC_MAX_RANK];
    for (int d = 0; d < block->rank; d++)
        key[d] = block->shape[d] == 1
                     ? (Key){0, INT64_MAX}
                     : (Key){fact->contiguity[d], runs(fact) ? 1 : step_divisor(n, ptr, d)};
    for (int i = 0; i < block->rank; i++) {
        int dim = block->rank - 1 - i, at = i;
        for (; at > 0 && is_nearer(key[dim], key[order[at - 1]]); at--) order[at] = order[at - 1];
        order[at] = dim;
    }
    return fact->contiguity[order[0]] > 1;
}
