/* Products of warp groups (wgmma) read their operands from shared memory, where these lie in
   swizzled tiles (linear/swizzle.h): a ring that a loop's loads come to, or a tile that is filled
   before the product (tile.h); the first operand may be in registers instead. Such a dot becomes
   asynchronous: it begins, and a dot_wait is for its end.

   Where all of a loop have both operands in rings, or in tiles from before it, and add to a slot
   that nothing else uses, a turn does not wait for its own products but for those of the turn
   before,

     wait for copies
     sum = dot {async} …, sum
     sum = dot_wait {pending = 1} sum      the last turn's product is done
     copies                                when all groups have come here: what it has read can be
                                           overwritten

   and the matrix units have work while the threads count and copy. The last products are waited for
   behind the loop; no copy is under way by then. Otherwise each product is waited for in its turn,
   where something asks for the sum; where a is in registers at once, since ptxas may give these
   away. */
#include "memory/groups.h"

#include "ir/build.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "memory/begin.h"
#include "memory/passes.h"
#include "memory/room.h"
#include "memory/tile.h"
#include "tkc/carry.h"

typedef struct Turn {
    Func *fn;
    Op *loop;
    Tiles tiles;
    VEC(Op *) dots;
    VEC(Tile) before; /* of operands that stay the same */
} Turn;

/* The slot that the dot adds to, which nothing else uses; -1: none. */
static int slot_of(const Turn *t, const Op *dot)
{
    const Value *sum = op_result(dot, 0);
    for (int k = 0; k < carry_count(t->loop); k++) {
        const Value *param = carry_param(t->loop->regions[0], k);
        const bool is_its = op_arg(dot, 2) == param && carry_passed(t->loop->regions[0], k) == sum;
        if (is_its && !param->uses->next && !sum->uses->next) return k;
    }
    return -1;
}

/* All uses of v but the first op's become the result of that. */
static void replace_later(Value *v, Value *by)
{
    ir_replace_uses(v, by);
    ir_set_arg(by->def, 0, v);
}

static Value *wait_after(Op *after, Value *sum, int pending)
{
    Builder b = build_before_at(after->next, after->loc);
    Value *done = build_dot_wait(&b, sum, pending);
    replace_later(sum, done);
    return done;
}

/* Returns the last of the waits in a turn. */
static const Op *keep_under_way(const Turn *t)
{
    Op *last = t->dots.data[t->dots.len - 1];
    Builder after = build_before_at(t->loop->next, t->loop->loc);
    for (int i = t->dots.len - 1; i >= 0; i--) {
        Op *dot = t->dots.data[i];
        const int slot = slot_of(t, dot);
        Value *result = t->loop->results[slot];
        wait_after(last, op_result(dot, 0), t->dots.len);
        replace_later(result, build_dot_wait(&after, result, 0));
    }
    while (last->next->kind == OP_DOT_WAIT) last = last->next;
    return last;
}

/* ---- turns that go on ---- */

static bool is_in_ring(const Op *dot, int operand)
{
    return dot_ring(dot, operand, NULL) && dot_group_reads(dot, operand);
}

/* In tiles that are filled before the loop. False: the operand is neither there nor in a ring. */
static bool find_before(Turn *t, Op *dot, int64_t *room)
{
    for (int i = 0; i < 2; i++) {
        Tile tile;
        if (is_in_ring(dot, i)) continue;
        if (!tile_find(&t->tiles, dot, i, &tile) || tile.home == dot) return false;
        tile.home = t->loop; /* the room is this loop's; others around it have their own rings */
        *room -= room_of_block(tile.base->type);
        vec_push(t->tiles.scratch, &t->before, tile);
    }
    return *room >= 0;
}

/* What is summed apart is waited for to be added. */
static bool all_may_stay(Turn *t, int64_t room)
{
    for (int i = 0; i < t->dots.len; i++) {
        Op *dot = t->dots.data[i];
        if (slot_of(t, dot) < 0 || dot_together(dot) || !find_before(t, dot, &room)) return false;
    }
    return t->dots.len && t->dots.len <= GROUP_MOST_PENDING;
}

static void read_tile(Tiles *tiles, Tile *tile)
{
    tile_store(tiles, tile);
    tile_read(tiles, tile);
}

const Op *groups_start(Arena *scratch, Func *fn, Op *loop, int64_t room)
{
    Turn t = {.fn = fn, .loop = loop, .tiles = {.scratch = scratch, .fn = fn}};
    for (Op *op = loop->regions[0]->first; op; op = op->next)
        if (dot_is_of_group(op)) vec_push(scratch, &t.dots, op);
    if (!all_may_stay(&t, room)) return NULL;
    for (int i = 0; i < t.before.len; i++) read_tile(&t.tiles, &t.before.data[i]);
    for (int i = 0; i < t.dots.len; i++) ir_set_int(fn, t.dots.data[i], ATTR_ASYNC, 1);
    return keep_under_way(&t);
}

/* ---- waits in the turn ---- */

static bool reads_own_tile(const Op *dot)
{
    for (int i = 0; i < 2; i++) {
        const Op *ring = dot_ring(dot, i, NULL);
        if (ring && op_arg(ring, 0)->def->region == dot->region) return true;
    }
    return false;
}

/* A loop, or what it needs before: its rings may want all the room there is. */
static bool begins_loop(const Op *op)
{
    return ir_is_loop(op) || op->kind == OP_IF ||
           (op->kind == OP_ALLOC && tkc_op_int(op, ATTR_COPIES, 1) > 1);
}

static bool loop_begins_between(const Op *from, const Op *to)
{
    const Op *op = from->next;
    while (op != to && !begins_loop(op)) op = op->next;
    return op != to;
}

/* The next product adds to the sum, and is waited for. */
static bool goes_into_next(const Op *dot)
{
    const Use *use = op_result(dot, 0)->uses;
    const Op *next = use && !use->next ? use->user : NULL;
    return next && dot_is_async(next) && use == &next->args[2] && next->region == dot->region &&
           !dot_together(dot) && !dot_together(next) && is_in_ring(dot, 0) &&
           !(reads_own_tile(dot) && loop_begins_between(dot, next));
}

/* Where its sum is first asked for; others that begin until then stay under way, but not of one
   that is summed apart, whose other parts begin where it is waited for. No tile is read any more
   where a loop begins. */
static void wait_where_used(Op *dot)
{
    Value *sum = op_result(dot, 0);
    Op *user = dot->next;
    int pending = 0;
    bool may_go_on = is_in_ring(dot, 0);
    const bool has_tile = reads_own_tile(dot);
    for (; may_go_on && !ir_is_terminator(user) && !ir_asks_for(user, sum); user = user->next) {
        if (has_tile && begins_loop(user)) break;
        if (dot_together(dot) && (user->kind == OP_DOT_WAIT || dot_begins_in(user))) break;
        if (!dot_is_async(user)) continue;
        pending++;
        may_go_on = is_in_ring(user, 0);
        if (!may_go_on) pending = 0; /* that one is waited for at once, and so are all before it */
    }
    wait_after(user->prev, sum, pending < GROUP_MOST_PENDING ? pending : GROUP_MOST_PENDING);
}

/* ---- products one by one ---- */

/* An op for which `expand` will make a buffer. */
typedef struct Wanting {
    const Op *op;
    int64_t bytes;
} Wanting;

typedef struct Groups {
    Tiles tiles;
    VEC(Wanting) wanting;
    VEC(Op *) dots;
    VEC(Op *) large; /* dots of warps one by one with an operand of many registers */
} Groups;

static void note_op(Op *op, void *user)
{
    Groups *g = user;
    const Wanting w = {op, room_of_op(op)};
    if (w.bytes) vec_push(g->tiles.scratch, &g->wanting, w);
    if (dot_is_of_group(op) && !tkc_op_int(op, ATTR_ASYNC, 0))
        vec_push(g->tiles.scratch, &g->dots, op);
    if (op->kind == OP_DOT && (dot_holds_much(op, 0) || dot_holds_much(op, 1)))
        vec_push(g->tiles.scratch, &g->large, op);
}

/* A change of layout that goes when the dot reads b from a tile, or has gone. */
static bool is_left_out(const Op *op, const Op *dot)
{
    if (op->kind != OP_CONVERT) return false;
    const Use *use = op_result(op, 0)->uses;
    return !use || (use->user == dot && use == &dot->args[1] && !use->next);
}

/* Of what `expand` makes at once, beside the dot's tiles: at an op, while a tile stays over a loop;
   of a product's own, until that is waited for, anywhere in its region. */
static int64_t peak_at(const Groups *g, const Tile *t, const Op *at)
{
    int64_t peak = 0;
    for (int i = 0; i < g->wanting.len; i++) {
        const Wanting *w = &g->wanting.data[i];
        const bool meets = t->home == t->dot ? ir_op_of(w->op, at->region) != NULL
                                                : ir_is_part(w->op, at);
        if (w->bytes > peak && meets && !is_left_out(w->op, t->dot)) peak = w->bytes;
    }
    return peak;
}

/* Where the tile is in use, but for that. */
static int64_t free_at(const Groups *g, const Tile *t, const Op *at)
{
    const Func *fn = g->tiles.fn;
    const Op *tile = t->buffer ? t->buffer->def : NULL;
    return fn->machine->max_smem - peak_at(g, t, at) - room_around(at, tile) - room_inside(at);
}

/* Between two such ops nothing more is in use than at the first. */
static bool may_need_more(const Op *op)
{
    return op->nregions || op->prev->kind == OP_ALLOC || expand_wants(op);
}

/* Beside `bytes` of another. One that is filled already has to stay from there on. */
static bool fits(const Groups *g, const Tile *t, int64_t bytes)
{
    const Op *op = t->buffer ? t->buffer->def->next : t->home;
    for (bytes += room_of_block(t->base->type); op != t->home; op = op->next)
        if (may_need_more(op) && bytes > free_at(g, t, op)) return false;
    return bytes <= free_at(g, t, op);
}

/* False: there is none, or no room for it. */
static bool find_tile(const Groups *g, Op *dot, int operand, int64_t beside, Tile *out)
{
    if (!tile_find(&g->tiles, dot, operand, out)) return false;
    if (out->buffer && !fits(g, out, beside)) out->buffer = NULL;
    return fits(g, out, beside);
}

/* a, in registers, needs no shared memory to get there. */
static bool is_in_registers(const Op *dot)
{
    const Op *op = op_arg(dot, 0)->def;
    if (!dot_group_reads(dot, 0)) return false;
    while (op && op->kind == OP_TRANS) op = op_arg(op, 0)->def;
    return !op || !convert_is_shared(op);
}

/* An a that stays the same leaves its registers to others. */
static bool wants_tile(const Op *dot, int operand, const Tile *t)
{
    return operand == 1 || t->home != dot || !is_in_registers(dot);
}

/* The tiles that a dot reads, as far as these fit; -1 where one that it needs does not. */
static int choose_tiles(const Groups *g, Op *dot, Tile tiles[2])
{
    int n = 0;
    int64_t bytes = 0;
    for (int i = 1; i >= 0; i--) {
        Tile t;
        if (is_in_ring(dot, i)) continue;
        const bool found = find_tile(g, dot, i, bytes, &t) &&
                           (!n || fits(g, &tiles[0], room_of_block(t.base->type)));
        if (!found && (i || !dot_group_reads(dot, 0))) return -1;
        if (!found || !wants_tile(dot, i, &t)) continue;
        bytes += room_of_block(t.base->type);
        tiles[n++] = t;
    }
    return n;
}

/* Right behind what computes it, if there is room from there on: then a barrier for some product is
   one for others, too. What is loaded is not waited for before it must be. NULL: not so. */
static Op *early(const Groups *g, const Tile *t, int64_t bytes)
{
    enum { FAR = 256 };
    const Op *def = t->base->def;
    Op *at = t->home;
    if (t->home != t->dot || !def || def->kind == OP_LOAD || def->region != at->region) return NULL;
    for (int i = 0; at->prev != def; at = at->prev)
        if (i++ == FAR || at->prev->kind == OP_LOAD || begins_loop(at->prev) ||
            bytes > free_at(g, t, at->prev))
            return NULL;
    return at;
}

static bool multiply_in_groups(Groups *g, Op *dot)
{
    Tile tiles[2];
    const int n = choose_tiles(g, dot, tiles);
    int64_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += room_of_block(tiles[i].base->type);
    for (int i = 0; i < n; i++) tiles[i].early = early(g, &tiles[i], bytes);
    for (int i = 0; i < n; i++) {
        if (i && tile_is_same(&tiles[0], &tiles[i])) tiles[i].buffer = tiles[0].buffer;
        tile_store(&g->tiles, &tiles[i]);
    }
    for (int i = 0; i < n; i++) tile_read(&g->tiles, &tiles[i]);
    if (n >= 0) ir_set_int(g->tiles.fn, dot, ATTR_ASYNC, 1);
    return n >= 0;
}

/* ---- products by warps one by one ---- */

static void read_each_turn(Groups *g, Op *dot)
{
    for (int i = 0; i < 2; i++) {
        Tile t;
        if (dot_holds_much(dot, i) && find_tile(g, dot, i, 0, &t) && t.home != dot)
            read_tile(&g->tiles, &t);
    }
}

/* needs: layouts; loops that load ahead do so already.  keeps: what every op computes.  changes:
   dots of warp groups become asynchronous, with operands in shared memory; large operands of others
   that stay the same in a loop are there, too. */
void groups_run(Pass *p, Func *fn)
{
    Groups g = {.tiles = {.scratch = p->scratch, .fn = fn}};
    int n = 0;
    ir_walk(fn->body, note_op, &g);
    for (int i = 0; i < g.dots.len; i++)
        if (multiply_in_groups(&g, g.dots.data[i])) g.dots.data[n++] = g.dots.data[i];
    begin_beside(g.dots.data, n);
    for (int apart = 0; apart < 2; apart++) /* these are waited for before any other is */
        for (int i = 0; i < n; i++) {
            Op *dot = g.dots.data[i];
            if ((dot_together(dot) > 0) == apart && !goes_into_next(dot)) wait_where_used(dot);
        }
    for (int i = 0; i < g.large.len; i++) read_each_turn(&g, g.large.data[i]);
}
