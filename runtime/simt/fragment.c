/* Fragments: a matrix spread over the registers of a warp, elements of 32 lanes at a time.

   Lanes go in groups of four. In a and b the group's number is the row (column) and a lane holds as
   many neighbours along k as a register has room for; then comes the lower half of the rows, if
   there are 16, then the next stretch of k. In c and d lanes hold pairs of neighbours in a row, and
   the order is the same. */
#include <string.h>

#include "simt/fragment.h"

static int log2_of(int n)
{
    return 31 - __builtin_clz((unsigned)n);
}

/* `unit` neighbours in a lane's register, each `minor` apart; groups of lanes `major` apart. */
static Fragment spread(MatrixType type, int count, int unit, int minor, int major, bool halves)
{
    Fragment f = {.type = type, .count = count};
    int bit = 0;
    for (int i = 0; i < FRAGMENT_LANE_BITS; i++)
        f.lane[i] = (uint16_t)(i < 2 ? (minor * unit) << i : major << (i - 2));
    for (; bit < log2_of(unit); bit++) f.element[bit] = (uint16_t)(minor << bit);
    if (halves) f.element[bit++] = (uint16_t)(8 * major);
    for (int i = 0; bit < FRAGMENT_ELEMENT_BITS && 1 << bit < count; i++)
        f.element[bit++] = (uint16_t)((4 * unit * minor) << i);
    return f;
}

static int per_register(MatrixType type)
{
    const int bits = simt_matrix_type_bits(type);
    return bits < 32 ? 32 / bits : 1;
}

Fragment simt_fragment_a(MatrixType type, int m, int k)
{
    return spread(type, m * k / SIMT_LANES, per_register(type), 1, k, m == 16);
}

Fragment simt_fragment_b(MatrixType type, int k, int n)
{
    return spread(type, k * n / SIMT_LANES, per_register(type), n, 1, false);
}

Fragment simt_fragment_c(MatrixType type, int m, int n)
{
    return spread(type, m * n / SIMT_LANES, 2, 1, n, m == 16);
}

int simt_fragment_registers(const Fragment *f)
{
    return f->count / per_register(f->type);
}

static int place(const uint16_t *steps, int index)
{
    int at = 0;
    for (int bit = 0; index >> bit; bit++)
        if (index >> bit & 1) at += steps[bit];
    return at;
}

static void lane_places(const Fragment *f, int at[SIMT_LANES])
{
    for (int lane = 0; lane < SIMT_LANES; lane++) at[lane] = place(f->lane, lane);
}

static void load_element(const Fragment *f, const void *registers, int i, double *numbers)
{
    if (f->type == MATRIX_F64) {
        memcpy(numbers, (const uint64_t *)registers + i * SIMT_LANES, SIMT_LANES * sizeof *numbers);
        return;
    }
    const int per = per_register(f->type), shift = i % per * simt_matrix_type_bits(f->type);
    const uint32_t *words = (const uint32_t *)registers + i / per * SIMT_LANES;
    uint32_t codes[SIMT_LANES];
    for (int lane = 0; lane < SIMT_LANES; lane++) codes[lane] = words[lane] >> shift;
    simt_matrix_decode(f->type, codes, numbers, SIMT_LANES);
}

void simt_fragment_load(const Fragment *f, const void *registers, double *matrix)
{
    int at[SIMT_LANES];
    double numbers[SIMT_LANES];
    lane_places(f, at);
    for (int i = 0; i < f->count; i++) {
        double *from = matrix + place(f->element, i);
        load_element(f, registers, i, numbers);
        for (int lane = 0; lane < SIMT_LANES; lane++) from[at[lane]] = numbers[lane];
    }
}

/* An element that begins a register clears the rest of it. */
static void store_element(const Fragment *f, bool satfinite, const double *numbers, int i,
                          void *registers)
{
    if (f->type == MATRIX_F64) {
        memcpy((uint64_t *)registers + i * SIMT_LANES, numbers, SIMT_LANES * sizeof *numbers);
        return;
    }
    const int per = per_register(f->type), shift = i % per * simt_matrix_type_bits(f->type);
    uint32_t *words = (uint32_t *)registers + i / per * SIMT_LANES, codes[SIMT_LANES];
    simt_matrix_encode(f->type, satfinite, numbers, codes, SIMT_LANES);
    for (int lane = 0; lane < SIMT_LANES; lane++)
        words[lane] = (shift ? words[lane] : 0) | codes[lane] << shift;
}

void simt_fragment_store(const Fragment *f, bool satfinite, const double *matrix, void *registers)
{
    int at[SIMT_LANES];
    double numbers[SIMT_LANES];
    lane_places(f, at);
    for (int i = 0; i < f->count; i++) {
        const double *from = matrix + place(f->element, i);
        for (int lane = 0; lane < SIMT_LANES; lane++) numbers[lane] = from[at[lane]];
        store_element(f, satfinite, numbers, i, registers);
    }
}
