/* Reductions: each plan is carried out on bit sets of elements, for many layouts; every thread that holds a slot of a result must end
   up with each element of it exactly once, and so must all slots together, or the plan must say that it is not direct. */
#include "layout/reduce_plan.h"

#include <stdlib.h>

#include "expect.h"

enum { LANES = 8, MAX_ELEMENTS = 64 };

static Arena arena;
static LayoutTable *table;
static uint64_t seed = 3;
static int direct_count, refused_count, slots_count;

static uint32_t random_below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % n;
}

/* What a thread has seen of each element: how often (the sum), and of which (the set). */
typedef struct Seen { uint64_t set; bool twice; } Seen;

static Seen combine(Seen a, Seen b)
{
    return (Seen){a.set | b.set, a.twice || b.twice || (a.set & b.set)};
}

static Seen in_thread(const ReducePlan *p, uint32_t k, uint32_t lane, uint32_t warp)
{
    uint32_t group[1 << 10];
    int n = reduce_group(p, k, group);
    Seen s = {0};
    for (int i = 0; i < n; i++) {
        s = combine(s, (Seen){UINT64_C(1) << layout_apply(p->operand, group[i], lane, warp), false});
        if (i) EXPECT(layout_coord(p->operand, layout_apply(p->operand, group[i], 0, 0), p->axis) >
                      layout_coord(p->operand, layout_apply(p->operand, group[i - 1], 0, 0), p->axis));
    }
    return s;
}

static Seen in_warp(const ReducePlan *p, uint32_t k, uint32_t lane, uint32_t warp, uint32_t bits)
{
    if (!bits) return in_thread(p, k, lane, warp);
    uint32_t bit = bits & -bits;
    return combine(in_warp(p, k, lane, warp, bits ^ bit), in_warp(p, k, lane ^ bit, warp, bits ^ bit));
}

/* The elements of a slot of one result. */
static uint64_t wanted(const ReducePlan *p, uint32_t y)
{
    uint64_t set = 0;
    for (uint32_t i = 0; i < 1u << p->operand->total_log2; i++)
        if (layout_keep_bits(p->operand, p->axis, p->kept, i) == y) set |= UINT64_C(1) << i;
    return set;
}

static void try_layout(const Layout *layout, int axis)
{
    ReducePlan p;
    reduce_plan(&p, table, layout, axis, layout_warp_bits(layout, axis));
    direct_count += p.direct;
    refused_count += !p.direct;
    if (!p.direct) return;
    slots_count += p.kept != 0;
    if (p.kept) EXPECT(layout_is_surjective(p.result));
    for (uint32_t w = 0; w < 1u << layout->nbits[DIM_WARP]; w++) {
        for (uint32_t l = 0; l < LANES; l++) {
            for (uint32_t k = 0; k < (uint32_t)p.result_registers; k++) {
                Seen s = in_warp(&p, k, l, w, p.lane_axis);
                EXPECT(!s.twice && s.set == wanted(&p, p.result ? layout_apply(p.result, k, l, w) : 0));
            }
        }
    }
}

static void blocked_layouts_reduce_directly(void)
{
    refused_count = 0;
    for (int rows = 0; rows <= 3; rows++) {
        for (int cols = 0; cols <= 3; cols++) {
            for (int n = 0; n < 16; n++) {
                uint8_t dims[] = {(uint8_t)rows, (uint8_t)cols};
                int order[] = {n & 1, !(n & 1)}, warp_order[] = {n >> 1 & 1, !(n >> 1 & 1)};
                const Blocked b = {.rank = 2, .dim_log2 = dims, .order = order, .warp_order = warp_order,
                                   .thread_log2 = (int[]){n >> 2 & 1, n >> 3}, .lane_bits = 3, .warp_bits = 2};
                const Layout *l = layout_blocked_as(table, &b);
                for (int axis = 0; axis < 2; axis++) try_layout(l, axis);
            }
        }
    }
    for (int total = 0; total <= 6; total++) {
        uint8_t dims[] = {(uint8_t)total};
        for (int v = 0; v < 3; v++) try_layout(layout_blocked(table, 1, dims, (int[]){0}, (int[]){v}, 3, 2), 0);
    }
    EXPECT_INT(refused_count, 0);
}

static void any_layout_is_right_or_refused(void)
{
    for (int n = 0; n < 40000; n++) {
        LayoutSpec s = {.rank = 3, .dim_log2 = {2, 1, (uint8_t)random_below(3)}, .nbits = {4, 3, (uint8_t)random_below(3)}};
        uint32_t size = 1u << (3 + s.dim_log2[2]);
        for (int d = 0; d <= DIM_WARP; d++) {
            for (int i = 0; i < s.nbits[d]; i++)
                s.basis[d][i] = random_below(8) ? 1u << random_below((uint32_t)__builtin_ctz(size)) : random_below(size);
            if (d && n & 1) s.basis[d][0] = 0;
        }
        const Layout *l = layout_make(table, &s);
        if (layout_is_surjective(l)) try_layout(l, (int)random_below(3));
    }
    EXPECT(direct_count > 500 && refused_count > 500 && slots_count > 50);
    printf("direct %d, refused %d, with slots %d\n", direct_count, refused_count, slots_count);
}

int main(void)
{
    arena_init(&arena);
    table = layouts_new(&arena);
    RUN(blocked_layouts_reduce_directly);
    RUN(any_layout_is_right_or_refused);
    arena_fini(&arena);
    return expect_done();
}
