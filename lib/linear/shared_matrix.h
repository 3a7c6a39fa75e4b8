/* Blocks that a warp reads from shared memory, or writes there, as matrices: one instruction moves up
   to four of 8 rows of 16 bytes. Lane l gives the address of a row, row l % 8 of matrix l / 8; of each
   matrix lane l has the 4 bytes l % 4 of row l / 4 or, transposed, the 2 bytes l / 4 of row 2 (l % 4)
   and those of the row after it. Operands of matrix instructions (fragment.h) are laid out so, the
   first along k in memory, the other way transposed, and so are their sums. */
#pragma once

#include "linear/shared.h"

/* A matrix as the block's layout has it: the vectors of the elements of a row, in order, and of the
   rows. */
typedef struct MatrixRows {
    int element_bits; /* log2 of the elements in a row */
    uint32_t element[4], row[3];
} MatrixRows;

/* False when the layout has no rows. */
bool matrix_rows(MatrixRows *out, const Layout *block, int elem_bytes, bool transposed);

/* Makes of an access by vectors one in matrices, where that moves more at once; whether it does. Of
   these lane[] is by the lane that gives an address, 16 bytes of it; a thread has 1 << vector_log2
   elements in words of 4 bytes. */
bool shared_by_rows(SharedAccess *a, int elem_bytes);

/* The access by which a warp reads or writes a block: as shared_access, or in matrices where that moves
   more at once. */
bool shared_warp_access(SharedAccess *out, const Layout *block, const Layout *buffer,
                        int elem_bytes);
