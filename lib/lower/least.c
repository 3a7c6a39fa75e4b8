/* The least that a float can be, from how it is computed. What is added to a square, a size or an
   exponential, as in log(1 + exp(x)) or rsqrt(sum(x * x) / n + 1e-6), and the larger of 1e-9 and
   whatever, is a normal number: the functions of it need no scaling of subnormal ones and no case
   for 0 and below, a third of a logarithm's instructions. Rounding keeps such bounds, but for its
   size: who asks leaves room for that. They say nothing of NaN. */
#include "lower/math.h"

#include <math.h>

#include "ir/evaluate.h"

enum { DEPTH = 8 };

static double least(const Value *v, int depth);

static double of_arg(const Op *op, int i, int depth)
{
    return least(op_arg(op, i), depth);
}

static double by_arg(const Op *op, int depth)
{
    return type_is_float(op_arg(op, 0)->type) ? of_arg(op, 0, depth) : -INFINITY;
}

static double by_constant(const Op *op, int depth)
{
    uint64_t bits;
    (void)depth;
    if (!ir_const_bits(op_result(op, 0), &bits)) return -INFINITY;
    const double x = bits_to_double(type_dtype(op_result(op, 0)->type), bits);
    return isnan(x) ? -INFINITY : x;
}

static double not_negative(const Op *op, int depth)
{
    (void)op, (void)depth;
    return 0;
}

static double product(const Op *op, int depth)
{
    if (op_arg(op, 0) == op_arg(op, 1)) return 0;
    return of_arg(op, 0, depth) >= 0 && of_arg(op, 1, depth) >= 0 ? 0 : -INFINITY;
}

static double sum(const Op *op, int depth)
{
    return of_arg(op, 0, depth) + of_arg(op, 1, depth);
}

static double product_and_sum(const Op *op, int depth)
{
    return product(op, depth) + of_arg(op, 2, depth);
}

/* By what may be -0, the root of which is that, anything may come. */
static double quotient(const Op *op, int depth)
{
    return of_arg(op, 0, depth) >= 0 && of_arg(op, 1, depth) > 0 ? 0 : -INFINITY;
}

static double larger(const Op *op, int depth)
{
    return fmax(of_arg(op, 0, depth), of_arg(op, 1, depth));
}

static double smaller(const Op *op, int depth)
{
    return fmin(of_arg(op, 0, depth), of_arg(op, 1, depth));
}

static double either(const Op *op, int depth)
{
    return fmin(of_arg(op, 1, depth), of_arg(op, 2, depth));
}

static double reduced(const Op *op, int depth)
{
    const bool is_sum = op->nargs == 1 && ir_combine_kind(op->regions[0]) == OP_ADD;
    return is_sum && of_arg(op, 0, depth) >= 0 ? 0 : -INFINITY;
}

static double (*const rules[OP_COUNT])(const Op *op, int depth) = {
    [OP_CONST] = by_constant, [OP_EXP] = not_negative,    [OP_EXP2] = not_negative,
    [OP_ABS] = not_negative,  [OP_SQRT] = not_negative,   [OP_MUL] = product,
    [OP_ADD] = sum,           [OP_FMA] = product_and_sum, [OP_DIV] = quotient,
    [OP_MAX] = larger,        [OP_MAX_NAN] = larger,      [OP_MIN] = smaller,
    [OP_MIN_NAN] = smaller,   [OP_SELECT] = either,       [OP_REDUCE] = reduced,
    [OP_SPLAT] = by_arg,      [OP_BROADCAST] = by_arg,    [OP_EXPAND_DIMS] = by_arg,
    [OP_RESHAPE] = by_arg,    [OP_CONVERT] = by_arg,
};

static double least(const Value *v, int depth)
{
    const bool known = v->def && rules[v->def->kind] && depth < DEPTH;
    return known && type_is_float(v->type) ? rules[v->def->kind](v->def, depth + 1) : -INFINITY;
}

/* Half of what 2^-100 is precise to is more than any subnormal number. */
bool lower_is_normal(const Value *v)
{
    return least(v, 0) >= 0x1p-100;
}

static bool vanishes_in(const Use *u)
{
    const Op *op = u->user;
    if (op->kind != OP_ADD) return false;
    return lower_is_normal(op_arg(op, u == &op->args[0] ? 1 : 0));
}

bool lower_vanishes_below_normal(const Value *v)
{
    if (type_dtype(v->type) != DT_F32) return false;
    for (const Use *u = v->uses; u; u = u->next)
        if (!vanishes_in(u)) return false;
    return true;
}
