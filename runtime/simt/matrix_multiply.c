/* mma.sync: its name as a form of mma.h, and the product of what the warp's registers hold. */
#include <string.h>

#include "decode.h"
#include "mma.h"
#include "warp.h"

enum { MOST_REGISTERS = 8 }; /* of a lane, of one operand */

static SimtStep whole_mma(Warp *w, const SimtInsn *in)
{
    const MmaForm *form = in->form;
    uint64_t a[MOST_REGISTERS * SIMT_LANES], b[MOST_REGISTERS * SIMT_LANES],
        c[MOST_REGISTERS * SIMT_LANES], d[MOST_REGISTERS * SIMT_LANES];
    const SimtOperand *s = in->s;
    const int bits = s->bits;
    whole_warp_read(w, s, in->a, bits, a);
    whole_warp_read(w, s + in->a, in->b, bits, b);
    whole_warp_read(w, s + in->a + in->b, in->c, bits, c);
    simt_mma(form, d, a, b, c);
    whole_warp_write(w, in->d, in->nd, bits, d);
    return STEP_NEXT;
}

/* ---- decoding ---- */

/* The next part that is one of the two, in the order of the text: true for the second. */
static bool is_second(Decoder *dc, const char *first, const char *second)
{
    PtxParts *parts = &dc->ps.parts;
    for (int i = 1; i < parts->n; i++) {
        const bool yes = ptx_part_is(parts, i, second, strlen(second));
        if (parts->taken[i] || !(yes || ptx_part_is(parts, i, first, strlen(first)))) continue;
        parts->taken[i] = true;
        return yes;
    }
    op_refuse(dc);
    return false;
}

static void read_spec(Decoder *dc, MmaSpec *s)
{
    dc_aligned(dc);
    dc_matrix_shape(dc, &s->m, &s->n, &s->k);
    s->a_column = is_second(dc, "row", "col");
    s->b_row = is_second(dc, "col", "row");
    s->satfinite = op_take(dc, "satfinite");
    s->round = (MmaRound)(op_choose(dc, "rz rm rp") + 1);
    const bool nearest = s->round == MMA_NEAREST && op_take(dc, "rn");
    s->bits = (MatrixBits)(op_choose(dc, "xor and") + 1);
    if (s->bits != MATRIX_BITS_NONE && !op_take(dc, "popc")) op_refuse(dc);
    s->d = dc_matrix_type(dc);
    s->a = dc_matrix_type(dc);
    s->b = dc_matrix_type(dc);
    s->c = dc_matrix_type(dc);
    if (nearest && s->a != MATRIX_F64) op_refuse(dc);
    op_done(dc);
}

void decode_mma(Decoder *dc, SimtInsn *in)
{
    MmaSpec spec = {0};
    MmaForm *form = dc_take(dc, sizeof *form);
    read_spec(dc, &spec);
    if (dc->ps.failed) return;
    if (!simt_mma_form(form, &spec)) {
        op_refuse(dc);
        return;
    }
    dc_needs_chip(dc, form->least_chip);
    in->form = form;
    in->count = (uint8_t)simt_fragment_registers(&form->d);
    in->a = (uint8_t)simt_fragment_registers(&form->a);
    in->b = (uint8_t)simt_fragment_registers(&form->b);
    in->c = (uint8_t)simt_fragment_registers(&form->c);
    in->whole = whole_mma;
    dc_form(dc, in, exec_whole, ">{*} <a{*} <b{*} <c{*}",
            ptx_type(spec.a == MATRIX_F64 ? "b64" : "b32"));
}
