/* Ops whose elements go where no linear map says: to an index that is known at run time, or to the
   place that counting gives them in a shape whose extents are no powers of two. Each goes through a
   buffer whose offsets are row-major indices, element by element, a whole block at a time where
   counting is the map after all.

     gather     the source is stored, before loops that do not change it, the result loaded at
                its indices
     cat        both operands are stored, one behind the other, the result is loaded
     reshape    stored and loaded by the number an element has when all are counted
     histogram  bins are set to zero, counted up by atomics, loaded */
#include "ir/shape_map.h"
#include "linear/shared.h"
#include "memory/expand.h"

static const Type *int32_like(const Builder *b, const Type *ty)
{
    return type_with_dtype(ir_of(b->fn)->types, ty, DT_I32);
}

Value *expand_row_major(Builder *b, const Type *elem, int rank, const int32_t *shape)
{
    Ir *ir = ir_of(b->fn);
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(rank, shape, dims);
    return build_alloc(
        b, type_smem(ir->types, elem, rank, shape, shared_row_major(ir->layouts, rank, dims)));
}

/* ---- offsets ---- */

Value *expand_coordinate(Builder *b, const Type *like, int dim)
{
    Ir *ir = ir_of(b->fn);
    const Type *all = int32_like(b, like);
    const int32_t extent = like->shape[dim];
    const Layout *along = like->layout;
    uint8_t dims[TKC_MAX_RANK] = {0};
    int32_t shape[TKC_MAX_RANK];
    dims[dim] = along->dim_log2[dim];
    if (like->rank > 1) {
        along = layout_project(ir->layouts, along, like->rank, dims);
        along = layout_reshape(ir->layouts, along, 1, &dims[dim]);
    }
    const Type *line = type_block(ir->types, type_scalar(ir->types, DT_I32), 1, &extent, along);
    Op *count = build_op(b, OP_ARANGE, 0, NULL, 1, &line);
    ir_set_int(b->fn, count, ATTR_START, 0);
    if (like->rank == 1) return op_result(count, 0);
    for (int d = 0; d < like->rank; d++) shape[d] = d == dim ? extent : 1;
    Value *v = build_reshape(b, op_result(count, 0), like->rank, shape, false);
    return op_result(build_op(b, OP_BROADCAST, 1, &v, 1, &all), 0);
}

static Value *times(Builder *b, Value *x, int64_t n)
{
    return n == 1 ? x : build_binary(b, OP_MUL, x, build_const(b, x->type, (uint64_t)n));
}

/* The sum of coordinates times strides, and `first`. The coordinate along `axis` is `at`; -1: none
   is given. */
static Value *offsets(Builder *b, const Type *like, const int64_t *stride, int64_t first, int axis,
                      Value *at)
{
    Value *sum = build_const(b, int32_like(b, like), (uint64_t)first);
    bool is_constant = true;
    for (int d = 0; d < like->rank; d++) {
        if (like->shape[d] == 1 && d != axis) continue;
        Value *term = times(b, d == axis ? at : expand_coordinate(b, like, d), stride[d]);
        sum = is_constant && !first ? term : build_binary(b, OP_ADD, sum, term);
        is_constant = false;
    }
    return sum;
}

static void padded_strides(const Layout *l, int64_t *stride)
{
    for (int d = 0; d < l->rank; d++) stride[d] = INT64_C(1) << layout_dim_shift(l, d);
}

Value *expand_load_moved(Builder *b, Value *buffer, const Type *ty, int dim, int by)
{
    int64_t stride[TKC_MAX_RANK];
    padded_strides(buffer->type->layout, stride);
    Value *coord = expand_coordinate(b, ty, dim),
          *limit =
              build_const(b, coord->type, by < 0 ? (uint64_t)-by : (uint64_t)(ty->shape[dim] - by)),
          *inside = build_binary(b, by < 0 ? OP_GE : OP_LT, coord, limit),
          *at = offsets(b, ty, stride, by * stride[dim], -1, NULL);
    return op_result(build_op(b, OP_SLOAD_AT, 3, (Value *[]){buffer, at, inside}, 1, &ty), 0);
}

static void counted_strides(const Type *ty, int64_t *stride)
{
    int64_t n = 1;
    for (int d = ty->rank - 1; d >= 0; d--) {
        stride[d] = n;
        n *= ty->shape[d];
    }
}

static void store_at(Builder *b, Value *buffer, Value *at, Value *x)
{
    build_op(b, OP_SSTORE_AT, 3, (Value *[]){buffer, at, x}, 0, NULL);
}

static Value *load_at(Builder *b, Value *buffer, Value *at, const Type *ty)
{
    return op_result(build_op(b, OP_SLOAD_AT, 2, (Value *[]){buffer, at}, 1, &ty), 0);
}

/* ---- the ops ---- */

/* Bytes of shared memory that an op and those behind it may find taken. */
static int64_t taken_before(const Op *op)
{
    int64_t bytes = 0;
    for (; op; op = op->prev) {
        const Type *ty = op->kind == OP_ALLOC ? op_result(op, 0)->type : NULL;
        if (ty) bytes += tkc_op_int(op, ATTR_COPIES, 1) * tkc_type_count(ty) * type_bytes(ty->elem);
    }
    return bytes;
}

/* The op, or the outermost of the loops around that do not change what it gathers from: that is
   stored once, if keeping it beside others does not take much, and products need no room. */
static Op *stored_before(Op *op)
{
    enum { KEPT_MAX = 32 << 10 };
    const Value *from = op_arg(op, 0);
    const int64_t bytes = tkc_type_count(from->type) * type_bytes(from->type);
    Op *outer = op;
    for (const Region *turn = ir_turn(op); turn && ir_is_defined_outside(from, turn);
         turn = ir_turn(outer))
        outer = turn->parent;
    const bool multiplies = ir_contains(op->region->func->body, OP_DOT, true);
    return multiplies || bytes + taken_before(outer) > KEPT_MAX ? op : outer;
}

void expand_gather(Op *op)
{
    Builder b = build_before(op), before = build_before_at(stored_before(op), op->loc);
    Value *from = op_arg(op, 0), *index = op_arg(op, 1);
    int64_t stride[TKC_MAX_RANK];
    Value *buffer =
        expand_row_major(&before, tkc_type_element(from->type), from->type->rank, from->type->shape);
    build_sstore(&before, buffer, from, 0);
    padded_strides(buffer->type->layout, stride);
    Value *at = offsets(&b, index->type, stride, 0, (int)tkc_op_int(op, ATTR_AXIS, 0),
                        build_cast(&b, index, DT_I32, NULL));
    Value *result = load_at(&b, buffer, at, op_result(op, 0)->type);
    ir_replace(op, &result);
}

void expand_cat(Op *op)
{
    Builder b = build_before(op);
    const Type *to = op_result(op, 0)->type;
    int64_t stride[TKC_MAX_RANK], first = 0;
    Value *buffer = expand_row_major(&b, tkc_type_element(to), to->rank, to->shape);
    padded_strides(buffer->type->layout, stride);
    for (int i = 0; i < 2; i++) {
        Value *x = op_arg(op, i);
        store_at(&b, buffer, offsets(&b, x->type, stride, first * stride[0], -1, NULL), x);
        first += x->type->shape[0];
    }
    /* what is stored element by element leaves padding as it was, which nobody may read */
    Value *result = type_is_padded(to)
                        ? load_at(&b, buffer, offsets(&b, to, stride, 0, -1, NULL), to)
                        : build_sload(&b, buffer, to, NULL, 0);
    ir_replace(op, &result);
}

bool expand_is_moving_reshape(const Op *op)
{
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    return op->kind == OP_RESHAPE && type_is_block(to) && !shape_reshape_is_free(from, to);
}

/* The same elements as one line, without a layout. */
static const Type *line_of(const Builder *b, const Type *ty)
{
    const int32_t n = (int32_t)tkc_type_count(ty);
    return type_block(ir_of(b->fn)->types, tkc_type_element(ty), 1, &n, NULL);
}

void expand_reshape(Op *op)
{
    Builder b = build_before(op);
    Value *from = op_arg(op, 0);
    const Type *to = op_result(op, 0)->type, *line = line_of(&b, to);
    int64_t stride[TKC_MAX_RANK];
    Value *buffer = expand_row_major(&b, line->elem, 1, line->shape), *result;
    const bool stores_all = shape_reshape_is_free(from->type, line);
    if (stores_all) {
        build_sstore(&b, buffer, build_reshape(&b, from, 1, line->shape, false), 0);
    } else {
        counted_strides(from->type, stride);
        store_at(&b, buffer, offsets(&b, from->type, stride, 0, -1, NULL), from);
    }
    if (shape_reshape_is_free(to, line) && (stores_all || !type_is_padded(line))) {
        const Layout *l =
            layout_reshape(ir_of(b.fn)->layouts, to->layout, 1, &buffer->type->layout->total_log2);
        result = build_sload(&b, buffer, type_with_layout(ir_of(b.fn)->types, line, l), NULL, 0);
        result = build_reshape(&b, result, to->rank, to->shape, false);
    } else {
        counted_strides(to, stride);
        result = load_at(&b, buffer, offsets(&b, to, stride, 0, -1, NULL), to);
    }
    ir_replace(op, &result);
}

/* ---- histogram ---- */

enum { MOST_SPARE = 4096 }; /* bins; more have no room for another */

/* A line of n elements, one after the other in the threads that hold x. */
static const Type *spread_line(const Builder *b, const Type *x, const Type *elem, int32_t n)
{
    uint8_t dims[1];
    layout_pad(1, &n, dims);
    const Layout *l =
        layout_blocked(ir_of(b->fn)->layouts, 1, dims, (const int[]){0}, (const int[]){0},
                       x->layout->nbits[DIM_LANE], x->layout->nbits[DIM_WARP]);
    return type_block(ir_of(b->fn)->types, elem, 1, &n, l);
}

/* The number of each element's bin, as int32; `bins` for one that is not counted. A negative number
   is a large one without sign. */
static Value *bin_of(Builder *b, Value *x, Value *mask, int32_t bins)
{
    Value *wide = build_cast(b, x, type_bits(x->type) > 32 ? DT_U64 : DT_U32, NULL),
          *none = build_const(b, wide->type, (uint64_t)bins),
          *bin = build_binary(b, OP_MIN, wide, none);
    if (mask) bin = build_select(b, mask, bin, none);
    return build_cast(b, bin, DT_I32, NULL);
}

/* What is not counted goes to a bin of its own behind the others, if there is room: an atomic that
   each lane does is a single instruction, where one that lanes may leave out is a branch. */
void expand_histogram(Op *op)
{
    Builder b = build_before(op);
    const Type *bins = op_result(op, 0)->type;
    const int32_t n = bins->shape[0];
    const bool has_spare = n <= MOST_SPARE;
    const Type *all = spread_line(&b, op_arg(op, 0)->type, bins->elem, n + has_spare);
    Value *buffer = expand_row_major(&b, bins->elem, 1, all->shape);
    build_sstore(&b, buffer, build_const(&b, all, 0), 0);
    Value *bin = bin_of(&b, op_arg(op, 0), op->nargs > 1 ? op_arg(op, 1) : NULL, n);
    Value *args[4] = {buffer, bin, build_const(&b, bin->type, 1)};
    if (!has_spare) args[3] = build_binary(&b, OP_LT, bin, build_const(&b, bin->type, (uint64_t)n));
    Op *add = build_op(&b, OP_SATOMIC_AT, 3 + !has_spare, args, 0, NULL);
    ir_set_str(b.fn, add, ATTR_RMW, "add");
    Value *result = load_at(&b, buffer, expand_coordinate(&b, bins, 0), bins);
    ir_replace(op, &result);
}
