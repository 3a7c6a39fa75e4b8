/* The matrices of a product a [.. M K] by b [.. K N] as the layouts of its operands and its sum.

   A matrix instruction of a warp multiplies m x k by k x n. All its types share one pattern, with k
   counted in units that fill a 32-bit register (one element where elements are wider); t = lane %
   4, g = lane / 4:

     a     the elements of a unit, then row + 8 (where m is 16), then unit + 4, + 8, … in registers;
           unit t, row g
     b     the same without rows: unit t, column g
     sum   two neighbours of a row, then row + 8, in registers; columns 2 t, row g

   Which k is which is nobody's business as long as a and b agree: of a run, thread t has the units
   that lie side by side, 2 of them or more in place of t, t + 4, ..., and thread t + 1 what follows. So
   bytes that become 16 bits each come in words, and not two by two.

   A block repeats the tile: warps go along rows, columns and batches, what is left is in registers.
   Extents smaller than the tile: registers have no vectors for them, lanes zero vectors.

   The operands' layouts follow from the sum's: each warp has the rows of a and the columns of b
   that its part of the sum is made of, with all of K. */
#pragma once

#include "linear/layout.h"

/* log2 of an instruction's extents, and of the elements along k that fill a register. n is 8. */
typedef struct MmaShape {
    uint8_t m_log2, n_log2, k_log2, unit_log2;
} MmaShape;

/* Bits of the warp's number that go along each dim. */
typedef struct WarpSplit {
    int batch, m, n;
    bool in_groups; /* for fragment_is_group_sum */
} WarpSplit;

/* The sum's layout; dim_log2 is of [M, N] or [batch, M, N]. Bits of the warp's number that the
   split leaves hold duplicates. */
const Layout *fragment_sum(LayoutTable *t, MmaShape shape, int rank, const uint8_t *dim_log2,
                           WarpSplit split, int warp_bits);
/* True when it is the layout of such a sum, with any split. */
bool fragment_is_sum(MmaShape shape, const Layout *sum);
/* What a group has at least of columns where several share rows. */
enum { GROUP_COLUMNS_LOG2 = 4 };
/* True when four warps in a row have 64 rows of it together, and the columns of each are side by side:
   a warp group's product has its sums so. */
bool fragment_is_group_sum(MmaShape shape, const Layout *sum);
/* Vectors of registers at the beginning that are inside a tile of the sum. */
int fragment_tile_registers(MmaShape shape, const Layout *sum);
/* The layout of operand 0 or 1 that goes with the sum's. A thread has 1 << run_log2 neighbours along
   k: those of a unit, or more (run). */
const Layout *fragment_operand(LayoutTable *t, MmaShape shape, int operand, const Layout *sum,
                               int k_log2, int run_log2);
/* The first k of a thread's unit number `unit`, as the instruction and then its steps count them, for
   the thread with t = 0. */
uint32_t fragment_unit_at(MmaShape shape, int run_log2, uint32_t unit);

/* The same without an instruction: a thread has whole rows of a and columns of b, those of its
   elements of the sum. That may have any layout. */
const Layout *fragment_rows(LayoutTable *t, int operand, const Layout *sum, int k_log2);
/* The index, in an operand with one of these layouts, of the element with k = 0 in the row (column)
   of element `index` of the sum. */
uint32_t fragment_source(const Layout *sum, const Layout *operand_layout, int operand,
                         uint32_t index);
