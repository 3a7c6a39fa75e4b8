/* Instructions of a whole warp: the matrix ones. Lanes that have gone different ways meet there;
   what the chips do with fewer than all lanes is not defined, so it is an error. */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "warp.h"

bool whole_warp(Warp *w, const SimtInsn *in, LaneMask m, SimtStep *step)
{
    *step = STEP_MOVED;
    if (m != SIMT_ALL_LANES) m = warp_gather(w, in, m, SIMT_ALL_LANES);
    if (m && m != SIMT_ALL_LANES)
        *step = simt_fault(w, in, -1, SIMT_LAUNCH_FAILED,
                           "all 32 lanes of a warp execute this together, but only 0x%08x are there",
                           m);
    return m == SIMT_ALL_LANES;
}

void whole_warp_read(const Warp *w, const SimtOperand *s, int n, int bits, void *out)
{
    const size_t size = (size_t)bits / 8 * SIMT_LANES;
    for (int i = 0; i < n; i++) memcpy((uint8_t *)out + i * size, simt_lanes(w, s[i]), size);
}

void whole_warp_write(Warp *w, const SimtOperand *d, int n, int bits, const void *from)
{
    const size_t size = (size_t)bits / 8 * SIMT_LANES;
    for (int i = 0; i < n; i++)
        simt_write_lanes(w, d[i], (const uint8_t *)from + i * size, SIMT_ALL_LANES);
}

/* ---- decoding ---- */

void dc_aligned(Decoder *dc)
{
    if (!op_take(dc, "sync") || !op_take(dc, "aligned")) op_refuse(dc);
}

void dc_matrix_shape(Decoder *dc, int *m, int *n, int *k)
{
    for (int i = 1; i < dc->nparts; i++) {
        char text[16];
        int end = 0;
        snprintf(text, sizeof text, "%.*s", dc->len[i], dc->part[i]);
        if (sscanf(text, "m%3dn%3dk%3d%n", m, n, k, &end) < 3 || end != dc->len[i]) continue;
        dc->taken[i] = true;
        return;
    }
    op_refuse(dc);
}

MatrixType dc_matrix_type(Decoder *dc)
{
    MatrixType type = MATRIX_NONE;
    OP_FIRST(dc, type, simt_matrix_type);
    if (type == MATRIX_NONE) op_refuse(dc);
    return type;
}

void dc_needs_chip(Decoder *dc, int least)
{
    if (dc->chip >= least) return;
    ptx_fail(&dc->ps, "'%.*s' needs sm_%d, the text is for sm_%d", dc->ps.opcode.len,
             dc->ps.opcode.text, least, dc->chip);
}
