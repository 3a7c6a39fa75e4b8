/* One small function an op, in a table. Each takes the operands' intervals and gives the interval
   of the mathematical result; whoever asks decides what wrapping does to it. Products are computed
   in 128 bits; the widest operands are those of uint64, so a product of two may not fit even there:
   that gives the whole type, like an op with no rule. */
#include "analysis/range.h"

#include "ir/type.h"

Range range_of_dtype(DType dt)
{
    return (Range){dtype_least(dt), dtype_most(dt)};
}

bool range_is_within(Range inner, Range outer)
{
    return inner.lo >= outer.lo && inner.hi <= outer.hi;
}

static Wide min_of(Wide x, Wide y)
{
    return x < y ? x : y;
}

static Wide max_of(Wide x, Wide y)
{
    return x > y ? x : y;
}

Range range_join(Range a, Range b)
{
    return (Range){min_of(a.lo, b.lo), max_of(a.hi, b.hi)};
}

Range range_wrap(Range r, DType dt)
{
    Range all = range_of_dtype(dt);
    return range_is_within(r, all) ? r : all;
}

/* What a rule sees: the operands' intervals and their type. False: no idea. */
typedef struct Operands {
    OpKind kind;
    Range x, y;
    int bits;
} Operands;
typedef bool (*RangeRule)(const Operands *o, Range *out);

/* ---- arithmetic ---- */

/* A rule whose bounds are expressions of the operands' x and y. */
#define RULE(name, least, most)                                                                    \
    static bool range_##name(const Operands *o, Range *out)                                        \
    {                                                                                              \
        const Range x = o->x, y = o->y;                                                            \
        (void)x, (void)y;                                                                          \
        return *out = (Range){least, most}, true;                                                  \
    }
RULE(add, x.lo + y.lo, x.hi + y.hi)
RULE(sub, x.lo - y.hi, x.hi - y.lo)
RULE(neg, -x.hi, -x.lo)
RULE(min, min_of(x.lo, y.lo), min_of(x.hi, y.hi))
RULE(max, max_of(x.lo, y.lo), max_of(x.hi, y.hi))

/* The extremes of a product lie at the corners. */
static bool range_mul(const Operands *o, Range *out)
{
    const Wide xs[] = {o->x.lo, o->x.hi}, ys[] = {o->y.lo, o->y.hi};
    for (int i = 0; i < 4; i++) {
        Wide p;
        if (__builtin_mul_overflow(xs[i / 2], ys[i % 2], &p)) return false;
        *out = i ? range_join(*out, (Range){p, p}) : (Range){p, p};
    }
    return true;
}

/* The quotient is monotone in each operand while the divisor keeps its sign: the corners, with the
   divisors -1 and 1 nearest to zero. A zero divisor gives zero. */
static bool range_div(const Operands *o, Range *out)
{
    const Wide ys[] = {o->y.lo, o->y.hi, -1, 1};
    bool first = !range_has(o->y, 0);
    *out = (Range){0, 0};
    for (int i = 0; i < 4; i++) {
        if (ys[i] == 0 || !range_has(o->y, ys[i])) continue;
        Range q = range_join((Range){o->x.lo / ys[i], o->x.lo / ys[i]},
                             (Range){o->x.hi / ys[i], o->x.hi / ys[i]});
        *out = first ? q : range_join(*out, q);
        first = false;
    }
    return true;
}

/* The sign of the dividend, smaller than the divisor, no larger than the dividend. A zero divisor
   gives the dividend. */
static bool range_rem(const Operands *o, Range *out)
{
    Wide most = max_of(max_of(o->y.hi, -o->y.lo) - 1, 0);
    if (range_has(o->y, 0)) most = max_of(o->x.hi, -o->x.lo);
    if (o->x.lo >= 0 && o->y.lo > o->x.hi) *out = o->x;
    else
        *out = (Range){o->x.lo < 0 ? max_of(o->x.lo, -most) : 0,
                       o->x.hi > 0 ? min_of(o->x.hi, most) : 0};
    return true;
}

/* ---- bits ---- */

static bool range_and(const Operands *o, Range *out)
{
    if (o->x.lo < 0 && o->y.lo < 0) return false;
    Wide hi = o->x.lo < 0 ? o->y.hi : o->y.lo < 0 ? o->x.hi : min_of(o->x.hi, o->y.hi);
    *out =
        (Range){o->x.lo == o->x.hi && o->x.lo == o->y.lo && o->x.lo == o->y.hi ? o->x.lo : 0, hi};
    return true;
}

static bool range_shl(const Operands *o, Range *out)
{
    if (o->y.lo < 0 || o->y.hi >= o->bits || o->y.hi > 62) return false;
    Operands product = *o;
    product.y = (Range){(Wide)1 << o->y.lo, (Wide)1 << o->y.hi};
    return range_mul(&product, out);
}

/* Rounds down; a count of the width or more leaves zero or the sign. */
static bool range_shr(const Operands *o, Range *out)
{
    bool known = o->y.lo >= 0 && o->y.hi < o->bits;
    int least = known ? (int)o->y.lo : 0, most = known ? (int)o->y.hi : o->bits;
    *out =
        (Range){o->x.lo >> (o->x.lo < 0 ? least : most), o->x.hi >> (o->x.hi < 0 ? most : least)};
    return true;
}

/* ---- comparisons: 1 or 0 where the intervals decide ---- */

static bool range_order(const Operands *o, Range *out)
{
    const bool mirrored = o->kind == OP_GT || o->kind == OP_GE; /* x > y is y < x */
    const Range x = mirrored ? o->y : o->x, y = mirrored ? o->x : o->y;
    const bool strict = o->kind == OP_LT || o->kind == OP_GT;
    *out = strict ? (Range){x.hi < y.lo, x.lo < y.hi} : (Range){x.hi <= y.lo, x.lo <= y.hi};
    return true;
}

/* ---- the table ---- */

static const RangeRule rules[OP_COUNT] = {
    [OP_ADD] = range_add,  [OP_SUB] = range_sub,  [OP_MUL] = range_mul,  [OP_DIV] = range_div,
    [OP_REM] = range_rem,  [OP_NEG] = range_neg,  [OP_MIN] = range_min,  [OP_MAX] = range_max,
    [OP_AND] = range_and,  [OP_SHL] = range_shl,  [OP_SHR] = range_shr,  [OP_LT] = range_order,
    [OP_LE] = range_order, [OP_GT] = range_order, [OP_GE] = range_order,
};

Range range_of_op(OpKind kind, DType dt, DType result, const Range *in)
{
    Range out = range_of_dtype(result);
    if (!rules[kind]) return out;
    Operands o = {.kind = kind,
                  .x = in[0],
                  .y = tkc_op_info(kind)->max_args > 1 ? in[1] : (Range){0, 0},
                  .bits = dtype_info(dt)->bits};
    Range got;
    return rules[kind](&o, &got) ? got : out;
}
