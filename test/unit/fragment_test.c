/* Fragments: one tile against the emulator's maps, which are held against the manual's figures; blocks
   of every extent against what the instruction needs of a warp. */
#include "linear/fragment.h"

#include <stdlib.h>

#include "simt/matrix.h"
#include "tkc/ir.h"

#include "expect.h"

static Arena arena;
static LayoutTable *table;

/* ---- one tile ---- */

static MatrixType matrix_type(DType dt, bool is_sum)
{
    switch (dt) {
    case DT_F16: return MATRIX_F16;
    case DT_BF16: return MATRIX_BF16;
    case DT_F32: return is_sum ? MATRIX_F32 : MATRIX_TF32;
    case DT_F64: return MATRIX_F64;
    case DT_F8E4: return MATRIX_E4M3;
    case DT_F8E5: return MATRIX_E5M2;
    case DT_I8: return MATRIX_S8;
    case DT_U8: return MATRIX_U8;
    case DT_I32: return MATRIX_S32;
    default: return MATRIX_NONE;
    }
}

static bool agrees(const Layout *l, const Fragment *f)
{
    if (layout_registers(l) != f->count) return false;
    for (int lane = 0; lane < 32; lane++) {
        for (int i = 0; i < f->count; i++) {
            int index = f->lane[lane];
            for (int bit = 0; i >> bit; bit++) index += i >> bit & 1 ? f->element[bit] : 0;
            if ((int)layout_apply(l, (uint32_t)i, (uint32_t)lane, 0) != index) return false;
        }
    }
    return true;
}

static bool tile_agrees(int sm, DType a, DType b, DType sum, MmaShape s)
{
    MmaSpec spec = {.m = 1 << s.m_log2, .n = 1 << s.n_log2, .k = 1 << s.k_log2};
    MmaForm form;
    uint8_t dims[] = {s.m_log2, s.n_log2};
    spec.a = matrix_type(a, false);
    spec.b = matrix_type(b, false);
    spec.c = spec.d = matrix_type(sum, true);
    const Layout *c = fragment_sum(table, s, 2, dims, (WarpSplit){0}, 0);
    return simt_mma_form(&form, &spec) && form.least_chip <= sm && fragment_is_sum(s, c) &&
           agrees(c, &form.c) && agrees(fragment_operand(table, s, 0, c, s.k_log2, s.unit_log2), &form.a) &&
           agrees(fragment_operand(table, s, 1, c, s.k_log2, s.unit_log2), &form.b);
}

static void a_tile_is_what_the_emulator_has(void)
{
#define MMA(sm, ptx, a, b, sum, m, k, unit)                                                        \
    EXPECT(tile_agrees(sm, DT_##a, DT_##b, DT_##sum, (MmaShape){m, 3, k, unit}));
#include "ir/mma.def"
#undef MMA
}

/* ---- blocks ---- */

static const MmaShape shapes[] = {{4, 3, 4, 1}, {4, 3, 3, 0}, {4, 3, 5, 2}, {3, 3, 2, 0}, {3, 3, 4, 2}};

typedef struct Block {
    MmaShape shape;
    int rank, k_log2, run_log2;
    uint8_t dims[3];
    WarpSplit split;
    int warp_bits;
} Block;

static int below(int n)
{
    return rand() % n;
}

static int least(int x, int y)
{
    return x < y ? x : y;
}

static Block any_block(void)
{
    Block b = {.shape = shapes[below(5)], .rank = 2 + below(2), .k_log2 = below(8), .warp_bits = below(5)};
    const int most = b.k_log2 - 2 - b.shape.unit_log2;
    b.run_log2 = b.shape.unit_log2 + (most > 0 ? below(most + 1) : 0);
    for (int d = 0; d < b.rank; d++) b.dims[d] = (uint8_t)below(d == b.rank - 3 ? 3 : 8);
    const int rows = b.dims[b.rank - 2] - b.shape.m_log2, columns = b.dims[b.rank - 1] - b.shape.n_log2;
    int left = b.warp_bits;
    if (rows > 0) b.split.m = least(below(rows + 1), left);
    left -= b.split.m;
    if (columns > 0) b.split.n = least(below(columns + 1), left);
    left -= b.split.n;
    if (b.rank == 3) b.split.batch = least(below(b.dims[0] + 1), left);
    return b;
}

/* Whether a thread (any of the warp where the lane is -1) has the element. */
static bool has(const Layout *l, uint32_t index, int lane, uint32_t warp)
{
    F2Space held = {0};
    for (int i = 0; i < l->nbits[DIM_REGISTER]; i++) f2_space_add(&held, l->basis[DIM_REGISTER][i]);
    for (int i = 0; lane < 0 && i < l->nbits[DIM_LANE]; i++) f2_space_add(&held, l->basis[DIM_LANE][i]);
    return f2_space_has(&held, index ^ layout_apply(l, 0, lane < 0 ? 0 : (uint32_t)lane, warp));
}

/* Row (column) and batch of a sum's element, at some k, in an operand. */
static uint32_t index_at(const Layout *sum, const Layout *l, int operand, uint32_t index, int k)
{
    const int k_dim = operand == 0 ? l->rank - 1 : l->rank - 2;
    return fragment_source(sum, l, operand, index) | (uint32_t)k << layout_dim_shift(l, k_dim);
}

static bool holds_together(const Block *b)
{
    const Layout *c = fragment_sum(table, b->shape, b->rank, b->dims, b->split, b->warp_bits);
    if (!layout_is_surjective(c) || layout_free_bits(c, DIM_REGISTER) || !fragment_is_sum(b->shape, c))
        return false;
    for (int operand = 0; operand < 2; operand++) {
        const Layout *l = fragment_operand(table, b->shape, operand, c, b->k_log2, b->run_log2);
        if (!layout_is_surjective(l) || layout_free_bits(l, DIM_REGISTER)) return false;
        for (int i = 0; i < 64; i++) {
            const uint32_t reg = (uint32_t)below(layout_registers(c)), lane = (uint32_t)below(32),
                           warp = (uint32_t)below(1 << b->warp_bits);
            const int k = below(1 << b->k_log2);
            if (!has(l, index_at(c, l, operand, layout_apply(c, reg, lane, warp), k), -1, warp))
                return false;
        }
    }
    return true;
}

/* Threads with t = 0 to 3 have each k once, a unit at a time, where the layout says so. */
static bool counts_units(const Block *b)
{
    const Layout *c = fragment_sum(table, b->shape, 2, b->dims, (WarpSplit){0}, b->warp_bits),
                 *l = fragment_operand(table, b->shape, 1, c, b->k_log2, b->run_log2);
    const int unit = b->shape.unit_log2;
    bool seen[128] = {0};
    for (int i = 0; i < 1 << (b->k_log2 - unit); i++) {
        const uint32_t t = (uint32_t)i & 3, k = fragment_unit_at(b->shape, b->run_log2, (uint32_t)i >> 2),
                       index = (k | t << b->run_log2) << layout_dim_shift(l, 0);
        if (seen[index >> layout_dim_shift(l, 0)] || !has(l, index, (int)t, 0)) return false;
        seen[index >> layout_dim_shift(l, 0)] = true;
    }
    return true;
}

static void runs_have_each_k_once(void)
{
    for (int i = 0; i < 200; i++) {
        Block b = any_block();
        if (b.k_log2 >= b.run_log2 + 2 && b.rank == 2) EXPECT(counts_units(&b));
    }
}

static void warps_have_what_their_part_of_the_sum_is_made_of(void)
{
    srand(1);
    for (int i = 0; i < 2000; i++) {
        Block b = any_block();
        EXPECT(holds_together(&b));
    }
}

static bool rows_hold_together(const Block *b)
{
    int order[] = {b->rank - 1, b->rank - 2, 0}, thread[] = {below(3), below(3), below(3)};
    const Layout *c = layout_blocked(table, b->rank, b->dims, order, thread, 5, b->warp_bits);
    for (int operand = 0; operand < 2; operand++) {
        const Layout *l = fragment_rows(table, operand, c, b->k_log2);
        if (!layout_is_surjective(l) || layout_free_bits(l, DIM_REGISTER)) return false;
        for (int i = 0; i < 64; i++) {
            const uint32_t reg = (uint32_t)below(layout_registers(c)), lane = (uint32_t)below(32),
                           warp = (uint32_t)below(1 << b->warp_bits);
            const int k = below(1 << b->k_log2);
            if (!has(l, index_at(c, l, operand, layout_apply(c, reg, lane, warp), k), (int)lane, warp))
                return false;
        }
    }
    return true;
}

static void threads_have_the_rows_and_columns_of_their_elements(void)
{
    srand(2);
    for (int i = 0; i < 1000; i++) {
        Block b = any_block();
        EXPECT(rows_hold_together(&b));
    }
}

static void other_layouts_are_no_sums(void)
{
    const uint8_t dims[] = {5, 5};
    const MmaShape s = {4, 3, 4, 1};
    LayoutSpec spec;
    layout_spec_of(fragment_sum(table, s, 2, dims, (WarpSplit){0, 1, 1, false}, 2), &spec);
    EXPECT(fragment_is_sum(s, layout_make(table, &spec)));
    const LayoutSpec right = spec;
    spec.basis[DIM_LANE][0] = right.basis[DIM_LANE][1];
    spec.basis[DIM_LANE][1] = right.basis[DIM_LANE][0];
    EXPECT(!fragment_is_sum(s, layout_make(table, &spec)));
    spec = right;
    spec.basis[DIM_REGISTER][0] = right.basis[DIM_REGISTER][1];
    spec.basis[DIM_REGISTER][1] = right.basis[DIM_REGISTER][0];
    EXPECT(!fragment_is_sum(s, layout_make(table, &spec)));
    spec = right;
    spec.basis[DIM_WARP][0] |= 1; /* a column inside the tile */
    EXPECT(!fragment_is_sum(s, layout_make(table, &spec)));
    spec = right;
    spec.basis[DIM_WARP][0] = spec.basis[DIM_REGISTER][2]; /* elements that nobody has */
    EXPECT(!fragment_is_sum(s, layout_make(table, &spec)));
    spec = right;
    spec.nbits[DIM_LANE] = 4;
    EXPECT(!fragment_is_sum(s, layout_make(table, &spec)));
    EXPECT(!fragment_is_sum(s, layout_blocked(table, 1, dims, (int[]){0}, (int[]){0}, 5, 0)));
}

/* Which warps have which rows and columns of a block of 128 by 256. */
static bool is_group(WarpSplit split, int warp_bits)
{
    const MmaShape s = {4, 3, 4, 1};
    const uint8_t dims[] = {7, 8};
    return fragment_is_group_sum(s, fragment_sum(table, s, 2, dims, split, warp_bits));
}

static void four_warps_in_a_row_are_a_group(void)
{
    EXPECT(is_group((WarpSplit){0, 2, 0, true}, 2));
    EXPECT(is_group((WarpSplit){0, 3, 0, true}, 3));
    EXPECT(is_group((WarpSplit){0, 3, 1, true}, 4));
    EXPECT(is_group((WarpSplit){0, 3, 2, true}, 5));
    EXPECT(is_group((WarpSplit){0, 3, 4, true}, 7));
    EXPECT(!is_group((WarpSplit){0, 3, 5, true}, 8)); /* 8 columns */
    EXPECT(!is_group((WarpSplit){0, 3, 1, false}, 4));
    EXPECT(!is_group((WarpSplit){0, 1, 1, true}, 2));
    EXPECT(!is_group((WarpSplit){0, 1, 0, true}, 1));
}

int main(void)
{
    arena_init(&arena);
    table = layouts_new(&arena);
    RUN(a_tile_is_what_the_emulator_has);
    RUN(warps_have_what_their_part_of_the_sum_is_made_of);
    RUN(runs_have_each_k_once);
    RUN(threads_have_the_rows_and_columns_of_their_elements);
    RUN(other_layouts_are_no_sums);
    RUN(four_warps_in_a_row_are_a_group);
    arena_fini(&arena);
    return expect_done();
}
