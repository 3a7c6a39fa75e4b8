/* The last step of a scan across warps. In: each segment scanned for itself, and for each segment
   the total of the one before it, in a layout where every warp has those of all segments of its
   rows (layout_slots). Out: the scan of the whole axis.

   The totals are scanned in the warp; the first has nothing before it. What that gives at a slot is
   all that comes before the segment: it is fetched, once for the registers that hold a segment in a
   thread, and comes before their stretches. A bit of the slot's number that a warp and lanes hold
   leads to another lane; one that a warp and registers hold, to one of two registers. */
#include "lower/scan.h"

typedef struct Carry {
    Scan *whole, totals;
    int bit;      /* slots are the coordinate from that bit on */
    int segments; /* real ones */
} Carry;

/* ---- what comes before each segment ---- */

/* The total at that register counts: the first of the scan does not, nor do slots past the end. */
static LLVMValueRef has_total(Lower *L, const Carry *c, uint32_t reg)
{
    const Layout *l = c->totals.layout;
    const int axis = c->totals.by.axis;
    if (c->totals.reverse) return lower_below(L, l, axis, reg, (uint32_t)c->segments - 1);
    LLVMValueRef is_first = lower_below(L, l, axis, reg, 1),
                 real = lower_below(L, l, axis, reg, (uint32_t)c->segments);
    if (!is_first) return LLVMConstInt(L->i1, 0, false);
    if (!scan_meets_padding(&c->totals)) real = NULL;
    return lower_and(L, real, lower_is_false(is_first) ? NULL : LLVMBuildNot(L->b, is_first, ""));
}

static void scan_totals(Lower *L, Carry *c)
{
    Scan *t = &c->totals;
    for (uint32_t r = 0; r < (uint32_t)layout_registers(t->layout); r++)
        t->parts[r] =
            combine_where(L, &t->by, combine_element_as_is(L, &t->by, r), has_total(L, c, r));
    scan_segments_of(L, t, t->axis.n);
}

/* ---- to the segments ---- */

/* The register of the totals with the thread's own slot in the bits of `warps` (of the coordinate).
   `valid` tells no more than that it may be none. */
static Partial choose(Lower *L, const Carry *c, uint32_t reg, uint32_t warps)
{
    const Scan *t = &c->totals;
    if (!warps) return t->parts[reg];
    const int i = __builtin_ctz(warps);
    const Partial zero = choose(L, c, reg, warps & (warps - 1)),
                  one = choose(L, c, reg ^ t->axis.bits[i], warps & (warps - 1));
    const Partial out = {arena_array(L->arena, LLVMValueRef, t->by.n),
                         zero.valid ? zero.valid : one.valid};
    LLVMValueRef is_zero = lower_thread_is_zero(L, 0, c->whole->axis.bits[c->bit + i]);
    for (int k = 0; k < t->by.n; k++)
        out.x[k] = LLVMBuildSelect(L->b, is_zero, zero.x[k], one.x[k], "");
    return out;
}

/* The lane that has the slot of a register's element. */
static LLVMValueRef lane_of(Lower *L, const Carry *c, uint32_t slot)
{
    const LayoutAxis *t = &c->totals.axis, *a = &c->whole->axis;
    uint32_t lane[32] = {0}, warp[32] = {0}, constant = 0, taken = 0;
    for (int i = 0; i < t->n; i++) {
        if (t->held_by[i] != DIM_LANE) continue;
        taken |= t->bits[i];
        if (a->held_by[c->bit + i] == DIM_WARP)
            warp[__builtin_ctz(a->bits[c->bit + i])] = t->bits[i];
        else if (slot >> i & 1) constant |= t->bits[i];
    }
    for (int i = 0; i < c->whole->layout->nbits[DIM_LANE]; i++) lane[i] = (1u << i) & ~taken;
    return lower_thread_offset(L, lower_thread_linear(L, lane, warp), constant);
}

/* Whether there is a segment before that of a register's element. */
static LLVMValueRef has_before(Lower *L, const Carry *c, uint32_t reg)
{
    const Scan *s = c->whole;
    const uint32_t last = (uint32_t)(c->segments - 1) << c->bit;
    if (s->reverse) return lower_below(L, s->layout, s->by.axis, reg, last);
    LLVMValueRef in_first = lower_below(L, s->layout, s->by.axis, reg, 1u << c->bit);
    return in_first ? LLVMBuildNot(L->b, in_first, "") : LLVMConstInt(L->i1, 0, false);
}

/* All that comes before the segment of a register's element. */
static Partial before_segment(Lower *L, const Carry *c, uint32_t reg)
{
    const Scan *t = &c->totals;
    const uint32_t slots = layout_axis_slots(&c->whole->axis),
                   held = t->axis.in_lanes << layout_dim_shift(t->layout, t->by.axis),
                   index = layout_keep_bits(c->whole->layout, c->whole->by.axis, slots,
                                            layout_apply(c->whole->layout, reg, 0, 0));
    const int from = layout_find_register(t->layout, index & ~held);
    const uint32_t slot = (uint32_t)layout_coord(t->layout, index, t->by.axis);
    Partial p =
        choose(L, c, (uint32_t)from, t->axis.in_registers & c->whole->axis.in_warps >> c->bit);
    const bool is_real = !p.valid;
    p.valid = NULL;
    if (t->axis.in_lanes) p = combine_shuffle(L, &t->by, p, (Lane){.number = lane_of(L, c, slot)});
    p.valid = is_real ? NULL : has_before(L, c, reg);
    return p;
}

/* ---- the op ---- */

void lower_carry(Lower *L, const Op *op)
{
    const int n = op->nresults;
    const Type *totals = op_arg(op, n)->type;
    Scan *s = scan_of_carry(L, op);
    Carry c = {.whole = s,
               .totals = scan_of(L, combine_of(op, n, n), totals->layout),
               .bit = s->axis.n - __builtin_popcount(layout_axis_slots(&s->axis)),
               .segments = totals->shape[ir_axis(op)]};
    scan_totals(L, &c);
    for (uint32_t r = 0; r < (uint32_t)layout_registers(s->layout); r++)
        if (scan_begins(s, r, c.bit)) scan_put_before(L, s, before_segment(L, &c, r), r, c.bit);
    scan_set_results(L, s);
}
