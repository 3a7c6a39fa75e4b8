/* ldmatrix and stmatrix. Lane l has elements 2 (l % 4) and the next of row l / 4 of each matrix,
   the lower one in the lower half of its register; transposed, the same of column l / 4. */
#include <string.h>

#include "simt/ldmatrix.h"

enum { LANES = 32, ELEMENT_BYTES = 2 };

typedef struct Place {
    int row, byte;
} Place;

static Place place_of(int lane, int half, bool transposed)
{
    const int major = lane / 4, minor = lane % 4 * 2 + half;
    return transposed ? (Place){minor, major * ELEMENT_BYTES}
                      : (Place){major, minor * ELEMENT_BYTES};
}

void simt_ldmatrix(uint32_t *registers, const uint8_t *const *rows, int count, bool transposed)
{
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < LANES; lane++) {
            uint16_t halves[2];
            for (int half = 0; half < 2; half++) {
                const Place at = place_of(lane, half, transposed);
                memcpy(&halves[half], rows[i * LDMATRIX_ROWS + at.row] + at.byte, ELEMENT_BYTES);
            }
            registers[i * LANES + lane] = halves[0] | (uint32_t)halves[1] << 16;
        }
}

void simt_stmatrix(uint8_t *const *rows, const uint32_t *registers, int count, bool transposed)
{
    for (int i = 0; i < count; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int half = 0; half < 2; half++) {
                const Place at = place_of(lane, half, transposed);
                const uint16_t element = (uint16_t)(registers[i * LANES + lane] >> 16 * half);
                memcpy(rows[i * LDMATRIX_ROWS + at.row] + at.byte, &element, ELEMENT_BYTES);
            }
}
