/* In: the dots of a function. Out: the layout of each one's sum, from which those of its operands
   follow (ir/dot_unit.h).

   What is left to choose is how the warps share the tiles of a sum. Batches have nothing in common:
   warps go along them first. Then along rows and columns, whichever a warp has more of: it loads a
   row of a and a column of b for each. But where a sum becomes, in registers, the first operand of
   another dot, all warps go along the rows of both: then a warp has whole rows of that operand, and
   nothing leaves the warp on the way, nor in the reductions of rows that are often on it.

   A warp group's product (ir/dot_unit.h) has its warps along rows, whatever that costs in loads: it
   reads its operands itself. Whether it comes to that, the memory level decides.

   Without a matrix instruction a thread holds a square of the sum, which needs the fewest elements
   of the operands. */
#include "layout/anchor.h"

#include "base/bitset.h"
#include "base/vec.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"

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

static int log2_floor(int x)
{
    return x <= 1 ? 0 : 31 - __builtin_clz((unsigned)x);
}

static WarpSplit split_warps(MmaShape shape, int rank, const uint8_t *dim_log2, bool chained,
                             int warp_bits)
{
    WarpSplit s = {0};
    int rows = dim_log2[rank - 2], columns = dim_log2[rank - 1];
    for (; warp_bits && rank == 3 && s.batch < dim_log2[0]; warp_bits--) s.batch++;
    for (; warp_bits; warp_bits--) {
        const bool can_m = rows > shape.m_log2, can_n = columns > shape.n_log2;
        if (can_m && (chained || !can_n || rows >= columns)) s.m++, rows--;
        else if (can_n) s.n++, columns--;
    }
    return s;
}

/* ---- warp groups ---- */

/* A loop can bring it ahead so that the group reads it, or, of a, registers have it. */
static bool can_come(const Anchors *x, const Op *dot, int operand)
{
    bool flipped;
    const Op *load = dot_source(dot, operand, OP_LOAD, &flipped);
    if (load && load->region == dot->region)
        return dot_lies_along(dot, operand, flipped, access_dim(x->accesses, load));
    return operand == 0 && (dot_unit(dot).mma == dot_group_row(dot) ||
                            ir_is_defined_outside(op_arg(dot, 0), dot->region));
}

/* Groups go along rows as far as these go, then along columns. */
static bool split_groups(const Anchors *x, const Op *dot, const uint8_t *dim_log2, int warp_bits,
                         WarpSplit *s)
{
    enum { M_LOG2 = 4, LEAST_N_LOG2 = 6 /* of several groups */ };
    const Op *loop = dot->region->parent;
    const int rows = dim_log2[0] - M_LOG2;
    *s = (WarpSplit){.m = warp_bits < rows ? warp_bits : rows, .in_groups = true};
    s->n = warp_bits - s->m;
    return dot_fits_group(dot) && loop && loop->kind == OP_FOR && can_come(x, dot, 0) &&
           can_come(x, dot, 1) && dot_stages(loop) > 1 &&
           (!s->n || s->n <= dim_log2[1] - LEAST_N_LOG2);
}

/* Elements in squares. */
static const Layout *square(LayoutTable *t, int rank, const uint8_t *dim_log2, int lane_bits,
                            int warp_bits)
{
    const int row = rank - 2, column = rank - 1;
    int order[] = {column, row, 0}, thread[TKC_MAX_RANK] = {0}, total = 0;
    for (int i = 0; i < rank; i++) total += dim_log2[i];
    const int share = total - lane_bits - warp_bits;
    for (int i = 0; i < share; i++) {
        if (thread[column] <= thread[row] && thread[column] < dim_log2[column]) thread[column]++;
        else if (thread[row] < dim_log2[row]) thread[row]++;
    }
    return layout_blocked(t, rank, dim_log2, order, thread, lane_bits, warp_bits);
}

const Layout *anchor_dot(const Anchors *x, const Op *dot)
{
    LayoutTable *t = ir_of(x->fn)->layouts;
    const Value *result = op_result(dot, 0);
    const Type *ty = result->type;
    const MmaRow *mma = dot_unit(dot).mma;
    const int lane_bits = log2_floor(x->fn->machine ? x->fn->machine->warp_size : 32),
              warp_bits = log2_floor(x->fn->num_warps);
    uint8_t dims[TKC_MAX_RANK];
    layout_pad(ty->rank, ty->shape, dims);
    if (!mma) return square(t, ty->rank, dims, lane_bits, warp_bits);
    WarpSplit groups;
    if (ty->rank == 2 && split_groups(x, dot, dims, warp_bits, &groups))
        return fragment_sum(t, mma->shape, 2, dims, groups, warp_bits);
    const bool chained = bitset_has(&x->chained, (int)result->id);
    return fragment_sum(t, mma->shape, ty->rank, dims,
                        split_warps(mma->shape, ty->rank, dims, chained, warp_bits), warp_bits);
}
