/* Rules of the ops that make elements from nothing, move them, read them from memory or combine
   them along an axis.

   Moves know which dim of the operand became which dim of the result, and copy its facts. A dim of
   extent 1 that grows is constant. Where a reshape mixes dims only two things are known: what
   divides every element, and, along the last dim, the runs of the operand's last dim that begin
   where the rows of both shapes may begin.

   Padding lanes: expanding, growing and transposing dims moves whole padded blocks, so bounds of
   all lanes are kept; what moves elements by their index in the exact shape leaves anything in the
   padding. */
#include "analysis/axis_rules.h"

#include "ir/ir.h"

/* Facts of dim `from` of the operand become those of dim `to`. */
static void copy_dim(AxisFact *out, int to, const AxisFact *x, int from)
{
    out->contiguity[to] = x->contiguity[from];
    out->divisibility[to] = x->divisibility[from];
    out->constancy[to] = x->constancy[from];
}

/* What divides every element of the operand: any dim may tell. */
static int64_t every_element(const AxisFact *x, const Type *ty)
{
    int64_t most = 1;
    for (int d = 0; d < axis_dims(ty); d++) {
        int64_t k = axis_divisor(x, ty, d, 1);
        if (k > most) most = k;
    }
    return most;
}

static void set_dim(AxisFact *out, int dim, int64_t divisibility, int64_t constancy)
{
    out->contiguity[dim] = 1;
    out->divisibility[dim] = divisibility;
    out->constancy[dim] = constancy;
}

static void copy_valid_bounds(AxisFact *out, const AxisFact *x)
{
    out->lo = x->lo;
    out->hi = x->hi;
}

static void copy_bounds(AxisFact *out, const AxisFact *x)
{
    copy_valid_bounds(out, x);
    out->lo_all = x->lo_all;
    out->hi_all = x->hi_all;
}

/* ---- made from nothing ---- */

static void set_both_ranges(AxisFact *out, Range r)
{
    axis_set_range(out, r, false);
    axis_set_range(out, r, true);
}

static void rule_const(const AxisSite *s, AxisFact *out)
{
    for (int d = 0; d < axis_dims(s->type); d++) out->constancy[d] = INT64_MAX;
    if (!type_is_int(s->type)) return;
    uint64_t bits = (uint64_t)tkc_op_int(s->op, ATTR_VALUE, 0);
    bool is_signed = type_kind(s->type) == DK_INT;
    Wide v = is_signed ? (Wide)(int64_t)bits : (Wide)bits;
    set_both_ranges(out, (Range){v, v});
    int64_t lowest = bits ? (int64_t)(bits & -bits) : AXIS_MAX_DIVISOR;
    for (int d = 0; d < axis_dims(s->type); d++)
        out->divisibility[d] = lowest < 0 || lowest > AXIS_MAX_DIVISOR ? AXIS_MAX_DIVISOR : lowest;
}

static void rule_arange(const AxisSite *s, AxisFact *out)
{
    int64_t start = tkc_op_int(s->op, ATTR_START, 0), padded = axis_extent(s->type, 0);
    out->contiguity[0] = padded;
    out->divisibility[0] = start ? start & -start : AXIS_MAX_DIVISOR;
    axis_set_range(out, (Range){start, start + s->type->shape[0] - 1}, false);
    axis_set_range(out, range_wrap((Range){start, start + padded - 1}, type_dtype(s->type)), true);
}

/* Limits of a grid, all targets: 2^31-1 programs along the first axis, 65535 along the others. */
static void rule_grid(const AxisSite *s, AxisFact *out)
{
    const int is_count = s->op->kind == OP_NUM_PROGRAMS;
    const int most = tkc_op_int(s->op, ATTR_AXIS, 0) == 0 ? INT32_MAX : 65535;
    set_both_ranges(out, (Range){is_count, most - 1 + is_count});
}

/* ---- moves ---- */

static void rule_splat(const AxisSite *s, AxisFact *out)
{
    copy_bounds(out, s->x);
    for (int d = 0; d < axis_dims(s->type); d++) set_dim(out, d, s->x->divisibility[0], INT64_MAX);
}

static void rule_convert(const AxisSite *s, AxisFact *out)
{
    (void)s;
    *out = *s->x;
}

/* Dims that stay, repeat, change places, go or are new: of one operand or two. */
static void rule_move(const AxisSite *s, AxisFact *out)
{
    AxisFact x = *s->x;
    int64_t divisor = every_element(s->x, s->tx);
    if (s->op->nargs > 1) {
        x = axis_join(s->x, s->y, s->tx);
        divisor = min_of(divisor, every_element(s->y, s->ty));
    }
    copy_bounds(out, &x);
    if (s->type->rank == 0) set_dim(out, 0, divisor, 1);
    for (int d = 0; d < s->type->rank; d++) {
        const int was = tkc_moved_dim(s->op, d);
        if (was < 0) set_dim(out, d, divisor, 1);
        else if (s->tx->shape[was] != s->type->shape[d])
            set_dim(out, d, x.divisibility[was], INT64_MAX);
        else copy_dim(out, d, &x, was);
    }
}

static void rule_cat(const AxisSite *s, AxisFact *out)
{
    AxisFact both = axis_join(s->x, s->y, s->tx);
    copy_valid_bounds(out, &both);
    int64_t divisor = min_of(every_element(s->x, s->tx), every_element(s->y, s->ty));
    for (int d = 0; d < axis_dims(s->type); d++) set_dim(out, d, divisor, 1);
}

/* ---- reshape ---- */

/* The dims of extent greater than 1; returns how many. */
static int real_dims(const Type *ty, int *dims)
{
    int n = 0;
    for (int d = 0; d < ty->rank; d++)
        if (ty->shape[d] != 1) dims[n++] = d;
    return n;
}

static bool is_constant_block(const AxisFact *x, const Type *ty)
{
    for (int d = 0; d < ty->rank; d++)
        if (x->constancy[d] < axis_extent(ty, d)) return false;
    return true;
}

/* The size of group in which aligned neighbours of a dim are aligned neighbours in row-major order
   too: rows begin at multiples of the extent. `alone`: there is but one row. */
static int64_t row_groups(int32_t extent, bool alone)
{
    return alone ? INT64_MAX : extent & -extent;
}

static void mix_dims(const AxisSite *s, const int *from, int nfrom, const int *to, int nto,
                     AxisFact *out)
{
    bool constant = is_constant_block(s->x, s->tx),
         reorders = tkc_op_int(s->op, ATTR_REORDER, 0) != 0;
    int64_t divisor = every_element(s->x, s->tx);
    for (int d = 0; d < axis_dims(s->type); d++) set_dim(out, d, divisor, constant ? INT64_MAX : 1);
    if (constant || reorders || nfrom == 0 || nto == 0) return;
    int last = from[nfrom - 1], d = to[nto - 1];
    int64_t rows =
        min_of(row_groups(s->tx->shape[last], nfrom == 1), row_groups(s->type->shape[d], nto == 1));
    int64_t c = min_of(s->x->contiguity[last], rows);
    out->constancy[d] = min_of(s->x->constancy[last], rows);
    if (c > 1) {
        out->contiguity[d] = c;
        out->divisibility[d] = axis_divisor(s->x, s->tx, last, c);
    }
}

static void rule_reshape(const AxisSite *s, AxisFact *out)
{
    int from[TKC_MAX_RANK], to[TKC_MAX_RANK];
    int nfrom = real_dims(s->tx, from), nto = real_dims(s->type, to);
    bool same = nfrom == nto && !tkc_op_int(s->op, ATTR_REORDER, 0);
    for (int i = 0; same && i < nto; i++) same = s->tx->shape[from[i]] == s->type->shape[to[i]];
    if (!same) {
        mix_dims(s, from, nfrom, to, nto, out);
    } else {
        for (int d = 0; d < axis_dims(s->type); d++) set_dim(out, d, every_element(s->x, s->tx), 1);
        for (int i = 0; i < nto; i++) copy_dim(out, to[i], s->x, from[i]);
    }
    if (same || (!type_is_padded(s->tx) && !type_is_padded(s->type))) copy_bounds(out, s->x);
    else copy_valid_bounds(out, s->x);
}

/* ---- along an axis ---- */

/* Choosing among elements stays within their bounds; a sum of n of them within n times those. */
static void bound_combine(const AxisSite *s, AxisFact *out, int64_t n, bool all_lanes)
{
    const OpKind kind = ir_combine_kind(s->op->regions[0]);
    bool picks = kind == OP_MIN || kind == OP_MAX;
    if (!type_is_int(s->type) || type_is_bool(s->type) || (!picks && kind != OP_ADD)) return;
    Range r = axis_range(s->x, s->tx, all_lanes);
    if (kind == OP_ADD) r = (Range){r.lo * n, r.hi * n};
    axis_set_range(out, range_wrap(r, type_dtype(s->type)), all_lanes);
}

/* Where all operands are constant along another dim, the results are too. */
static void rule_reduce(const AxisSite *s, AxisFact *out)
{
    int axis = (int)tkc_op_int(s->op, ATTR_AXIS, 0);
    for (int d = 0; d < s->type->rank; d++) {
        int64_t c = INT64_MAX;
        for (int i = 0; i < s->op->nargs; i++)
            c = min_of(c, axis_of(s->facts, op_arg(s->op, i))->constancy[d + (d >= axis)]);
        set_dim(out, d, 1, c);
    }
    for (int all = 0; all <= 1; all++) bound_combine(s, out, s->tx->shape[axis], all);
}

/* Prefixes have 1 to all elements: their sums lie between 0 and the whole, or between one element
   and the whole. */
static void rule_scan(const AxisSite *s, AxisFact *out)
{
    int axis = (int)tkc_op_int(s->op, ATTR_AXIS, 0);
    axis_rule_elementwise(s, out);
    out->constancy[axis] = 1;
    if (ir_combine_kind(s->op->regions[0]) != OP_ADD) {
        bound_combine(s, out, 1, false);
        return;
    }
    AxisFact whole = *out;
    bound_combine(s, &whole, s->tx->shape[axis], false);
    bound_combine(s, out, 1, false);
    Range sums = range_join(axis_range(out, s->type, false), axis_range(&whole, s->type, false));
    axis_set_range(out, sums, false);
}

static void rule_sort(const AxisSite *s, AxisFact *out)
{
    copy_valid_bounds(out, s->x);
    for (int d = 0; d < s->type->rank - 1; d++) out->constancy[d] = s->x->constancy[d];
}

/* ---- memory: lanes that read one address read one value ---- */

static void rule_load(const AxisSite *s, AxisFact *out)
{
    if (!tkc_op_int(s->op, ATTR_VOLATILE, 0)) axis_rule_elementwise(s, out);
}

AxisRule axis_shape_rule(OpKind kind)
{
    static const AxisRule rules[OP_COUNT] = {
        [OP_CONST] = rule_const,       [OP_ARANGE] = rule_arange, [OP_PROGRAM_ID] = rule_grid,
        [OP_NUM_PROGRAMS] = rule_grid, [OP_SPLAT] = rule_splat,   [OP_EXPAND_DIMS] = rule_move,
        [OP_BROADCAST] = rule_move,    [OP_TRANS] = rule_move,    [OP_RESHAPE] = rule_reshape,
        [OP_JOIN] = rule_move,         [OP_SPLIT] = rule_move,    [OP_CAT] = rule_cat,
        [OP_CONVERT] = rule_convert,   [OP_REDUCE] = rule_reduce, [OP_SCAN] = rule_scan,
        [OP_SORT] = rule_sort,         [OP_LOAD] = rule_load,
    };
    return rules[kind];
}
