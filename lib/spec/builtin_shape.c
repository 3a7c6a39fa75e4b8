/* Operations that move or repeat elements without changing them. */
#include "spec/argument.h"

/* Arguments as blocks of their own: scalars of one element where `rank` asks for blocks. */
static Value *as_block(Spec *sp, Value *v)
{
    return type_is_block(v->type) ? v : build_splat(&sp->b, v, 1, (const int32_t[]){1});
}

SpecValue builtin_broadcast(Spec *sp, const Call *c)
{
    Value *x = c->args[0].v, *y = c->args[1].v;
    if (!broadcast_pair(sp, &x, &y, c->at)) return sv_error();
    return arg_results(sp, true, 2, (Value *[]){x, y});
}

SpecValue builtin_broadcast_to(Spec *sp, const Call *c)
{
    Shape shape;
    if (!arg_rest_shape(sp, c, &shape)) return sv_error();
    return sv_value(broadcast_value(sp, c->args[0].v, &shape, c->at));
}

static bool refuse_duplicates(Spec *sp, Span at, const int64_t *axes, int n)
{
    Buf text = buf_make(sp->arena);
    for (int i = 0; i < n; i++) buf_printf(&text, "%s%lld", i ? ", " : "", (long long)axes[i]);
    return spec_fail(sp, at, "duplicate axes, normalized axes = [%s]", buf_text(&text));
}

/* Axes of the result, each in [-rank, rank), ascending. */
static bool new_axes(Spec *sp, const Call *c, int rank, bool *is_new, int *count)
{
    int64_t axes[TKC_MAX_RANK];
    int n = arg_ints(sp, c, 1, axes);
    if (n < 0) return false;
    int total = rank + n;
    if (total > TKC_MAX_RANK)
        return spec_fail(sp, c->at, "a block has at most %d dimensions, found %d", TKC_MAX_RANK,
                         total);
    for (int i = 0; i < n; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + total : axes[i];
        if (axis < 0 || axis >= total)
            return spec_fail(sp, c->spans[1], "invalid axis %lld for a result of %d dimension%s",
                             (long long)axes[i], total, total == 1 ? "" : "s");
        axes[i] = axis;
    }
    for (int i = 0; i < n; i++) {
        if (is_new[axes[i]]) return refuse_duplicates(sp, c->spans[1], axes, n);
        is_new[axes[i]] = true;
    }
    *count = n;
    return true;
}

SpecValue builtin_expand_dims(Spec *sp, const Call *c)
{
    bool is_new[TKC_MAX_RANK] = {false};
    int n;
    Value *v = c->args[0].v;
    if (!new_axes(sp, c, v->type->rank, is_new, &n)) return sv_error();
    if (!type_is_block(v->type)) {
        const int32_t ones[TKC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
        return sv_value(n ? build_splat(&sp->b, v, n, ones) : v);
    }
    int total = v->type->rank + n;
    for (int axis = 0; axis < total; axis++)
        if (is_new[axis]) v = build_expand_dims(&sp->b, v, axis);
    return sv_value(v);
}

SpecValue builtin_squeeze(Spec *sp, const Call *c)
{
    const Value *v = c->args[0].v;
    const int axis = (int)c->args[1].i;
    if (v->type->shape[axis] != 1)
        return spec_error(sp, c->at, "dimension %d of %s is not 1", axis,
                          type_text(sp->arena, v->type));
    Shape shape = {0};
    for (int i = 0; i < v->type->rank; i++)
        if (i != axis) shape.dims[shape.rank++] = v->type->shape[i];
    return sv_value(build_reshape(&sp->b, c->args[0].v, shape.rank, shape.dims, false));
}

/* Without dims, the last two change places. */
static bool permutation(Spec *sp, const Call *c, int rank, int *perm)
{
    SpecValue *items;
    int n = arg_rest(c, &items);
    for (int i = 0; i < rank; i++) perm[i] = i;
    if (n == 0 && rank < 2) return arg_fail(sp, c, 0, "a block of at least two dimensions");
    if (n == 0) {
        perm[rank - 2] = rank - 1;
        perm[rank - 1] = rank - 2;
        return true;
    }
    unsigned seen = 0;
    for (int i = 0; i < n; i++) {
        int64_t d;
        if (!op_to_int(sp, items[i], &d, c->at, "a dimension")) return false;
        if (d < 0) d += rank;
        if (n != rank || d < 0 || d >= rank || (seen >> d & 1))
            return spec_fail(sp, c->at, "the dims of %s must be each of 0 to %d once",
                             arg_operation(sp, c), rank - 1);
        seen |= 1u << d;
        perm[i] = (int)d;
    }
    return true;
}

SpecValue builtin_trans(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    int perm[TKC_MAX_RANK];
    if (!permutation(sp, c, v->type->rank, perm)) return sv_error();
    return sv_value(build_trans(&sp->b, v, perm));
}

static SpecValue reshape(Spec *sp, const Call *c, const Shape *shape, bool can_reorder)
{
    Value *v = c->args[0].v;
    if (shape_count(shape) != tkc_type_count(v->type))
        return spec_error(
            sp, c->at, "%s of %s to %s changes the number of elements from %lld to %lld",
            arg_operation(sp, c), type_text(sp->arena, v->type), shape_text(sp, shape),
            (long long)tkc_type_count(v->type), (long long)shape_count(shape));
    if (!can_reorder || !type_is_block(v->type)) return sv_value(shape_fill(sp, v, shape));
    return sv_value(build_reshape(&sp->b, v, shape->rank, shape->dims, true));
}

SpecValue builtin_reshape(Spec *sp, const Call *c)
{
    Shape shape;
    return arg_rest_shape(sp, c, &shape) ? reshape(sp, c, &shape, c->args[2].b) : sv_error();
}

SpecValue builtin_ravel(Spec *sp, const Call *c)
{
    const Shape shape = {.rank = 1, .dims = {(int32_t)tkc_type_count(c->args[0].v->type)}};
    return reshape(sp, c, &shape, c->args[1].b);
}

static bool can_join(Spec *sp, const Call *c, const Value *x)
{
    Shape shape = shape_of(x->type);
    if (shape.rank < TKC_MAX_RANK) {
        shape.dims[shape.rank++] = 2;
        return shape_check(sp, &shape, c->at);
    }
    return spec_fail(sp, c->at, "a block has at most %d dimensions, found %d", TKC_MAX_RANK,
                     shape.rank + 1);
}

SpecValue builtin_join(Spec *sp, const Call *c)
{
    Value *x, *y;
    if (!arg_pair(sp, c, UNIFY_POINTERS, &x, &y) || !can_join(sp, c, x)) return sv_error();
    Value *r = build_join(&sp->b, as_block(sp, x), as_block(sp, y));
    const Shape pair = {.rank = 1, .dims = {2}};
    return sv_value(type_is_block(x->type) ? r : shape_fill(sp, r, &pair));
}

SpecValue builtin_interleave(Spec *sp, const Call *c)
{
    SpecValue r = builtin_join(sp, c);
    return sv_is_error(r) || r.v->type->rank == 1 ? r : sv_value(shape_zip(sp, r.v));
}

SpecValue builtin_split(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v, *lo, *hi;
    int rank = v->type->rank;
    if (v->type->shape[rank - 1] != 2)
        return arg_refuse(sp, c, 0, "a block whose last extent is 2");
    if (rank == 1) {
        build_split(&sp->b, build_reshape(&sp->b, v, 2, (const int32_t[]){1, 2}, false), &lo, &hi);
        lo = build_reshape(&sp->b, lo, 0, NULL, false);
        hi = build_reshape(&sp->b, hi, 0, NULL, false);
    } else {
        build_split(&sp->b, v, &lo, &hi);
    }
    return arg_results(sp, true, 2, (Value *[]){lo, hi});
}

/* The op works along dimension 0; another one is brought there and back. */
static Value *cat(Spec *sp, Value *x, Value *y, int axis)
{
    int swap[TKC_MAX_RANK];
    for (int i = 0; i < x->type->rank; i++) swap[i] = i == 0 ? axis : i == axis ? 0 : i;
    if (axis != 0) x = build_trans(&sp->b, x, swap);
    if (axis != 0) y = build_trans(&sp->b, y, swap);
    Shape shape = shape_of(x->type);
    shape.dims[0] += y->type->shape[0];
    const Type *t = shape_type(sp, tkc_type_element(x->type), &shape);
    Value *r = op_result(build_op(&sp->b, OP_CAT, 2, (Value *[]){x, y}, 1, &t), 0);
    return axis != 0 ? build_trans(&sp->b, r, swap) : r;
}

SpecValue builtin_cat(Spec *sp, const Call *c)
{
    Value *x, *y;
    const int axis = (int)c->args[3].i;
    if (!unify_types(sp, c->args[0], c->args[1], UNIFY_POINTERS, &x, &y, "tl.cat", c->at))
        return sv_error();
    Shape a = shape_of(x->type), b = shape_of(y->type);
    bool fits = a.rank == b.rank;
    for (int i = 0; fits && i < a.rank; i++) fits = i == axis || a.dims[i] == b.dims[i];
    if (!fits)
        return spec_error(sp, c->at, "tl.cat along dimension %d of %s and %s: the %s differ", axis,
                          type_text(sp->arena, x->type), type_text(sp->arena, y->type),
                          a.rank == b.rank ? "other extents" : "ranks");
    Shape sum = a;
    sum.dims[axis] += b.dims[axis];
    if (!shape_check(sp, &sum, c->at)) return sv_error();
    return sv_value(cat(sp, x, y, axis));
}
