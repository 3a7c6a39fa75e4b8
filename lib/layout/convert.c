/* Both layouts are linear maps F (from) and T (to) from positions (register, lane, warp) to
   elements. A conversion is a map S from positions of the result to positions of the operand
   with F(S(x)) = T(x); it is found column by column, and what S looks like decides the kind:

     S leaves lane and warp alone, and the register it picks does not depend on them: REGISTERS
     S leaves the warp alone, and that is cheaper: SHUFFLE
     otherwise: SHARED

   Shuffle. In a round every lane offers ONE register and reads from one lane. Let S take result
   register r and lane d to register Rr r + Rl d of lane Lr r + Ll d. In round k lane d receives
   its register k + A d, for a linear A chosen so that M = Lr A + Ll loses nothing: then the
   source lane is s = M d + Lr k, and the register it must offer is a function of s, P s +
   const(k), where P M = Rr A + Rl. Applying P before and A after all rounds, as conditional
   swaps of registers, leaves rounds with register numbers known at compile time. */
#include "layout/convert.h"

#include <limits.h>

#include "base/limit.h"
#include "base/unwind.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "ir/type.h"

/* ---- small tools ---- */

/* A linear map given by its values at vectors; 0 where nothing was said. */
typedef struct Partial {
    F2Space at;
    uint32_t value[32];
} Partial;

static void partial_define(Partial *m, uint32_t x, uint32_t y)
{
    int i = m->at.dim;
    if (f2_space_add(&m->at, x)) m->value[i] = y;
}

static uint32_t partial_value(const Partial *m, uint32_t x)
{
    uint32_t combo;
    return f2_space_solve(&m->at, x, &combo) ? f2_sum(m->value, combo) : 0;
}

/* ---- inside a warp ---- */

/* The map S, with the warp left alone: the register and the lane, by bits of the result's register,
   lane and warp. */
typedef struct Source {
    uint32_t reg[DIM_WARP + 1][LAYOUT_MAX_BITS], lane[DIM_WARP + 1][LAYOUT_MAX_BITS];
} Source;

/* The operand's columns that may be read. */
typedef struct Reach {
    const Layout *from;
    F2Matrix regs, both;            /* registers alone; registers, then lanes */
    uint32_t is_free[DIM_WARP + 1]; /* bits that must stay 0 */
} Reach;

static Reach reach_of(const Layout *from, unsigned flags)
{
    Reach r = {.from = from,
               .regs = layout_matrix(from, DIM_REGISTER),
               .both = layout_matrix(from, DIM_LANE)};
    for (LayoutDim d = DIM_LANE; flags & CONVERT_CANONICAL && d <= DIM_WARP; d++)
        r.is_free[d] = layout_free_bits(from, d);
    for (int i = 0; i < from->nbits[DIM_LANE]; i++)
        if (r.is_free[DIM_LANE] >> i & 1) r.both.col[r.regs.cols + i] = 0;
    return r;
}

/* Some position of the own warp that holds `v`, registers first. */
static bool find_source(const Reach *r, uint32_t v, uint32_t *reg, uint32_t *lane)
{
    uint64_t x;
    if (!f2_solve(&r->both, v, &x)) return false;
    *reg = (uint32_t)(x & ((UINT64_C(1) << r->regs.cols) - 1));
    *lane = (uint32_t)(x >> r->regs.cols);
    return true;
}

/* Of what bit i of that dim leads to. A warp stays, and staying in the own lane comes first. */
static bool source_of(const Reach *r, LayoutDim dim, int i, uint32_t v, uint32_t *reg,
                      uint32_t *lane)
{
    uint64_t x;
    const bool has = i < r->from->nbits[dim] && !(r->is_free[dim] >> i & 1);
    const uint32_t own = has ? r->from->basis[dim][i] : 0;
    if (dim == DIM_WARP) return has && find_source(r, v ^ own, reg, lane);
    if (dim == DIM_LANE && has && f2_solve(&r->regs, v ^ own, &x)) {
        *reg = (uint32_t)x;
        *lane = UINT32_C(1) << i;
        return true;
    }
    return find_source(r, v, reg, lane);
}

/* False when some element has to come from another warp. */
static bool find_sources(Source *s, const Layout *from, const Layout *to, unsigned flags)
{
    const Reach r = reach_of(from, flags);
    *s = (Source){0};
    for (LayoutDim d = DIM_REGISTER; d <= DIM_WARP; d++)
        for (int i = 0; i < to->nbits[d]; i++)
            if (!source_of(&r, d, i, to->basis[d][i], &s->reg[d][i], &s->lane[d][i])) return false;
    return true;
}

/* The combinations of lane bits that S sends to lane 0: first those it also sends to register 0
   (duplicates), then the others. Returns how many; *nsame of them are of the first sort. */
static int lost_lanes(const Source *s, int lanes, uint32_t *out, int *nsame)
{
    F2Matrix lane_only = {.cols = lanes};
    uint64_t kernel[F2_MAX];
    uint32_t regs[CONVERT_MAX_THREAD_BITS];
    for (int i = 0; i < lanes; i++) lane_only.col[i] = s->lane[DIM_LANE][i];
    int n = f2_kernel(&lane_only, kernel);
    F2Matrix images = {.cols = n};
    for (int i = 0; i < n; i++)
        images.col[i] = regs[i] = f2_sum(s->reg[DIM_LANE], (uint32_t)kernel[i]);
    uint64_t same[F2_MAX];
    *nsame = f2_kernel(&images, same);
    int count = 0;
    F2Space seen = {0};
    for (int j = 0; j < *nsame; j++) {
        uint32_t u = 0;
        for (uint64_t x = same[j]; x; x &= x - 1) u ^= (uint32_t)kernel[__builtin_ctzll(x)];
        f2_space_add(&seen, u);
        out[count++] = u;
    }
    for (int i = 0; i < n; i++) {
        if (f2_space_add(&seen, (uint32_t)kernel[i])) out[count++] = (uint32_t)kernel[i];
    }
    return count;
}

/* Chooses A: lanes that would read one lane for different registers take turns. False when they
   cannot. */
static bool choose_turns(const Source *s, int lanes, int regs, uint32_t *turn_of_lane)
{
    uint32_t lost[CONVERT_MAX_THREAD_BITS];
    int nsame, nlost = lost_lanes(s, lanes, lost, &nsame);
    F2Space reached = {0};
    Partial turns = {0};
    for (int i = 0; i < lanes; i++) f2_space_add(&reached, s->lane[DIM_LANE][i]);
    for (int j = 0; j < nlost; j++) {
        int r = 0;
        if (j >= nsame) {
            while (r < regs && !f2_space_add(&reached, s->lane[DIM_REGISTER][r])) r++;
            if (r == regs) return false;
        }
        partial_define(&turns, lost[j], j < nsame ? 0 : UINT32_C(1) << r);
    }
    for (int i = 0; i < lanes; i++) partial_define(&turns, UINT32_C(1) << i, 0);
    for (int i = 0; i < lanes; i++) turn_of_lane[i] = partial_value(&turns, UINT32_C(1) << i);
    return true;
}

/* Stages that add of_lane(lane) + of_warp(warp) to every register number. */
static void make_stages(ConvertStages *st, const uint32_t *of_lane, int lanes,
                        const uint32_t *of_warp, int warps)
{
    F2Space image = {0};
    for (int i = 0; i < lanes; i++) f2_space_add(&image, of_lane[i]);
    for (int i = 0; i < warps; i++) f2_space_add(&image, of_warp[i]);
    *st = (ConvertStages){.n = image.dim};
    for (int j = 0; j < image.dim; j++) {
        st->vec[j] = image.vec[j];
        uint32_t combo;
        for (int i = 0; i < lanes; i++) {
            if (f2_space_solve(&image, of_lane[i], &combo))
                st->lane_mask[j] |= (combo >> j & 1) << i;
        }
        for (int i = 0; i < warps; i++) {
            if (f2_space_solve(&image, of_warp[i], &combo))
                st->warp_mask[j] |= (combo >> j & 1) << i;
        }
    }
}

bool convert_begins_at_own(const ConvertPlan *p)
{
    for (int i = 0; i < p->to->nbits[DIM_LANE]; i++)
        if (p->lane_of_lane[i] != UINT32_C(1) << i) return false;
    for (int i = 0; i < p->to->nbits[DIM_WARP]; i++)
        if (p->lane_of_warp[i]) return false;
    return true;
}

static bool stays_in_lane(const ConvertPlan *p)
{
    for (int i = 0; i < p->to->nbits[DIM_REGISTER]; i++)
        if (p->lane_of_round[i]) return false;
    return convert_begins_at_own(p);
}

/* Turns S and A into the three steps. */
static bool plan_shuffle(ConvertPlan *p, unsigned flags)
{
    Source s;
    const Layout *to = p->to;
    int regs = to->nbits[DIM_REGISTER], lanes = to->nbits[DIM_LANE], warps = to->nbits[DIM_WARP];
    uint32_t turn[CONVERT_MAX_THREAD_BITS] = {0}, offer[CONVERT_MAX_THREAD_BITS],
             offer_warp[CONVERT_MAX_THREAD_BITS];
    if (!find_sources(&s, p->from, to, flags) || !choose_turns(&s, lanes, regs, turn)) return false;
    Partial send = {0}; /* P */
    for (int i = 0; i < lanes; i++) {
        p->lane_of_lane[i] = s.lane[DIM_LANE][i] ^ f2_sum(s.lane[DIM_REGISTER], turn[i]);
        partial_define(&send, p->lane_of_lane[i],
                       s.reg[DIM_LANE][i] ^ f2_sum(s.reg[DIM_REGISTER], turn[i]));
    }
    for (int i = 0; i < p->from->nbits[DIM_LANE]; i++) partial_define(&send, UINT32_C(1) << i, 0);
    for (int i = 0; i < p->from->nbits[DIM_LANE]; i++)
        offer[i] = partial_value(&send, UINT32_C(1) << i);
    for (int i = 0; i < regs; i++) {
        p->lane_of_round[i] = s.lane[DIM_REGISTER][i];
        p->reg_of_round[i] = s.reg[DIM_REGISTER][i] ^ partial_value(&send, s.lane[DIM_REGISTER][i]);
    }
    for (int i = 0; i < warps; i++) {
        p->lane_of_warp[i] = s.lane[DIM_WARP][i];
        offer_warp[i] = s.reg[DIM_WARP][i] ^ partial_value(&send, s.lane[DIM_WARP][i]);
    }
    make_stages(&p->send, offer, p->from->nbits[DIM_LANE], offer_warp, warps);
    make_stages(&p->receive, turn, lanes, NULL, 0);
    p->moves_lanes = !stays_in_lane(p);
    p->kind = p->moves_lanes || p->send.n || p->receive.n ? CONVERT_SHUFFLE : CONVERT_REGISTERS;
    return true;
}

/* ---- choosing ---- */

static bool stages_reach(const ConvertStages *st, uint32_t registers)
{
    uint32_t all = 0;
    for (int i = 0; i < st->n; i++) all |= st->vec[i];
    return all & registers;
}

/* Register bit i is as it is in the operand, and nothing else moves it. */
static bool stays(const ConvertPlan *p, int i)
{
    const uint32_t bit = UINT32_C(1) << i;
    if (i == p->from->nbits[DIM_REGISTER] || i == p->to->nbits[DIM_REGISTER] || p->lane_of_round[i] ||
        p->reg_of_round[i] != bit || stages_reach(&p->send, bit) || stages_reach(&p->receive, bit))
        return false;
    for (int k = 0; k < p->to->nbits[DIM_REGISTER]; k++)
        if (k != i && p->reg_of_round[k] & bit) return false;
    return true;
}

enum { WORD_BYTES = 4 };

int convert_word_log2(const ConvertPlan *p)
{
    int n = 0;
    while (p->elem_bytes << n < WORD_BYTES && stays(p, n)) n++;
    return n;
}

static int shuffle_cost(const ConvertPlan *p)
{
    const int log2 = convert_word_log2(p), from = layout_registers(p->from) >> log2,
              to = layout_registers(p->to) >> log2,
              shuffles = (p->elem_bytes + WORD_BYTES - 1) / WORD_BYTES;
    return (p->send.n * from + p->receive.n * to) * COST_ISSUE +
           (p->moves_lanes ? to * shuffles * (COST_ISSUE + COST_WAVE) : 0);
}

static int side_cost(const Layout *l, int vector_log2, int waves)
{
    const int accesses = layout_registers(l) >> vector_log2;
    return (accesses ? accesses : 1) * (COST_ISSUE + waves * COST_WAVE);
}

int convert_read_cost(const Layout *buffer, const Layout *to, int elem_bytes)
{
    SharedAccess a;
    if (!shared_access(&a, to, buffer, elem_bytes)) return INT_MAX;
    return side_cost(to, a.vector_log2, shared_waves(&a, elem_bytes));
}

static void set_shared_cost(ConvertPlan *p)
{
    const int writes = side_cost(p->from, p->shared.write_log2, p->shared.write_waves),
              reads = side_cost(p->to, p->shared.read_log2, p->shared.read_waves);
    const int meet = p->to->nbits[DIM_WARP] ? COST_BARRIER : COST_WARP_BARRIER;
    p->cost = writes + reads + (meet << p->shared.pieces_log2);
    p->cost_ready = reads > writes ? reads - writes : 0;
}

void convert_plan(ConvertPlan *out, const Layout *from, const Layout *to, int elem_bytes,
                  unsigned flags)
{
    check(from->total_log2 == to->total_log2, "conversion between layouts of different shapes");
    check(layout_is_surjective(from), "conversion from a layout that lacks elements");
    limit_poll(); /* large blocks take a while, and remat.c asks for many plans */
    ConvertPlan near = {.from = from, .to = to, .elem_bytes = elem_bytes}, far = near;
    bool inside = !(flags & CONVERT_FORCE_SHARED) && plan_shuffle(&near, flags);
    near.cost = near.cost_ready = shuffle_cost(&near);
    if (inside && near.kind == CONVERT_REGISTERS) {
        *out = near;
        return;
    }
    far.kind = CONVERT_SHARED;
    shared_plan(&far.shared, from, to, elem_bytes,
                flags & CONVERT_WHOLE ? INT32_MAX : CONVERT_SCRATCH_MAX);
    set_shared_cost(&far);
    *out = inside && near.cost <= far.cost ? near : far;
}

/* Bytes of a factor that has, or will have, a buffer of its own. */
static int64_t factor_bytes(const Op *dot, int operand)
{
    const Value *v = op_arg(dot, operand);
    while (v->def && v->def->kind == OP_TRANS) v = op_arg(v->def, 0);
    const bool moves = v->def && (v->def->kind == OP_CONVERT || v->def->kind == OP_SLOAD);
    return moves && dot_holds_much(dot, operand)
               ? (int64_t)type_bytes(v->type) << v->type->layout->total_log2
               : 0;
}

bool convert_is_by_steps(const Op *op)
{
    enum { FILL_WARPS = 8 }; /* of a multiprocessor, each with all registers that it can have */
    const Func *fn = op->region->func;
    const Use *use = dot_factor_use(op);
    if (!fn->machine || !use) return false;
    const Op *dot = use->user;
    const int operand = (int)(use - dot->args),
              warps = fn->num_warps < FILL_WARPS / 2 ? fn->num_warps : FILL_WARPS / 2;
    return factor_bytes(dot, operand) &&
           factor_bytes(dot, 0) + factor_bytes(dot, 1) <=
               (int64_t)fn->machine->max_smem * warps / FILL_WARPS;
}

void convert_plan_op(ConvertPlan *out, const Op *op)
{
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    check(from->layout && to->layout, "conversion without a layout");
    convert_plan(out, from->layout, to->layout, type_bytes(to),
                 (tkc_op_int(op, ATTR_CANONICAL, 0) ? CONVERT_CANONICAL : 0) |
                     (convert_is_by_steps(op) ? CONVERT_WHOLE : 0));
}

bool convert_is_shared(const Op *op)
{
    ConvertPlan plan;
    if (op->kind != OP_CONVERT) return false;
    convert_plan_op(&plan, op);
    return plan.kind == CONVERT_SHARED;
}

/* ---- reading a plan ---- */

uint32_t convert_source_reg(const ConvertPlan *p, uint32_t round)
{
    return f2_sum(p->reg_of_round, round);
}

uint32_t convert_source_lane(const ConvertPlan *p, uint32_t round, uint32_t lane, uint32_t warp)
{
    return f2_sum(p->lane_of_round, round) ^ f2_sum(p->lane_of_lane, lane) ^
           f2_sum(p->lane_of_warp, warp);
}
