/* A product of a warp group reads its operands from shared memory. What no ring has for it is
   stored to a tile: a buffer of one copy, in which rows lie along the dim that threads have
   neighbours of, if a group reads that, or along the other. Changes of layout on the way are left
   out; transpositions are how the tile is read. */
#include "memory/tile.h"

#include "ir/build.h"
#include "ir/dot_unit.h"
#include "linear/swizzle.h"

/* Along it are a thread's first registers. */
static int running_dim(const Layout *l)
{
    return l->nbits[DIM_REGISTER] && l->basis[DIM_REGISTER][0] >> layout_dim_shift(l, 0) ? 0 : 1;
}

static bool changes_in(const Value *v, const Op *loop)
{
    for (int i = 0; i < loop->nregions; i++)
        if (!ir_is_defined_outside(v, loop->regions[i])) return true;
    return false;
}

static Op *home_of(Op *dot, const Value *base)
{
    Op *home = dot;
    for (Op *op = dot->region->parent; op && !changes_in(base, op); op = op->region->parent)
        if (op->kind != OP_IF) home = op;
    return home;
}

/* That was stored earlier in the same region; in it stays what is there, for all that follow. */
static Value *buffer_of(const Tiles *tiles, const Tile *t)
{
    for (int i = tiles->made.len - 1; i >= 0; i--) {
        const Tile *other = &tiles->made.data[i];
        if (other->base == t->base && other->layout == t->layout &&
            other->home->region == t->home->region)
            return other->buffer;
    }
    return NULL;
}

bool tile_find(const Tiles *tiles, Op *dot, int operand, Tile *out)
{
    bool flipped;
    Value *base = dot_base(dot, operand, &flipped);
    const Layout *l = base->type->layout;
    *out = (Tile){.dot = dot,
                  .operand = operand,
                  .base = base,
                  .flipped = flipped,
                  .home = home_of(dot, base)};
    for (int i = 0; i < 2 && !out->layout; i++) {
        const int dim = running_dim(l) ^ i;
        if (dot_lies_along(dot, operand, flipped, dim))
            out->layout = swizzle_layout(ir_of(tiles->fn)->layouts, l, dim, type_bytes(base->type));
    }
    out->buffer = buffer_of(tiles, out);
    return out->layout;
}

void tile_store(Tiles *tiles, Tile *t)
{
    Builder b = build_before(tiles->fn, t->early ? t->early : t->home);
    const Type *ty = t->base->type;
    if (t->buffer) return;
    b.loc = t->dot->loc;
    t->buffer = build_alloc(&b, type_smem(ir_of(tiles->fn)->types, tkc_type_element(ty), ty->rank,
                                          ty->shape, t->layout));
    ir_set_int(tiles->fn, t->buffer->def, ATTR_COPIES, 1);
    build_sstore(&b, t->buffer, t->base, 0);
    if (t->home != t->dot) build_barrier(&b);
    vec_push(tiles->scratch, &tiles->made, *t);
}

void tile_read(const Tiles *tiles, const Tile *t)
{
    static const int flip[] = {1, 0};
    Ir *ir = ir_of(tiles->fn);
    const Type *operand = op_arg(t->dot, t->operand)->type;
    const Layout *l =
        t->flipped ? layout_trans(ir->layouts, operand->layout, 2, flip) : operand->layout;
    const Type *ty = type_with_layout(ir->types, t->base->type, l);
    Builder b = build_before(tiles->fn, t->dot);
    b.loc = t->dot->loc;
    Value *x = build_ring_load(&b, t->buffer, build_int(&b, DT_I32, 0), ty);
    if (t->flipped) {
        x = build_trans(&b, x, flip);
        ir_set_type(x, operand);
    }
    ir_set_arg(t->dot, t->operand, x);
}
