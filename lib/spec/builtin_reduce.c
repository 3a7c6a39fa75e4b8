/* Reductions. The common ones put one op into the region (add, max, min, or, xor), which lowering
   recognises; argmax and the user's own combine functions are whatever they are, on scalars. */
#include "base/power.h"
#include "spec/argument.h"
#include "spec/combine.h"

/* ---- operands and results ---- */

typedef struct Reduction {
    int n, axis, rank; /* rank: of the operands as given */
    Value *xs[COMBINE_MAX];
    bool keep_dims;
} Reduction;

static Value *flat(Spec *sp, Value *v)
{
    int32_t count = (int32_t)tkc_type_count(v->type);
    if (v->type->rank == 1) return v;
    return type_is_block(v->type) ? build_reshape(&sp->b, v, 1, &count, true)
                                  : build_splat(&sp->b, v, 1, &count);
}

enum { AXIS = 1 }; /* of each the second parameter */

/* r->xs are there. */
static void start(Spec *sp, const Call *c, int keep_dims, Reduction *r)
{
    r->rank = r->xs[0]->type->rank;
    r->axis = (int)c->args[AXIS].i;
    r->keep_dims = c->args[keep_dims].b;
    for (int i = 0; !arg_is_given(c, AXIS) && i < r->n; i++) r->xs[i] = flat(sp, r->xs[i]);
}

static Value *with_dims(Spec *sp, const Reduction *r, Value *v)
{
    const int32_t ones[TKC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!r->keep_dims || r->rank == 0) return v;
    if (!type_is_block(v->type)) return build_splat(&sp->b, v, r->rank, ones);
    return build_expand_dims(&sp->b, v, r->axis);
}

static SpecValue finish(Spec *sp, const Reduction *r, bool is_tuple, Value *const *found)
{
    Value *results[COMBINE_MAX];
    for (int i = 0; i < r->n; i++) results[i] = with_dims(sp, r, found[i]);
    return arg_results(sp, is_tuple, r->n, results);
}

static Value *reduced(Spec *sp, Value *x, int axis, OpKind kind)
{
    Op *op = build_reduce(&sp->b, axis, 1, &x);
    combine_by_op(sp, op, kind);
    return op_result(op, 0);
}

static SpecValue reduce_by_op(Spec *sp, const Call *c, int keep_dims, Value *x, OpKind kind)
{
    Reduction r = {.n = 1, .xs = {x}};
    start(sp, c, keep_dims, &r);
    Value *result = reduced(sp, r.xs[0], r.axis, kind);
    return finish(sp, &r, false, &result);
}

/* ---- the language's own ---- */

/* Triton had a parameter that only dims before the last could do without. */
SpecValue builtin_softmax(Spec *sp, const Call *c)
{
    SpecValue args[] = {c->args[0], arg_is_given(c, 1) ? c->args[1] : sv_int(0), c->args[3]};
    if (arg_is_given(c, 2))
        spec_warning(sp, DIAG_IGNORED_ARGUMENT, c->spans[2],
                     "'keep_dims' of tl.softmax changes nothing; the result has the shape of 'x'");
    return spec_call(sp, spec_std(sp, "softmax"), 3, args, c->at);
}

SpecValue builtin_sum(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    DType dt = arg_is_given(c, 3) ? type_dtype(c->args[3].type)
                                  : combine_sum_dtype(type_dtype(v->type));
    return reduce_by_op(sp, c, 2, build_cast(&sp->b, v, dt, NULL), OP_ADD);
}

static DType widened_for_order(DType dt, bool with_index)
{
    const DTypeInfo *info = dtype_info(dt);
    if (with_index) return dt == DT_BF16 ? DT_F32 : dt;
    if (info->bits >= 32) return dt;
    return info->kind == DK_FLOAT ? DT_F32 : DT_I32;
}

/* The same for all elements along the axis. */
static Value *spread(Spec *sp, Value *v, int axis, const Type *like)
{
    if (!type_is_block(v->type)) return build_splat(&sp->b, v, like->rank, like->shape);
    return build_broadcast(&sp->b, build_expand_dims(&sp->b, v, axis), like->rank, like->shape);
}

/* Where the best of x is first, in two steps, of one instruction each for two lanes: the least
   index of those that equal it. Where none does, all are NaN, and what stands for no index is a
   power of two behind all, whose low bits are those of the first. */
static Value *first_place(Spec *sp, Value *x, Value *best, int axis)
{
    Builder *b = &sp->b;
    const uint64_t n = (uint64_t)power_of_two_for(x->type->shape[axis]);
    Value *i = combine_index_along(sp, x, axis);
    Value *is_best = build_binary(b, OP_EQ, x, spread(sp, best, axis, x->type));
    Value *at = reduced(sp, build_select(b, is_best, i, build_const(b, i->type, n)), axis, OP_MIN);
    return build_binary(b, OP_AND, at, build_const(b, at->type, n - 1));
}

/* So much that it would not stay in registers until its best is known. */
static bool is_much(const Spec *sp, const Value *x)
{
    enum { MOST_OF_A_THREAD = 64, WARP = 32 };
    return tkc_type_count(x->type) > MOST_OF_A_THREAD * WARP * sp->fn->num_warps;
}

static SpecValue reduce_with_index(Spec *sp, const Call *c, Value *x, int keep_dims)
{
    x = build_cast(&sp->b, x, widened_for_order(type_dtype(x->type), true), NULL);
    Reduction r = {.n = 1, .xs = {x}};
    start(sp, c, keep_dims, &r);
    r.n = 2;
    if (is_much(sp, r.xs[0])) {
        r.xs[1] = combine_index_along(sp, r.xs[0], r.axis);
        Op *op = build_reduce(&sp->b, r.axis, 2, r.xs);
        combine_by_order(sp, op, c->builtin->op == OP_MAX);
        return finish(sp, &r, true, op->results);
    }
    Value *best = reduced(sp, r.xs[0], r.axis, c->builtin->op);
    return finish(sp, &r, true, (Value *[]){best, first_place(sp, r.xs[0], best, r.axis)});
}

SpecValue builtin_max_min(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    if (c->args[2].b) return reduce_with_index(sp, c, v, 4);
    v = build_cast(&sp->b, v, widened_for_order(type_dtype(v->type), false), NULL);
    return reduce_by_op(sp, c, 4, v, c->builtin->op);
}

SpecValue builtin_arg_extremum(Spec *sp, const Call *c)
{
    return reduce_with_index(sp, c, c->args[0].v, 3).tuple->data[1];
}

SpecValue builtin_bit_reduce(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    if (!type_is_int(v->type)) return arg_refuse(sp, c, 0, "a block of integers");
    return reduce_by_op(sp, c, 2, v, c->builtin->op);
}

/* ---- the user's ---- */

SpecValue builtin_reduce(Spec *sp, const Call *c)
{
    Reduction r = {0};
    r.n = combine_operands(sp, c, 0, r.xs);
    if (r.n < 0) return sv_error();
    start(sp, c, 3, &r);
    Op *op = build_reduce(&sp->b, r.axis, r.n, r.xs);
    if (!combine_by_function(sp, op, c->args[2], c->at)) return sv_error();
    return finish(sp, &r, sv_is_sequence(c->args[0]), op->results);
}
