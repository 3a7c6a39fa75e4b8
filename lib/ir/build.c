/* The typed constructors: each computes its result's type, folds when it can, and appends one op.

   Folding here is only what needs no thought and keeps spec/ from making work: an elementwise op
   whose operands are all constants (a block constant holds one value, so blocks fold like scalars),
   and moving the elements of a constant. Everything else is transform/'s. */
#include "ir/build.h"

#include <string.h>

#include "base/unwind.h"
#include "ir/evaluate.h"
#include "ir/rule.h"

Builder build_before_at(Op *op, const Loc *loc)
{
    return (Builder){.fn = op->region->func, .region = op->region, .before = op, .loc = loc};
}

Builder build_before(Op *op)
{
    return build_before_at(op, op->loc);
}

static TypeTable *types_of(const Builder *b)
{
    return ir_of(b->fn)->types;
}

static const Type *scalar_of(const Builder *b, DType dt)
{
    return type_scalar(types_of(b), dt);
}

Op *build_put(Builder *b, Op *op)
{
    if (b->before) ir_insert_before(b->before, op);
    else ir_append(b->region, op);
    return op;
}

Op *build_op(Builder *b, OpKind kind, int nargs, Value *const *args, int nresults,
             const Type *const *types)
{
    return build_put(b, ir_op_new(b->fn, kind, nargs, args, nresults, types, b->loc));
}

/* An op without results, and without the operands behind the last that is given. */
static Op *begin(Builder *b, OpKind kind, int nargs, Value *const *args)
{
    while (nargs && !args[nargs - 1]) nargs--;
    return build_op(b, kind, nargs, args, 0, NULL);
}

/* The same with an attribute. */
static Op *begin_with(Builder *b, OpKind kind, int nargs, Value *const *args, AttrKey key,
                      int64_t value)
{
    Op *op = begin(b, kind, nargs, args);
    ir_set_int(b->fn, op, key, value);
    return op;
}

Op *build_checked(Builder *b, Op *op)
{
    const char *problem = rule_problem(ir_of(b->fn), ir_of(b->fn)->arena, op);
    check(!problem, "%s: %s", tkc_op_info(op->kind)->name, problem);
    return op;
}

static Op *with_results(Builder *b, Op *op, int n)
{
    build_checked(b, op);
    for (int i = 0; i < n; i++) ir_add_result(op, rule_result(ir_of(b->fn), op, i));
    return op;
}

enum { MAX_FOLDED = 3 };

Value *build_folded(Builder *b, const Op *op, const Type *result)
{
    uint64_t bits[MAX_FOLDED], out;
    const int n = op->nargs;
    const bool moves = ir_has(op, OT_SHAPE) && n == 1;
    if (n < 1 || n > MAX_FOLDED || !(moves || ir_has(op, OT_EW))) return NULL;
    for (int i = 0; i < n; i++)
        if (!ir_const_bits(op_arg(op, i), &bits[i])) return NULL;
    if (moves) return build_const(b, result, bits[0]);
    return tkc_evaluate(op->kind, type_dtype(op_arg(op, n - 1)->type), type_dtype(result),
                       tkc_op_str(op, ATTR_ROUNDING, NULL), n, bits, &out)
               ? build_const(b, result, out)
               : NULL;
}

/* Gives the op its only result, of the type that follows from its operands unless it is given; or a
   constant in its place. */
static Value *finish(Builder *b, Op *op, const Type *given)
{
    if (given) ir_add_result(op, given);
    else with_results(b, op, 1);
    Value *v = op_result(op, 0), *folded = build_folded(b, op, v->type);
    if (given) build_checked(b, op);
    if (!folded) return v;
    ir_unlink(op);
    return folded;
}

static Value *build_one(Builder *b, OpKind kind, int nargs, Value *const *args, const Type *type)
{
    return finish(b, begin(b, kind, nargs, args), type);
}

/* ---- made from nothing ---- */

Value *build_const(Builder *b, const Type *ty, uint64_t bits)
{
    return finish(b, begin_with(b, OP_CONST, 0, NULL, ATTR_VALUE, (int64_t)bits), ty);
}

Value *build_int(Builder *b, DType dt, int64_t v)
{
    bool is_float = dtype_info(dt)->kind == DK_FLOAT;
    return build_const(b, scalar_of(b, dt),
                       is_float ? bits_from_double(dt, (double)v) : bits_from_int(dt, v));
}

Value *build_float(Builder *b, DType dt, double v)
{
    check(dtype_info(dt)->kind == DK_FLOAT, "%s is no float type", dtype_info(dt)->name);
    return build_const(b, scalar_of(b, dt), bits_of_written(dt, v));
}

Value *build_bool(Builder *b, bool v)
{
    return build_const(b, scalar_of(b, DT_I1), v);
}

Value *build_arange(Builder *b, int32_t start, int32_t end)
{
    int64_t n = (int64_t)end - start;
    check(n >= 1 && n <= INT32_MAX, "arange from %d to %d", (int)start, (int)end);
    int32_t extent = (int32_t)n;
    Op *op = begin_with(b, OP_ARANGE, 0, NULL, ATTR_START, start);
    return finish(b, op, type_block(types_of(b), scalar_of(b, DT_I32), 1, &extent, NULL));
}

Value *build_grid(Builder *b, OpKind kind, int axis)
{
    return finish(b, begin_with(b, kind, 0, NULL, ATTR_AXIS, axis), NULL);
}

/* ---- elementwise ---- */

Value *build_binary(Builder *b, OpKind kind, Value *x, Value *y)
{
    return build_one(b, kind, 2, (Value *[]){x, y}, NULL);
}

Value *build_and(Builder *b, Value *x, Value *y)
{
    return x && y ? build_binary(b, OP_AND, x, y) : x ? x : y;
}

Value *build_unary(Builder *b, OpKind kind, Value *x)
{
    return build_one(b, kind, 1, &x, NULL);
}

Value *build_fma(Builder *b, Value *x, Value *y, Value *z)
{
    return build_one(b, OP_FMA, 3, (Value *[]){x, y, z}, NULL);
}

Value *build_select(Builder *b, Value *cond, Value *x, Value *y)
{
    uint64_t bits;
    if (ir_const_bits(cond, &bits)) return bits ? x : y;
    return build_one(b, OP_SELECT, 3, (Value *[]){cond, x, y}, NULL);
}

Value *build_cast(Builder *b, Value *x, DType to, const char *rounding)
{
    const Type *ty = type_with_dtype(types_of(b), x->type, to);
    if (ty == x->type) return x;
    Op *op = begin(b, OP_CAST, 1, &x);
    if (rounding && strcmp(rounding, "rtne") != 0) ir_set_str(b->fn, op, ATTR_ROUNDING, rounding);
    return finish(b, op, ty);
}

Value *build_bitcast(Builder *b, Value *x, const Type *elem)
{
    const Type *ty = type_with_elem(types_of(b), x->type, elem);
    return ty == x->type ? x : build_one(b, OP_BITCAST, 1, &x, ty);
}

Value *build_hint(Builder *b, Value *x, AttrKey key, int n, const int64_t *values)
{
    uint64_t bits;
    if (ir_const_bits(x, &bits)) return x;
    Op *op = begin(b, OP_HINT, 1, &x);
    ir_set_ints(b->fn, op, key, n, values);
    return finish(b, op, NULL);
}

/* ---- shape ---- */

/* A block with the elements of ty. */
static const Type *reshaped(const Builder *b, const Type *ty, int rank, const int32_t *shape,
                            const Layout *layout)
{
    return type_block(types_of(b), tkc_type_element(ty), rank, shape, layout);
}

Value *build_splat(Builder *b, Value *scalar, int rank, const int32_t *shape)
{
    if (rank == 0) return scalar;
    return build_one(b, OP_SPLAT, 1, &scalar, reshaped(b, scalar->type, rank, shape, NULL));
}

Value *build_expand_dims(Builder *b, Value *x, int axis)
{
    if (!type_is_block(x->type)) return build_splat(b, x, 1, (int32_t[]){1});
    return finish(b, begin_with(b, OP_EXPAND_DIMS, 1, &x, ATTR_AXIS, axis), NULL);
}

Value *build_broadcast(Builder *b, Value *x, int rank, const int32_t *shape)
{
    const Type *ty = reshaped(b, x->type, rank, shape, NULL);
    return type_same_shape(ty, x->type) ? x : build_one(b, OP_BROADCAST, 1, &x, ty);
}

Value *build_trans(Builder *b, Value *x, const int *perm)
{
    const int rank = x->type->rank;
    int64_t order[TKC_MAX_RANK];
    bool changes = false;
    for (int i = 0; i < rank; i++) {
        order[i] = perm[i];
        changes |= perm[i] != i;
    }
    if (!changes) return x;
    Op *op = begin(b, OP_TRANS, 1, &x);
    ir_set_ints(b->fn, op, ATTR_PERM, rank, order);
    return finish(b, op, NULL);
}

/* Reshapes keep the vectors of a layout where every padded extent is exact. */
static const Layout *reshaped_layout(const Builder *b, const Type *from, int rank,
                                     const int32_t *shape)
{
    if (!from->layout) return NULL;
    uint8_t dim_log2[TKC_MAX_RANK];
    int total = layout_pad(rank, shape, dim_log2);
    check(total == from->layout->total_log2, "a reshape of %s with a layout moves elements",
          type_text(ir_of(b->fn)->arena, from));
    return layout_reshape(ir_of(b->fn)->layouts, from->layout, rank, dim_log2);
}

Value *build_reshape(Builder *b, Value *x, int rank, const int32_t *shape, bool can_reorder)
{
    const Type *from = x->type, *to;
    if (rank == 0) to = tkc_type_element(from);
    else to = reshaped(b, from, rank, shape, reshaped_layout(b, from, rank, shape));
    if (to == from) return x;
    if (!type_is_block(from)) return build_splat(b, x, rank, shape);
    Op *op = begin(b, OP_RESHAPE, 1, &x);
    if (can_reorder) ir_set_int(b->fn, op, ATTR_REORDER, 1);
    return finish(b, op, to);
}

void build_split(Builder *b, Value *x, Value **lo, Value **hi)
{
    Op *op = with_results(b, begin(b, OP_SPLIT, 1, &x), 2);
    *lo = op_result(op, 0);
    *hi = op_result(op, 1);
}

Value *build_convert(Builder *b, Value *x, const Layout *to)
{
    const Type *ty = type_with_layout(types_of(b), x->type, to);
    return ty == x->type ? x : build_one(b, OP_CONVERT, 1, &x, ty);
}

/* ---- memory ---- */

Value *build_load(Builder *b, Value *ptr, Value *mask, Value *other)
{
    check(mask || !other, "a load with `other` and no mask");
    return build_one(b, OP_LOAD, 3, (Value *[]){ptr, mask, other}, NULL);
}

Op *build_store(Builder *b, Value *ptr, Value *value, Value *mask)
{
    return build_checked(b, begin(b, OP_STORE, 3, (Value *[]){ptr, value, mask}));
}

Value *build_atomic(Builder *b, OpKind kind, const char *rmw, const AtomicArgs *a)
{
    Op *op = begin(b, kind, 3, a->args);
    if (rmw) ir_set_str(b->fn, op, ATTR_RMW, rmw);
    ir_set_str(b->fn, op, ATTR_SEM, a->sem);
    ir_set_str(b->fn, op, ATTR_SCOPE, a->scope);
    if (kind != OP_ATOMIC_STORE) return finish(b, op, NULL);
    build_checked(b, op);
    return NULL;
}

Value *build_alloc(Builder *b, const Type *buffer)
{
    return build_one(b, OP_ALLOC, 0, NULL, buffer);
}

Value *build_buffer(Builder *b, const Type *block, const Layout *layout, int copies)
{
    Value *v = build_alloc(b, type_smem(types_of(b), tkc_type_element(block), block->rank,
                                        block->shape, layout));
    if (copies) ir_set_int(b->fn, v->def, ATTR_COPIES, copies);
    return v;
}

Op *build_sstore(Builder *b, Value *buffer, Value *x, uint32_t piece)
{
    Op *op = begin(b, OP_SSTORE, 2, (Value *[]){buffer, x});
    if (piece) ir_set_int(b->fn, op, ATTR_PIECE, piece);
    return build_checked(b, op);
}

Value *build_sload(Builder *b, Value *buffer, const Type *content, Value *so_far, uint32_t piece)
{
    Op *op = begin(b, OP_SLOAD, 2, (Value *[]){buffer, so_far});
    if (piece) ir_set_int(b->fn, op, ATTR_PIECE, piece);
    return finish(b, op, content);
}

Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, const char *precision)
{
    Op *op = begin(b, OP_DOT, 3, (Value *[]){x, y, acc});
    if (precision) ir_set_str(b->fn, op, ATTR_PRECISION, precision);
    return finish(b, op, NULL);
}

Value *build_sort(Builder *b, Value *x, bool descending, bool bitonic, int32_t keep)
{
    Op *op = begin(b, OP_SORT, 1, &x);
    if (descending) ir_set_int(b->fn, op, ATTR_DESCENDING, 1);
    if (bitonic) ir_set_int(b->fn, op, ATTR_BITONIC, 1);
    if (keep) ir_set_int(b->fn, op, ATTR_KEEP, keep);
    return finish(b, op, NULL);
}

Value *build_gather(Builder *b, Value *src, Value *index, int axis)
{
    return finish(b, begin_with(b, OP_GATHER, 2, (Value *[]){src, index}, ATTR_AXIS, axis), NULL);
}

/* ---- ops with regions ---- */

static const Type **types_of_values(Builder *b, int n, Value *const *vals)
{
    const Type **types = arena_array(ir_of(b->fn)->arena, const Type *, n);
    for (int i = 0; i < n; i++) types[i] = vals[i]->type;
    return types;
}

static void add_region_args(Region *r, int n, Value *const *like)
{
    for (int i = 0; i < n; i++) ir_add_region_arg(r, like[i]->type, NULL);
}

Op *build_for(Builder *b, Value *lower, Value *upper, Value *step, int n, Value *const *inits)
{
    Value **args = arena_array(ir_of(b->fn)->arena, Value *, n + 3);
    args[0] = lower;
    args[1] = upper;
    args[2] = step;
    for (int i = 0; i < n; i++) args[3 + i] = inits[i];
    Op *op = build_checked(b, build_op(b, OP_FOR, n + 3, args, n, types_of_values(b, n, inits)));
    ir_add_region_arg(op->regions[0], lower->type, NULL);
    add_region_args(op->regions[0], n, inits);
    return op;
}

Op *build_while(Builder *b, int n, Value *const *inits)
{
    Op *op = build_op(b, OP_WHILE, n, inits, n, types_of_values(b, n, inits));
    add_region_args(op->regions[0], n, inits);
    add_region_args(op->regions[1], n, inits);
    return op;
}

Op *build_if(Builder *b, Value *cond, int n, const Type *const *results)
{
    return build_checked(b, build_op(b, OP_IF, 1, &cond, n, results));
}

/* Its region has a scalar for each operand, once for the left and once for the right side. */
static Op *combine(Builder *b, OpKind kind, int axis, int n, Value *const *xs)
{
    Op *op = begin_with(b, kind, n, xs, ATTR_AXIS, axis);
    for (int i = 0; i < 2 * n; i++)
        ir_add_region_arg(op->regions[0], tkc_type_element(xs[i % n]->type), NULL);
    return with_results(b, op, n);
}

Op *build_reduce(Builder *b, int axis, int n, Value *const *xs)
{
    return combine(b, OP_REDUCE, axis, n, xs);
}

Op *build_scan(Builder *b, int axis, bool reverse, int n, Value *const *xs)
{
    Op *op = combine(b, OP_SCAN, axis, n, xs);
    if (reverse) ir_set_int(b->fn, op, ATTR_REVERSE, 1);
    return op;
}

Op *build_yield(Builder *b, int n, Value *const *vals)
{
    return build_op(b, OP_YIELD, n, vals, 0, NULL);
}

Op *build_condition(Builder *b, Value *cond, int n, Value *const *vals)
{
    Value **args = arena_array(ir_of(b->fn)->arena, Value *, n + 1);
    args[0] = cond;
    for (int i = 0; i < n; i++) args[1 + i] = vals[i];
    return build_op(b, OP_CONDITION, n + 1, args, 0, NULL);
}

/* ---- effects for people ---- */

Op *build_print(Builder *b, const char *prefix, bool hex, int n, Value *const *vals)
{
    Op *op = build_op(b, OP_PRINT, n, vals, 0, NULL);
    ir_set_str(b->fn, op, ATTR_FORMAT, prefix);
    if (hex) ir_set_int(b->fn, op, ATTR_HEX, 1);
    return op;
}

Op *build_assert(Builder *b, Value *cond, Value *mask, const char *message)
{
    Op *op = begin(b, OP_ASSERT, 2, (Value *[]){cond, mask});
    ir_set_str(b->fn, op, ATTR_MESSAGE, message);
    return build_checked(b, op);
}

Op *build_assume(Builder *b, Value *cond)
{
    return build_checked(b, begin(b, OP_ASSUME, 1, &cond));
}

Value *build_ring_load(Builder *b, Value *ring, Value *which, const Type *content)
{
    return finish(b, begin(b, OP_RING_LOAD, 2, (Value *[]){ring, which}), content);
}

Op *build_wait(Builder *b, int pending)
{
    return build_checked(b, begin_with(b, OP_WAIT, 0, NULL, ATTR_PENDING, pending));
}

Value *build_dot_wait(Builder *b, Value *sum, int pending)
{
    Op *op = build_op(b, OP_DOT_WAIT, 1, &sum, 1, &sum->type);
    ir_set_int(b->fn, op, ATTR_PENDING, pending);
    return op_result(build_checked(b, op), 0);
}
