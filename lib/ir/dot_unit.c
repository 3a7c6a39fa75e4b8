/* In: a dot and its target. Out: the instruction that computes it. The first that exists of

     one of the operands' types;
     for 8-bit floats, which fp16 holds exactly, one of fp16;
     for fp32, one of the type that the precision names, or fp32 in parts of that type;
     none: fused multiply and add, at least as precise as what was asked for. */
#include "ir/dot_unit.h"

#include <string.h>

#include "ir/ir.h"
#include "ir/machine.h"
#include "linear/swizzle.h"

static const MmaRow rows[] = {
#define MMA(sm, ptx, a, b, sum, m_log2, k_log2, unit_log2)                                         \
    {sm, ptx, DT_##a, DT_##b, DT_##sum, {m_log2, 3, k_log2, unit_log2}},
#include "ir/mma.def"
#undef MMA
};

static const MmaRow *last_row(int sm, DType a, DType b, DType sum)
{
    const MmaRow *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const MmaRow *r = &rows[i];
        if (r->sm <= sm && r->a == a && r->b == b && r->sum == sum) found = r;
    }
    return found;
}

static const MmaRow *find_row(const Machine *machine, DType a, DType b, DType sum)
{
    return machine && (machine->fp8_mma || !dtype_is_f8(a)) ? last_row(machine->sm, a, b, sum)
                                                            : NULL;
}

static DotUnit fp32_unit(const Machine *machine, const char *precision, DType sum)
{
    static const struct {
        const char *precision;
        DType part;
        int parts, pairs;
    } ways[] = {{"tf32", DT_F32, 1, 1},
                {"tf32x3", DT_F32, 2, 3},
                {"bf16x3", DT_BF16, 2, 3},
                {"bf16x6", DT_BF16, 3, 6}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const DType part = ways[i].part;
        const MmaRow *mma = find_row(machine, part, part, sum);
        if (mma && !strcmp(ways[i].precision, precision))
            return (DotUnit){mma, ways[i].parts, ways[i].pairs};
    }
    return (DotUnit){NULL, 1, 1};
}

DotUnit dot_unit(const Op *op)
{
    const Machine *machine = op->region->func->machine;
    const DType a = type_dtype(op_arg(op, 0)->type), b = type_dtype(op_arg(op, 1)->type),
                sum = type_dtype(op_arg(op, 2)->type);
    if (a == DT_F32 && b == DT_F32)
        return fp32_unit(machine, tkc_op_str(op, ATTR_PRECISION, "ieee"), sum);
    DotUnit unit = {find_row(machine, a, b, sum), 1, 1};
    if (!unit.mma && dtype_is_f8(a) && dtype_is_f8(b))
        unit.mma = find_row(machine, DT_F16, DT_F16, sum);
    return unit;
}

/* ---- warp groups ---- */

/* Their instructions have the shapes of the warp's but for rows: 32 bytes along k. */
const MmaRow *dot_group_row(const Op *op)
{
    enum { HOPPER = 90, SUM_BITS = 32 };
    const Machine *machine = op->region->func->machine;
    const DType a = type_dtype(op_arg(op, 0)->type), sum = type_dtype(op_arg(op, 2)->type);
    const bool has_none = !machine || !machine->arch_specific || machine->sm != HOPPER ||
                          (sum != DT_F16 && dtype_info(sum)->bits != SUM_BITS),
               is_apart = a == DT_F32 && strcmp(tkc_op_str(op, ATTR_PRECISION, "ieee"), "tf32"),
               is_exact = dtype_is_f8(a) && !tkc_op_int(op, ATTR_IMPRECISE, 1);
    if (has_none || is_apart || is_exact) return NULL;
    return last_row(HOPPER, a, type_dtype(op_arg(op, 1)->type), sum);
}

bool dot_fits_group(const Op *op)
{
    enum { LEAST_N = 8 };
    const MmaRow *row = dot_group_row(op);
    const Type *a = op_arg(op, 0)->type, *b = op_arg(op, 1)->type;
    const bool is_padded = a->shape[1] & (a->shape[1] - 1); /* along k, by what buffers happen to have */
    return row && !tkc_op_attr(op, ATTR_RUN) && a->rank == 2 && !is_padded &&
           op->region->func->num_warps % GROUP_WARPS == 0 && a->shape[0] >= GROUP_ROWS &&
           a->shape[1] >> row->shape.k_log2 && b->shape[1] >= LEAST_N;
}

bool dot_splits_in_groups(const Op *op, WarpSplit *out)
{
    enum { M_LOG2 = 4 };
    const Type *sum = op_result(op, 0)->type;
    uint8_t dims[TKC_MAX_RANK];
    if (!dot_fits_group(op)) return false;
    layout_pad(sum->rank, sum->shape, dims);
    const int warps_log2 = __builtin_ctz((unsigned)op->region->func->num_warps),
              along_m = dims[0] - M_LOG2;
    *out = (WarpSplit){.m = warps_log2 < along_m ? warps_log2 : along_m, .in_groups = true};
    out->n = warps_log2 - out->m;
    return !out->n || out->n <= dims[1] - GROUP_COLUMNS_LOG2;
}

int64_t dot_stages(const Op *loop)
{
    const int kernels = loop->region->func->num_stages;
    if (tkc_op_attr(loop, ATTR_STAGES) || kernels > 1)
        return tkc_op_int(loop, ATTR_STAGES, kernels);
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->kind == OP_DOT) return 2;
    return kernels;
}

bool dot_is_of_group(const Op *op)
{
    return op->kind == OP_DOT && dot_fits_group(op) &&
           fragment_is_group_sum(dot_group_row(op)->shape, op_result(op, 0)->type->layout);
}

bool dot_lies_along(const Op *op, int operand, bool flipped, int dim)
{
    enum { EITHER_BITS = 16 };
    return type_bits(op_arg(op, operand)->type) == EITHER_BITS ||
           dim == ((1 - operand) ^ (int)flipped);
}

static bool is_move(const Op *op)
{
    return op && (op->kind == OP_CONVERT || op->kind == OP_TRANS);
}

Value *dot_base(const Op *op, int operand, bool *flipped)
{
    Value *v = op_arg(op, operand);
    bool flips = false;
    for (; is_move(v->def); v = op_arg(v->def, 0))
        flips ^= v->def->kind == OP_TRANS && dot_flips(v->def);
    if (flipped) *flipped = flips;
    return v;
}

static bool changes_in(const Value *v, const Op *loop)
{
    for (int i = 0; i < loop->nregions; i++)
        if (!ir_is_defined_outside(v, loop->regions[i])) return true;
    return false;
}

Op *dot_home(Op *dot, const Value *v)
{
    Op *home = dot;
    for (Op *op = dot->region->parent; op && !changes_in(v, op); op = op->region->parent)
        if (op->kind != OP_IF) home = op;
    return home;
}

bool dot_operand_stays(const Op *op, int operand)
{
    const Value *v = dot_base(op, operand, NULL);
    const Region *turn = ir_turn(op);
    while (ir_def(v, OP_CAST) || is_move(v->def)) v = op_arg(v->def, 0);
    return turn && ir_is_defined_outside(v, turn);
}

const Use *dot_factor_use(const Op *op)
{
    const Use *use = op_result(op, 0)->uses;
    while (use && !use->next && use->user->kind == OP_TRANS) use = op_result(use->user, 0)->uses;
    return use && !use->next && use->user->kind == OP_DOT && use->user->region == op->region &&
                   use - use->user->args < 2
               ? use
               : NULL;
}

/* Of a block that has no layout yet, as of a number. */
static int thread_words(const Type *ty)
{
    return type_is_block(ty) && !ty->layout ? 1 : type_words(ty);
}

/* A product by warps, which hold its factors. */
static bool has_factors(const Op *op)
{
    return op->kind == OP_DOT && dot_unit(op).mma && !dot_is_of_group(op);
}

static bool adds_up(const Op *dot)
{
    const Use *use = op_result(dot, 0)->uses;
    return use && ir_has(use->user, OT_TERM);
}

/* Of its sum, if that goes to others in the turn. */
static int sum_words(const Op *dot)
{
    return adds_up(dot) ? 0 : thread_words(op_result(dot, 0)->type);
}

/* What is computed is held till it is asked for; other numbers are read where they are used. */
static bool is_held(const Op *op)
{
    const Type *ty = op->nresults ? op_result(op, 0)->type : NULL;
    return ty && type_is_block(ty) && type_is_float(ty) &&
           (ir_has(op, OT_EW) || op->kind == OP_DOT);
}

/* The last op of the region that asks for v; it or an op in it. */
static int last_use(const Map *numbers, const Value *v, const Region *r)
{
    int last = 0;
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *user = ir_op_of(u->user, r);
        const int at = user && !ir_has(user, OT_TERM) ? map_number(numbers, user) : 0;
        if (at > last) last = at;
    }
    return last;
}

/* The most that a turn holds beside a product's operands: its sum, and what was computed before it
   and is asked for behind it. */
static int most_beside(const Region *turn)
{
    Arena *arena = ir_of(turn->func)->arena;
    const ArenaMark mark = arena_mark(arena);
    Map numbers;
    map_init(&numbers, arena);
    int n = 0, now = 0, most = 0;
    for (const Op *op = turn->first; op; op = op->next) map_set_number(&numbers, op, n++);
    int *ends = arena_array(arena, int, n);
    for (const Op *op = turn->first; op; op = op->next) {
        const int at = map_number(&numbers, op);
        now -= ends[at];
        if (has_factors(op) && now + sum_words(op) > most) most = now + sum_words(op);
        const int last = is_held(op) ? last_use(&numbers, op_result(op, 0), turn) : 0;
        if (last <= at) continue;
        const int words = thread_words(op_result(op, 0)->type);
        now += words;
        ends[last] += words;
    }
    arena_reset(arena, mark);
    return most;
}

/* Products add up in its turns. Where none does, as in a recurrence, factors are most of what a turn
   would read. */
static bool sums_up(const Region *turn)
{
    const Op *op = turn->first;
    while (op && !(op->kind == OP_DOT && adds_up(op))) op = op->next;
    return op;
}

/* Of the products of its region that have the factor it is the one that counts it. */
static bool counts_factor(const Op *dot, int operand)
{
    const Use *u = op_arg(dot, operand)->uses;
    while (u->user->region != dot->region || !has_factors(u->user) || u == &u->user->args[2])
        u = u->next;
    return u == &dot->args[operand];
}

/* What stays is held by a loop's turns as long as there is room beside what they carry and hold;
   the first comes first. Counted each by itself, as they were, they spilled more: of 2,889 calls for
   sm_80 22 changed, of which six spill no more, seven less, and one 12 bytes more. With room for 164
   words for all of them 20 of 37 calls spilled 1,512 bytes, so 12 of them 584, at 0.99 of their
   speed; but those of many registers are much to read (5 to 20 % slower, H200). What other products
   of the turn hold counts, too, where any adds up: of 49 calls 20 spill less and three more;
   weights of a recurrence would be read again in each step, which ran at half the speed. */
static bool has_no_room(const Op *dot, int operand)
{
    enum { LARGE = 64, ROOM = 140, ROOM_OF_LARGE = 164 };
    const Op *loop = dot->region->parent;
    const int own = thread_words(op_arg(dot, operand)->type),
              most = own < LARGE ? ROOM : ROOM_OF_LARGE;
    const int beside = sums_up(dot->region) ? most_beside(dot->region) : -1;
    int words = 0;
    for (int i = 0; loop && i < loop->nresults; i++)
        words += thread_words(op_result(loop, i)->type);
    for (const Op *op = dot->region->first; words + own <= most; op = op->next)
        for (int i = 0; i < 2 && has_factors(op); i++) {
            const Value *v = op_arg(op, i);
            if (!dot_operand_stays(op, i) || !counts_factor(op, i)) continue;
            const int more = beside < 0 ? sum_words(op) : beside;
            const bool fits = words + thread_words(v->type) + more <= most;
            if (v == op_arg(dot, operand)) return !fits;
            if (fits) words += thread_words(v->type);
        }
    return true;
}

bool dot_holds_much(const Op *op, int operand)
{
    /* 16 rows of 512 numbers of 16 bits are 128 of each thread's registers */
    enum { MUCH = 64 };
    const Type *ty = op_arg(op, operand)->type;
    if (!has_factors(op)) return false;
    return thread_words(ty) > MUCH || (dot_operand_stays(op, operand) && has_no_room(op, operand));
}

bool dot_group_reads(const Op *op, int operand)
{
    bool flipped;
    Swizzle s;
    const Op *ring = dot_ring(op, operand, &flipped);
    const Type *buffer = ring ? op_arg(ring, 0)->type : NULL;
    if (!ring)
        return operand == 0 && dot_unit(op).mma == dot_group_row(op) && !dot_operand_stays(op, 0);
    return swizzle_find(ir_of(op->region->func)->layouts, buffer->layout, type_bytes(buffer), &s) &&
           dot_lies_along(op, operand, flipped, s.dim);
}

bool dot_is_waited_for(const Op *wait)
{
    const int64_t pending = tkc_op_int(wait, ATTR_PENDING, 0);
    const Op *dot = op_arg(wait, 0)->def;
    int64_t later = 0;
    if (!pending) return true;
    if (!dot || !dot_is_async(dot) || dot->region != wait->region) return false;
    for (const Op *op = dot->next; op != wait; op = op->next) later += dot_is_async(op);
    return later >= pending;
}

bool dot_begins_in(const Op *op)
{
    for (const Op *in = op; in; in = ir_next(in, op))
        if (dot_is_async(in)) return true;
    return false;
}

bool dot_begins_at_0(const Op *op)
{
    uint64_t bits;
    return ir_const_bits(op_arg(op, 2), &bits) && !bits;
}

int dot_together(const Op *op)
{
    enum { STEP = 32, USUAL = 128, ALL = 1 << 30 };
    const int64_t most = tkc_op_int(op, ATTR_IMPRECISE, USUAL);
    const Type *a = op_arg(op, 0)->type;
    if (!dtype_is_f8(type_dtype(a)) || most >= ALL) return 0;
    if (a->shape[1] <= most && dot_begins_at_0(op)) return 0;
    return most < STEP ? STEP : (int)most & -STEP;
}

static bool takes_async(const Use *use)
{
    return dot_is_async(use->user) && use != &use->user->args[2];
}

const Op *dot_source(const Op *op, int operand, OpKind kind, bool *flipped)
{
    const Op *from = op_arg(op, operand)->def;
    bool flips = false;
    for (; from && from->kind == OP_TRANS; from = op_arg(from, 0)->def) flips ^= dot_flips(from);
    if (flipped) *flipped = flips;
    return from && from->kind == kind ? from : NULL;
}

bool dot_reads_alone(const Op *op)
{
    const Use *use = op->nresults == 1 ? op_result(op, 0)->uses : NULL;
    if ((op->kind != OP_RING_LOAD && op->kind != OP_TRANS) || !use) return false;
    for (; use; use = use->next)
        if (!takes_async(use) && !(use->user->kind == OP_TRANS && dot_reads_alone(use->user)))
            return false;
    while (op->kind == OP_TRANS && op_arg(op, 0)->def) op = op_arg(op, 0)->def;
    return op->kind == OP_RING_LOAD;
}

/* Of a product that has an order of k to choose: two elements fill a register, and K is as long as
   what four threads have side by side. */
int dot_most_run_log2(const Op *op)
{
    enum { PAIR_LOG2 = 1, T_BITS = 2 };
    const MmaRow *mma = dot_unit(op).mma;
    const Type *a = op_arg(op, 0)->type;
    uint8_t dims[TKC_MAX_RANK];
    if (!mma || mma->shape.unit_log2 != PAIR_LOG2) return 0;
    layout_pad(a->rank, a->shape, dims);
    return dims[a->rank - 1] > T_BITS ? dims[a->rank - 1] - T_BITS : 0;
}

int dot_run_log2(const Op *op)
{
    return (int)tkc_op_int(op, ATTR_RUN, dot_unit(op).mma->shape.unit_log2);
}

const Layout *dot_operand_layout(LayoutTable *t, const Op *op, int operand, const Layout *result)
{
    const DotUnit unit = dot_unit(op);
    const Type *a = op_arg(op, 0)->type;
    uint8_t dims[TKC_MAX_RANK];
    if (unit.mma && !fragment_is_sum(unit.mma->shape, result)) return NULL;
    if (operand == 2) return result;
    layout_pad(a->rank, a->shape, dims);
    const int k_log2 = dims[a->rank - 1];
    if (!unit.mma) return fragment_rows(t, operand, result, k_log2);
    return fragment_operand(t, unit.mma->shape, operand, result, k_log2, dot_run_log2(op));
}
