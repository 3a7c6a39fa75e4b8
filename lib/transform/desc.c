/* Ops on descriptors become accesses through pointers, with masks of what is inside the shape.

   What a chip could do better with the descriptor itself is decided before this pass; it leaves
   none. */
#include "transform/passes.h"

#include "ir/machine.h"
#include "ir/tensor_map.h"
#include "ir/tile.h"

/* Of the rows of a gather or scatter, which begin anywhere: the comparisons are of each row's
   number, and of each column's. */
static Value *row_addresses(Builder *b, const Tile *t, Value **mask)
{
    Value *i = build_cast(b, build_expand_dims(b, t->indices[0], 1), DT_I64, NULL);
    Value *j = build_cast(b, build_arange(b, 0, t->block[1]), DT_I64, NULL);
    j = build_expand_dims(b, j, 0);
    j = build_binary(b, OP_ADD, j, build_splat(b, t->indices[1], 2, j->type->shape));
    Value *index[2] = {i, j}, *offset = NULL;
    *mask = NULL;
    for (int d = 0; d < 2; d++) {
        const int32_t *shape = index[d]->type->shape;
        Value *low = build_binary(b, OP_GE, index[d], build_const(b, index[d]->type, 0));
        Value *high = build_binary(b, OP_LT, index[d], build_splat(b, t->shape[d], 2, shape));
        Value *in = build_broadcast(b, build_and(b, low, high), 2, t->block);
        Value *step = build_binary(b, OP_MUL, index[d], build_splat(b, t->strides[d], 2, shape));
        step = build_broadcast(b, step, 2, t->block);
        *mask = build_and(b, *mask, in);
        offset = offset ? build_binary(b, OP_ADD, offset, step) : step;
    }
    return build_addptr(b, build_splat(b, t->base, 2, t->block), offset);
}

/* Whether a chip with TMA can copy the box that the op loads or stores. */
static bool may_be_copied(const Func *fn, const Op *op, const Tile *t)
{
    TkcTensorMap map;
    return (op->kind == OP_DESC_LOAD || op->kind == OP_DESC_STORE) && fn->machine &&
           fn->machine->tma && tensor_map_of_tile(fn, t, &map);
}

static Value *addresses(Builder *b, const Op *op, Value **mask)
{
    Value *parts[TILE_PARTS];
    const Tile t = tile_of_op(op, parts);
    if (desc_is_rows(op)) return row_addresses(b, &t, mask);
    Value *pointers = tile_address(b, &t, (1u << t.rank) - 1, mask);
    return may_be_copied(b->fn, op, &t) ? build_tile(b, pointers, &t) : pointers;
}

/* What is outside the shape reads 0 without. */
static Value *padding(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    if (!tkc_op_attr(op, ATTR_PADDING)) return NULL;
    Value *nan = build_cast(b, build_float(b, DT_F64, __builtin_nan("")), type_dtype(ty), NULL);
    return build_splat(b, nan, ty->rank, ty->shape);
}

static void replace_load(Builder *b, Op *op, Value *pointers, Value *mask)
{
    Value *loaded = build_load(b, pointers, mask, padding(b, op));
    loaded->name = op_result(op, 0)->name;
    ir_replace_uses(op_result(op, 0), loaded);
}

static void desc_op(Op *op, void *user)
{
    bool *changed = user;
    if (!ir_has(op, OT_DESC)) return;
    Value *mask;
    Builder b = build_before(op->region->func, op);
    b.loc = op->loc;
    Value *pointers = addresses(&b, op, &mask);
    if (op->nresults) replace_load(&b, op, pointers, mask);
    else if (op->kind == OP_DESC_ATOMIC)
        build_rmw(&b, tkc_op_str(op, ATTR_RMW, ""),
                  &(AtomicArgs){{pointers, desc_stored(op), mask}, "relaxed", "gpu"});
    else build_store(&b, pointers, desc_stored(op), mask);
    ir_unlink(op);
    *changed = true;
}

/* needs: nothing.  keeps: the order of effects, names, places in the source.  changes: ops on
   descriptors become loads, stores and atomics. */
bool desc_run(Pass *p, Func *fn)
{
    bool changed = false;
    (void)p;
    ir_walk(fn->body, desc_op, &changed);
    return changed;
}
