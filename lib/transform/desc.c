/* Ops on descriptors become accesses through pointers, with masks of what is inside the shape.

   What a chip could do better with the descriptor itself is decided before this pass; it leaves
   none. */
#include "transform/passes.h"

#include "ir/machine.h"
#include "ir/tensor_map.h"

/* Whether a chip with TMA can copy the box that the op loads or stores; says why not, unless dx is
   NULL. */
static bool may_be_copied(Diags *dx, const Func *fn, const Op *op, const Tile *t)
{
    TkcTensorMap map;
    if ((op->kind != OP_DESC_LOAD && op->kind != OP_DESC_STORE) || !fn->machine || !fn->machine->tma)
        return false;
    const char *lack = tensor_map_of_tile(fn, t, &map);
    if (lack && dx) {
        Diag *d = diag_remark(dx, DIAG_TMA, ir_span(op->loc), "TMA cannot %s this block: %s",
                              op->nresults ? "load" : "store", lack);
        ir_note_callers(dx, d, op->loc);
    }
    return !lack;
}

static Value *addresses(Diags *dx, Builder *b, const Op *op, Value **mask)
{
    Value *parts[TILE_PARTS], *room[TILE_PARTS];
    int32_t block[TKC_MAX_RANK];
    Tile t = tile_of_op(op, parts);
    if (op->kind != OP_DESC_ATOMIC) tile_squeeze(&t, room, block);
    Value *pointers = tile_address(b, &t, (1u << t.rank) - 1, mask);
    return may_be_copied(dx, b->fn, op, &t) ? build_tile(b, pointers, &t) : pointers;
}

/* What is outside the shape reads 0 without. */
static Value *padding(Builder *b, const Op *op, const Type *block)
{
    const DType dtype = type_dtype(op_result(op, 0)->type);
    if (!tkc_op_attr(op, ATTR_PADDING)) return NULL;
    Value *nan = build_cast(b, build_float(b, DT_F64, __builtin_nan("")), dtype, NULL);
    return build_splat(b, nan, block->rank, block->shape);
}

static void replace_load(Builder *b, Op *op, Value *pointers, Value *mask)
{
    const Type *ty = op_result(op, 0)->type;
    Value *loaded = build_load(b, pointers, mask, padding(b, op, pointers->type));
    loaded->name = op_result(op, 0)->name;
    ir_replace_uses(op_result(op, 0), build_reshape(b, loaded, ty->rank, ty->shape, false));
}

static void replace_store(Builder *b, const Op *op, Value *pointers, Value *mask)
{
    const Type *ty = pointers->type;
    build_store(b, pointers, build_reshape(b, desc_stored(op), ty->rank, ty->shape, false), mask);
}

static void desc_op(Op *op, void *user)
{
    if (!ir_has(op, OT_DESC)) return;
    Value *mask;
    Builder b = build_before(op);
    Value *pointers = addresses(user, &b, op, &mask);
    if (op->nresults) replace_load(&b, op, pointers, mask);
    else if (op->kind == OP_DESC_ATOMIC)
        build_rmw(&b, tkc_op_str(op, ATTR_RMW, ""),
                  &(AtomicArgs){{pointers, desc_stored(op), mask}, "relaxed", "gpu"});
    else replace_store(&b, op, pointers, mask);
    ir_unlink(op);
}

/* needs: nothing.  keeps: the order of effects, names, places in the source.  changes: ops on
   descriptors become loads, stores and atomics. */
void desc_run(Pass *p, Func *fn)
{
    ir_walk(fn->body, desc_op, p ? p->dx : NULL);
}
