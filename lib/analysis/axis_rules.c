/* One rule for each op of arithmetic: what its result's facts are, by its operands'. Rules look at
   one dim at a time; g, c, s, k below are sizes of aligned groups and divisors, all powers of two,
   and "runs" means v, v+1, v+2, ….

   Overflow. Facts speak of the numbers the values are, not of their bits: a run must not pass from
   2^31-1 to -2^31. An addition of int32 may wrap, and bounds seldom exclude it (a program id has 31
   bits; its product with the block size none to spare). But a wrap adds a multiple of 2^32, hence
   of every divisor, so divisibility survives always; and a group of g values that runs up from a
   multiple of g lies within [m*g, m*g + g), where no multiple of 2^31 lies inside: it wraps as a
   whole or not at all. So a result whose bounds do not exclude wrapping keeps its runs in groups no
   longer than their divisor (`keep_what_wraps`). pid*128 + arange(0, 128) keeps all 128; adding 1
   to it leaves groups of 1, which no vector access could have used.

   Worked example: p + (pid*64 + arange(0, 64))[:, None]*ld + arange(0, 64)[None, :], fp32, where
   16 divides ld and the address p:
   - offsets: along dim 1 runs of 64, cut to 16 because the sum may wrap; 16 divides the first of
     each; along dim 0 nothing but that
   - pointers: along dim 1 runs of 16 elements, and 16 bytes divide the first of each: four lanes
     are one access.

   Whoever adds a rule: claim only what holds on valid lanes; take divisors of operands through
   `axis_divisor` with the group the result has; test/unit/axis_test.c evaluates every rule on
   random programs. */
#include "analysis/axis_rules.h"

#include <stddef.h>

#include "base/power.h"
#include "ir/ir.h"

/* The largest group size that all four allow. */
static int64_t min_of_four(int64_t a, int64_t b, int64_t c, int64_t d)
{
    return min_of(min_of(a, b), min_of(c, d));
}

static int64_t product(int64_t j, int64_t k)
{
    return j > AXIS_MAX_DIVISOR / k ? AXIS_MAX_DIVISOR : j * k;
}

/* What divides every element. */
static int64_t every(const AxisFact *f, const Type *ty, int d)
{
    return axis_divisor(f, ty, d, 1);
}

static bool is_exactly(const AxisFact *f, int64_t v)
{
    return f->lo == v && f->hi == v;
}

/* One known value, in range for a count or a bit mask. */
static bool is_one_value(const AxisFact *f)
{
    return f->lo == f->hi && f->lo != INT64_MIN && f->hi != INT64_MAX;
}

/* Runs, divisors and constancy of an operand with the result's number of dims; the bounds stay. */
static void copy_runs(AxisFact *out, const AxisFact *from)
{
    for (int d = 0; d < TKC_MAX_RANK; d++) {
        out->contiguity[d] = from->contiguity[d];
        out->divisibility[d] = from->divisibility[d];
        out->constancy[d] = from->constancy[d];
    }
}

void axis_rule_elementwise(const AxisSite *s, AxisFact *out)
{
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t c = INT64_MAX;
        for (int i = 0; i < s->op->nargs; i++)
            c = min_of(c, axis_constancy(s->facts, op_arg(s->op, i), d));
        out->constancy[d] = c;
    }
}

/* ---- sums ---- */

static void rule_add(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t c = max_of(min_of(s->x->contiguity[d], s->y->constancy[d]),
                           min_of(s->y->contiguity[d], s->x->constancy[d]));
        out->contiguity[d] = c;
        out->divisibility[d] =
            min_of(axis_divisor(s->x, s->tx, d, c), axis_divisor(s->y, s->ty, d, c));
    }
}

/* A run less a run is one value. */
static void rule_sub(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t c = min_of(s->x->contiguity[d], s->y->constancy[d]);
        int64_t both = min_of(s->x->contiguity[d], s->y->contiguity[d]);
        int64_t g = c > 1 ? c : both;
        out->contiguity[d] = c;
        out->constancy[d] = max_of(out->constancy[d], both);
        out->divisibility[d] =
            min_of(axis_divisor(s->x, s->tx, d, g), axis_divisor(s->y, s->ty, d, g));
    }
}

/* The offset counts elements; pointers are divided in bytes and have 64 bits, in which runs of
   addresses may wrap. */
static void rule_addptr(const AxisSite *s, AxisFact *out)
{
    int64_t bytes = type_bytes(tkc_type_element(s->tx)->elem);
    rule_add(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t c = out->contiguity[d];
        out->divisibility[d] = min_of(axis_divisor(s->x, s->tx, d, c),
                                      product(axis_divisor(s->y, s->ty, d, c), bytes));
    }
}

/* ---- products and quotients ---- */

static void rule_mul(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++)
        out->divisibility[d] = product(every(s->x, s->tx, d), every(s->y, s->ty, d));
}

/* Groups of neighbours in which x runs up from a multiple of g, and y is one multiple of g. */
static int64_t shared_group(const AxisFact *x, const Type *tx, const AxisFact *y, const Type *ty,
                            int d)
{
    return min_of_four(x->contiguity[d], axis_divisor(x, tx, d, x->contiguity[d]), y->constancy[d],
                       every(y, ty, d));
}

int64_t axis_group_of_division(const AxisFacts *facts, const Op *op, int dim)
{
    const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    return shared_group(axis_of(facts, x), x->type, axis_of(facts, y), y->type, dim);
}

/* What is left of the divisor of x after division by 2^e, a group's first element deciding. */
static int64_t quotient_divisor(const AxisSite *s, int d, int64_t g, int64_t power)
{
    return max_of(axis_divisor(s->x, s->tx, d, g) / power, 1);
}

/* x is not negative, or, to those who trust, nothing is known of that. */
static bool may_count_up(const AxisSite *s)
{
    const int64_t lo = axis_range(s->x, s->tx, false).lo;
    return lo >= 0 || axis_trust(s->facts) == AXIS_GUESSED ||
           (axis_trust(s->facts) != AXIS_PROVED && lo <= range_of_dtype(type_dtype(s->tx)).lo);
}

/* x runs from a multiple of g and n is one multiple of g: no multiple of n lies inside the group,
   so the quotient is one value. Quotients truncate, so a group below zero that ends in -n*q+g-1
   would be cut: x must not be negative. */
static void rule_div(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    const bool counts_up = may_count_up(s);
    bool power = is_one_value(s->y) && is_power_of_two(s->y->lo);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t g = counts_up ? shared_group(s->x, s->tx, s->y, s->ty, d) : 1;
        out->constancy[d] = max_of(out->constancy[d], g);
        if (power) out->divisibility[d] = quotient_divisor(s, d, g, s->y->lo);
    }
}

/* By the same reasoning the remainder runs; where n is 0, it is x. */
static void rule_rem(const AxisSite *s, AxisFact *out)
{
    Range x = axis_range(s->x, s->tx, false), n = axis_range(s->y, s->ty, false);
    if (x.lo >= 0 && n.lo > x.hi) {
        copy_runs(out, s->x);
        return;
    }
    axis_rule_elementwise(s, out);
    const bool counts_up = may_count_up(s);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t g = counts_up ? shared_group(s->x, s->tx, s->y, s->ty, d) : 1;
        out->contiguity[d] = g;
        out->divisibility[d] = min_of(axis_divisor(s->x, s->tx, d, g), every(s->y, s->ty, d));
    }
}

/* ---- bits ---- */

/* The run of ones at the low end as a group size: x & m keeps runs that fit in it. */
static int64_t low_ones(const AxisFact *m)
{
    if (!is_one_value(m)) return 1;
    uint64_t ones = (uint64_t)m->lo + 1;
    return ones ? min_of((int64_t)(ones & -ones) & INT64_MAX, AXIS_MAX_DIVISOR) : AXIS_MAX_DIVISOR;
}

/* Below a multiple of g a group's bits count up: ones in the mask there keep the run, zeros leave
   one value. */
static void and_side(const AxisFact *x, const Type *tx, const AxisFact *m, const Type *tm, int d,
                     AxisFact *out)
{
    int64_t runs = min_of_four(x->contiguity[d], axis_divisor(x, tx, d, x->contiguity[d]),
                               m->constancy[d], low_ones(m));
    int64_t same = shared_group(x, tx, m, tm, d);
    if (runs > out->contiguity[d]) {
        out->contiguity[d] = runs;
        out->constancy[d] = 1;
        out->divisibility[d] = axis_divisor(x, tx, d, runs);
    } else if (same > out->constancy[d] && out->contiguity[d] == 1) {
        out->constancy[d] = same;
        out->divisibility[d] = max_of(axis_divisor(x, tx, d, same), every(m, tm, d));
    }
}

static void rule_and(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) {
        out->divisibility[d] = max_of(every(s->x, s->tx, d), every(s->y, s->ty, d));
        and_side(s->x, s->tx, s->y, s->ty, d, out);
        and_side(s->y, s->ty, s->x, s->tx, d, out);
    }
}

/* One value with zeros where the other counts: or and xor are sums there. */
static void rule_or(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t g = max_of(shared_group(s->x, s->tx, s->y, s->ty, d),
                           shared_group(s->y, s->ty, s->x, s->tx, d));
        out->contiguity[d] = g;
        out->divisibility[d] =
            min_of(axis_divisor(s->x, s->tx, d, g), axis_divisor(s->y, s->ty, d, g));
    }
}

static bool is_count(const AxisSite *s, int64_t *count)
{
    *count = s->y->lo;
    return is_one_value(s->y) && *count >= 0 && *count < type_bits(s->tx) && *count < 62;
}

static void rule_shl(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    int64_t least = s->y->lo < 0 ? 0 : min_of(s->y->lo, 61);
    for (int d = 0; d < axis_dims(s->type); d++)
        out->divisibility[d] = product(every(s->x, s->tx, d), (int64_t)1 << least);
}

/* As division, but rounding down, so negative runs are cut at multiples too. */
static void rule_shr(const AxisSite *s, AxisFact *out)
{
    int64_t count;
    axis_rule_elementwise(s, out);
    if (!is_count(s, &count)) return;
    int64_t power = (int64_t)1 << count;
    for (int d = 0; d < axis_dims(s->type); d++) {
        int64_t c = s->x->contiguity[d];
        int64_t g = min_of_four(c, axis_divisor(s->x, s->tx, d, c), s->y->constancy[d], power);
        out->constancy[d] = max_of(out->constancy[d], g);
        out->divisibility[d] = quotient_divisor(s, d, g, power);
    }
}

/* ---- one of two ---- */

/* Two runs side by side keep their order over the whole group. */
static void rule_extreme(const AxisSite *s, AxisFact *out)
{
    Range x = axis_range(s->x, s->tx, false), y = axis_range(s->y, s->ty, false);
    bool is_min = s->op->kind == OP_MIN;
    if (is_min ? x.hi <= y.lo : x.lo >= y.hi) {
        copy_runs(out, s->x);
    } else if (is_min ? y.hi <= x.lo : y.lo >= x.hi) {
        copy_runs(out, s->y);
    } else {
        AxisFact joined = axis_join(s->x, s->y, s->type);
        copy_runs(out, &joined);
    }
}

static void rule_min_max(const AxisSite *s, AxisFact *out)
{
    if (type_is_int(s->type)) rule_extreme(s, out);
    else axis_rule_elementwise(s, out);
}

static AxisFact limit_to_groups(AxisFact f, const Type *ty, int d, int64_t g)
{
    if (f.contiguity[d] > g) {
        f.divisibility[d] = axis_divisor(&f, ty, d, g);
        f.contiguity[d] = g;
    }
    f.constancy[d] = min_of(f.constancy[d], g);
    return f;
}

static void rule_select(const AxisSite *s, AxisFact *out)
{
    const AxisFact *yes = s->y, *no = axis_of(s->facts, op_arg(s->op, 2));
    int truth = axis_truth(s->facts, op_arg(s->op, 0));
    AxisFact both = axis_join(yes, no, s->type), valid = both;
    if (truth == 1) valid = *yes;
    if (truth == 0) valid = *no;
    if (truth < 0) {
        for (int d = 0; d < axis_dims(s->type); d++)
            valid = limit_to_groups(valid, s->type, d,
                                    axis_constancy(s->facts, op_arg(s->op, 0), d));
    }
    valid.lo_all = both.lo_all;
    valid.hi_all = both.hi_all;
    *out = valid;
}

/* ---- comparisons: only whether neighbours agree; the bounds decide truth ---- */

/* x runs up from a multiple of g and is compared with one multiple of g: none or all of the group
   lies below it. `x <= n` cuts a group in which x ends in n, so it is the other side of `<=` that
   may run. */
static int64_t compared_group(const AxisSite *s, int d)
{
    switch (s->op->kind) {
    case OP_LT:
    case OP_GE: return shared_group(s->x, s->tx, s->y, s->ty, d);
    case OP_GT:
    case OP_LE: return shared_group(s->y, s->ty, s->x, s->tx, d);
    default: return 1;
    }
}

static void rule_compare(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    bool counts = type_is_int(s->tx) && !type_is_bool(s->tx);
    for (int d = 0; counts && d < axis_dims(s->type); d++) {
        int64_t both_run = min_of(s->x->contiguity[d], s->y->contiguity[d]);
        out->constancy[d] = max_of(out->constancy[d], max_of(both_run, compared_group(s, d)));
    }
}

/* ---- one operand ---- */

static void rule_neg(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    for (int d = 0; d < axis_dims(s->type); d++) out->divisibility[d] = every(s->x, s->tx, d);
}

static bool is_number(const Type *ty)
{
    return type_is_int(ty) && !type_is_bool(ty);
}

/* Bounds of a change of type: kept where they fit. */
static bool recast(const AxisSite *s, AxisFact *out, bool all_lanes)
{
    DType to = type_dtype(s->type);
    Range r = axis_range(s->x, s->tx, all_lanes);
    axis_set_range(out, range_wrap(r, to), all_lanes);
    return range_is_within(r, range_of_dtype(to));
}

/* Runs of numbers stay while the numbers do; else those that wrap as a whole, which are no longer
   than from 0 to the type's greatest. */
static void keep_what_wraps(AxisFact *f, const Type *ty)
{
    axis_settle(f, ty);
    for (int d = 0; d < axis_dims(ty); d++) {
        f->contiguity[d] = min_of(f->contiguity[d], f->divisibility[d]);
        while (f->contiguity[d] - 1 > dtype_most(type_dtype(ty))) f->contiguity[d] /= 2;
    }
}

static void rule_reinterpret(const AxisSite *s, AxisFact *out)
{
    copy_runs(out, s->x);
    bool fits = recast(s, out, false);
    recast(s, out, true);
    if (!fits) keep_what_wraps(out, s->type);
}

static void rule_cast(const AxisSite *s, AxisFact *out)
{
    if (is_number(s->type) && type_is_int(s->tx)) rule_reinterpret(s, out);
    else axis_rule_elementwise(s, out);
}

/* Between pointers, and between pointers and integers, addresses stay; they run where an element is
   one byte. */
static void rule_address(const AxisSite *s, AxisFact *out)
{
    axis_rule_elementwise(s, out);
    int64_t from = type_is_pointer(s->tx) ? type_bytes(tkc_type_element(s->tx)->elem) : 1;
    int64_t to = type_is_pointer(s->type) ? type_bytes(tkc_type_element(s->type)->elem) : 1;
    for (int d = 0; d < axis_dims(s->type); d++) {
        out->contiguity[d] = from == to ? s->x->contiguity[d] : 1;
        out->divisibility[d] = axis_divisor(s->x, s->tx, d, out->contiguity[d]);
    }
    if (!type_is_pointer(s->type)) keep_what_wraps(out, s->type);
}

static void rule_bitcast(const AxisSite *s, AxisFact *out)
{
    bool pointers = type_is_pointer(s->tx) || type_is_pointer(s->type);
    bool others_count = (type_is_pointer(s->tx) || is_number(s->tx)) &&
                        (type_is_pointer(s->type) || is_number(s->type));
    if (pointers && others_count) rule_address(s, out);
    else if (is_number(s->tx) && is_number(s->type)) rule_reinterpret(s, out);
    else axis_rule_elementwise(s, out);
}

/* What the user vouches for, as far as it is a power of two. */
static int64_t vouched(const Op *op, AttrKey key, int d)
{
    const Attr *a = tkc_op_attr(op, key);
    if (!a || d >= a->count || a->v[d] < 1) return 1;
    return min_of(a->v[d] & -a->v[d], AXIS_MAX_DIVISOR);
}

static void rule_hint(const AxisSite *s, AxisFact *out)
{
    *out = *s->x;
    for (int d = 0; d < axis_dims(s->type); d++) {
        out->contiguity[d] = max_of(out->contiguity[d], vouched(s->op, ATTR_CONTIGUITY, d));
        out->divisibility[d] = max_of(out->divisibility[d], vouched(s->op, ATTR_DIVISIBILITY, d));
        out->constancy[d] = max_of(out->constancy[d], vouched(s->op, ATTR_CONSTANCY, d));
    }
}

/* ---- the table ---- */

static const AxisRule rules[OP_COUNT] = {
    [OP_ADD] = rule_add,       [OP_SUB] = rule_sub,     [OP_MUL] = rule_mul,
    [OP_DIV] = rule_div,       [OP_REM] = rule_rem,     [OP_AND] = rule_and,
    [OP_OR] = rule_or,         [OP_XOR] = rule_or,      [OP_SHL] = rule_shl,
    [OP_SHR] = rule_shr,       [OP_MIN] = rule_min_max, [OP_MAX] = rule_min_max,
    [OP_EQ] = rule_compare,    [OP_NE] = rule_compare,  [OP_LT] = rule_compare,
    [OP_LE] = rule_compare,    [OP_GT] = rule_compare,  [OP_GE] = rule_compare,
    [OP_NEG] = rule_neg,       [OP_ABS] = rule_neg,     [OP_SELECT] = rule_select,
    [OP_CAST] = rule_cast,     [OP_HINT] = rule_hint,   [OP_BITCAST] = rule_bitcast,
    [OP_ADDPTR] = rule_addptr,
};

/* The operand that the op hands on, whatever it is; NULL: none. */
static const AxisFact *handed_on(const AxisSite *s)
{
    switch (s->op->kind) {
    case OP_MUL: return is_exactly(s->x, 1) ? s->y : is_exactly(s->y, 1) ? s->x : NULL;
    case OP_DIV: return is_exactly(s->y, 1) ? s->x : NULL;
    case OP_SHL:
    case OP_SHR: return is_exactly(s->y, 0) ? s->x : NULL;
    default: return NULL;
    }
}

static AxisRule rule_of(const Op *op)
{
    AxisRule rule = axis_shape_rule(op->kind);
    if (!rule) rule = rules[op->kind];
    if (rule) return rule;
    return ir_has(op, OT_EW) && ir_has(op, OT_PURE) ? axis_rule_elementwise : NULL;
}

/* Integer arithmetic whose bounds follow from those of its operands. Runs are kept as far as
   wrapping allows. */
static void bound_arithmetic(const AxisSite *s, AxisFact *out)
{
    if (!ir_has(s->op, OT_ARITH) || !type_is_int(s->tx)) return;
    DType result = type_dtype(s->type);
    bool wraps = false;
    for (int all = 1; all >= 0; all--) {
        Range in[] = {axis_range(s->x, s->tx, all),
                      s->y ? axis_range(s->y, s->ty, all) : (Range){0, 0}};
        Range r = range_of_op(s->op->kind, type_dtype(s->tx), result, in);
        axis_set_range(out, range_wrap(r, result), all);
        wraps = !range_is_within(r, range_of_dtype(result));
    }
    if (wraps && axis_trust(s->facts) != AXIS_GUESSED) keep_what_wraps(out, s->type);
}

AxisFact axis_of_result(const AxisFacts *facts, const Op *op, int result)
{
    const Type *type = op_result(op, result)->type;
    AxisFact out = axis_unknown(type);
    AxisSite s = {.facts = facts, .op = op, .type = type};
    if (op->nargs > 0) s.x = axis_of(facts, op_arg(op, 0)), s.tx = op_arg(op, 0)->type;
    if (op->nargs > 1) s.y = axis_of(facts, op_arg(op, 1)), s.ty = op_arg(op, 1)->type;
    const AxisFact *same = handed_on(&s);
    const AxisRule rule = rule_of(op);
    if (same) copy_runs(&out, same);
    else if (rule) rule(&s, &out);
    bound_arithmetic(&s, &out);
    axis_settle(&out, type);
    return out;
}
