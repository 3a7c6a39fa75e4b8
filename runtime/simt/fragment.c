/* Fragments: a matrix spread over the registers of a warp, elements of 32 lanes at a time.

   Lanes go in groups of four. In a and b the group's number is the row (column) and a lane holds as
   many neighbours along k as a register has room for; then comes the lower half of the rows, if
   there are 16, then the next stretch of k. In c and d lanes hold pairs of neighbours in a row, and
   the order is the same. */
#include <string.h>

#include "simt/matrix.h"

static int log2_of(int n)
{
    return 31 - __builtin_clz((unsigned)n);
}

static int place(const uint16_t *steps, int index)
{
    int at = 0;
    for (int bit = 0; index >> bit; bit++)
        if (index >> bit & 1) at += steps[bit];
    return at;
}

void simt_fragment_set_lanes(Fragment *f, const uint16_t steps[5])
{
    for (int lane = 0; lane < SIMT_LANES; lane++) f->lane[lane] = (uint16_t)place(steps, lane);
}

/* `unit` neighbours in a lane's register, each `minor` apart; groups of lanes `major` apart. */
static Fragment spread(MatrixType type, int count, int unit, int minor, int major, bool halves)
{
    Fragment f = {.type = type, .count = count};
    uint16_t lanes[5];
    int bit = 0;
    for (int i = 0; i < 5; i++)
        lanes[i] = (uint16_t)(i < 2 ? (minor * unit) << i : major << (i - 2));
    simt_fragment_set_lanes(&f, lanes);
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

static void unpack(const Fragment *f, const uint32_t *words, uint32_t *codes)
{
    const int per = per_register(f->type), bits = simt_matrix_type_bits(f->type);
    for (int i = 0; i < f->count; i++)
        for (int lane = 0; lane < SIMT_LANES; lane++)
            codes[i * SIMT_LANES + lane] = words[i / per * SIMT_LANES + lane] >> i % per * bits;
}

/* Element after element, 32 lanes each. */
static void scatter(const Fragment *f, const double *numbers, double *matrix)
{
    for (int i = 0; i < f->count; i++) {
        double *to = matrix + place(f->element, i);
        for (int lane = 0; lane < SIMT_LANES; lane++)
            to[f->lane[lane]] = numbers[i * SIMT_LANES + lane];
    }
}

void simt_fragment_load(const Fragment *f, const void *registers, double *matrix)
{
    uint32_t codes[FRAGMENT_MOST * SIMT_LANES];
    double numbers[FRAGMENT_MOST * SIMT_LANES];
    const int n = f->count * SIMT_LANES;
    if (f->type == MATRIX_F64) {
        memcpy(numbers, registers, (size_t)n * sizeof *numbers);
    } else {
        unpack(f, registers, codes);
        simt_matrix_decode(f->type, codes, numbers, n);
    }
    scatter(f, numbers, matrix);
}

static void gather(const Fragment *f, const double *matrix, double *numbers)
{
    for (int i = 0; i < f->count; i++) {
        const double *from = matrix + place(f->element, i);
        for (int lane = 0; lane < SIMT_LANES; lane++)
            numbers[i * SIMT_LANES + lane] = from[f->lane[lane]];
    }
}

/* An element that begins a register clears the rest of it. */
static void pack(const Fragment *f, const uint32_t *codes, uint32_t *words)
{
    const int per = per_register(f->type), bits = simt_matrix_type_bits(f->type);
    for (int i = 0; i < f->count; i++) {
        uint32_t *to = words + i / per * SIMT_LANES;
        const uint32_t kept = i % per ? ~0u : 0;
        for (int lane = 0; lane < SIMT_LANES; lane++)
            to[lane] = (to[lane] & kept) | codes[i * SIMT_LANES + lane] << i % per * bits;
    }
}

void simt_fragment_store(const Fragment *f, bool satfinite, const double *matrix, void *registers)
{
    uint32_t codes[FRAGMENT_MOST * SIMT_LANES];
    double numbers[FRAGMENT_MOST * SIMT_LANES];
    const int n = f->count * SIMT_LANES;
    gather(f, matrix, numbers);
    if (f->type == MATRIX_F64) {
        memcpy(registers, numbers, (size_t)n * sizeof *numbers);
        return;
    }
    simt_matrix_encode(f->type, satfinite, numbers, codes, n);
    pack(f, codes, registers);
}

/* ---- ldmatrix and stmatrix ---- */

/* Lane l has elements 2 (l % 4) and the next of row l / 4 of each matrix, the lower one in the
   lower half of its register; transposed, the same of column l / 4. */
enum { ELEMENT_BYTES = 2 };

typedef struct Place {
    int row, byte;
} Place;

static Place place_of(int lane, int half, bool transposed)
{
    const int major = lane / 4, minor = lane % 4 * 2 + half;
    return transposed ? (Place){minor, major * ELEMENT_BYTES}
                      : (Place){major, minor * ELEMENT_BYTES};
}

void simt_move_matrices(uint32_t *registers, uint8_t *const *rows, int count, bool transposed,
                        bool to_rows)
{
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < SIMT_LANES; lane++)
            for (int half = 0; half < 2; half++) {
                const Place at = place_of(lane, half, transposed);
                uint8_t *row = rows[i * LDMATRIX_ROWS + at.row] + at.byte;
                uint8_t *lanes = (uint8_t *)&registers[i * SIMT_LANES + lane] + half * ELEMENT_BYTES;
                memcpy(to_rows ? row : lanes, to_rows ? lanes : row, ELEMENT_BYTES);
            }
}
