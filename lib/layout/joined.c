/* All pairs of rows, say: x[:, None, :] - y[None, :, :], summed along the last dim. A thread has a
   part of each block that is broadcast, for which it reads as many elements from shared memory, and
   the results that it reduces go through shuffles as often as lanes share the reduced dim. So the
   threads are dealt to the dims: every way is counted, and the cheapest taken. With 32 by 32 rows
   of 16 and 128 threads that is 4 rows of the one and 2 of the other in each thread, whole: 96
   elements read for 128 that are joined, and no shuffle. Along the fastest dims first, as accesses
   have it, a thread would have all 32 rows of one of them. */
#include "layout/joined.h"

#include <string.h>

#include "base/bitset.h"
#include "base/power.h"
#include "base/vec.h"
#include "ir/build.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/weight.h"

typedef struct Joined {
    Arena *scratch;
    Bitset seen;
    VEC(const Value *) work;
    VEC(uint32_t) parts; /* of each block that is broadcast, the dims that it has */
    const Op *reduce;
    bool is_other; /* something else is done with it */
    int rank;
    uint8_t dim_log2[TKC_MAX_RANK];
    int best_cost;
    int best[TKC_MAX_RANK]; /* of the elements of a thread, log2 */
} Joined;

static void reach(Joined *j, const Value *v)
{
    if (type_is_block(v->type) && bitset_add(&j->seen, (int)v->id))
        vec_push(j->scratch, &j->work, v);
}

static void add_part(Joined *j, const Type *part)
{
    uint32_t dims = 0;
    for (int d = 0; d < j->rank; d++) dims |= (uint32_t)(part->shape[d] > 1) << d;
    for (int i = 0; i < j->parts.len; i++)
        if (j->parts.data[i] == dims) return;
    vec_push(j->scratch, &j->parts, dims);
}

static void reach_operands(Joined *j, const Op *op)
{
    if (!op) j->is_other = true;
    else if (op->kind == OP_BROADCAST) add_part(j, op_arg(op, 0)->type);
    else if (ir_has(op, OT_EW) && op->nresults == 1)
        for (int i = 0; i < op->nargs; i++) reach(j, op_arg(op, i));
    else if (!ir_has(op, OT_CONST) && op->kind != OP_SPLAT) j->is_other = true;
}

static void reach_use(Joined *j, const Op *user)
{
    if (user->kind == OP_REDUCE) {
        if (j->reduce && ir_axis(j->reduce) != ir_axis(user)) j->is_other = true;
        j->reduce = user;
    } else if (ir_has(user, OT_EW) && user->nresults == 1) {
        reach(j, op_result(user, 0));
    } else {
        j->is_other = true;
    }
}

static int cost_of(const Joined *j, const int *own)
{
    const int axis = ir_axis(j->reduce), lanes = j->dim_log2[axis] - own[axis];
    int cost = 0, results = 0;
    for (int d = 0; d < j->rank; d++) results += d == axis ? 0 : own[d];
    for (int i = 0; i < j->parts.len; i++) {
        int elements = 0;
        for (int d = 0; d < j->rank; d++)
            if (j->parts.data[i] >> d & 1) elements += own[d];
        cost += 1 << elements;
    }
    const int step = weight_of_joining(j->reduce) + j->reduce->nargs * (COST_WAVE + COST_ISSUE);
    return cost + (lanes * step << results);
}

/* The dims from d on share what is left of the bits of threads. */
static void deal(Joined *j, int *own, int d, int left)
{
    if (d == j->rank) {
        const int cost = left ? INT32_MAX : cost_of(j, own);
        if (cost >= j->best_cost) return;
        j->best_cost = cost;
        memcpy(j->best, own, sizeof j->best);
        return;
    }
    for (int bits = 0; bits <= left && bits <= j->dim_log2[d]; bits++) {
        own[d] = j->dim_log2[d] - bits;
        deal(j, own, d + 1, left - bits);
    }
}

static bool find_parts(Joined *j, const Value *v)
{
    reach(j, v);
    for (int i = 0; i < j->work.len && !j->is_other; i++) {
        const Value *x = j->work.data[i];
        reach_operands(j, x->def);
        for (const Use *u = x->uses; u; u = u->next) reach_use(j, u->user);
    }
    return !j->is_other && j->reduce && j->parts.len > 1;
}

const Layout *joined_layout(Arena *scratch, const Func *fn, const Value *v)
{
    Joined j = {.scratch = scratch, .rank = v->type->rank, .best_cost = INT32_MAX};
    const int lane_bits = MACHINE_LANE_BITS, warp_bits = log2_floor(fn->num_warps);
    if (j.rank < 3) return NULL;
    j.seen = bitset_make(scratch, (int)fn->nvalues);
    const int total = layout_pad(j.rank, v->type->shape, j.dim_log2);
    if (total < lane_bits + warp_bits || !find_parts(&j, v)) return NULL;
    int own[TKC_MAX_RANK] = {0}, order[TKC_MAX_RANK] = {ir_axis(j.reduce)};
    deal(&j, own, 0, lane_bits + warp_bits);
    for (int d = j.rank - 1, n = 1; d >= 0; d--)
        if (d != order[0]) order[n++] = d;
    return layout_blocked(ir_of(fn)->layouts, j.rank, j.dim_log2, order, j.best, lane_bits,
                          warp_bits);
}
