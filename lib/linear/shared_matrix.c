/* What a lane has of a matrix is the same for all matrices, so that a layout is made of them when
   its first registers and its lanes are those of one. Which row of which matrix an address is for
   is a matter of offsets: the rows' and those of the next two registers, whatever they are. */
#include "linear/shared_matrix.h"

#include <string.h>

enum { LANE_BITS = 5, T_BITS = 2, ROW_BITS = 3, MATRICES_LOG2 = 2, WORD_BYTES_LOG2 = 2 };

/* Registers that make a 4-byte word. */
static int unit_log2(int elem_bytes)
{
    return WORD_BYTES_LOG2 - (31 - __builtin_clz((unsigned)elem_bytes));
}

bool matrix_rows(MatrixRows *out, const Layout *block, int elem_bytes, bool transposed)
{
    const uint32_t *reg = block->basis[DIM_REGISTER], *lane = block->basis[DIM_LANE];
    *out = (MatrixRows){0};
    if (block->nbits[DIM_LANE] != LANE_BITS || elem_bytes > 4 || (transposed && elem_bytes != 2))
        return false;
    const int unit = unit_log2(elem_bytes);
    if (block->nbits[DIM_REGISTER] < unit || layout_free_bits(block, DIM_REGISTER)) return false;
    uint32_t pairs[4]; /* along the words of four lanes */
    memcpy(pairs, reg, (size_t)unit * sizeof *reg);
    memcpy(pairs + unit, lane, T_BITS * sizeof *lane);
    out->element_bits = transposed ? ROW_BITS : unit + T_BITS;
    memcpy(out->element, transposed ? lane + T_BITS : pairs,
           (size_t)out->element_bits * sizeof *lane);
    memcpy(out->row, transposed ? pairs : lane + T_BITS, ROW_BITS * sizeof *lane);
    F2Space row = {0};
    return f2_space_add_all(&row, out->element_bits, out->element) == out->element_bits;
}

/* The offset of a vector that is in the buffer, with the bits inside a row clear. */
static bool solve(const SharedAccess *a, int element_bits, uint32_t v, uint32_t *offset)
{
    return f2_space_solve(&a->buffer, v, offset) && !(*offset & ((1u << element_bits) - 1));
}

static bool has_rows(const SharedAccess *a, const MatrixRows *m)
{
    uint32_t offset;
    for (int i = 0; i < m->element_bits; i++) {
        if (!f2_space_solve(&a->buffer, m->element[i], &offset) || offset != 1u << i) return false;
    }
    /* No register beyond the word may move inside a row. */
    const Layout *l = a->block;
    const uint32_t inside = (1u << m->element_bits) - 1;
    for (int i = a->vector_log2; i < l->nbits[DIM_REGISTER]; i++) {
        if (f2_space_solve(&a->buffer, l->basis[DIM_REGISTER][i], &offset) && offset & inside)
            return false;
    }
    return true;
}

/* The rows of a matrix, 16 bytes each, lie in different banks: those whose parts within 128 bytes
   agree are one. */
static bool are_apart(int element_bits, const uint32_t *row)
{
    F2Space whole = {0}, bank = {0};
    for (int i = 0; i < ROW_BITS; i++) {
        f2_space_add(&whole, row[i]);
        f2_space_add(&bank, row[i] & ((1u << (element_bits + ROW_BITS)) - 1));
    }
    return whole.dim == bank.dim;
}

static bool set_addresses(SharedAccess *a, const MatrixRows *m)
{
    const Layout *l = a->block;
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) {
        if (!solve(a, m->element_bits, l->basis[DIM_WARP][i], &a->warp[i])) return false;
    }
    for (int i = 0; i < ROW_BITS; i++) {
        if (!solve(a, m->element_bits, m->row[i], &a->lane[i])) return false;
    }
    if (!are_apart(m->element_bits, a->lane)) return false;
    for (int i = 0; i < MATRICES_LOG2 && a->vector_log2 < l->nbits[DIM_REGISTER]; i++) {
        const uint32_t v = l->basis[DIM_REGISTER][a->vector_log2];
        if (!solve(a, m->element_bits, v, &a->lane[ROW_BITS + i])) break;
        a->vector_reg[a->vector_log2] = 1u << a->vector_log2;
        a->vector_log2++;
    }
    return true;
}

/* The words of a thread, of as many matrices as its next registers are of. */
static bool try_rows(SharedAccess *a, const SharedAccess *plain, int elem_bytes, bool transposed)
{
    MatrixRows m;
    *a = (SharedAccess){.block = plain->block, .buffer = plain->buffer};
    a->kind = transposed ? SHARED_ROWS_TRANSPOSED : SHARED_ROWS;
    if (!matrix_rows(&m, plain->block, elem_bytes, transposed)) return false;
    for (int i = 0; i < unit_log2(elem_bytes); i++) a->vector_reg[a->vector_log2++] = 1u << i;
    return has_rows(a, &m) && set_addresses(a, &m) && a->vector_log2 > plain->vector_log2;
}

bool shared_by_rows(SharedAccess *a, int elem_bytes)
{
    const SharedAccess plain = *a;
    if (try_rows(a, &plain, elem_bytes, false) || try_rows(a, &plain, elem_bytes, true)) return true;
    *a = plain;
    return false;
}

bool shared_warp_access(SharedAccess *out, const Layout *block, const Layout *buffer,
                        int elem_bytes)
{
    if (!shared_access(out, block, buffer, elem_bytes)) return false;
    shared_by_rows(out, elem_bytes);
    return true;
}
