/* Reductions, as lib/layout/reduce_plan.h plans them: a thread's registers in a few rows side by
   side, so that the product in a sum of products is part of the addition (a tree would round and
   issue every other one by itself), butterflies over the lanes. What warps hold of the axis stays
   apart, as slots. A slot with no real element holds anything: it is padding, too. */
#include "layout/reduce_plan.h"
#include "lower/combine.h"

#include "base/limit.h"
#include "base/unwind.h"
#include "ir/type.h"

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

/* In order: combining need not commute. */
static Partial combine_all(Lower *L, const Reduce *r, const Partial *parts, int n)
{
    enum { ROWS = 4 };
    if (n < 2 * ROWS) return combine_row(L, r, parts, n);
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

static bool reduce_by_instruction(Lower *L, const Reduce *r, Partial *p)
{
    const uint32_t all_lanes = (uint32_t)L->machine->warp_size - 1;
    if (!r->by.known || p->valid || r->plan.lane_axis != all_lanes) return false;
    if (LLVMTypeOf(p->x[0]) != L->i32) return false;
    LLVMValueRef v = L->target->warp_reduce(L, r->by.known, r->by.dt, p->x[0]);
    if (v) p->x[0] = v;
    return v != NULL;
}

static Partial reduce_lanes(Lower *L, const Reduce *r, Partial p)
{
    if (reduce_by_instruction(L, r, &p)) return p;
    for (uint32_t lanes = r->plan.lane_axis; lanes;) {
        uint32_t bit = 1u << (31 - __builtin_clz(lanes));
        lanes ^= bit;
        p = combine_two(L, &r->by, p, combine_shuffle_xor(L, &r->by, p, bit));
    }
    return p;
}

void lower_reduce(Lower *L, const Op *op)
{
    Reduce r = {.by = combine_of(op, 0, op->nargs)};
    reduce_plan_op(&r.plan, ir_of(L->fn)->layouts, op);
    check(r.plan.direct, "a reduction in a layout that mixes the axis with other dims");
    check(r.plan.kept == layout_warp_bits(r.plan.operand, r.plan.axis),
          "a reduction across warps without slots for them");
    Partial *parts = arena_array(L->arena, Partial, r.plan.result_registers);
    for (int k = 0; k < r.plan.result_registers; k++)
        parts[k] = reduce_lanes(L, &r, reduce_thread(L, &r, (uint32_t)k));
    combine_set_results(L, &r.by, 0, parts, r.plan.result_registers);
}
