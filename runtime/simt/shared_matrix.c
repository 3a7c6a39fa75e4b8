/* wgmma's matrices in shared memory. Memory holds units of 16 bytes; eight rows of an operand, 256
   bits along k, are 16 units:

     k-major    a unit is a stretch of one row: rows 0 … 7 of the first half of k, then of the
   second mn-major   a unit is eight rows (of 16-bit elements) at one place along k: places 0 … 15

   Unit u belongs to line u % 8 of half u / 8. Where it lies:

                            line       half       next eight rows
     no swizzle             16 bytes   leading    stride
     k-major, swizzled      span       16 bytes   stride
     mn-major, swizzled     span       stride     16 bytes within a span, then leading

   The swizzle exchanges units within a span: bits 4 … 6 of the address (as many as the span has)
   are xored with bits 7 … 9, so the pattern repeats every 8 spans, counted from address 0 of shared
   memory. A matrix that begins elsewhere says by its base offset how many times 128 bytes the
   pattern is moved. Bits of the descriptor that mean nothing are not looked at. */
#include <string.h>

#include "simt/wgmma.h"

enum { UNIT_BYTES = 16, UNITS = 16, MOST_ELEMENTS = UNITS * UNIT_BYTES * 8 };

static uint32_t field(uint64_t descriptor, int bit)
{
    return (uint32_t)(descriptor >> bit & 0x3fff) << 4;
}

SharedMatrix simt_shared_matrix(uint64_t descriptor, bool mn_major)
{
    static const uint8_t spans[] = {0, 128, 64, 32};
    return (SharedMatrix){.start = field(descriptor, 0),
                          .leading = field(descriptor, 16),
                          .stride = field(descriptor, 32),
                          .span = spans[descriptor >> 62],
                          .phase = (int)(descriptor >> 49 & 7),
                          .mn_major = mn_major};
}

static uint32_t unit_address(const SharedMatrix *m, int group, int unit)
{
    const uint32_t line = (uint32_t)unit % 8, half = (uint32_t)unit / 8, g = (uint32_t)group;
    const uint32_t span = (uint32_t)m->span, units = span / UNIT_BYTES;
    if (!span) return m->start + line * UNIT_BYTES + half * m->leading + g * m->stride;
    uint32_t at = m->start + line * span;
    if (m->mn_major) at += half * m->stride + g % units * UNIT_BYTES + g / units * m->leading;
    else at += half * UNIT_BYTES + g * m->stride;
    return at ^ (((at >> 7) - (uint32_t)m->phase) & (units - 1)) << 4;
}

static void unpack(const uint8_t *bytes, int bits, uint32_t *codes)
{
    uint32_t words[UNIT_BYTES / sizeof(uint32_t)];
    memcpy(words, bytes, sizeof words);
    for (int i = 0; i * bits < UNIT_BYTES * 8; i++)
        codes[i] = words[i * bits / 32] >> (i * bits % 32);
}

static bool read_units(const SharedMatrix *m, const SharedBytes *shared, int bits, int group,
                       uint32_t *codes, uint32_t *fault)
{
    const int per_unit = UNIT_BYTES * 8 / bits;
    for (int unit = 0; unit < UNITS; unit++) {
        const uint32_t at = unit_address(m, group, unit);
        *fault = at;
        if (at + (size_t)UNIT_BYTES > shared->size) return false;
        if (shared->read) shared->read(shared->user, at, UNIT_BYTES);
        unpack(shared->bytes + at, bits, codes + unit * per_unit);
    }
    return true;
}

bool simt_shared_matrix_load(const SharedMatrix *m, const SharedBytes *shared, MatrixType type,
                             int group, double *out, int row_step, int k_step, uint32_t *fault)
{
    const int bits = simt_matrix_type_bits(type), per_unit = UNIT_BYTES * 8 / bits;
    uint32_t codes[MOST_ELEMENTS];
    double numbers[MOST_ELEMENTS];
    if (!read_units(m, shared, bits, group, codes, fault)) return false;
    simt_matrix_decode(type, codes, numbers, UNITS * per_unit);
    for (int unit = 0; unit < UNITS; unit++)
        for (int i = 0; i < per_unit; i++) {
            const int row = m->mn_major ? i : unit % 8;
            const int k = m->mn_major ? unit : unit / 8 * per_unit + i;
            out[row * row_step + k * k_step] = numbers[unit * per_unit + i];
        }
    return true;
}
