/* A loop that multiplies matrices waits for each block it loads. Here its loads start some turns
   ahead and arrive while products are computed: each stream of blocks (stream.h) gets a ring of
   `stages` copies in shared memory (fewer if it has fewer turns), and, with n = stages - 1,

     copies for turns 0 … n-1, a group each
     for turn in …:
       wait for all groups but the latest n-1; all threads meet
       copies for turn + n, where there is such a turn, into the copy that the last turn has read
       a group is complete
       the turn, with each block from the ring

   One meeting a turn serves both ways: what arrived is there for all, and nobody still reads what
   is written next. Where warp groups multiply (groups.h) the copies come behind their products.
   What addresses are made of runs n turns ahead of the loop, in slots of its own; indices that are
   loaded for them come a turn before that. What TMA copies says itself that it has come: barriers
   in shared memory, one for each copy of a ring, stand for groups then; so they do where warp groups
   had better not meet. Other loads of a few registers (stream.h) begin with the turn before theirs,
   and come in slots.

   So do such loads of loops that reduce what they have, in kernels without products: a recurrence,
   whose turns wait for each other, runs up to 2.1 times as fast (RWKV-7 by four warps, H200); two
   turns ahead gave as much as it took. Not beside loops that multiply, where programs have few
   registers to spare (gradients within chunks 0.94 times as fast), nor where no lane waits for
   another, or rows are scanned: many programs do as well there (Welford's sums 0.81 times as fast,
   pooling 0.84, cumulative sums 0.93). */
#include "memory/pipeline.h"

#include "base/unwind.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "ir/tile.h"
#include "layout/propagate.h"
#include "layout/reduce_plan.h"
#include "linear/shared.h"
#include "memory/around.h"
#include "memory/expand.h"
#include "memory/flow.h"
#include "memory/groups.h"
#include "memory/passes.h"
#include "memory/stages.h"
#include "tkc/carry.h"

/* ---- rings ---- */

static void make_ring(const Pipeline *p, Builder *b, Stream *x)
{
    b->loc = x->load->loc;
    x->ring = build_buffer(b, op_result(x->load, 0)->type, x->in_ring, p->copies);
}

/* ---- boxes ---- */

static Value *make_barriers(const Pipeline *p, Builder *b)
{
    Value *v = expand_row_major(b, type_scalar(ir_of(p->fn)->types, DT_U64), 1,
                                (const int32_t[]){1});
    ir_set_int(p->fn, v->def, ATTR_COPIES, p->copies);
    return v;
}

/* which, turn: NULL where the op has none. */
static Op *tma_op(Builder *b, OpKind kind, Value *barriers, Value *which, Value *turn)
{
    const int n = turn ? 3 : which ? 2 : 1;
    return build_checked(b, build_op(b, kind, n, (Value *[]){barriers, which, turn}, 0, NULL));
}

static Op *begin_barriers(const Pipeline *p, Builder *b, Value *barriers, int arrivals)
{
    Op *op = build_op(b, OP_TMA_BEGIN, 1, &barriers, 0, NULL);
    ir_set_int(p->fn, op, ATTR_ARRIVALS, arrivals);
    return build_checked(b, op);
}

/* Of one group the warps are in step anyway. */
static bool has_groups(const Pipeline *p)
{
    return p->fn->num_warps > GROUP_WARPS;
}

static void begin_waits(Pipeline *p, Builder *b)
{
    p->barriers = make_barriers(p, b);
    if (p->apart || (p->boxes == p->s->all.len && has_groups(p))) p->free = make_barriers(p, b);
    build_barrier(b); /* who came here before may read the rings still */
    Op *op = begin_barriers(p, b, p->barriers,
                            p->apart ? p->fn->num_warps * MACHINE_LANES : p->boxes);
    if (streams_are_written(p->s)) ir_set_int(p->fn, op, ATTR_FENCE, 1);
    if (p->free) begin_barriers(p, b, p->free, p->fn->num_warps);
    if (p->apart) build_barrier(b); /* as all threads arrive at them */
}

/* Nobody waits any more: all meet behind the loop and its last products. */
static void end_waits(const Pipeline *p)
{
    Op *op = (p->around ? p->around : p->loop)->next;
    while (op->kind == OP_DOT_WAIT) op = op->next;
    Builder b = build_before_at(op, p->loop->loc);
    build_barrier(&b);
    tma_op(&b, OP_TMA_END, p->barriers, NULL, NULL);
    if (p->free) tma_op(&b, OP_TMA_END, p->free, NULL, NULL);
}

/* ---- copies of a turn ---- */

void pipeline_clone_ops(const Pipeline *p, Builder *b, const Region *body, const Slice *slice,
                        ValueMap *map)
{
    for (const Op *op = body->first; op; op = op->next)
        if (slice_has(slice, op)) build_put(b, ir_clone(p->fn, op, map));
}

/* What no turn of the loop changes, for the turn of the one around that copies are for. */
static Value *around_value(const Pipeline *p, Value *v)
{
    return ir_mapped(&p->moved, v);
}

/* An index that is loaded may also be of a stream, from whose ring the turn reads it. */
static void map_far(const Pipeline *p, ValueMap *map, const Op *load, Value *far)
{
    ir_map(map, op_result(load, 0), far);
    for (int i = 0; i < p->s->all.len; i++) {
        const Stream *x = &p->s->all.data[i];
        if (x->load == load && x->read) ir_map(map, x->read, far);
    }
}

/* The slice, for the turn that `ahead`, `index` and `far` are at. */
static ValueMap clone_here(const Pipeline *p, Builder *b)
{
    const Streams *s = p->s;
    ValueMap map = ir_map_copy(&p->moved);
    ir_map(&map, p->body->args[0], p->index);
    for (int k = bitset_next(&s->slice.slots, 0); k >= 0; k = bitset_next(&s->slice.slots, k + 1))
        ir_map(&map, carry_param(p->body, k), p->ahead[k]);
    for (int i = 0; i < s->far.len; i++) map_far(p, &map, s->far.data[i], p->far[i]);
    pipeline_clone_ops(p, b, p->body, &s->slice, &map);
    return map;
}

/* How far so many turns go. */
static Value *way_of(const Pipeline *p, Builder *b, DType dt, int turns)
{
    int64_t step;
    Value *one = around_value(p, op_arg(p->loop, 2));
    if (ir_const_int(one, &step)) return build_int(b, dt, step * turns);
    one = build_cast(b, one, dt, NULL);
    return turns == 1 ? one : build_binary(b, OP_MUL, one, build_int(b, dt, turns));
}

/* Where no turn is that late it may have come round. */
static Value *index_later(const Pipeline *p, Builder *b, Value *index, int turns)
{
    return build_binary(b, OP_ADD, index, way_of(p, b, type_dtype(index->type), turns));
}

/* Then these are one turn further, but for `far`. */
static ValueMap clone_slice(Pipeline *p, Builder *b)
{
    const Streams *s = p->s;
    const Region *r = p->body;
    ValueMap map = clone_here(p, b);
    for (int k = bitset_next(&s->slice.slots, 0); k >= 0; k = bitset_next(&s->slice.slots, k + 1))
        p->ahead[k] = ir_mapped(&map, carry_passed(r, k));
    p->index = index_later(p, b, p->index, 1);
    return map;
}

/* In the layout that it is copied from. */
static Value *copied_from(Pipeline *p, const Stream *x, const ValueMap *map, int operand)
{
    Value *v = ir_mapped(map, op_arg(x->load, operand));
    return type_is_block(v->type) ? remat_value(&p->remat, v, x->from) : v;
}

static Op *copy_block(Pipeline *p, Builder *b, const Stream *x, const ValueMap *map, Value *which)
{
    const bool masked = x->load->nargs > 1;
    Value *args[] = {copied_from(p, x, map, 0), x->ring, which,
                     masked ? copied_from(p, x, map, 1) : NULL};
    Op *op = build_op(b, OP_COPY_ASYNC, masked ? 4 : 3, args, 0, NULL);
    const int64_t n = INT64_C(1) << x->copy_log2, vector[] = {x->dim, n, x->ends ? 1 : n};
    if (x->copy_log2) ir_set_ints(p->fn, op, ATTR_VECTOR, 3, vector);
    return op;
}

static Op *copy_box(Pipeline *p, Builder *b, const Stream *x, const ValueMap *map, Value *which)
{
    Value *args[TILE_PARTS + BOX_BUFFER];
    const int parts = x->box->nargs - 1, n = parts + BOX_BUFFER;
    for (int i = 0; i < parts; i++) args[i] = ir_mapped(map, op_arg(x->box, i + 1));
    args[parts] = x->ring;
    args[n - BOX_NUMBER] = which;
    args[n - BOX_BARRIERS] = p->barriers;
    return build_op(b, OP_COPY_BOX, n, args, 0, NULL);
}

static void copy_streams(Pipeline *p, Builder *b, const ValueMap *map, Value *which)
{
    for (int i = 0; i < p->s->all.len; i++) {
        const Stream *x = &p->s->all.data[i];
        b->loc = x->load->loc;
        build_checked(b, (x->box ? copy_box : copy_block)(p, b, x, map, which));
    }
}

/* The load where there is such a turn, else nothing: a branch between products costs more. */
static Value *load_where(const Pipeline *p, Builder *b, const Op *load, ValueMap *map,
                         Value *is_turn)
{
    Op *copy = ir_clone(p->fn, load, map);
    const Type *ty = op_result(copy, 0)->type;
    Value *mask = is_turn;
    if (type_is_block(ty)) {
        mask = build_splat(b, is_turn, ty->rank, ty->shape);
        ir_set_type(mask, type_with_layout(ir_of(p->fn)->types, mask->type, ty->layout));
    }
    if (copy->nargs > 1) ir_set_arg(copy, 1, build_binary(b, OP_AND, op_arg(copy, 1), mask));
    else ir_add_arg(copy, mask);
    return op_result(build_put(b, copy), 0);
}

/* The indices of the turn that the rest is at, where there is one. */
static void load_far(Pipeline *p, Builder *b, Value *is_turn)
{
    const Streams *s = p->s;
    ValueMap map = clone_here(p, b);
    for (int i = 0; i < s->far.len; i++)
        p->far[i] = load_where(p, b, s->far.data[i], &map, is_turn);
}

void pipeline_copy_here(Pipeline *p, Builder *b, Value *which)
{
    const ValueMap map = clone_here(p, b);
    copy_streams(p, b, &map, which);
}

Builder pipeline_where(Builder *b, Value *is_so)
{
    Op *branch = build_if(b, is_so, 0, NULL);
    Builder other = build_at_end(b->fn, branch->regions[1]);
    build_yield(&other, 0, NULL);
    return build_in(b, branch->regions[0]);
}

/* A group: the copies of the next turn, where there is one. What is computed for them alone is so
   in the branch, not between the products. freed: the turn of word that nobody reads there; NULL:
   nobody has. t: a turn that has copies of the next tile where it has none; or NULL. */
static void copy_turn(Pipeline *p, Builder *b, Value *is_turn, Value *which, Value *freed,
                      const Turn *t)
{
    if (t) around_copy_next(p, b, t, is_turn, which);
    const ValueMap map = clone_slice(p, b);
    Builder in = pipeline_where(b, is_turn);
    if (p->free && freed) tma_op(&in, p->apart ? OP_TMA_WAIT : OP_TMA_CLAIM, p->free, which, freed);
    copy_streams(p, &in, &map, which);
    if (p->apart) tma_op(&in, OP_COPY_ARRIVE, p->barriers, which, NULL);
    build_yield(&in, 0, NULL);
    if (p->boxes < p->s->all.len && !p->apart) build_op(b, OP_COMMIT, 0, NULL, 0, NULL);
}

/* ---- the loop ---- */

Value *pipeline_has_not_come(const Pipeline *p, Builder *b, Value *index, Value *to)
{
    return build_binary(b, p->down ? OP_GT : OP_LT, index, to);
}

/* What the index of a turn has not come as far as if there is one `ahead` turns further on. */
static Value *last_turns(const Pipeline *p, Builder *b, Value *end, int ahead)
{
    const DType dt = type_dtype(p->body->args[0]->type);
    const DTypeInfo *info = dtype_info(dt);
    const int64_t least = info->kind == DK_UINT ? 0 : INT64_MIN >> (64 - info->bits),
                  first = p->down ? -1 - least : least;
    Value *to = wide(b, end), *none = build_int(b, DT_I64, first),
          *way = way_of(p, b, DT_I64, ahead);
    Value *at = build_binary(b, OP_SUB, to, way);
    Value *in = info->bits > 32
                    ? pipeline_has_not_come(p, b, build_binary(b, OP_ADD, none, way), to)
                    : pipeline_has_not_come(p, b, none, at);
    return build_cast(b, build_select(b, in, at, none), dt, NULL);
}

Value *pipeline_leads(Builder *b, Value *step, Value *is_turn)
{
    int64_t known;
    if (ir_const_int(step, &known)) return is_turn;
    Value *leads = build_binary(b, OP_GT, step, build_int(b, type_dtype(step->type), 0));
    return build_binary(b, OP_AND, leads, is_turn);
}

/* An index of 64 bits may have no room for it. */
Value *pipeline_has_turn(const Pipeline *p, Builder *b, int turn)
{
    Value *from = around_value(p, op_arg(p->loop, 0)), *end = around_value(p, op_arg(p->loop, 1));
    if (type_bits(from->type) > 32)
        return pipeline_has_not_come(p, b, from, last_turns(p, b, end, turn));
    from = build_binary(b, OP_ADD, wide(b, from), way_of(p, b, DT_I64, turn));
    return pipeline_leads(b, around_value(p, op_arg(p->loop, 2)),
                          pipeline_has_not_come(p, b, from, wide(b, end)));
}

Value *pipeline_add_slot_to(Op *loop, Value *init)
{
    ir_add_arg(loop, init);
    ir_add_result(loop, init->type);
    return ir_add_region_arg(loop->regions[0], init->type, NULL);
}

static Value *add_slot(Pipeline *p, Value *init)
{
    return pipeline_add_slot_to(p->loop, init);
}

static void pass_on(Pipeline *p, Value *next)
{
    ir_add_arg(p->body->last, next);
}

/* One further around the ring. round: of boxes that come to it, or NULL. */
static Value *next_copy(const Pipeline *p, Builder *b, Value *which, Value **round)
{
    Value *is_last = build_binary(b, OP_EQ, which, number(b, p->round - 1));
    Value *more = build_binary(b, OP_ADD, which, number(b, 1));
    if (*round) *round = build_binary(b, OP_XOR, *round, build_cast(b, is_last, DT_I32, NULL));
    return build_select(b, is_last, number(b, 0), more);
}

static Value *ring_load(const Pipeline *p, Op *before, const Stream *x, Value *which,
                        const Layout *layout)
{
    const Value *loaded = op_result(x->load, 0);
    const Type *ty = type_with_layout(ir_of(p->fn)->types, loaded->type, layout);
    Builder b = build_before_at(before, x->load->loc);
    Value *block = build_ring_load(&b, x->ring, which, ty);
    if (p->own) ir_set_int(p->fn, block->def, ATTR_OWN, 1);
    block->name = loaded->name;
    return block;
}

/* The moves of a reader, of what it reads in its own layout. */
static Value *move_again(const Pipeline *p, const Reader *r, Value *v, Op *before)
{
    Ir *ir = ir_of(p->fn);
    for (int i = r->nmoves - 1; i >= 0; i--) {
        const Op *move = r->moves[i];
        ValueMap map = ir_value_map(p->s->scratch, p->fn);
        ir_map(&map, op_arg(move, 0), v);
        const Layout *l = propagate_result(ir->layouts, move, v->type->layout);
        Op *again = ir_clone(p->fn, move, &map);
        ir_insert_before(before, again);
        v = op_result(again, 0);
        ir_set_type(v, type_with_layout(ir->types, v->type, l));
    }
    return v;
}

/* Where it is used first: a product that comes later leaves registers to one before it. */
static Op *first_use(Op *convert)
{
    Op *op = convert->next;
    while (!ir_is_terminator(op) && !ir_asks_for(op, op_result(convert, 0))) op = op->next;
    return op;
}

/* With what the load gives where its mask does not hold, which the copy makes 0. */
static Value *with_else(const Stream *x, Value *read)
{
    const Op *load = x->load;
    if (!x->elsewhere) return read;
    Builder b = build_before(x->load);
    return build_select(&b, op_arg(load, 1), read, op_arg(load, 2));
}

static void read_ring(const Pipeline *p, Stream *x, Value *which)
{
    for (int i = 0; i < x->nreaders; i++) {
        const Reader *r = &x->readers[i];
        if (slice_has(&p->s->slice, r->convert)) continue; /* which is of other turns, too */
        Op *at = first_use(r->convert);
        ir_replace_uses(op_result(r->convert, 0),
                        move_again(p, r, ring_load(p, at, x, which, r->layout), at));
        ir_unlink(r->convert);
    }
    Value *loaded = op_result(x->load, 0);
    if (!loaded->uses) return;
    x->read = with_else(x, ring_load(p, x->load, x, which, loaded->type->layout));
    ir_replace_uses(loaded, x->read);
}

/* The indices of the first turn. */
static void start_far(Pipeline *p, Builder *b)
{
    const Streams *s = p->s;
    for (int i = 0; i < s->far.len; i++)
        p->far[i] = build_const(b, op_result(s->far.data[i], 0)->type, 0);
    if (s->far.len) load_far(p, b, pipeline_has_turn(p, b, 0));
}

/* The turn of word that copy `which`, whose boxes are of that round, is free. Before the first turn
   of all the last copy has been read by nobody, but is said to be free in that turn. */
static Value *freed_before(const Pipeline *p, Builder *b, Value *which, Value *round)
{
    Value *is_other = build_binary(b, OP_NE, which, number(b, p->round - 1));
    return build_binary(b, OP_XOR, round, build_cast(b, is_other, DT_I32, NULL));
}

void pipeline_copy_first(Pipeline *p, Builder *b, Value *which, Value *round, Value *is_run)
{
    p->index = around_value(p, op_arg(p->loop, 0));
    for (int k = 0; k < p->slots; k++) p->ahead[k] = around_value(p, carry_init(p->loop, k));
    start_far(p, b);
    for (int i = 0; i < p->turns; i++) {
        Value *is_turn = pipeline_has_turn(p, b, i);
        if (is_run) is_turn = build_binary(b, OP_AND, is_turn, is_run);
        copy_turn(p, b, is_turn, which ? which : number(b, i),
                  which && round ? freed_before(p, b, which, round) : NULL, NULL);
        if (which) which = next_copy(p, b, which, &round);
        if (p->s->far.len) load_far(p, b, pipeline_has_turn(p, b, i + 1));
    }
}

void pipeline_make_rings(Pipeline *p, Builder *b)
{
    for (int i = 0; i < p->s->all.len; i++) make_ring(p, b, &p->s->all.data[i]);
    b->loc = p->loop->loc;
    if (p->boxes || p->apart) begin_waits(p, b);
    else if ((p->around ? p->around : p->loop)->region->parent) build_barrier(b); /* as there */
}

/* Before the loop: the first copies, and the slots. */
static Turn start(Pipeline *p)
{
    const int ahead = p->turns;
    Turn t = {0};
    if (p->around) t = around_start(p);
    Builder b = build_before(p->loop);
    if (!p->around) {
        pipeline_make_rings(p, &b);
        pipeline_copy_first(p, &b, NULL, NULL, NULL);
        if (p->boxes) build_barrier(&b);
    }
    if (p->around) around_find_next(p, &b, &t);
    t.until = last_turns(p, &b, op_arg(p->loop, 1), ahead);
    t.take = add_slot(p, t.take ? t.take : number(&b, 0));
    t.last = add_slot(p, t.last ? t.last : number(&b, p->copies - 1));
    if (p->barriers) t.round = add_slot(p, t.round ? t.round : number(&b, 0));
    if (p->apart) {
        t.last_but_one = add_slot(p, number(&b, p->copies - 2));
        t.its_round = add_slot(p, number(&b, 1)); /* nobody has read it, nor need say so */
    }
    if (p->s->far.len) t.far_until = last_turns(p, &b, op_arg(p->loop, 1), ahead + 1);
    if (p->around) {
        p->index = op_arg(p->loop, 0);
        for (int k = 0; k < p->slots; k++) p->ahead[k] = carry_init(p->loop, k);
        for (int i = 0; i < ahead && bitset_next(&p->s->slice.slots, 0) >= 0; i++)
            clone_slice(p, &b);
    }
    for (int k = 0; k < p->slots; k++)
        if (bitset_has(&p->s->slice.slots, k)) p->ahead[k] = add_slot(p, p->ahead[k]);
    for (int i = 0; i < p->s->far.len; i++) p->far[i] = add_slot(p, p->far[i]);
    return t;
}

/* The beginning of a turn. */
static Op *wait_for_turn(const Pipeline *p, const Turn *t)
{
    Builder b = build_before_at(p->body->first, p->loop->loc);
    Op *wait = NULL;
    if (p->boxes < p->s->all.len && !p->apart) wait = build_wait(&b, p->stages - 2);
    if (p->own) ir_set_int(p->fn, wait, ATTR_OWN, 1);
    if (p->barriers) wait = tma_op(&b, OP_TMA_WAIT, p->barriers, t->take, t->round);
    return wait;
}

/* The first product of a turn, if a warp group begins it as soon as the turn's boxes are there. */
static Op *first_product(const Pipeline *p)
{
    Op *op = p->body->first;
    while (!ir_is_terminator(op) && op->kind != OP_DOT && !op->nregions) op = op->next;
    return dot_is_of_group(op) && dot_ring(op, 1, NULL) ? op : NULL;
}

/* Behind `done` this thread has read what the last turn reads. Copies go there when all have: they
   meet, or, where one thread asks for all copies, it alone waits for the others. */
static Op *let_go(const Pipeline *p, const Turn *t, const Op *done)
{
    Builder b = build_before_at(done->next, p->loop->loc);
    if (!p->free) return build_barrier(&b);
    return tma_op(&b, OP_TMA_FREE, p->free, t->last, NULL);
}

/* The last of the turn's ops that read a ring. */
static Op *last_read(const Pipeline *p)
{
    Op *op = p->body->last;
    while (op->kind != OP_RING_LOAD) op = op->prev;
    return op;
}

/* Where copies may go to what was read before: all have come to this turn. Asking for boxes takes few
   registers and no addresses, and the first product is under way meanwhile; what threads copy takes
   both, which a sum of many registers leaves none for (begin.c). */
static Op *all_have_read(const Pipeline *p, const Turn *t, Op *wait)
{
    enum { LARGE = 64 };
    if (p->own) return p->round < p->stages ? last_read(p) : wait;
    Op *product = first_product(p);
    if (p->boxes < p->s->all.len && !p->apart)
        return product && dot_together(product) ? product : wait;
    if (p->apart && product && type_words(op_result(product, 0)->type) > LARGE) product = NULL;
    return let_go(p, t, product ? product : wait);
}

/* Behind an op: the copies of a later turn. */
static void go_on(Pipeline *p, const Turn *t, Op *after)
{
    Builder b = build_before_at(after->next, p->loop->loc);
    Value *index = p->body->args[0];
    p->index = index_later(p, &b, index, p->turns);
    Value *to = p->apart ? t->last_but_one : p->round < p->stages ? t->take : t->last;
    Value *is_turn = pipeline_has_not_come(p, &b, index, t->until);
    if (t->flows && p->boxes) is_turn = around_flow_on(p, &b, t, is_turn);
    copy_turn(p, &b, is_turn, to, p->apart ? t->its_round : t->round,
              t->flows && !p->boxes ? t : NULL);
    p->moved = ir_value_map(p->s->scratch, p->fn); /* what is chosen here is of this turn */
    Value *round = t->round;
    pass_on(p, next_copy(p, &b, t->take, &round));
    pass_on(p, t->take);
    if (round) pass_on(p, round);
    if (p->apart) {
        pass_on(p, t->last);
        pass_on(p, t->round);
    }
    if (t->far_until) load_far(p, &b, pipeline_has_not_come(p, &b, index, t->far_until));
    for (int k = 0; k < p->slots; k++)
        if (bitset_has(&p->s->slice.slots, k)) pass_on(p, p->ahead[k]);
    for (int i = 0; i < p->s->far.len; i++) pass_on(p, p->far[i]);
}

/* ---- groups that take turns ---- */

/* Cycles for which a group's product has a multiprocessor's matrix units to itself until it is
   waited for; of what is summed apart, a part of it. */
static int64_t cycles_of(const Pipeline *p, const Op *dot)
{
    enum { BYTES_A_CYCLE = 4096 }; /* of k, for each row and column */
    const Type *a = op_arg(dot, 0)->type;
    const int groups = p->fn->num_warps / GROUP_WARPS, together = dot_together(dot);
    int64_t sums = tkc_type_count(op_result(dot, 0)->type) / groups, k = a->shape[1];
    const int64_t apart = 2 * GROUP_APART_WORDS * GROUP_ROWS;
    if (together && sums > apart) sums = apart;
    if (together && k > together) k = together;
    return sums * k * type_bytes(a) / BYTES_A_CYCLE;
}

static int64_t cycles_of_turn(const Pipeline *p)
{
    int64_t cycles = 0;
    for (const Op *op = p->body->first; op; op = op->next)
        if (dot_is_of_group(op)) cycles += cycles_of(p, op);
    return cycles;
}

/* Groups that wait for their own products leave the matrix units idle, all at once as long as they
   do the same at the same time. So the last begins first and the others follow, each when that
   before it may have multiplied; the first, which asks for boxes when all have read, is the last. */
static void stagger(const Pipeline *p)
{
    const int64_t cycles = cycles_of_turn(p);
    if (cycles) ir_set_int(p->fn, p->loop, ATTR_STAGGER, cycles);
}

/* A product whose sum this turn asks for: its group waits for it. */
static bool waits_for_product(const Pipeline *p)
{
    for (const Op *op = p->body->first; op; op = op->next) {
        const Use *use = dot_is_of_group(op) ? op_result(op, 0)->uses : NULL;
        if (use && !ir_has(use->user, OT_TERM)) return true;
    }
    return false;
}

/* As many programs as before share a multiprocessor, and all copies of a ring have a turn. */
static bool has_room(const Pipeline *p, int stages, int64_t room)
{
    enum { BARRIERS = 16 };
    const Machine *m = p->fn->machine;
    const int64_t beside = m->max_smem - room, bytes = stages_bytes(p->s);
    const int64_t all = stages * (bytes + BARRIERS);
    return stages_copies(p->loop, stages) == stages && stages <= stages_fit(p->s, p->loop) &&
           all <= room &&
           machine_programs(m, beside + all) == machine_programs(m, beside + p->stages * bytes);
}

/* Where threads copy, groups would meet each turn, for all to know what has come. So that they need
   not, each thread says so at a barrier. All copy to what was read two turns ago then, since those
   that are ahead wait for nobody: a third copy of a ring, which is there if it has room. That pays
   where a turn multiplies much (H200): eleven kernels with 384 cycles and more 0.97 to 1.19 times as
   fast, 1.06 on average, four with less 0.87 to 0.99. 0: groups meet. */
static int stages_apart(const Pipeline *p, int64_t room)
{
    enum { LEAST = 3, MUCH = 384 };
    const int stages = p->stages < LEAST ? LEAST : p->stages;
    const bool may = !p->boxes && !p->own && !p->around && has_groups(p) && waits_for_product(p) &&
                     cycles_of_turn(p) >= MUCH && has_room(p, stages, room);
    return may ? stages : 0;
}

/* ---- loads of a few registers ---- */

/* What the slice needs of a turn: its index, and what its slots have then. */
static ValueMap first_turn(const Pipeline *p)
{
    ValueMap map = ir_value_map(p->s->scratch, p->fn);
    ir_map(&map, p->body->args[0], op_arg(p->loop, 0));
    for (int k = 0; k < p->slots; k++)
        ir_map(&map, carry_param(p->body, k), carry_init(p->loop, k));
    return map;
}

static ValueMap next_turn(const Pipeline *p, Builder *b)
{
    const Slice *slice = &p->s->few_slice;
    ValueMap here = ir_value_map(p->s->scratch, p->fn);
    Value *index = p->body->args[0];
    if (bitset_next(&slice->slots, 0) >= 0) pipeline_clone_ops(p, b, p->body, slice, &here);
    ValueMap map = ir_value_map(p->s->scratch, p->fn);
    ir_map(&map, index, index_later(p, b, index, 1));
    for (int k = bitset_next(&slice->slots, 0); k >= 0; k = bitset_next(&slice->slots, k + 1))
        ir_map(&map, carry_param(p->body, k), ir_mapped(&here, carry_passed(p->body, k)));
    return map;
}

/* The loads of the turn that `map` is for. */
static Value **load_few(const Pipeline *p, Builder *b, ValueMap *map, Value *is_turn)
{
    const Streams *s = p->s;
    Value **loaded = arena_array(s->scratch, Value *, s->few.len);
    pipeline_clone_ops(p, b, p->body, &s->few_slice, map);
    for (int i = 0; i < s->few.len; i++) loaded[i] = load_where(p, b, s->few.data[i], map, is_turn);
    return loaded;
}

/* Behind `wait`, which begins a turn; NULL: nothing is waited for. */
static void bring_few(Pipeline *p, Op *wait)
{
    Builder b = build_before(p->loop);
    if (!p->s->few.len) return;
    Value *until = last_turns(p, &b, op_arg(p->loop, 1), 1);
    Value *is_first = pipeline_has_turn(p, &b, 0);
    ValueMap map = first_turn(p);
    Value **first = load_few(p, &b, &map, is_first);
    b = build_before_at(wait ? wait->next : p->body->first, p->loop->loc);
    Value *goes_on = pipeline_has_not_come(p, &b, p->body->args[0], until);
    map = next_turn(p, &b);
    Value **next = load_few(p, &b, &map, goes_on);
    for (int i = 0; i < p->s->few.len; i++) {
        Op *load = p->s->few.data[i];
        ir_replace_uses(op_result(load, 0), add_slot(p, first[i]));
        pass_on(p, next[i]);
        ir_unlink(load);
    }
}

/* ---- the pass ---- */

/* A sum of what one thread has waits for nobody. */
static bool waits_for_lanes(const Func *fn, const Op *op)
{
    ReducePlan plan;
    if (op->kind != OP_REDUCE) return false;
    reduce_plan_op(&plan, ir_of(fn)->layouts, op);
    return !plan.direct || plan.lane_axis || layout_warp_bits(plan.operand, plan.axis);
}

/* Its loads may begin a turn ahead though none feeds a product. multiplies: it, or what is beside
   it. */
static bool waits_for_few(const Streams *s, bool multiplies)
{
    const Region *body = s->loop->regions[0];
    const Op *op = body->first;
    if (!s->few.len || multiplies || ir_contains(body, OP_SCAN, false)) return false;
    while (op && !waits_for_lanes(s->fn, op)) op = op->next;
    return op;
}

static void pipeline_loop(Arena *scratch, Func *fn, Op *loop, bool multiplies)
{
    Streams s;
    streams_find(&s, scratch, fn, loop);
    if (!s.all.len && !waits_for_few(&s, multiplies)) return;
    Pipeline p = {.s = &s,
                  .fn = fn,
                  .loop = loop,
                  .body = loop->regions[0],
                  .down = tkc_op_int(loop, ATTR_DOWN, 0),
                  .slots = carry_count(loop),
                  .boxes = streams_boxes(&s),
                  .remat = remat_make(fn, scratch, NULL),
                  .moved = ir_value_map(scratch, fn)};
    if (!s.all.len) {
        bring_few(&p, NULL);
        return;
    }
    p.stages = stages_of(&s, loop);
    if (p.stages < 2) return;
    p.around = streams_around(&s, &p.around_slice);
    around_fit(&p);
    p.own = streams_are_own(&s);
    const int64_t room = stages_room(&s, p.around ? p.around : loop);
    const int apart = stages_apart(&p, room);
    p.apart = apart;
    if (apart) p.stages = apart;
    p.turns = p.stages - (apart ? 2 : 1);
    p.round = p.own && p.stages > 2 ? p.stages - 1 : p.stages;
    p.copies = p.around ? p.round : stages_copies(loop, p.round);
    p.ahead = arena_array(scratch, Value *, p.slots + 1);
    const Turn t = start(&p);
    Op *wait = wait_for_turn(&p, &t);
    for (int i = 0; i < s.all.len; i++) read_ring(&p, &s.all.data[i], t.take);
    const Op *done = groups_start(scratch, fn, loop, room - p.copies * stages_bytes(&s));
    go_on(&p, &t, done ? let_go(&p, &t, done) : all_have_read(&p, &t, wait));
    bring_few(&p, wait);
    if (p.free && !done) stagger(&p);
    if (p.around) around_go_on(&p, &t);
    if (p.barriers) end_waits(&p);
    for (int i = 0; i < s.all.len; i++) ir_unlink(s.all.data[i].load);
}

/* needs: layouts, and the width of accesses.  keeps: what every op computes.  changes: loads of
   loops that multiply matrices become copies to shared memory some turns ahead, those of a few
   registers begin a turn ahead. */
void pipeline_run(Pass *p, Func *fn)
{
    const bool multiplies = ir_contains(fn->body, OP_DOT, true);
    if (!fn->machine || !fn->machine->cp_async) return;
    for (Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (op->kind == OP_FOR) pipeline_loop(p->scratch, fn, op, multiplies);
}
