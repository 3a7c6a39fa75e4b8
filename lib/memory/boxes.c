/* Blocks that leave for a matrix by TMA. What threads would give each other through shared memory,
   so as to store it row by row, goes to a buffer of swizzled tiles instead (linear/swizzle.h), and
   one thread asks for that to be copied to the matrix:

     buffer = alloc               before all loops around
     for …
       store_wait buffer          what the last turn asked for is done
       sstore buffer, x
       if the box begins in the matrix: store_box …, buffer
       else: threads store what is in the buffer
       store_commit
     store_wait buffer

   An H200 calls it an illegal instruction to write where an index is negative. The program goes on
   meanwhile; without a loop it waits at its end. No barrier says that such a copy is done: nothing
   else of the function may access the array, and nobody is told of what was written, by atomics or
   assembly. Copies are done in any order: of two that may meet the second is asked for when the
   first is done, so that what is stored twice is what was stored last. */
#include "memory/box.h"

#include "analysis/alias.h"
#include "base/power.h"
#include "base/vec.h"
#include "ir/machine.h"
#include "ir/tensor_map.h"
#include "layout/convert.h"
#include "linear/swizzle.h"
#include "memory/global.h"
#include "memory/passes.h"
#include "memory/room.h"

bool box_is_one(AxisFacts *facts, const Tile *t)
{
    enum { ROW = 16 };
    const AxisFact *column = axis_of(facts, t->indices[t->rank - 1]);
    return t->block[0] <= TENSOR_MAP_MOST_BOX && is_power_of_two(t->block[0]) &&
           is_power_of_two(t->block[1]) &&
           column->divisibility[0] % ROW * type_bits(t->base->type->elem) / 8 % ROW == 0;
}

/* No copy need be done first. */
enum { NONE_BEFORE = -1 };

/* A store that could be one. */
typedef struct Leave {
    Op *store;
    Op *home;   /* the outermost op around it, or itself */
    Op *behind; /* it is waited for before this one */
    bool in_loop, is_alone;
    int under_way; /* the latest copies asked for before it that need not be done first, or: */
    Value *x;      /* what is stored, before it changes its layout */
    const Layout *layout; /* of the buffer */
    int64_t bytes;
    int param; /* the array */
} Leave;

typedef struct Boxes {
    Arena *scratch;
    Func *fn;
    AxisFacts *facts; /* NULL: nobody has asked yet */
    VEC(Op *) accesses; /* of global memory */
    bool is_told;       /* others may learn what has been written */
    VEC(Leave) all;
} Boxes;

static void note_op(Op *op, void *user)
{
    Boxes *b = user;
    if (global_access(op)) vec_push(b->scratch, &b->accesses, op);
    b->is_told |= ir_talks(op);
}

/* ---- one store ---- */

/* What changes its layout through shared memory for the store alone; NULL: nothing. */
static Op *conversion(const Op *store)
{
    Op *op = ir_def(op_arg(store, 1), OP_CONVERT);
    return op && !op_result(op, 0)->uses->next && convert_is_shared(op) ? op : NULL;
}

/* Waited for behind the loops around it, else before what may want more room. */
static void find_home(Leave *x)
{
    x->home = x->store;
    for (Op *op = x->store->region->parent; op; op = op->region->parent) {
        if (!ir_is_loop(op)) continue;
        x->home = op;
        x->in_loop = true;
    }
    x->behind = x->home->next;
    while (!x->in_loop && !x->behind->nregions && x->behind->next) x->behind = x->behind->next;
}

static bool find_leave(Boxes *b, Op *store, Leave *x)
{
    Value *parts[TILE_PARTS];
    TkcTensorMap map;
    Tile t;
    const Op *convert = conversion(store);
    if (!convert || !tile_of_pointers(op_arg(store, 0), parts, &t) ||
        tensor_map_of_tile(b->fn, &t, &map))
        return false;
    if (!b->facts) b->facts = axis_analyze(b->scratch, b->fn, AXIS_PROVED, NULL);
    *x = (Leave){.store = store, .x = op_arg(convert, 0), .param = (int)map.base};
    const Type *ty = x->x->type;
    x->layout = swizzle_layout(ir_of(b->fn)->layouts, ty->layout, 1, type_bytes(ty));
    x->bytes = room_of_block(ty);
    find_home(x);
    return x->layout && box_is_one(b->facts, &t);
}

/* ---- all of them ---- */

/* NULL: it does not. */
static const Leave *leaves(const Boxes *b, const Op *store)
{
    for (int i = 0; i < b->all.len; i++)
        if (b->all.data[i].store == store) return &b->all.data[i];
    return NULL;
}

/* Bytes that `expand` makes for an op, or for one in it, at most. */
static int64_t peak(const Boxes *b, const Op *op)
{
    int64_t most = 0;
    for (const Op *in = op; in; in = ir_next(in, op)) {
        const Use *use = in->kind == OP_CONVERT ? op_result(in, 0)->uses : NULL;
        const bool goes = use && leaves(b, use->user) && conversion(use->user) == in;
        const int64_t bytes = goes ? 0 : room_of_op(in);
        if (bytes > most) most = bytes;
    }
    return most;
}

/* Beside the buffers of those before it, from where it is made to where it is waited for. */
static bool fits(const Boxes *b, const Leave *x)
{
    int64_t bytes = 0;
    for (const Leave *other = b->all.data; other <= x; other++) bytes += other->bytes;
    for (const Op *at = x->home; at != x->behind; at = at->next)
        if (bytes >
            b->fn->machine->max_smem - peak(b, at) - room_around(at, NULL) - room_inside(at))
            return false;
    return true;
}

/* Nothing but such stores accesses its array. */
static bool is_alone(const Boxes *b, const Leave *x)
{
    for (int i = 0; i < b->accesses.len; i++) {
        const Op *op = b->accesses.data[i];
        Bitset params = bitset_make(b->scratch, b->fn->nparams);
        if (!leaves(b, op) && (!alias_params(b->scratch, b->fn, op_arg(op, 0), &params) ||
                               bitset_has(&params, x->param)))
            return false;
    }
    return true;
}

/* ---- what need not be done before it ---- */

/* All but a constant that is added, which goes to `constant`; where no sum has less than 32 bits.
   NULL: it is all. */
static const Value *without_constant(const Value *v, int64_t *constant)
{
    enum { WORD = 32 };
    int64_t c;
    for (const Op *op = v->def; op && type_bits(v->type) >= WORD; op = v->def) {
        const Value *x = op->nargs ? op_arg(op, 0) : NULL;
        if (op->kind == OP_ADD && ir_const_int(op_arg(op, 1), &c)) *constant += c;
        else if (op->kind != OP_CAST || !type_is_int(x->type)) break;
        v = x;
    }
    if (!ir_const_int(v, &c)) return v;
    *constant += c;
    return NULL;
}

/* By a constant; one that went around in 32 bits is further away than any other. */
static bool are_apart(const Value *a, const Value *b, int32_t extent)
{
    int64_t of_a = 0, of_b = 0;
    if (without_constant(a, &of_a) != without_constant(b, &of_b)) return false;
    const int64_t by = of_a < of_b ? of_b - of_a : of_a - of_b;
    return by >= extent && by <= INT32_MAX;
}

/* They are of two arrays, or of one matrix and meet nowhere in it. */
static bool never_meet(const Leave *x, const Leave *y)
{
    Value *of_x[TILE_PARTS], *of_y[TILE_PARTS], *p = op_arg(x->store, 0), *q = op_arg(y->store, 0);
    Tile a, b;
    tile_of_pointers(p, of_x, &a);
    tile_of_pointers(q, of_y, &b);
    bool apart = x->param != y->param,
         same = a.base == b.base && a.rank == b.rank && p->type == q->type;
    for (int d = 0; d < a.rank && same && !apart; d++)
        same = a.shape[d] == b.shape[d] && a.strides[d] == b.strides[d];
    for (int d = 0; d < a.rank && same; d++)
        apart |= are_apart(a.indices[d], b.indices[d], d < a.outer ? 1 : a.block[d - a.outer]);
    return apart;
}

static bool holds_some(const Boxes *b, const Op *op)
{
    for (const Op *in = op; in; in = ir_next(in, op))
        if (leaves(b, in)) return true;
    return false;
}

/* Back from the store, as far as each is known to be asked for. */
static int count_under_way(const Boxes *b, const Leave *x)
{
    enum { MOST = 32 };
    const Op *op = x->store;
    int n = 0;
    while (n < MOST) {
        if (!op->prev) {
            op = op->region->parent;
            if (!op) return NONE_BEFORE;
            if (ir_is_loop(op)) break;
            continue;
        }
        op = op->prev;
        const Leave *y = leaves(b, op);
        if (y ? !never_meet(x, y) : holds_some(b, op)) break;
        n += y != NULL;
    }
    return n;
}

static void find_all(Boxes *b)
{
    for (int i = 0; i < b->accesses.len; i++) {
        Leave x;
        Op *op = b->accesses.data[i];
        if (op->kind != OP_STORE || !find_leave(b, op, &x)) continue;
        vec_push(b->scratch, &b->all, x);
        b->all.len -= !fits(b, &b->all.data[b->all.len - 1]);
    }
}

static void keep_alone(Boxes *b)
{
    int kept = 0;
    for (int i = 0; i < b->all.len; i++) b->all.data[i].is_alone = is_alone(b, &b->all.data[i]);
    for (int i = 0; i < b->all.len; i++)
        if (b->all.data[i].is_alone) b->all.data[kept++] = b->all.data[i];
    b->all.len = kept;
}

/* ---- what becomes of it ---- */

static void build_store_wait(Builder *b, Value *buffer, int pending)
{
    Op *op = build_op(b, OP_STORE_WAIT, 1, &buffer, 0, NULL);
    if (pending) ir_set_int(b->fn, op, ATTR_PENDING, pending);
    build_checked(b, op);
}

static void build_store_box(Builder *b, const Op *tile, Value *buffer)
{
    Value *args[TILE_PARTS + 1];
    const int parts = tile->nargs - 1;
    for (int i = 0; i < parts; i++) args[i] = op_arg(tile, i + 1);
    args[parts] = buffer;
    build_checked(b, build_op(b, OP_STORE_BOX, parts + 1, args, 0, NULL));
}

/* The box's first element is one of the matrix. */
static Value *begins_inside(Builder *b, const Tile *t)
{
    Value *inside = NULL;
    for (int d = 0; d < t->rank; d++) {
        Value *i = t->indices[d], *zero = build_const(b, i->type, 0);
        inside = build_and(b, inside, build_binary(b, OP_GE, i, zero));
        inside = build_and(b, inside, build_binary(b, OP_LT, i, t->shape[d]));
    }
    return inside;
}

/* Of a store that stays nobody asks any more what its pointers are to. */
static void forget(Op *store)
{
    Value *parts[TILE_PARTS], *pointers = op_arg(store, 0);
    Tile t;
    if (store->kind == OP_STORE && tile_of_pointers(pointers, parts, &t))
        ir_set_arg(store, 0, op_arg(pointers->def, 0));
}

/* Threads store what is in the buffer. */
static void store_by_threads(const Boxes *b, Builder *at, Op *store, Value *buffer)
{
    const Value *x = op_arg(store, 1);
    ValueMap map = ir_value_map(b->scratch, b->fn);
    ir_map(&map, x, build_ring_load(at, buffer, build_int(at, DT_I32, 0), x->type));
    forget(store);
    build_put(at, ir_clone(b->fn, store, &map));
}

static Builder in_branch(const Boxes *b, const Leave *x, const Op *branch, int i)
{
    Builder at = build_at_end(b->fn, branch->regions[i]);
    at.loc = x->store->loc;
    return at;
}

static void leave(const Boxes *b, const Leave *x)
{
    Value *parts[TILE_PARTS];
    Tile t;
    const Op *tile = op_arg(x->store, 0)->def;
    Builder before = build_before_at(x->home, x->store->loc), at = build_before(x->store),
            behind = build_before_at(x->behind, x->store->loc);
    Value *buffer = build_buffer(&before, x->x->type, x->layout, 1);
    if (x->under_way != NONE_BEFORE) build_store_wait(&at, buffer, x->under_way);
    tile_of_pointers(op_arg(x->store, 0), parts, &t);
    Value *inside = begins_inside(&at, &t);
    build_sstore(&at, buffer, x->x, 0);
    const Op *branch = build_if(&at, inside, 0, NULL);
    Builder in = in_branch(b, x, branch, 0), other = in_branch(b, x, branch, 1);
    build_store_box(&in, tile, buffer);
    build_yield(&in, 0, NULL);
    store_by_threads(b, &other, x->store, buffer);
    build_yield(&other, 0, NULL);
    build_checked(&at, build_op(&at, OP_STORE_COMMIT, 0, NULL, 0, NULL));
    build_store_wait(&behind, buffer, 0);
    ir_unlink(x->store);
}

static void leave_or_forget(const Boxes *b, Op *access)
{
    const Leave *x = leaves(b, access);
    if (x) leave(b, x);
    else forget(access);
}

/* needs: layouts; loops that load ahead do so already.  keeps: what is stored.  changes: stores
   through descriptors become copies from buffers. */
void boxes_run(Pass *p, Func *fn)
{
    Boxes b = {.scratch = p->scratch, .fn = fn};
    ir_walk(fn->body, note_op, &b);
    if (fn->machine && fn->machine->tma && !b.is_told) find_all(&b);
    keep_alone(&b);
    for (int i = 0; i < b.all.len; i++)
        b.all.data[i].under_way = count_under_way(&b, &b.all.data[i]);
    for (int i = 0; i < b.accesses.len; i++) leave_or_forget(&b, b.accesses.data[i]);
}
