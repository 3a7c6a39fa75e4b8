/* Reductions and scans: ops with a region that combines two elements. The common ones put one op into it
   (add, max, min, or, xor), which lowering recognises; argmax and the user's own combine functions are
   whatever they are, on scalars. While a region is filled the builder points into it; whatever happens
   it is put back. */
#include "base/power.h"
#include "spec/argument.h"
#include "spec/eval.h"

enum { COMBINE_MAX = 16 }; /* operands of one reduction */

/* ---- regions ---- */

/* Fills the region of a reduce or scan just built, with its terminator. */
static void combine_by_op(Spec *sp, Op *op, OpKind kind)
{
    Builder b = build_in(&sp->b, op->regions[0]);
    Value *const *args = op->regions[0]->args;
    build_yield(&b, 1, (Value *[]){build_binary(&b, kind, args[0], args[1])});
}

/* Is the left of (value, index) x with values a, b and indices i, j the one to keep?
     a > b                     yes
     a < b                     no
     neither, both numbers     the smaller index
     neither, one is NaN       the number
     neither, both NaN         the smaller index
   As (a >= b or b is NaN) and (i < j or a differs from b and is a number): where i < j is known, as
   of a thread's own elements, two comparisons are left. */
static Value *keeps_left(Builder *b, Value *const *args, bool max)
{
    Value *no_less = build_binary(b, max ? OP_GE : OP_LE, args[0], args[2]);
    Value *first = build_binary(b, OP_LT, args[1], args[3]);
    Value *differs = build_binary(b, OP_NE, args[0], args[2]);
    if (type_is_float(args[0]->type)) {
        Value *right_nan = build_binary(b, OP_NE, args[2], args[2]);
        no_less = build_binary(b, OP_OR, no_less, right_nan);
        Value *left_number = build_binary(b, OP_EQ, args[0], args[0]);
        differs = build_binary(b, OP_AND, left_number, differs);
    }
    return build_binary(b, OP_AND, no_less, build_binary(b, OP_OR, first, differs));
}

/* Operands value and index: the larger (smaller) value, of equals the smaller index; NaN loses. */
static void combine_by_order(Spec *sp, Op *op, bool max)
{
    Builder b = build_in(&sp->b, op->regions[0]);
    Value *const *args = op->regions[0]->args;
    Value *left = keeps_left(&b, args, max);
    build_yield(&b, 2,
                (Value *[]){build_select(&b, left, args[0], args[2]),
                            build_select(&b, left, args[1], args[3])});
}

/* Integers of one width: to the combine functions of Triton their signs are no difference. */
static bool alike_but_for_sign(const Type *a, const Type *b)
{
    return type_is_int(a) && type_is_int(b) && type_bits(a) == type_bits(b);
}

/* The function's results as values of the operands' types. */
static bool results_of(Spec *sp, Op *op, SpecValue r, Value **out, Span at)
{
    SpecValue *items;
    int n = op->nargs, found = sv_items(&r, &items);
    if (sv_is_error(r)) return false;
    if (found != n)
        return spec_fail(sp, at, "the combine function gives %d value%s, expected %d", found,
                         found == 1 ? "" : "s", n);
    for (int i = 0; i < n; i++) {
        const Type *elem = tkc_type_element(op_arg(op, i)->type);
        Value *v = op_to_value(sp, items[i], at);
        if (v && (sv_is_number(items[i]) || alike_but_for_sign(v->type, elem)))
            v = op_cast(sp, v, elem, false, NULL, at);
        if (!v) return false;
        if (v->type != elem)
            return spec_fail(sp, at, "the combine function gives %s for an operand of %s",
                             type_text(sp->arena, v->type), type_text(sp->arena, elem));
        out[i] = v;
    }
    return true;
}

/* What a function computed on the way and did not need, such as a block made to ask for its
   type. */
static void drop_unused(Region *r)
{
    for (Op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        if (!ir_is_terminator(op) && ir_is_unused(op) && ir_can_erase(op)) ir_unlink(op);
    }
}

/* A combine computes on scalars, without memory and without effects but assertions. */
static bool is_of_combine(const Op *op)
{
    bool is_pure = ir_may_combine(op);
    for (int i = 0; i < op->nresults; i++) is_pure &= !type_is_block(op_result(op, i)->type);
    return is_pure;
}

/* To who wrote a function of fewer or more values. */
static void note_values(Spec *sp, const SpecFunc *fn, const Op *op)
{
    const int n = op->nargs;
    if (func_params(fn)->len != 2 * n)
        spec_note(sp, SPAN_NONE,
                  "of %d block%s it takes %d values, those that come before first, and gives %d", n,
                  n == 1 ? "" : "s", 2 * n, n);
}

static bool fill(Spec *sp, const Call *c, Op *op)
{
    Region *r = op->regions[0];
    SpecValue args[2 * COMBINE_MAX];
    Value *results[COMBINE_MAX];
    for (int i = 0; i < r->nargs; i++) args[i] = sv_value(r->args[i]);
    SpecValue result = spec_call(sp, c->args[2], r->nargs, args, c->at);
    if (sv_is_error(result) && c->args[2].kind == SV_FUNC) note_values(sp, c->args[2].fn, op);
    if (!results_of(sp, op, result, results, c->at)) return false;
    build_yield(&sp->b, op->nargs, results);
    drop_unused(r);
    if (ir_holds_for_all(r, is_of_combine)) return true;
    return spec_fail(sp, c->at,
                     "a combine function computes on scalars, without loads, stores or blocks");
}

/* Argument 2, a function of 2n scalars with n results. False after an error; the op is then removed. */
static bool combine_by_function(Spec *sp, const Call *c, Op *op)
{
    const SpecValue fn = c->args[2];
    bool ok = fn.kind == SV_FUNC || fn.kind == SV_BUILTIN;
    Builder outside = sp->b;
    if (!ok && !sv_is_error(fn))
        spec_error(sp, c->at, "a combine function is expected, found %s", spec_describe(sp, fn));
    sp->b = build_in(&sp->b, op->regions[0]);
    ok = ok && fill(sp, c, op);
    sp->b = outside;
    if (!ok) ir_unlink(op);
    return ok;
}

/* int32 positions along the axis, in x's shape. */
static Value *combine_index_along(Spec *sp, const Value *x, int axis)
{
    const Type *t = x->type;
    Value *v = build_arange(&sp->b, 0, t->shape[axis]);
    for (int i = 0; i < t->rank; i++)
        if (i != axis) v = build_expand_dims(&sp->b, v, i);
    return build_broadcast(&sp->b, v, t->rank, t->shape);
}

/* What a sum of that type is computed in. */
static DType combine_sum_dtype(DType dt)
{
    const DTypeInfo *info = dtype_info(dt);
    if (info->kind == DK_FLOAT || info->bits >= 32) return dt;
    return info->kind == DK_INT ? DT_I32 : DT_U32; /* int1 counts as unsigned */
}

/* ---- operands and results ---- */

/* Argument 0 as blocks of one shape: one, or a tuple of them. Their count, or -1 after an error. */
static int combine_operands(Spec *sp, const Call *c, Value **xs)
{
    SpecValue *items;
    int n = sv_items(&c->args[0], &items);
    if (n < 1 || n > COMBINE_MAX)
        return spec_count(sp, c->spans[0], "%s has %d blocks, 1 to %d expected", arg_what(sp, c, 0),
                          n, COMBINE_MAX);
    for (int k = 0; k < n; k++) {
        xs[k] = items[k].kind == SV_VALUE && type_is_block(items[k].v->type) ? items[k].v : NULL;
        if (!xs[k]) {
            if (!sv_is_error(items[k]))
                spec_error(sp, c->spans[0], "%s must be blocks, found %s", arg_what(sp, c, 0),
                           spec_describe(sp, items[k]));
            return -1;
        }
        if (!type_same_shape(xs[0]->type, xs[k]->type))
            return spec_count(sp, c->spans[0],
                              "the blocks of %s must have one shape, found %s and %s",
                              arg_operation(sp, c), type_text(sp->arena, xs[0]->type),
                              type_text(sp->arena, xs[k]->type));
    }
    return n;
}

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

/* Triton up to 3.6 broadcasts what is left of x without that axis: along any but the first one
   keep_dims=True is what makes it right. */
static bool is_for_older(SpecValue x, SpecValue dim, SpecValue keep_dims)
{
    const bool is_block = x.kind == SV_VALUE && type_is_block(x.v->type);
    return sv_is_number(keep_dims) && constant_is_true(keep_dims) && is_block &&
           dim.kind == SV_INT && dim.i != 0 && dim.i != -x.v->type->rank;
}

SpecValue builtin_softmax(Spec *sp, const Call *c)
{
    const SpecValue dim = arg_is_given(c, 1) ? weaken(c->args[1]) : sv_int(0);
    SpecValue args[] = {c->args[0], dim, c->args[3]};
    if (arg_is_given(c, 2) && !is_for_older(c->args[0], dim, weaken(c->args[2])))
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
    r.n = combine_operands(sp, c, r.xs);
    if (r.n < 0) return sv_error();
    start(sp, c, 3, &r);
    Op *op = build_reduce(&sp->b, r.axis, r.n, r.xs);
    if (!combine_by_function(sp, c, op)) return sv_error();
    return finish(sp, &r, sv_is_sequence(c->args[0]), op->results);
}

/* ---- scans ---- */

/* A running sum or product along an axis, in the type asked for or the one it has by itself. */
SpecValue builtin_running(Spec *sp, const Call *c)
{
    const OpKind kind = c->builtin->op;
    Value *x = c->args[0].v;
    DType dt = type_dtype(x->type);
    dt = dt == DT_BF16 ? DT_F32 : kind == OP_ADD ? combine_sum_dtype(dt) : dt;
    if (arg_is_given(c, 3)) dt = type_dtype(c->args[3].type);
    x = build_cast(&sp->b, x, dt, NULL);
    Op *op = build_scan(&sp->b, (int)c->args[1].i, c->args[2].b, 1, &x);
    combine_by_op(sp, op, kind);
    return sv_value(op_result(op, 0));
}

SpecValue builtin_scan(Spec *sp, const Call *c)
{
    Value *xs[COMBINE_MAX];
    int n = combine_operands(sp, c, xs);
    if (n < 0) return sv_error();
    Op *op = build_scan(&sp->b, (int)c->args[1].i, c->args[3].b, n, xs);
    if (!combine_by_function(sp, c, op)) return sv_error();
    return arg_results(sp, sv_is_sequence(c->args[0]), n, op->results);
}
