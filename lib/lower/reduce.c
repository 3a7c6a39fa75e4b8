/* Reductions, as lib/layout/reduce_plan.h plans them: a thread's registers in a few rows side by
   side, so that the product in a sum of products is part of the addition (a tree would round and
   issue every other one by itself); in one, as they come from memory, where a function joins them
   that waits for little (an index beside its maximum of 128 elements 1.18 times as fast, of 16 0.93;
   a maximum and a minimum of 16 1.04; Welford's sums, which divide, 0.56 to 0.99; H200). Then
   butterflies over the lanes. What warps hold of the axis stays apart, as slots. A slot with no real
   element holds anything: it is padding, too. */
#include "layout/reduce_plan.h"
#include "lower/combine.h"

#include "base/limit.h"
#include "base/unwind.h"
#include "layout/weight.h"

typedef struct Reduce {
    Combine by;
    ReducePlan plan;
} Reduce;

static Partial combine_row(Lower *L, const Reduce *r, const Partial *parts, int n)
{
    Partial sum = parts[0];
    for (int i = 1; i < n; i++) sum = combine_two(L, &r->by, sum, parts[i]);
    return sum;
}

/* Rows side by side wait less for each other, and take registers. */
static bool is_light(const Reduce *r, int n)
{
    enum { LIGHT = 4, MEDIUM = 15, MANY = 32 };
    return !r->by.known && weight_of_joining(r->by.op) <= (n > MANY ? MEDIUM : LIGHT);
}

/* In order: combining need not commute. */
static Partial combine_all(Lower *L, const Reduce *r, const Partial *parts, int n)
{
    enum { ROWS = 4 };
    if (n < 2 * ROWS || is_light(r, n)) return combine_row(L, r, parts, n);
    Partial rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        const int from = n * i / ROWS, to = n * (i + 1) / ROWS;
        rows[i] = combine_row(L, r, parts + from, to - from);
    }
    for (int i = 0; i < ROWS; i += 2) rows[i / 2] = combine_two(L, &r->by, rows[i], rows[i + 1]);
    return combine_two(L, &r->by, rows[0], rows[1]);
}

/* ---- in a thread ---- */

static Partial reduce_thread(Lower *L, const Reduce *r, uint32_t result_reg)
{
    const int n = layout_registers(r->plan.operand);
    uint32_t *regs = arena_array(L->arena, uint32_t, n);
    Partial *parts = arena_array(L->arena, Partial, n);
    limit_poll(); /* it looks at all registers for each */
    int count = reduce_group(&r->plan, result_reg, regs), used = 0;
    for (int i = 0; i < count; i++) {
        parts[used] = combine_element(L, &r->by, regs[i]);
        used += !lower_is_false(parts[used].valid) || used == 0;
        if (used > 1 && lower_is_false(parts[0].valid)) parts[0] = parts[--used];
    }
    return combine_all(L, r, parts, used);
}

/* ---- across lanes ---- */

static bool reduce_by_instruction(Lower *L, const Reduce *r, Partial *p, uint32_t lanes)
{
    if (!r->by.known || p->valid || lanes != MACHINE_LANES - 1) return false;
    if (LLVMTypeOf(p->x[0]) != L->i32) return false;
    LLVMValueRef v = target_warp_reduce(L, r->by.known, r->by.dt, p->x[0]);
    if (v) p->x[0] = v;
    return v != NULL;
}

static uint32_t highest_bit(uint32_t lanes)
{
    return 1u << (31 - __builtin_clz(lanes));
}

static Partial reduce_lanes(Lower *L, const Reduce *r, Partial p, uint32_t lanes)
{
    if (reduce_by_instruction(L, r, &p, lanes)) return p;
    for (uint32_t bit; lanes; lanes ^= bit) {
        bit = highest_bit(lanes);
        const Lane other = {.apart = lower_i32(L, bit)};
        p = combine_two(L, &r->by, p, combine_shuffle(L, &r->by, p, other));
    }
    return p;
}

static Partial choose(Lower *L, LLVMValueRef condition, Partial a, Partial b)
{
    Partial out = {arena_array(L->arena, LLVMValueRef, 1), NULL};
    out.x[0] = LLVMBuildSelect(L->b, condition, a.x[0], b.x[0], "");
    return out;
}

/* Of two results, the lanes with the bit combine the second, the others the first. */
static Partial reduce_half(Lower *L, const Reduce *r, Partial first, Partial second, uint32_t bit)
{
    LLVMValueRef upper = lower_thread_parity(L, bit, 0);
    const Partial mine = choose(L, upper, second, first), given = choose(L, upper, first, second);
    const Lane other = {.apart = lower_i32(L, bit)};
    return combine_two(L, &r->by, mine, combine_shuffle(L, &r->by, given, other));
}

/* Result k, of n, is left where the lane's halved bits say k's highest bits, in the same order. */
static void gather(Lower *L, const Reduce *r, Partial *parts, int n, uint32_t halved)
{
    const int left = n >> r->plan.halvings;
    uint32_t lane[32] = {0}, warp[32] = {0};
    for (int i = 0; i < 32; i++) lane[i] = (1u << i) & ~halved;
    const ThreadPart others = lower_thread_linear(L, lane, warp);
    for (int k = n - 1; k >= 0; k--) {
        uint32_t at = 0, half = (uint32_t)n / 2;
        for (uint32_t rest = halved; rest; rest ^= highest_bit(rest), half /= 2)
            if ((uint32_t)k & half) at |= highest_bit(rest);
        const Lane from = {.number = lower_thread_offset(L, others, at)};
        parts[k] = combine_shuffle(L, &r->by, parts[k % left], from);
    }
}

/* Each bit sees the same two partial results as a butterfly: the results are the same numbers. */
static void reduce_halves(Lower *L, const Reduce *r, Partial *parts, int n)
{
    uint32_t lanes = r->plan.lane_axis;
    int left = n;
    for (int i = 0; i < r->plan.halvings; i++) {
        const uint32_t bit = highest_bit(lanes);
        lanes ^= bit;
        left /= 2;
        for (int k = 0; k < left; k++) parts[k] = reduce_half(L, r, parts[k], parts[k + left], bit);
    }
    for (int k = 0; k < left; k++) parts[k] = reduce_lanes(L, r, parts[k], lanes);
    if (!r->plan.dealt) gather(L, r, parts, n, r->plan.lane_axis ^ lanes);
}

/* One value each, all of them real, and of a type that no instruction reduces. */
static bool may_halve(const Lower *L, const Reduce *r, const Partial *parts, int n)
{
    for (int k = 0; k < n; k++)
        if (parts[k].valid) return false;
    return r->plan.dealt || (r->by.known && LLVMTypeOf(parts[0].x[0]) != L->i32);
}

static void reduce_together(Lower *L, const Reduce *r, Partial *parts, int n)
{
    for (int k = 0; k < n; k++) parts[k] = reduce_thread(L, r, (uint32_t)k);
    if (may_halve(L, r, parts, n)) reduce_halves(L, r, parts, n);
    else
        for (int k = 0; k < n; k++) parts[k] = reduce_lanes(L, r, parts[k], r->plan.lane_axis);
}

void lower_reduce(Lower *L, const Op *op)
{
    Reduce r = {.by = combine_of(op, 0, op->nargs)};
    reduce_plan_op(&r.plan, ir_of(L->fn)->layouts, op);
    check(r.plan.direct, "a reduction in a layout that mixes the axis with other dims");
    check(r.plan.kept == layout_warp_bits(r.plan.operand, r.plan.axis),
          "a reduction across warps without slots for them");
    const int n = r.plan.result_registers;
    Partial *parts = arena_array(L->arena, Partial, n);
    if (r.plan.halvings) reduce_together(L, &r, parts, n);
    for (int k = 0; k < n && !r.plan.halvings; k++)
        parts[k] = reduce_lanes(L, &r, reduce_thread(L, &r, (uint32_t)k), r.plan.lane_axis);
    combine_set_results(L, &r.by, 0, parts, n >> r.plan.dealt);
}
