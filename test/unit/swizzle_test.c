/* Swizzled tiles: where each element lies, told from its row, its place in the row and its tile. */
#include "linear/swizzle.h"

#include "linear/shared.h"

#include "expect.h"

static Arena arena;
static LayoutTable *table;

static const Layout *shape(int dim0_log2, int dim1_log2)
{
    const uint8_t dims[] = {(uint8_t)dim0_log2, (uint8_t)dim1_log2};
    return shared_row_major(table, 2, dims);
}

/* In bytes; `row` counts along the other dim. */
static int64_t place(const Swizzle *s, int rows, int row, int in_row)
{
    enum { PIECE = 16, LINE = 128 };
    const int span = 1 << s->row_log2, tile = in_row / span, at = in_row % span,
              turned = row % 8 / (LINE / span);
    return (int64_t)tile * rows * span + row * span + ((at / PIECE) ^ turned) * PIECE + at % PIECE;
}

static bool lies_so(const Layout *like, int dim, int bytes, int row_log2)
{
    Swizzle s;
    const Layout *l = swizzle_layout(table, like, dim, bytes);
    const int rows = 1 << like->dim_log2[1 - dim], width = 1 << like->dim_log2[dim];
    if (!l || !swizzle_find(table, l, bytes, &s) || s.dim != dim || s.row_log2 != row_log2 ||
        s.group != 8 << row_log2 || s.block != rows << row_log2)
        return false;
    for (int row = 0; row < rows; row++)
        for (int i = 0; i < width; i++) {
            const uint32_t index = (uint32_t)row << layout_dim_shift(like, 1 - dim) |
                                   (uint32_t)i << layout_dim_shift(like, dim);
            if (shared_offset(l, 0, index) * bytes != place(&s, rows, row, i * bytes)) return false;
        }
    return true;
}

static void rows_are_as_long_as_the_block(void)
{
    EXPECT(lies_so(shape(6, 6), 1, 2, 7));
    EXPECT(lies_so(shape(6, 5), 1, 2, 6));
    EXPECT(lies_so(shape(6, 4), 1, 2, 5));
    EXPECT(lies_so(shape(4, 8), 1, 2, 7)); /* four tiles side by side */
    EXPECT(lies_so(shape(3, 5), 1, 1, 5));
    EXPECT(lies_so(shape(3, 5), 1, 4, 7));
}

static void rows_lie_along_either_dim(void)
{
    EXPECT(lies_so(shape(6, 5), 0, 2, 7));
    EXPECT(lies_so(shape(7, 4), 0, 2, 7));
    EXPECT(lies_so(shape(4, 3), 0, 2, 5));
}

static void small_blocks_have_none(void)
{
    EXPECT(!swizzle_layout(table, shape(6, 3), 1, 2));
    EXPECT(!swizzle_layout(table, shape(2, 6), 1, 2));
}

static void others_are_none(void)
{
    Swizzle s;
    EXPECT(!swizzle_find(table, shape(6, 6), 2, &s));
    EXPECT(!swizzle_find(table, swizzle_layout(table, shape(6, 6), 1, 2), 4, &s));
}

int main(void)
{
    arena_init(&arena);
    table = layouts_new(&arena);
    RUN(rows_are_as_long_as_the_block);
    RUN(rows_lie_along_either_dim);
    RUN(small_blocks_have_none);
    RUN(others_are_none);
    arena_fini(&arena);
    return expect_done();
}
