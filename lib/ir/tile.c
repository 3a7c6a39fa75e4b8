/* Addresses and boundary masks of boxes.

   The scalar part, base + Σ index_d * stride_d, is one pointer; the block part adds arange_d *
   stride_d along each dim; both in 64 bits. Inside means 0 <= index_d + i < shape_d: one comparison
   with max(shape_d, 0), without signs, where what is below 0, or wraps, lies above all extents. In 32
   bits where the extent comes from there: it is the most that threads do for each copy. */
#include "ir/tile.h"

#include "base/unwind.h"

static Value *splat_like(Builder *b, Value *scalar, const Value *v)
{
    return build_splat(b, scalar, v->type->rank, v->type->shape);
}

static Value *scaled(Builder *b, Value *x, Value *stride)
{
    return build_binary(b, OP_MUL, x, splat_like(b, stride, x));
}

static int block_rank(const Tile *t)
{
    return t->rank - t->outer;
}

/* Where the box begins in dim d; rows are given by number, from the base on. */
static Value *index_of(Builder *b, const Tile *t, int d)
{
    Value *v = t->indices[d];
    return type_is_block(v->type) ? build_int(b, DT_I64, 0) : v;
}

/* From there on 0, 1, … along the block's dim, or the rows, 1 elsewhere; of an outer dim 0. */
static Value *steps_along(Builder *b, const Tile *t, int d)
{
    Value *v = t->indices[d];
    if (d < t->outer) return build_int(b, DT_I32, 0);
    if (!type_is_block(v->type)) v = build_arange(b, 0, t->block[d - t->outer]);
    for (int i = 0; i < block_rank(t); i++)
        if (i != d - t->outer) v = build_expand_dims(b, v, i);
    return v;
}

Value *tile_narrow(Builder *b, Value *v)
{
    int64_t n;
    const Op *cast = ir_def(v, OP_CAST);
    if (ir_const_int(v, &n)) return n == (int32_t)n ? build_int(b, DT_I32, n) : NULL;
    return cast && op_arg(cast, 0)->type->dtype == DT_I32 ? op_arg(cast, 0) : NULL;
}

/* An index as int32; one that needs more is far below 0: as far outside of all extents of 32 bits. */
static Value *narrow_index(Builder *b, Value *v)
{
    Value *low = tile_narrow(b, v);
    if (low) return low;
    low = build_cast(b, v, DT_I32, NULL);
    Value *is_same = build_binary(b, OP_EQ, build_cast(b, low, DT_I64, NULL), v);
    return build_select(b, is_same, low, build_int(b, DT_I32, INT32_MIN));
}

/* The index becomes one that is right where anything is inside: LLVM makes no moving pointers of it. */
static Value *inside(Builder *b, Value *steps, Value **index, Value *extent)
{
    Value *end = type_dtype(steps->type) == DT_I32 ? tile_narrow(b, extent) : NULL;
    const DType sign = end ? DT_I32 : DT_I64, bare = end ? DT_U32 : DT_U64;
    Value *at = end ? narrow_index(b, *index) : *index;
    *index = build_cast(b, at, DT_I64, NULL);
    at = build_binary(b, OP_ADD, splat_like(b, at, steps), build_cast(b, steps, sign, NULL));
    end = build_binary(b, OP_MAX, end ? end : extent, build_int(b, sign, 0));
    return build_binary(b, OP_LT, build_cast(b, at, bare, NULL),
                        splat_like(b, build_cast(b, end, bare, NULL), steps));
}

static Value *over_block(Builder *b, const Tile *t, Value *v)
{
    return type_is_block(v->type) ? build_broadcast(b, v, block_rank(t), t->block)
                                  : build_splat(b, v, block_rank(t), t->block);
}

Value *tile_address(Builder *b, const Tile *t, unsigned bounded, Value **mask)
{
    Value *start = t->base, *steps = NULL;
    *mask = NULL;
    for (int d = 0; d < t->rank; d++) {
        Value *index = index_of(b, t, d), *along = steps_along(b, t, d);
        if (bounded >> d & 1) {
            Value *in = inside(b, along, &index, t->shape[d]);
            *mask = build_and(b, *mask, over_block(b, t, in));
        }
        start = build_addptr(b, start, scaled(b, index, t->strides[d]));
        if (d < t->outer) continue;
        along = build_cast(b, along, DT_I64, NULL);
        along = over_block(b, t, scaled(b, along, t->strides[d]));
        steps = steps ? build_binary(b, OP_ADD, steps, along) : along;
    }
    return build_addptr(b, over_block(b, t, start), steps);
}

void tile_squeeze(Tile *t, Value **room, int32_t *block)
{
    const int rank = t->rank;
    int outer = 0, inner = 0, order[TKC_MAX_RANK], others[TKC_MAX_RANK];
    for (int d = 0; d < rank; d++) {
        if (t->block[d] == 1 && rank - outer > 2) order[outer++] = d;
        else others[inner++] = d;
    }
    for (int i = 0; i < inner; i++) {
        order[outer + i] = others[i];
        block[i] = t->block[others[i]];
    }
    for (int i = 0; i < rank; i++) {
        room[i] = t->shape[order[i]];
        room[rank + i] = t->strides[order[i]];
        room[2 * rank + i] = t->indices[order[i]];
    }
    *t = (Tile){t->base, rank, outer, block, room, room + rank, room + 2 * rank};
}

/* Base, shape, strides, indices. Returns how many. */
static int put_parts(Value **args, const Tile *t)
{
    int n = 0;
    args[n++] = t->base;
    for (int d = 0; d < t->rank; d++) args[n++] = t->shape[d];
    for (int d = 0; d < t->rank; d++) args[n++] = t->strides[d];
    for (int d = 0; d < t->rank; d++) args[n++] = t->indices[d];
    return n;
}

/* The same of an op whose operands are these from `first` to before `end`. */
static Tile take_parts(const Op *op, int first, int end, const Type *block, Value **parts)
{
    const int rank = (end - first) / 3;
    for (int i = 0; i < 1 + 3 * rank; i++) parts[i] = op_arg(op, first + i);
    return (Tile){.base = parts[0],
                  .rank = rank,
                  .outer = rank - block->rank,
                  .block = block->shape,
                  .shape = parts + 1,
                  .strides = parts + 1 + rank,
                  .indices = parts + 1 + 2 * rank};
}

Value *build_tile(Builder *b, Value *pointers, const Tile *t)
{
    Value *args[TILE_PARTS + 1] = {pointers};
    const int n = put_parts(args + 1, t) + 1;
    return op_result(build_checked(b, build_op(b, OP_HINT, n, args, 1, &pointers->type)), 0);
}

bool tile_of_pointers(const Value *pointers, Value **parts, Tile *out)
{
    const Op *op = ir_def(pointers, OP_HINT);
    if (!op || op->nargs == 1) return false;
    *out = take_parts(op, 1, op->nargs, pointers->type, parts);
    return true;
}

/* ---- ops on descriptors ---- */

Op *build_desc(Builder *b, OpKind kind, const Tile *t, Value *stored, const char *word)
{
    Value *args[TILE_PARTS + 1];
    int n = put_parts(args, t);
    const Type *block =
        type_block(ir_of(b->fn)->types, t->base->type->elem, t->rank, t->block, NULL);
    check(!stored || stored->type == block, "a descriptor stores another block than its own");
    if (stored) args[n++] = stored;
    Op *op = build_op(b, kind, n, args, stored ? 0 : 1, &block);
    if (word) ir_set_str(b->fn, op, stored ? ATTR_RMW : ATTR_PADDING, word);
    return build_checked(b, op);
}

Tile tile_of_op(const Op *op, Value **parts)
{
    const int buffer = tkc_buffer_operand(op);
    if (tkc_is_box(op)) return take_parts(op, 0, buffer, op_arg(op, buffer)->type, parts);
    const Value *block = op->nresults ? op_result(op, 0) : desc_stored(op);
    return take_parts(op, 0, op->nargs - !op->nresults, block->type, parts);
}
