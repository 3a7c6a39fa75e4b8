/* Inclusive scans along one dim, of what a warp holds: the whole axis, or whole segments of it and
   their totals (carry.c goes on from there).

   The bits of the axis are taken from the lowest to the highest, those that are held alike together
   (a run): by registers of a thread, or by lanes. Elements that agree in all bits but those taken
   so far are a segment. The invariant: every element, with what comes before its stretch, is the
   scan of its segment up to and with itself, so the last element of a segment gives its total. A
   stretch is what the first run has of a thread if registers hold it, else one element. A run joins
   neighbouring segments to larger ones:

     registers   all of a segment comes before those after it; in the first run, each element is
                 combined with the one before;
     lanes       the totals are scanned across the lanes (each step, the half of the lanes that
                 comes later takes what the half before ends with), then what the lane before has
                 comes before the stretches of its own segment.

   So what comes before several elements is combined into them once, when all of it is known: after
   the last run, or when carry.c has what other warps hold.

   A reverse scan is the same along the complemented coordinate. What pads an axis comes last in it,
   where it meets no real element but in a reverse scan, and with assertions in the combine. */
#include "lower/scan.h"

#include "base/unwind.h"

/* Bits [low, high) of the axis, all of them registers' or all of them lanes'. */
typedef struct Run {
    int low, high;
} Run;

static uint32_t bits_below(int n)
{
    return (UINT32_C(1) << n) - 1;
}

/* The bits of the coordinate below that number which registers hold. */
static uint32_t registers_below(const Scan *s, int bit)
{
    return s->axis.in_registers & bits_below(bit);
}

/* The lane bits that hold bits [low, high) of the coordinate. */
static uint32_t lanes_of(const Scan *s, int low, int high)
{
    uint32_t lanes = 0;
    for (int i = low; i < high; i++) lanes |= s->axis.held_by[i] == DIM_LANE ? s->axis.bits[i] : 0;
    return lanes;
}

/* The register's part of the coordinate, counted from where the scan begins. */
static uint32_t place_of(const Scan *s, uint32_t reg)
{
    const uint32_t coord = lower_reg_coord(s->layout, s->by.axis, reg);
    return (s->reverse ? ~coord : coord) & s->axis.in_registers;
}

/* The register that differs from reg in that the bits `mask` of its place are those of `place`. */
static uint32_t register_at(const Scan *s, uint32_t reg, uint32_t mask, uint32_t place)
{
    for (uint32_t bits = (place_of(s, reg) ^ place) & mask; bits; bits &= bits - 1)
        reg ^= s->axis.bits[__builtin_ctz(bits)];
    return reg;
}

bool scan_begins(const Scan *s, uint32_t reg, int bit)
{
    return (place_of(s, reg) & registers_below(s, bit)) == 0;
}

void scan_put_before(Lower *L, Scan *s, Partial before, uint32_t reg, int bit)
{
    const uint32_t mask = registers_below(s, bit) & ~bits_below(s->stretch);
    uint32_t place = 0;
    do {
        const uint32_t r = register_at(s, reg, mask, place);
        Partial *p = &s->before[r];
        *p = p->x ? combine_two(L, &s->by, before, *p) : before;
        s->last[r].x = NULL;
        place = (place - mask) & mask;
    } while (place);
}

/* A register's part, with what comes before its stretch. */
static Partial whole_part(Lower *L, const Scan *s, uint32_t reg)
{
    const uint32_t mask = bits_below(s->stretch), first = register_at(s, reg, mask, 0);
    if (s->last[first].x && reg == register_at(s, reg, mask, mask)) return s->last[first];
    if (!s->stretch || !s->before[first].x) return s->parts[reg];
    return combine_two(L, &s->by, s->before[first], s->parts[reg]);
}

void scan_set_results(Lower *L, const Scan *s)
{
    const int n = layout_registers(s->layout);
    Partial *parts = arena_array(L->arena, Partial, n);
    for (uint32_t r = 0; r < (uint32_t)n; r++) parts[r] = whole_part(L, s, r);
    combine_set_results(L, &s->by, 0, parts, n);
}

/* ---- lanes ---- */

/* The lane's number with the bits `mask` those of the first or last of the scan. */
static LLVMValueRef lane_at(Lower *L, const Scan *s, uint32_t last, uint32_t first)
{
    uint32_t lane[32] = {0}, warp[32] = {0};
    for (int i = 0; i < s->layout->nbits[DIM_LANE]; i++) lane[i] = (1u << i) & ~(first | last);
    return lower_thread_offset(L, lower_thread_linear(L, lane, warp), s->reverse ? first : last);
}

/* True in lanes that come later by this bit. */
static LLVMValueRef is_later(Lower *L, const Scan *s, uint32_t bit)
{
    LLVMValueRef is_zero = lower_thread_is_zero(L, bit, 0);
    return s->reverse ? is_zero : LLVMBuildNot(L->b, is_zero, "");
}

/* The totals of the lanes' segments become the scan of them. */
static Partial scan_totals(Lower *L, const Scan *s, Run run, Partial total)
{
    for (int i = run.low; i < run.high; i++) {
        const uint32_t bit = s->axis.bits[i];
        const Lane from = {.number = lane_at(L, s, lanes_of(s, 0, i), bit)};
        Partial before = combine_shuffle(L, &s->by, total, from);
        before.valid = lower_and(L, before.valid, is_later(L, s, bit));
        total = combine_two(L, &s->by, before, total);
    }
    return total;
}

/* The number of the lane before in the run, at the end of what was done below it; in the first
   lane of the run, the last one. */
static LLVMValueRef lane_before(Lower *L, const Scan *s, Run run)
{
    const uint32_t lanes = lanes_of(s, run.low, run.high), below = lanes_of(s, 0, run.low);
    LLVMValueRef others = lane_at(L, s, below, lanes), mask = lower_i32(L, lanes),
                 here = LLVMBuildAnd(L->b, L->threads.number, mask, "");
    if (s->reverse) here = LLVMBuildOr(L->b, here, lower_i32(L, ~lanes), "");
    here = LLVMBuildAdd(L->b, here, lower_i32(L, s->reverse ? 1 : -1), "");
    here = LLVMBuildAnd(L->b, here, mask, "");
    if (s->reverse) others = LLVMBuildAnd(L->b, others, lower_i32(L, ~lanes), "");
    return LLVMBuildOr(L->b, others, here, "");
}

static LLVMValueRef is_first(Lower *L, const Scan *s, uint32_t lanes)
{
    LLVMValueRef here = LLVMBuildAnd(L->b, L->threads.number, lower_i32(L, lanes), "");
    return LLVMBuildICmp(L->b, LLVMIntEQ, here, lower_i32(L, s->reverse ? lanes : 0), "");
}

static void scan_lanes(Lower *L, Scan *s, Run run)
{
    const uint32_t mask = registers_below(s, run.low), lanes = lanes_of(s, run.low, run.high);
    for (uint32_t r = 0; r < (uint32_t)layout_registers(s->layout); r++) {
        if (!scan_begins(s, r, run.low)) continue;
        const uint32_t last = register_at(s, r, mask, mask);
        Partial total = scan_totals(L, s, run, whole_part(L, s, last));
        if (!run.low) {
            s->parts[r] = total;
            continue;
        }
        s->ends[r] = combine_shuffle(L, &s->by, total, (Lane){.number = lane_before(L, s, run)});
        LLVMValueRef counts = LLVMBuildNot(L->b, is_first(L, s, lanes), "");
        Partial before = combine_where(L, &s->by, s->ends[r], counts);
        scan_put_before(L, s, before, r, run.low);
        s->last[register_at(s, last, bits_below(s->stretch), 0)] = total;
    }
}

/* ---- registers ---- */

/* The total of the segment below that bit which a register is of, in all its lanes. */
static Partial total_of(Lower *L, const Scan *s, uint32_t reg, int bit)
{
    const uint32_t mask = registers_below(s, bit), lanes = lanes_of(s, 0, bit);
    Partial total = whole_part(L, s, register_at(s, reg, mask, mask));
    if (!lanes) return total;
    return combine_shuffle(L, &s->by, total, (Lane){.number = lane_at(L, s, lanes, 0)});
}

/* The elements of a stretch, from the first on. */
static void scan_stretch(Lower *L, Scan *s, uint32_t reg)
{
    const uint32_t mask = bits_below(s->stretch);
    for (uint32_t k = 1; k <= mask; k++) {
        Partial *next = &s->parts[register_at(s, reg, mask, k)];
        *next = combine_two(L, &s->by, s->parts[register_at(s, reg, mask, k - 1)], *next);
    }
}

/* Segments of one thread, from the one that `reg` begins on. Totals that other lanes have are
   fetched before anything is combined: no shuffle waits for another. */
static void scan_segments(Lower *L, Scan *s, Run run, uint32_t reg)
{
    const int n = 1 << (run.high - run.low);
    const uint32_t mask = bits_below(run.high) & ~bits_below(run.low);
    Partial *totals = arena_array(L->arena, Partial, n);
    for (int k = 0; k + 1 < n; k++)
        totals[k] = total_of(L, s, register_at(s, reg, mask, (uint32_t)k << run.low), run.low);
    for (int k = 1; k < n; k++) {
        if (k > 1) totals[k - 1] = combine_two(L, &s->by, totals[k - 2], totals[k - 1]);
        scan_put_before(L, s, totals[k - 1], register_at(s, reg, mask, (uint32_t)k << run.low),
                        run.low);
    }
}

static void scan_registers(Lower *L, Scan *s, Run run)
{
    for (uint32_t r = 0; r < (uint32_t)layout_registers(s->layout); r++) {
        if (!scan_begins(s, r, run.high)) continue;
        if (run.low) scan_segments(L, s, run, r);
        else scan_stretch(L, s, r);
    }
}

/* ---- all of it ---- */

/* Lanes of one run have rising numbers, so that the one before is found by subtraction. */
static Run run_from(const Scan *s, int low, int end)
{
    const LayoutAxis *a = &s->axis;
    Run run = {low, low + 1};
    while (run.high < end && a->held_by[run.high] == a->held_by[low] &&
           (a->held_by[low] == DIM_REGISTER || a->bits[run.high] > a->bits[run.high - 1]))
        run.high++;
    return run;
}

bool scan_meets_padding(const Scan *s)
{
    return s->reverse || ir_contains(s->by.region, OP_ASSERT, true);
}

Scan scan_of(Lower *L, Combine by, const Layout *layout)
{
    Scan s = {.by = by, .layout = layout};
    const int n = layout_registers(layout);
    s.reverse = tkc_op_int(by.op, ATTR_REVERSE, 0);
    check(layout_scans(layout, by.axis, &s.axis), "a scan in a layout that mixes dims");
    s.parts = arena_array(L->arena, Partial, n);
    s.ends = arena_array(L->arena, Partial, n);
    s.last = arena_array(L->arena, Partial, n);
    while (s.axis.in_registers >> s.stretch & 1) s.stretch++;
    s.before = s.stretch ? arena_array(L->arena, Partial, n) : s.parts;
    return s;
}

Scan *scan_of_carry(Lower *L, const Op *carry)
{
    const Op *segments = op_arg(carry, 0)->def;
    Scan *s = map_get_ptr(&L->scans, segments);
    check(s, "a carry without the scan that it goes on with");
    map_set_ptr(&L->scans, segments, NULL);
    s->by.op = carry;
    return s;
}

void scan_segments_of(Lower *L, Scan *s, int end)
{
    check(!(s->axis.in_warps & bits_below(end)), "a scan across warps");
    for (int i = 0; i < end;) {
        const Run run = run_from(s, i, end);
        if (s->axis.held_by[i] == DIM_REGISTER) scan_registers(L, s, run);
        else scan_lanes(L, s, run);
        i = run.high;
    }
}

/* What its segment has as a whole, given in the lanes that are canonical once segments are elements: in a
   reverse scan the last ones. */
static Partial whole_of(Lower *L, const Scan *s, uint32_t reg, int bit)
{
    const uint32_t mask = registers_below(s, bit);
    if (s->reverse || !lanes_of(s, 0, bit))
        return whole_part(L, s, register_at(s, reg, mask, mask));
    const bool is_fetched = s->axis.held_by[bit - 1] == DIM_LANE && s->ends[reg].x;
    return is_fetched ? s->ends[reg] : total_of(L, s, reg, bit);
}

/* ---- the op ---- */

static void set_totals(Lower *L, const Op *op, const Scan *s, int bit)
{
    const Layout *totals = op_result(op, op->nargs)->type->layout;
    const uint32_t slots = bits_below(s->axis.n) & ~bits_below(bit);
    Partial *parts = arena_array(L->arena, Partial, layout_registers(totals));
    for (uint32_t r = 0; r < (uint32_t)layout_registers(s->layout); r++) {
        if (!scan_begins(s, r, bit)) continue;
        const uint32_t index =
            layout_keep_bits(s->layout, s->by.axis, slots, layout_apply(s->layout, r, 0, 0));
        Partial *part = &parts[layout_find_register(totals, index)];
        if (!part->x) *part = whole_of(L, s, r, bit);
    }
    combine_set_results(L, &s->by, op->nargs, parts, layout_registers(totals));
}

void lower_scan(Lower *L, const Op *op)
{
    Scan *s = arena_new(L->arena, Scan);
    *s = scan_of(L, combine_of(op, 0, op->nargs), op_arg(op, 0)->type->layout);
    const uint32_t slots = layout_axis_slots(&s->axis);
    const int n = layout_registers(s->layout), end = s->axis.n - __builtin_popcount(slots);
    const bool meets_padding = scan_meets_padding(s);
    for (uint32_t r = 0; r < (uint32_t)n; r++)
        s->parts[r] =
            meets_padding ? combine_element(L, &s->by, r) : combine_element_as_is(L, &s->by, r);
    scan_segments_of(L, s, end);
    scan_set_results(L, s);
    if (!slots) return;
    set_totals(L, op, s, end);
    map_set_ptr(&L->scans, op, s);
}
