/* A product of a warp group reads its operands from shared memory. What no ring has as it can read it
   is stored to a tile: a buffer of one copy, in which rows lie along the dim, of those that a group
   reads, for which a warp needs the banks least often to store. Changes of layout on the way are
   left out; transpositions are how the tile is read. */
#include "memory/tile.h"

#include "base/power.h"
#include "ir/build.h"
#include "ir/dot_unit.h"
#include "linear/shared.h"
#include "linear/swizzle.h"

/* In which it is stored for rows along dim: what all have waited for in a ring can be read in any, 16
   bytes of a row by a thread, rows side by side by lanes. */
static const Layout *layout_to_store(const Tiles *tiles, const Value *base, int dim)
{
    const Type *ty = base->type;
    const Layout *l = ty->layout;
    const int order[] = {1 - dim, dim};
    int thread[2] = {0};
    if (!ir_def(base, OP_RING_LOAD) || tkc_op_int(base->def, ATTR_OWN, 0)) return l;
    thread[dim] = log2_floor(SHARED_ACCESS_BYTES / type_bytes(ty));
    return layout_blocked(ir_of(tiles->fn)->layouts, 2, l->dim_log2, order, thread,
                          l->nbits[DIM_LANE], l->nbits[DIM_WARP]);
}

/* How often a warp has all banks to store the block. */
static int64_t store_waves(const Layout *l, const Layout *buffer, int elem_bytes)
{
    SharedAccess at;
    return shared_access(&at, l, buffer, elem_bytes)
               ? (int64_t)shared_waves(&at, elem_bytes) << (l->nbits[DIM_REGISTER] - at.vector_log2)
               : INT64_MAX;
}

/* That is stored earlier in the same region; in it stays what is there, for all that follow. */
static Value *buffer_of(const Tiles *tiles, const Tile *t)
{
    for (int i = tiles->made.len - 1; i >= 0; i--) {
        const Tile *other = &tiles->made.data[i];
        if (tile_is_same(other, t) && ir_is_before(other->buffer->def, t->home))
            return other->buffer;
    }
    return NULL;
}

bool tile_find(const Tiles *tiles, Op *dot, int operand, Tile *out)
{
    bool flipped;
    Value *base = dot_base(dot, operand, &flipped);
    *out = (Tile){.dot = dot,
                  .operand = operand,
                  .base = base,
                  .flipped = flipped,
                  .home = dot_home(dot, base)};
    int64_t least = INT64_MAX;
    for (int dim = 1; dim >= 0; dim--) {
        const int bytes = type_bytes(base->type);
        if (!dot_lies_along(dot, operand, flipped, dim)) continue;
        const Layout *l = layout_to_store(tiles, base, dim);
        const Layout *to = swizzle_layout(ir_of(tiles->fn)->layouts, l, dim, bytes);
        const int64_t waves = to ? store_waves(l, to, bytes) : INT64_MAX;
        if (to && (!out->layout || waves < least)) {
            out->layout = to;
            out->from = l;
            least = waves;
        }
    }
    out->buffer = buffer_of(tiles, out);
    return out->layout;
}

static Value *value_to_store(const Tiles *tiles, const Tile *t)
{
    const Op *load = t->base->def;
    if (t->from == t->base->type->layout) return t->base;
    Builder b = build_before_at(load->next, load->loc);
    return build_ring_load(&b, op_arg(load, 0), op_arg(load, 1),
                           type_with_layout(ir_of(tiles->fn)->types, t->base->type, t->from));
}

void tile_store(Tiles *tiles, Tile *t)
{
    Builder b = build_before_at(t->early ? t->early : t->home, t->dot->loc);
    if (t->buffer) return;
    t->buffer = build_buffer(&b, t->base->type, t->layout, 1);
    build_sstore(&b, t->buffer, value_to_store(tiles, t), 0);
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
    Builder b = build_before(t->dot);
    Value *x = build_ring_load(&b, t->buffer, build_int(&b, DT_I32, 0), ty);
    if (t->flipped) {
        x = build_trans(&b, x, flip);
        ir_set_type(x, operand);
    }
    ir_set_arg(t->dot, t->operand, x);
}
