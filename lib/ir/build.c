/* The typed constructors: each computes its result's type, folds when it can, and appends one op.

   Folding here is only what needs no thought and keeps spec/ from making work: an elementwise op
   whose operands are all constants (a block constant holds one value, so blocks fold like scalars),
   and moving the elements of a constant. Everything else is transform/'s. */
#include "ir/build.h"

#include <string.h>

#include "base/unwind.h"
#include "ir/evaluate.h"

Builder build_at_end(Func *fn, Region *r)
{
    return (Builder){.fn = fn, .region = r};
}

Builder build_before(Func *fn, Op *op)
{
    return (Builder){.fn = fn, .region = op->region, .before = op};
}

static TypeTable *types_of(const Builder *b)
{
    return ir_of(b->fn)->types;
}

static LayoutTable *layouts_of(const Builder *b)
{
    return ir_of(b->fn)->layouts;
}

static const char *text_of(const Builder *b, const Type *ty)
{
    return type_text(ir_of(b->fn)->arena, ty);
}

static const Type *scalar_of(const Builder *b, DType dt)
{
    return type_scalar(types_of(b), dt);
}

static const char *name_of(OpKind kind)
{
    return tkc_op_info(kind)->name;
}

Op *build_op(Builder *b, OpKind kind, int nargs, Value *const *args, int nresults,
             const Type *const *types)
{
    Op *op = ir_op_new(b->fn, kind, nargs, args, nresults, types, b->loc);
    if (b->before) ir_insert_before(b->before, op);
    else ir_append(b->region, op);
    return op;
}

static Value *build_one(Builder *b, OpKind kind, int nargs, Value *const *args, const Type *type)
{
    return op_result(build_op(b, kind, nargs, args, 1, &type), 0);
}

/* ---- made from nothing ---- */

Value *build_const(Builder *b, const Type *ty, uint64_t bits)
{
    check(tkc_type_element(ty)->kind == TY_SCALAR, "no constants of %s", text_of(b, ty));
    Value *v = build_one(b, OP_CONST, 0, NULL, ty);
    ir_set_int(b->fn, v->def, ATTR_VALUE, (int64_t)bits);
    return v;
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
    Value *v = build_one(b, OP_ARANGE, 0, NULL,
                         type_block(types_of(b), scalar_of(b, DT_I32), 1, &extent, NULL));
    ir_set_int(b->fn, v->def, ATTR_START, start);
    return v;
}

static Value *build_grid(Builder *b, OpKind kind, int axis)
{
    check(axis >= 0 && axis <= 2, "a grid has no axis %d", axis);
    Value *v = build_one(b, kind, 0, NULL, scalar_of(b, DT_I32));
    ir_set_int(b->fn, v->def, ATTR_AXIS, axis);
    return v;
}

Value *build_program_id(Builder *b, int axis)
{
    return build_grid(b, OP_PROGRAM_ID, axis);
}

Value *build_num_programs(Builder *b, int axis)
{
    return build_grid(b, OP_NUM_PROGRAMS, axis);
}

/* ---- elementwise ---- */

enum { MAX_FOLDED = 3 };

/* The result as a constant, or NULL when an operand is not one or the op has no value known
   here. */
static Value *fold(Builder *b, OpKind kind, int n, Value *const *args, const char *rounding,
                   const Type *result)
{
    uint64_t bits[MAX_FOLDED], out;
    for (int i = 0; i < n; i++) {
        if (!ir_const_bits(args[i], &bits[i])) return NULL;
    }
    DType dt = type_dtype(args[n - 1]->type);
    if (!evaluate_op(kind, dt, type_dtype(result), rounding, n, bits, &out)) return NULL;
    return build_const(b, result, out);
}

static Value *build_elementwise(Builder *b, OpKind kind, int n, Value *const *args,
                                const Type *result)
{
    Value *folded = fold(b, kind, n, args, NULL, result);
    return folded ? folded : build_one(b, kind, n, args, result);
}

static void check_same(const Builder *b, OpKind kind, const Value *x, const Value *y)
{
    check(x->type == y->type, "operands of %s differ in type: %s and %s", name_of(kind),
          text_of(b, x->type), text_of(b, y->type));
}

Value *build_binary(Builder *b, OpKind kind, Value *x, Value *y)
{
    OpRule rule = tkc_op_info(kind)->rule;
    check(rule == RULE_SAME || rule == RULE_COMPARE, "%s is no binary op", name_of(kind));
    check_same(b, kind, x, y);
    const Type *ty = rule == RULE_SAME ? x->type : type_with_dtype(types_of(b), x->type, DT_I1);
    return build_elementwise(b, kind, 2, (Value *[]){x, y}, ty);
}

Value *build_and(Builder *b, Value *x, Value *y)
{
    return x && y ? build_binary(b, OP_AND, x, y) : x ? x : y;
}

Value *build_unary(Builder *b, OpKind kind, Value *x)
{
    check(tkc_op_info(kind)->rule == RULE_SAME, "%s is no unary op", name_of(kind));
    return build_elementwise(b, kind, 1, &x, x->type);
}

Value *build_fma(Builder *b, Value *x, Value *y, Value *z)
{
    check_same(b, OP_FMA, x, y);
    check_same(b, OP_FMA, y, z);
    return build_elementwise(b, OP_FMA, 3, (Value *[]){x, y, z}, x->type);
}

Value *build_select(Builder *b, Value *cond, Value *x, Value *y)
{
    check_same(b, OP_SELECT, x, y);
    check(type_is_bool(cond->type), "select on %s", text_of(b, cond->type));
    check(!type_is_block(cond->type) || type_same_shape(cond->type, x->type), "select on %s of %s",
          text_of(b, cond->type), text_of(b, x->type));
    uint64_t bits;
    if (ir_const_bits(cond, &bits)) return bits ? x : y;
    return build_one(b, OP_SELECT, 3, (Value *[]){cond, x, y}, x->type);
}

Value *build_cast(Builder *b, Value *x, DType to, const char *rounding)
{
    const Type *ty = type_with_dtype(types_of(b), x->type, to);
    if (ty == x->type) return x;
    check(!type_is_pointer(x->type), "a cast of %s", text_of(b, x->type));
    Value *v = fold(b, OP_CAST, 1, &x, rounding, ty);
    if (v) return v;
    v = build_one(b, OP_CAST, 1, &x, ty);
    if (rounding && strcmp(rounding, "rtne") != 0)
        ir_set_str(b->fn, v->def, ATTR_ROUNDING, rounding);
    return v;
}

Value *build_bitcast(Builder *b, Value *x, const Type *elem)
{
    const Type *ty = type_with_elem(types_of(b), x->type, elem);
    if (ty == x->type) return x;
    check(type_bits(ty) == type_bits(x->type), "a bitcast of %s to %s", text_of(b, x->type),
          text_of(b, ty));
    if (type_is_pointer(ty)) return build_one(b, OP_BITCAST, 1, &x, ty);
    return build_elementwise(b, OP_BITCAST, 1, &x, ty);
}

Value *build_addptr(Builder *b, Value *ptr, Value *offset)
{
    check(type_is_pointer(ptr->type) && type_is_int(offset->type) &&
              type_same_shape(ptr->type, offset->type),
          "addptr of %s and %s", text_of(b, ptr->type), text_of(b, offset->type));
    return build_one(b, OP_ADDPTR, 2, (Value *[]){ptr, offset}, ptr->type);
}

Value *build_hint(Builder *b, Value *x, AttrKey key, int n, const int64_t *values)
{
    uint64_t bits;
    if (ir_const_bits(x, &bits)) return x;
    Value *v = build_one(b, OP_HINT, 1, &x, x->type);
    ir_set_ints(b->fn, v->def, key, n, values);
    return v;
}

Value *build_copy(Builder *b, Value *x)
{
    uint64_t bits;
    if (ir_const_bits(x, &bits)) return build_const(b, x->type, bits);
    return build_one(b, OP_HINT, 1, &x, x->type);
}

/* ---- shape ---- */

/* An op that only moves or duplicates elements, of which a constant has but one. */
static Value *build_moved(Builder *b, OpKind kind, Value *x, const Type *ty)
{
    uint64_t bits;
    if (ir_const_bits(x, &bits)) return build_const(b, ty, bits);
    return build_one(b, kind, 1, &x, ty);
}

static bool is_constant(const Value *v)
{
    return v->def && v->def->kind == OP_CONST;
}

/* A block with the elements of ty. The layout is that of ty after a change that keeps the map, or
   NULL. */
static const Type *reshaped(const Builder *b, const Type *ty, int rank, const int32_t *shape,
                            const Layout *layout)
{
    return type_block(types_of(b), tkc_type_element(ty), rank, shape, layout);
}

Value *build_splat(Builder *b, Value *scalar, int rank, const int32_t *shape)
{
    check(!type_is_block(scalar->type), "a splat of %s", text_of(b, scalar->type));
    if (rank == 0) return scalar;
    return build_moved(b, OP_SPLAT, scalar, reshaped(b, scalar->type, rank, shape, NULL));
}

Value *build_expand_dims(Builder *b, Value *x, int axis)
{
    const Type *ty = x->type;
    check(axis >= 0 && axis <= ty->rank && ty->rank < TKC_MAX_RANK, "expand_dims of %s at %d",
          text_of(b, ty), axis);
    int32_t shape[TKC_MAX_RANK];
    for (int i = 0; i <= ty->rank; i++) shape[i] = i == axis ? 1 : ty->shape[i - (i > axis)];
    if (!type_is_block(ty)) return build_splat(b, x, 1, shape);
    const Layout *layout = ty->layout ? layout_expand(layouts_of(b), ty->layout, axis) : NULL;
    Value *v = build_moved(b, OP_EXPAND_DIMS, x, reshaped(b, ty, ty->rank + 1, shape, layout));
    if (!is_constant(v)) ir_set_int(b->fn, v->def, ATTR_AXIS, axis);
    return v;
}

Value *build_broadcast(Builder *b, Value *x, int rank, const int32_t *shape)
{
    const Type *ty = reshaped(b, x->type, rank, shape, NULL);
    check(rank == x->type->rank, "a broadcast of %s to %s", text_of(b, x->type), text_of(b, ty));
    if (type_same_shape(ty, x->type)) return x;
    for (int i = 0; i < rank; i++) {
        check(x->type->shape[i] == shape[i] || x->type->shape[i] == 1, "a broadcast of %s to %s",
              text_of(b, x->type), text_of(b, ty));
    }
    return build_moved(b, OP_BROADCAST, x, ty);
}

Value *build_trans(Builder *b, Value *x, const int *perm)
{
    const Type *ty = x->type;
    int32_t shape[TKC_MAX_RANK];
    int64_t order[TKC_MAX_RANK];
    bool changes = false;
    for (int i = 0; i < ty->rank; i++) {
        check(perm[i] >= 0 && perm[i] < ty->rank, "a transpose of %s by dim %d", text_of(b, ty),
              perm[i]);
        shape[i] = ty->shape[perm[i]];
        order[i] = perm[i];
        changes |= perm[i] != i;
    }
    if (!changes) return x;
    const Layout *layout =
        ty->layout ? layout_trans(layouts_of(b), ty->layout, ty->rank, perm) : NULL;
    Value *v = build_moved(b, OP_TRANS, x, reshaped(b, ty, ty->rank, shape, layout));
    if (!is_constant(v)) ir_set_ints(b->fn, v->def, ATTR_PERM, ty->rank, order);
    return v;
}

/* Reshapes keep the vectors of a layout where every padded extent is exact. */
static const Layout *reshaped_layout(const Builder *b, const Type *from, int rank,
                                     const int32_t *shape)
{
    if (!from->layout) return NULL;
    uint8_t dim_log2[TKC_MAX_RANK];
    int total = layout_pad(rank, shape, dim_log2);
    check(total == from->layout->total_log2, "a reshape of %s with a layout moves elements",
          text_of(b, from));
    return layout_reshape(layouts_of(b), from->layout, rank, dim_log2);
}

Value *build_reshape(Builder *b, Value *x, int rank, const int32_t *shape, bool can_reorder)
{
    const Type *from = x->type, *to;
    if (rank == 0) to = tkc_type_element(from);
    else to = reshaped(b, from, rank, shape, reshaped_layout(b, from, rank, shape));
    if (to == from) return x;
    check(tkc_type_count(to) == tkc_type_count(from), "a reshape of %s to %s", text_of(b, from),
          text_of(b, to));
    if (!type_is_block(from)) return build_splat(b, x, rank, shape);
    Value *v = build_moved(b, OP_RESHAPE, x, to);
    if (can_reorder && !is_constant(v)) ir_set_int(b->fn, v->def, ATTR_REORDER, 1);
    return v;
}

Value *build_join(Builder *b, Value *x, Value *y)
{
    check_same(b, OP_JOIN, x, y);
    const Type *ty = x->type;
    check(ty->rank < TKC_MAX_RANK, "a join of %s", text_of(b, ty));
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, ty->shape, sizeof shape);
    shape[ty->rank] = 2;
    const Layout *layout = ty->layout ? layout_join(layouts_of(b), ty->layout) : NULL;
    return build_one(b, OP_JOIN, 2, (Value *[]){x, y},
                     reshaped(b, ty, ty->rank + 1, shape, layout));
}

void build_split(Builder *b, Value *x, Value **lo, Value **hi)
{
    const Type *ty = x->type;
    check(type_is_block(ty) && ty->shape[ty->rank - 1] == 2, "a split of %s", text_of(b, ty));
    const Type *half = tkc_type_element(ty);
    if (ty->rank > 1) {
        const Layout *layout = ty->layout ? layout_split(layouts_of(b), ty->layout) : NULL;
        half = reshaped(b, ty, ty->rank - 1, ty->shape, layout);
    }
    Op *op = build_op(b, OP_SPLIT, 1, &x, 2, (const Type *[]){half, half});
    *lo = op_result(op, 0);
    *hi = op_result(op, 1);
}

Value *build_convert(Builder *b, Value *x, const Layout *to)
{
    const Type *ty = type_with_layout(types_of(b), x->type, to);
    return ty == x->type ? x : build_one(b, OP_CONVERT, 1, &x, ty);
}

/* ---- memory ---- */

/* What the pointers point at, in their shape. */
static const Type *pointee_of(const Builder *b, const Type *ptr)
{
    check(type_is_pointer(ptr), "an access through %s", text_of(b, ptr));
    return type_with_elem(types_of(b), ptr, tkc_type_element(ptr)->elem);
}

static void check_mask(const Builder *b, const Value *mask, const Type *access)
{
    check(!mask || (type_is_bool(mask->type) && type_same_shape(mask->type, access)),
          "a mask of %s for %s", text_of(b, mask->type), text_of(b, access));
}

static void check_type(const Builder *b, OpKind kind, const Value *v, const Type *expected)
{
    check(v->type == expected, "%s takes %s where %s is given", name_of(kind), text_of(b, expected),
          text_of(b, v->type));
}

Value *build_load(Builder *b, Value *ptr, Value *mask, Value *other)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_mask(b, mask, ty);
    check(mask || !other, "a load with `other` and no mask");
    if (other) check_type(b, OP_LOAD, other, ty);
    return build_one(b, OP_LOAD, 1 + (mask != NULL) + (other != NULL),
                     (Value *[]){ptr, mask, other}, ty);
}

Op *build_store(Builder *b, Value *ptr, Value *value, Value *mask)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_mask(b, mask, ty);
    check_type(b, OP_STORE, value, ty);
    return build_op(b, OP_STORE, 2 + (mask != NULL), (Value *[]){ptr, value, mask}, 0, NULL);
}

static void set_order(Builder *b, Op *op, const char *sem, const char *scope)
{
    ir_set_str(b->fn, op, ATTR_SEM, sem);
    ir_set_str(b->fn, op, ATTR_SCOPE, scope);
}

static Value *with_order(Builder *b, Value *v, const char *sem, const char *scope)
{
    set_order(b, v->def, sem, scope);
    return v;
}

Value *build_atomic_rmw(Builder *b, const char *rmw, Value *ptr, Value *value, Value *mask,
                        const char *sem, const char *scope)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_mask(b, mask, ty);
    check_type(b, OP_ATOMIC_RMW, value, ty);
    Value *v = build_one(b, OP_ATOMIC_RMW, 2 + (mask != NULL), (Value *[]){ptr, value, mask}, ty);
    ir_set_str(b->fn, v->def, ATTR_RMW, rmw);
    return with_order(b, v, sem, scope);
}

Value *build_atomic_cas(Builder *b, Value *ptr, Value *expected, Value *value, const char *sem,
                        const char *scope)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_type(b, OP_ATOMIC_CAS, expected, ty);
    check_type(b, OP_ATOMIC_CAS, value, ty);
    Value *v = build_one(b, OP_ATOMIC_CAS, 3, (Value *[]){ptr, expected, value}, ty);
    return with_order(b, v, sem, scope);
}

Value *build_atomic_load(Builder *b, Value *ptr, Value *mask, const char *sem, const char *scope)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_mask(b, mask, ty);
    Value *v = build_one(b, OP_ATOMIC_LOAD, 1 + (mask != NULL), (Value *[]){ptr, mask}, ty);
    return with_order(b, v, sem, scope);
}

Op *build_atomic_store(Builder *b, Value *ptr, Value *value, Value *mask, const char *sem,
                       const char *scope)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_mask(b, mask, ty);
    check_type(b, OP_ATOMIC_STORE, value, ty);
    Op *op =
        build_op(b, OP_ATOMIC_STORE, 2 + (mask != NULL), (Value *[]){ptr, value, mask}, 0, NULL);
    set_order(b, op, sem, scope);
    return op;
}

Value *build_atomic_poll(Builder *b, Value *ptr, Value *expected, Value *timeout, const char *sem,
                         const char *scope)
{
    const Type *ty = pointee_of(b, ptr->type);
    check_type(b, OP_ATOMIC_POLL, expected, ty);
    Value *v = build_one(b, OP_ATOMIC_POLL, 2 + (timeout != NULL),
                         (Value *[]){ptr, expected, timeout},
                         type_with_dtype(ir_of(b->fn)->types, ty, DT_I1));
    return with_order(b, v, sem, scope);
}

Value *build_alloc(Builder *b, const Type *buffer)
{
    check(type_is_smem(buffer), "an alloc of %s", text_of(b, buffer));
    return build_one(b, OP_ALLOC, 0, NULL, buffer);
}

static void set_piece(Builder *b, Op *op, uint32_t piece)
{
    if (piece) ir_set_int(b->fn, op, ATTR_PIECE, piece);
}

Op *build_sstore(Builder *b, Value *buffer, Value *x, uint32_t piece)
{
    Op *op = build_op(b, OP_SSTORE, 2, (Value *[]){buffer, x}, 0, NULL);
    set_piece(b, op, piece);
    return op;
}

Value *build_sload(Builder *b, Value *buffer, const Type *content, Value *so_far, uint32_t piece)
{
    Value *v = build_one(b, OP_SLOAD, 1 + (so_far != NULL), (Value *[]){buffer, so_far}, content);
    set_piece(b, v->def, piece);
    return v;
}

Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, const char *precision)
{
    Value *v = build_one(b, OP_DOT, 3, (Value *[]){x, y, acc}, acc->type);
    if (precision) ir_set_str(b->fn, v->def, ATTR_PRECISION, precision);
    return v;
}

Value *build_gather(Builder *b, Value *src, Value *index, int axis)
{
    const Type *ty = type_like(types_of(b), index->type, src->type);
    Value *v = build_one(b, OP_GATHER, 2, (Value *[]){src, index}, ty);
    ir_set_int(b->fn, v->def, ATTR_AXIS, axis);
    return v;
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
    check_same(b, OP_FOR, lower, upper);
    check_same(b, OP_FOR, lower, step);
    check(type_is_scalar(lower->type) && type_is_int(lower->type), "a loop over %s",
          text_of(b, lower->type));
    Value **args = arena_array(ir_of(b->fn)->arena, Value *, n + 3);
    args[0] = lower;
    args[1] = upper;
    args[2] = step;
    for (int i = 0; i < n; i++) args[3 + i] = inits[i];
    Op *op = build_op(b, OP_FOR, n + 3, args, n, types_of_values(b, n, inits));
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
    check(type_is_scalar(cond->type) && type_is_bool(cond->type), "a branch on %s",
          text_of(b, cond->type));
    return build_op(b, OP_IF, 1, &cond, n, results);
}

/* Region arguments of a combine: a scalar for each operand, once for the left and once for the
   right side. */
static void add_combine_args(Region *r, int n, Value *const *xs)
{
    for (int i = 0; i < 2 * n; i++) ir_add_region_arg(r, tkc_type_element(xs[i % n]->type), NULL);
}

static void check_axis(const Builder *b, OpKind kind, int axis, int n, Value *const *xs)
{
    for (int i = 0; i < n; i++) {
        const Type *ty = xs[i]->type;
        check(type_is_block(ty) && axis >= 0 && axis < ty->rank && type_same_shape(ty, xs[0]->type),
              "%s of %s along %d", name_of(kind), text_of(b, ty), axis);
    }
}

static const Type *without_axis(Builder *b, const Type *ty, int axis)
{
    if (ty->rank == 1) return tkc_type_element(ty);
    int32_t shape[TKC_MAX_RANK];
    for (int i = 0; i + 1 < ty->rank; i++) shape[i] = ty->shape[i + (i >= axis)];
    const Layout *layout = ty->layout ? layout_slice(layouts_of(b), ty->layout, axis) : NULL;
    return reshaped(b, ty, ty->rank - 1, shape, layout);
}

Op *build_reduce(Builder *b, int axis, int n, Value *const *xs)
{
    check_axis(b, OP_REDUCE, axis, n, xs);
    const Type **types = types_of_values(b, n, xs);
    for (int i = 0; i < n; i++) types[i] = without_axis(b, types[i], axis);
    Op *op = build_op(b, OP_REDUCE, n, xs, n, types);
    ir_set_int(b->fn, op, ATTR_AXIS, axis);
    add_combine_args(op->regions[0], n, xs);
    return op;
}

Op *build_scan(Builder *b, int axis, bool reverse, int n, Value *const *xs)
{
    check_axis(b, OP_SCAN, axis, n, xs);
    Op *op = build_op(b, OP_SCAN, n, xs, n, types_of_values(b, n, xs));
    ir_set_int(b->fn, op, ATTR_AXIS, axis);
    if (reverse) ir_set_int(b->fn, op, ATTR_REVERSE, 1);
    add_combine_args(op->regions[0], n, xs);
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

Op *build_return(Builder *b)
{
    return build_op(b, OP_RETURN, 0, NULL, 0, NULL);
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
    Op *op = build_op(b, OP_ASSERT, mask ? 2 : 1, (Value *[]){cond, mask}, 0, NULL);
    ir_set_str(b->fn, op, ATTR_MESSAGE, message);
    return op;
}

Op *build_assume(Builder *b, Value *cond)
{
    return build_op(b, OP_ASSUME, 1, &cond, 0, NULL);
}

Op *build_barrier(Builder *b)
{
    return build_op(b, OP_BARRIER, 0, NULL, 0, NULL);
}
