/* Each maker lists vectors in the order of the picture in the header. place() gives 0 for a bit
   that a dim does not have; such a vector is left out of the registers and stays, as a duplicate,
   among the lanes. */
#include "linear/fragment.h"

#include <string.h>

#include "base/unwind.h"

enum { LANE_BITS = 5, T_BITS = 2, HALF_ROW_BIT = 3 };

/* ---- vectors ---- */

static uint32_t place(const LayoutSpec *s, int dim, int bit)
{
    const int shift = layout_shift(s->rank, s->dim_log2, dim);
    return bit < s->dim_log2[dim] ? UINT32_C(1) << (shift + bit) : 0;
}

static void put(LayoutSpec *s, LayoutDim to, uint32_t v)
{
    if (to != DIM_REGISTER || v) s->basis[to][s->nbits[to]++] = v;
}

static void put_range(LayoutSpec *s, LayoutDim to, int dim, int from, int end)
{
    for (int bit = from; bit < end; bit++) put(s, to, place(s, dim, bit));
}

/* Bits of a dim from `from` on. */
static void put_rest(LayoutSpec *s, LayoutDim to, int dim, int from)
{
    put_range(s, to, dim, from, s->dim_log2[dim]);
}

static LayoutSpec spec_of(int rank, const uint8_t *dim_log2)
{
    check(rank == 2 || rank == 3, "a product of rank %d", rank);
    LayoutSpec s = {.rank = rank};
    memcpy(s.dim_log2, dim_log2, (size_t)rank);
    return s;
}

/* ---- the sum ---- */

static void put_sum_tile(LayoutSpec *s, MmaShape shape)
{
    const int row = s->rank - 2, column = s->rank - 1;
    put(s, DIM_REGISTER, place(s, column, 0));
    if (shape.m_log2 > HALF_ROW_BIT) put(s, DIM_REGISTER, place(s, row, HALF_ROW_BIT));
    put_range(s, DIM_LANE, column, 1, 1 + T_BITS);
    put_range(s, DIM_LANE, row, 0, HALF_ROW_BIT);
}

const Layout *fragment_sum(LayoutTable *t, MmaShape shape, int rank, const uint8_t *dim_log2,
                           WarpSplit split, int warp_bits)
{
    LayoutSpec s = spec_of(rank, dim_log2);
    const int row = rank - 2, column = rank - 1, m = shape.m_log2, n = shape.n_log2;
    put_sum_tile(&s, shape);
    put_range(&s, DIM_WARP, row, m, m + split.m);
    const int column_warps = split.in_groups ? s.dim_log2[column] - split.n : n;
    put_range(&s, DIM_WARP, column, column_warps, column_warps + split.n);
    put_range(&s, DIM_WARP, 0, 0, split.batch);
    while (s.nbits[DIM_WARP] < warp_bits) put(&s, DIM_WARP, 0);
    if (split.in_groups) put_range(&s, DIM_REGISTER, column, n, column_warps);
    else put_rest(&s, DIM_REGISTER, column, n + split.n);
    put_rest(&s, DIM_REGISTER, row, m + split.m);
    if (rank == 3) put_rest(&s, DIM_REGISTER, 0, split.batch);
    return layout_make(t, &s);
}

/* The index bits inside a tile. */
static uint32_t tile_mask(const LayoutSpec *tile)
{
    uint32_t mask = 0;
    for (LayoutDim d = DIM_REGISTER; d <= DIM_LANE; d++)
        for (int i = 0; i < tile->nbits[d]; i++) mask |= tile->basis[d][i];
    return mask;
}

int fragment_tile_registers(MmaShape shape, const Layout *sum)
{
    LayoutSpec tile = spec_of(sum->rank, sum->dim_log2);
    put_sum_tile(&tile, shape);
    return tile.nbits[DIM_REGISTER];
}

bool fragment_is_sum(MmaShape shape, const Layout *sum)
{
    if (sum->rank < 2 || sum->rank > 3 || sum->nbits[DIM_LANE] != LANE_BITS) return false;
    LayoutSpec tile = spec_of(sum->rank, sum->dim_log2);
    put_sum_tile(&tile, shape);
    const int inside = tile.nbits[DIM_REGISTER];
    const uint32_t mask = tile_mask(&tile);
    if (sum->nbits[DIM_REGISTER] < inside ||
        memcmp(sum->basis[DIM_LANE], tile.basis[DIM_LANE], LANE_BITS * sizeof(uint32_t)))
        return false;
    for (int i = 0; i < sum->nbits[DIM_REGISTER]; i++) {
        const uint32_t v = sum->basis[DIM_REGISTER][i];
        if (i < inside ? v != tile.basis[DIM_REGISTER][i] : !v || v & mask) return false;
    }
    for (int i = 0; i < sum->nbits[DIM_WARP]; i++) {
        if (sum->basis[DIM_WARP][i] & mask) return false;
    }
    return !layout_free_bits(sum, DIM_REGISTER) && layout_is_surjective(sum);
}

bool fragment_is_group_sum(MmaShape shape, const Layout *sum)
{
    enum { GROUP_BITS = 2 };
    if (shape.m_log2 != 4 || sum->rank != 2 || sum->nbits[DIM_WARP] < GROUP_BITS ||
        !fragment_is_sum(shape, sum))
        return false;
    const uint32_t rows = layout_dim_mask(sum, 0), first_row = UINT32_C(1)
                                                               << layout_dim_shift(sum, 0);
    for (int i = 0; i < sum->nbits[DIM_WARP]; i++) {
        const uint32_t v = sum->basis[DIM_WARP][i], column = v & ~rows;
        if (i < GROUP_BITS ? v != first_row << (shape.m_log2 + i)
                           : column && column < UINT32_C(1) << GROUP_COLUMNS_LOG2)
            return false;
    }
    /* what registers have of a row is the lowest bits of the column */
    uint32_t column = UINT32_C(1) << shape.n_log2;
    for (int i = fragment_tile_registers(shape, sum); i < sum->nbits[DIM_REGISTER]; i++) {
        const uint32_t v = sum->basis[DIM_REGISTER][i];
        if (!(v & ~rows)) continue;
        if (v != column) return false;
        column <<= 1;
    }
    return true;
}

/* ---- operands ---- */

/* The dim of the sum that the operand has K instead of. */
static int k_dim(int rank, int operand)
{
    return operand == 0 ? rank - 1 : rank - 2;
}

static LayoutSpec operand_spec(const Layout *sum, int operand, int k_log2)
{
    LayoutSpec s = spec_of(sum->rank, sum->dim_log2);
    s.dim_log2[k_dim(s.rank, operand)] = (uint8_t)k_log2;
    return s;
}

/* A vector of the sum without its part along the dim that gives way to K. */
static uint32_t source_of(const LayoutSpec *s, const Layout *sum, int operand, uint32_t v)
{
    uint32_t out = 0;
    for (int d = 0; d < s->rank; d++) {
        if (d != k_dim(s->rank, operand))
            out |= (uint32_t)layout_coord(sum, v, d) << layout_shift(s->rank, s->dim_log2, d);
    }
    return out;
}

static void put_sources(LayoutSpec *s, LayoutDim dim, int first, const Layout *sum, int operand)
{
    for (int i = first; i < sum->nbits[dim]; i++)
        put(s, dim, source_of(s, sum, operand, sum->basis[dim][i]));
}

const Layout *fragment_operand(LayoutTable *t, MmaShape shape, int operand, const Layout *sum,
                               int k_log2, int run_log2)
{
    LayoutSpec s = operand_spec(sum, operand, k_log2);
    const int k = k_dim(s.rank, operand), own = operand == 0 ? s.rank - 2 : s.rank - 1;
    put_range(&s, DIM_REGISTER, k, 0, run_log2);
    if (operand == 0 && shape.m_log2 > HALF_ROW_BIT)
        put(&s, DIM_REGISTER, place(&s, own, HALF_ROW_BIT));
    put_rest(&s, DIM_REGISTER, k, run_log2 + T_BITS);
    put_sources(&s, DIM_REGISTER, fragment_tile_registers(shape, sum), sum, operand);
    put_range(&s, DIM_LANE, k, run_log2, run_log2 + T_BITS);
    put_range(&s, DIM_LANE, own, 0, LANE_BITS - T_BITS);
    put_sources(&s, DIM_WARP, 0, sum, operand);
    return layout_drop_free_registers(t, layout_make(t, &s));
}

uint32_t fragment_unit_at(MmaShape shape, int run_log2, uint32_t unit)
{
    const int inside = run_log2 - shape.unit_log2;
    const uint32_t low = unit & ((UINT32_C(1) << inside) - 1), high = unit >> inside;
    return low << shape.unit_log2 | high << (run_log2 + T_BITS);
}

const Layout *fragment_rows(LayoutTable *t, int operand, const Layout *sum, int k_log2)
{
    LayoutSpec s = operand_spec(sum, operand, k_log2);
    put_rest(&s, DIM_REGISTER, k_dim(s.rank, operand), 0);
    for (LayoutDim d = DIM_REGISTER; d <= DIM_WARP; d++) put_sources(&s, d, 0, sum, operand);
    return layout_drop_free_registers(t, layout_make(t, &s));
}

uint32_t fragment_source(const Layout *sum, const Layout *operand_layout, int operand,
                         uint32_t index)
{
    LayoutSpec s;
    layout_spec_of(operand_layout, &s);
    return source_of(&s, sum, operand, index);
}
