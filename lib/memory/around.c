/* Where a loop that loads ahead runs again for each tile of a loop around (stream.h says which), its
   rings stay from tile to tile, and a tile's first copies come in the last turns of the one before:

     rings, and the copies for the first tile's turns 0 … n-1
     for tile in …:
       for turn in …:
         the copies for turn + n; where there is none, for turn + n less all turns, of the next tile
       if it had fewer than n turns: the next tile's first copies

   Where a box is, and at which index, is chosen in each turn: of this tile or of the next. What
   threads copy has a branch of its own for the next tile's, which computes addresses from the tile's
   index: no register is held for them between. */
#include "memory/around.h"

#include "memory/stages.h"
#include "tkc/carry.h"

static Value *is_tile(const Pipeline *p, Builder *b, Value *index)
{
    return build_binary(b, OP_LT, index, wide(b, op_arg(p->around, 1)));
}

/* The turn of the loop around at `index`, as far as first copies need it. */
static void move_around(const Pipeline *p, Builder *b, Value *index, ValueMap *moved)
{
    const Region *body = p->around->regions[0];
    *moved = ir_value_map(p->s->scratch, p->fn);
    ir_map(moved, body->args[0], build_cast(b, index, type_dtype(body->args[0]->type), NULL));
    pipeline_clone_ops(p, b, body, &p->around_slice, moved);
}

/* The operands of what copies come from; some more than once. */
static void each_of_around(Pipeline *p, void (*take)(Pipeline *, Value *, void *), void *user)
{
    const Streams *s = p->s;
    for (const Op *op = p->body->first; op; op = op->next)
        for (const Op *in = slice_has(&s->slice, op) ? op : NULL; in; in = ir_next(in, op))
            for (int i = 0; i < in->nargs; i++) take(p, op_arg(in, i), user);
    for (int i = 0; i < s->all.len; i++)
        for (int k = 1; k < s->all.data[i].box->nargs; k++)
            take(p, op_arg(s->all.data[i].box, k), user);
}

static bool is_of_around(const Pipeline *p, const Value *v)
{
    return !ir_is_defined_outside(v, p->loop->region) && ir_is_defined_outside(v, p->body);
}

static void check_scalar(Pipeline *p, Value *v, void *user)
{
    bool *scalars = user;
    *scalars &= !is_of_around(p, v) || !type_is_block(v->type);
}

/* The last turns may ask for what the next tile begins with. For boxes a few scalars say what that
   is, which each turn has; where threads copy, each of those turns computes it anew from the tile's
   index alone. */
static bool may_flow(Pipeline *p)
{
    int64_t step;
    bool scalars = true;
    if (!ir_const_int(op_arg(p->loop, 2), &step)) return false;
    if (!p->boxes)
        return bitset_next(&p->s->slice.slots, 0) < 0 && !is_of_around(p, op_arg(p->loop, 0)) &&
               !is_of_around(p, op_arg(p->loop, 1));
    each_of_around(p, check_scalar, &scalars);
    return scalars;
}

void around_find_next(Pipeline *p, Builder *b, Turn *t)
{
    int64_t step = 1;
    const DType dt = type_dtype(p->body->args[0]->type);
    Value *from = op_arg(p->loop, 0), *index = wide(b, p->around->regions[0]->args[0]);
    t->next_tile = build_binary(b, OP_ADD, index, wide(b, op_arg(p->around, 2)));
    t->has_next = is_tile(p, b, t->next_tile);
    p->next = p->moved;
    if (p->boxes) move_around(p, b, t->next_tile, &p->next);
    if (!may_flow(p)) return;
    ir_const_int(op_arg(p->loop, 2), &step);
    t->flows = build_binary(b, OP_AND, t->has_next, pipeline_has_turn(p, b, p->turns - 1));
    Value *way = build_binary(b, OP_SUB, wide(b, op_arg(p->loop, 1)), wide(b, from));
    way = build_binary(b, OP_ADD, way, build_int(b, DT_I64, step - (p->down ? -1 : 1)));
    way = build_binary(b, OP_DIV, way, build_int(b, DT_I64, step));
    way = build_binary(b, OP_MUL, way, build_int(b, DT_I64, step));
    Value *on = build_binary(b, OP_SUB, wide(b, ir_mapped(&p->next, from)), wide(b, from));
    t->on = build_cast(b, build_binary(b, OP_SUB, on, way), dt, NULL);
}

typedef struct Choice {
    Builder *b;
    Value *here;
} Choice;

static void choose(Pipeline *p, Value *v, void *user)
{
    const Choice *c = user;
    if (is_of_around(p, v) && ir_mapped(&p->moved, v) == v)
        ir_map(&p->moved, v, build_select(c->b, c->here, v, ir_mapped(&p->next, v)));
}

Value *around_flow_on(Pipeline *p, Builder *b, const Turn *t, Value *here)
{
    const Bitset *slots = &p->s->slice.slots;
    Value *from = op_arg(p->loop, 0), *end = op_arg(p->loop, 1);
    Value *there = build_binary(b, OP_ADD, p->index, t->on), *more = t->flows;
    each_of_around(p, choose, &(Choice){b, here});
    if (is_of_around(p, from) || is_of_around(p, end))
        more = build_binary(
            b, OP_AND, more, pipeline_has_not_come(p, b, there, ir_mapped(&p->next, end)));
    for (int k = bitset_next(slots, 0); k >= 0; k = bitset_next(slots, k + 1)) {
        Value *first = build_binary(b, OP_EQ, there, ir_mapped(&p->next, from));
        Value *init = ir_mapped(&p->next, carry_init(p->loop, k));
        p->ahead[k] = build_select(b, build_binary(b, OP_AND, first, t->flows), init, p->ahead[k]);
    }
    p->index = build_select(b, here, p->index, there);
    return build_binary(b, OP_OR, here, more);
}

void around_copy_next(Pipeline *p, Builder *b, const Turn *t, Value *here, Value *which)
{
    const ValueMap moved = p->moved;
    Value *index = p->index, *is_there = build_binary(b, OP_XOR, here, t->flows);
    is_there = build_binary(b, OP_AND, is_there, t->flows);
    p->index = build_binary(b, OP_ADD, index, t->on);
    Builder in = pipeline_where(b, is_there);
    move_around(p, &in, t->next_tile, &p->moved);
    pipeline_copy_here(p, &in, which);
    build_yield(&in, 0, NULL);
    p->moved = moved;
    p->index = index;
}

/* The first copies of the tile at `index`, if there is one. */
static void copy_tile(Pipeline *p, Builder *b, Value *index, const Turn *t, Value *is_tile)
{
    const ValueMap moved = p->moved;
    move_around(p, b, index, &p->moved);
    pipeline_copy_first(p, b, t->take, t->round, is_tile);
    p->moved = moved;
}

Turn around_start(Pipeline *p)
{
    Op *around = p->around;
    Builder b = build_before(around);
    pipeline_make_rings(p, &b);
    Value *index = wide(&b, op_arg(around, 0));
    copy_tile(p, &b, index, &(Turn){0},
              pipeline_leads(&b, op_arg(around, 2), is_tile(p, &b, index)));
    if (p->boxes) build_barrier(&b);
    Turn t = {.take = pipeline_add_slot_to(around, number(&b, 0)),
              .last = pipeline_add_slot_to(around, number(&b, p->round - 1))};
    if (p->barriers) t.round = pipeline_add_slot_to(around, number(&b, 0));
    return t;
}

void around_go_on(Pipeline *p, const Turn *t)
{
    Op *yield = p->around->regions[0]->last;
    Builder b = build_before_at(p->loop->next, p->loop->loc);
    Value *rest = t->has_next;
    const Turn next = {.take = op_result(p->loop, p->slots),
                       .last = op_result(p->loop, p->slots + 1),
                       .round = t->round ? op_result(p->loop, p->slots + 2) : NULL};
    if (t->flows) rest = build_binary(&b, OP_XOR, rest, t->flows);
    Builder in = pipeline_where(&b, rest);
    copy_tile(p, &in, t->next_tile, &next, NULL);
    build_yield(&in, 0, NULL);
    ir_add_arg(yield, next.take);
    ir_add_arg(yield, next.last);
    if (next.round) ir_add_arg(yield, next.round);
}

void around_fit(Pipeline *p)
{
    enum { LEAST = 3 };
    if (p->around && !p->boxes && !may_flow(p)) p->around = NULL;
    const int fit = p->around ? stages_of(p->s, p->around) : p->stages;
    if (fit >= p->stages) return;
    if (fit >= LEAST) p->stages = fit;
    else p->around = NULL;
}
