#include "linear/swizzle.h"

#include "base/power.h"

enum { PIECE_LOG2 = 4, LEAST_ROW_LOG2 = 5, MOST_ROW_LOG2 = 7, LINE_LOG2 = 7 };

/* log2 of the bytes of a row; 0: the block is too small. */
static int row_log2(const Layout *like, int dim, int elem_bytes)
{
    const int most = like->dim_log2[dim] + log2_floor(elem_bytes);
    if (like->rank != 2 || most < LEAST_ROW_LOG2 || like->dim_log2[1 - dim] < SWIZZLE_ROWS_LOG2)
        return 0;
    return most < MOST_ROW_LOG2 ? most : MOST_ROW_LOG2;
}

static uint32_t at(const Layout *l, int dim, int bit)
{
    return UINT32_C(1) << (layout_dim_shift(l, dim) + bit);
}

static void put(LayoutSpec *s, uint32_t v)
{
    s->basis[DIM_OFFSET][s->nbits[DIM_OFFSET]++] = v;
}

const Layout *swizzle_layout(LayoutTable *t, const Layout *like, int dim, int elem_bytes)
{
    const int row = row_log2(like, dim, elem_bytes), in_row = row - log2_floor(elem_bytes),
              in_piece = PIECE_LOG2 - log2_floor(elem_bytes), other = 1 - dim;
    LayoutSpec s = {.rank = 2, .dim_log2 = {like->dim_log2[0], like->dim_log2[1]}};
    if (!row) return NULL;
    for (int i = 0; i < in_row; i++) put(&s, at(like, dim, i));
    for (int i = 0; i < like->dim_log2[other]; i++) {
        /* the bit of a place that this bit of the row's number turns */
        const int turned = i < SWIZZLE_ROWS_LOG2 ? i + row - LINE_LOG2 : -1;
        put(&s, at(like, other, i) | (turned < 0 ? 0 : at(like, dim, in_piece + turned)));
    }
    for (int i = in_row; i < like->dim_log2[dim]; i++) put(&s, at(like, dim, i));
    return layout_make(t, &s);
}

bool swizzle_find(LayoutTable *t, const Layout *buffer, int elem_bytes, Swizzle *out)
{
    for (int dim = 0; dim < 2; dim++) {
        if (buffer->rank != 2 || swizzle_layout(t, buffer, dim, elem_bytes) != buffer) continue;
        const int row = row_log2(buffer, dim, elem_bytes);
        *out = (Swizzle){.dim = dim,
                         .row_log2 = row,
                         .group = 1 << (row + SWIZZLE_ROWS_LOG2),
                         .block = 1 << (row + buffer->dim_log2[1 - dim])};
        return true;
    }
    return false;
}
