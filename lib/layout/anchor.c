/* In: the dots of a function. Out: the layout of each one's sum, from which those of its operands
   follow (ir/dot_unit.h).

   What is left to choose is how the warps share the tiles of a sum. Batches have nothing in common:
   warps go along them first. Then along rows and columns, whichever a warp has more of: it loads a
   row of a and a column of b for each; of a square along columns where blocks like it are summed
   along rows alone, which needs no shared memory then. But where a sum becomes, in registers, the
   first operand of another dot, all warps go along the rows of both: then a warp has whole rows of
   that operand, and nothing leaves the warp on the way, nor in the reductions of rows that are
   often on it.

   A warp group's product (ir/dot_unit.h) has its warps along rows, whatever that costs in loads: it
   reads its operands itself. Whether it comes to that, the memory level decides.

   Without a matrix instruction a thread holds a square of the sum, which needs the fewest elements
   of the operands. Shared memory serves 64 and 128 bits a lane twice as fast where lanes whose
   numbers differ in the lowest bit, or in the next, ask for the same: so the lowest goes along rows
   and shares what b has, the next along columns and shares what a has (cycles of a warp's 128 bits:
   2 so, 4 where sharing lanes are 4 or more apart; H200). */
#include "layout/anchor.h"

#include "base/bitset.h"
#include "base/power.h"
#include "base/vec.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "layout/propagate.h"

struct Anchors {
    Arena *scratch;
    const Func *fn;
    const Accesses *accesses;
    Bitset chained; /* result ids of dots that give or take a first operand so */
};

/* ---- which dots feed another ---- */

typedef struct Walk {
    Anchors *x;
    const Value *from;
    Bitset seen;
    VEC(const Value *) work;
} Walk;

static bool passes_on(const Op *op)
{
    return ir_has(op, OT_EW) || ir_has(op, OT_SHAPE) || op->kind == OP_REDUCE;
}

static void follow_use(Walk *w, const Use *use)
{
    const Op *op = use->user;
    if (op->kind == OP_DOT && use == &op->args[0]) {
        bitset_add(&w->x->chained, (int)w->from->id);
        bitset_add(&w->x->chained, (int)op_result(op, 0)->id);
    }
    if (!passes_on(op)) return;
    for (int i = 0; i < op->nresults; i++) {
        const Value *v = op_result(op, i);
        if (bitset_add(&w->seen, (int)v->id)) vec_push(w->x->scratch, &w->work, v);
    }
}

static void find_chains(Op *op, void *user)
{
    Anchors *x = user;
    if (op->kind != OP_DOT) return;
    Walk w = {.x = x, .from = op_result(op, 0)};
    w.seen = bitset_make(x->scratch, (int)x->fn->nvalues);
    vec_push(x->scratch, &w.work, w.from);
    for (int next = 0; next < w.work.len; next++) {
        for (const Use *use = w.work.data[next]->uses; use; use = use->next) follow_use(&w, use);
    }
}

Anchors *anchors_find(Arena *scratch, const Func *fn, const Accesses *accesses)
{
    Anchors *x = arena_new(scratch, Anchors);
    x->scratch = scratch;
    x->fn = fn;
    x->accesses = accesses;
    x->chained = bitset_make(scratch, (int)fn->nvalues);
    ir_walk(fn->body, find_chains, x);
    return x;
}

/* ---- layouts ---- */

typedef struct Looks {
    const Type *like;
    bool along[TKC_MAX_RANK];
} Looks;

static void note_axis(Op *op, void *user)
{
    Looks *looks = user;
    const int axis = ir_axis(op);
    if (axis >= 0 && type_same_shape(op_arg(op, 0)->type, looks->like)) looks->along[axis] = true;
}

/* Whether the sum is a square whose warps, were they to share its rows, would meet for what they
   have to themselves when they share columns. */
static bool meets_along_rows(const Anchors *x, const Type *sum)
{
    Looks looks = {.like = sum};
    if (sum->shape[sum->rank - 2] != sum->shape[sum->rank - 1]) return false;
    ir_walk(x->fn->body, note_axis, &looks);
    return looks.along[sum->rank - 2] && !looks.along[sum->rank - 1];
}

static WarpSplit split_warps(MmaShape shape, int rank, const uint8_t *dim_log2, bool chained,
                             bool columns_first, int warp_bits)
{
    WarpSplit s = {0};
    int rows = dim_log2[rank - 2], columns = dim_log2[rank - 1];
    for (; warp_bits && rank == 3 && s.batch < dim_log2[0]; warp_bits--) s.batch++;
    for (; warp_bits; warp_bits--) {
        const bool can_m = rows > shape.m_log2, can_n = columns > shape.n_log2;
        const bool more_rows = rows > columns || (rows == columns && !columns_first);
        if (can_m && (chained || !can_n || more_rows)) s.m++, rows--;
        else if (can_n) s.n++, columns--;
    }
    return s;
}

/* ---- warp groups ---- */

/* What an operand is made of. */
typedef struct Origin {
    const Anchors *x;
    const Op *dot;
    int operand;
    bool in_bytes; /* sought: bytes that lie along k in memory; else what lies across */
    Bitset seen;
} Origin;

static bool is_sought(const Origin *o, const Value *loaded, bool flipped)
{
    const int dim = access_dim(o->x->accesses, loaded->def);
    if (!o->in_bytes) return !dot_lies_along(o->dot, o->operand, flipped, dim);
    return type_bits(loaded->type) == 8 && dim == ((1 - o->operand) ^ (int)flipped);
}

/* The load that is sought of v, which the operand is made of, or its transposed (flipped). */
static Op *load_from(Origin *o, const Value *v, bool flipped)
{
    Op *op = v->def, *found = NULL;
    if (!op || !type_is_block(v->type) || op->region != o->dot->region) return NULL;
    if (!bitset_add(&o->seen, (int)v->id)) return NULL;
    if (op->kind == OP_LOAD && v->type->rank == 2 && is_sought(o, v, flipped)) return op;
    flipped ^= op->kind == OP_TRANS && dot_flips(op);
    for (int i = 0; !found && i < op->nargs && passes_on(op); i++)
        found = load_from(o, op_arg(op, i), flipped);
    return found;
}

/* NULL: there is none. */
static Op *load_of(const Anchors *x, const Op *dot, int operand, bool in_bytes)
{
    Origin o = {x, dot, operand, in_bytes, bitset_make(x->scratch, (int)x->fn->nvalues)};
    return load_from(&o, op_arg(dot, operand), false);
}

/* A group reads 8 and 32 bits along k only. In loops, whose loads come ahead, bytes that lie across would
   be stored for it one by one; words are, four at once by a thread, where they serve 128 rows and more, and
   where a is in order (fp32 by tf32, tiles of 128×64 1.4 times as fast so, of 64×256 0.8, with a across, too,
   0.7; H200). Parts of numbers are to be stored in any case. */
static bool has_operand_across(const Anchors *x, const Op *dot)
{
    enum { WORD_BITS = 32, LEAST_ROWS = 128 };
    const Type *a = op_arg(dot, 0)->type;
    if (!ir_turn(dot) || tkc_op_int(dot, ATTR_PARTS, 0)) return false;
    const bool a_is = load_of(x, dot, 0, false), b_is = load_of(x, dot, 1, false);
    return type_bits(a) < WORD_BITS ? a_is || b_is
                                    : b_is && (a_is || a->shape[0] < LEAST_ROWS);
}

/* Four neighbours along k, which a thread stores at once, and lanes side by side: as they are loaded
   it would store one by one, and 8 lanes to one bank. */
const Layout *anchor_part(const Anchors *x, const Op *dot, const Layout *sum, Op **load)
{
    enum { FOUR = 2 };
    static const int order[] = {1, 0}, thread[] = {FOUR, 0};
    const Type *b = op_arg(dot, 1)->type;
    uint8_t dims[TKC_MAX_RANK];
    *load =
        tkc_op_int(dot, ATTR_PARTS, 0) && dot_fits_group(dot) ? load_of(x, dot, 1, false) : NULL;
    if (!*load) return NULL;
    layout_pad(b->rank, b->shape, dims);
    return layout_blocked(ir_of(x->fn)->layouts, b->rank, dims, order, thread,
                          sum->nbits[DIM_LANE], sum->nbits[DIM_WARP]);
}

/* ---- the order of k ---- */

/* What is made of bytes for several warps goes on by shared memory as it is then (assign.c). */
static bool is_stored(const Anchors *x, const Op *dot, int operand, const Layout *sum)
{
    const Layout *l = propagate_operand(ir_of(x->fn)->layouts, dot, operand, sum);
    return type_bits(op_arg(dot, operand)->type) > 8 && layout_free_bits(l, DIM_WARP);
}

/* Four neighbours: of bytes they make the words that ldmatrix reads, of 16 bits two words, read side
   by side. Eight, which are 16 bytes of 16 bits, were tried: int8 weights for 16 tokens take 21.4 us
   by them and 19.7 by four, one byte after the other 34.4 (H200). */
int anchor_run_log2(const Anchors *x, const Op *dot, const Layout *sum)
{
    enum { FOUR = 2 };
    const int most = dot_most_run_log2(dot);
    bool in_bytes = false;
    if (dot_fits_group(dot) || bitset_has(&x->chained, (int)op_result(dot, 0)->id)) return 0;
    for (int i = 0; i < 2; i++)
        in_bytes |= !is_stored(x, dot, i, sum) && load_of(x, dot, i, true) != NULL;
    return in_bytes && FOUR <= most ? FOUR : 0;
}

/* Elements in squares. */
static const Layout *square(LayoutTable *t, int rank, const uint8_t *dim_log2, int warp_bits)
{
    const int row = rank - 2, column = rank - 1;
    int order[] = {column, row, 0}, thread[TKC_MAX_RANK] = {0}, total = 0;
    for (int i = 0; i < rank; i++) total += dim_log2[i];
    const int share = total - MACHINE_LANE_BITS - warp_bits;
    for (int i = 0; i < share; i++) {
        if (thread[column] <= thread[row] && thread[column] < dim_log2[column]) thread[column]++;
        else if (thread[row] < dim_log2[row]) thread[row]++;
    }
    const int woven[] = {row, column};
    const Blocked b = {.rank = rank,
                       .dim_log2 = dim_log2,
                       .order = order,
                       .thread_log2 = thread,
                       .nwoven = 2,
                       .woven = woven,
                       .lane_bits = MACHINE_LANE_BITS,
                       .warp_bits = warp_bits};
    return layout_blocked_as(t, &b);
}

const Layout *anchor_dot(const Anchors *x, const Op *dot)
{
    LayoutTable *t = ir_of(x->fn)->layouts;
    const Value *result = op_result(dot, 0);
    const Type *ty = result->type;
    const MmaRow *mma = dot_unit(dot).mma;
    const int warp_bits = log2_floor(x->fn->num_warps);
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(ty->rank, ty->shape, dims);
    if (!mma) return square(t, ty->rank, dims, warp_bits);
    WarpSplit groups;
    if (dot_splits_in_groups(dot, &groups) && !has_operand_across(x, dot))
        return fragment_sum(t, mma->shape, 2, dims, groups, warp_bits);
    const bool chained = bitset_has(&x->chained, (int)result->id);
    const WarpSplit split =
        split_warps(mma->shape, ty->rank, dims, chained, meets_along_rows(x, ty), warp_bits);
    return fragment_sum(t, mma->shape, ty->rank, dims, split, warp_bits);
}
