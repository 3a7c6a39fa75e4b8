/* What instructions that all 32 lanes of a warp execute together have in common (.sync.aligned). */
#ifndef TKC_SIMT_WHOLE_WARP_H
#define TKC_SIMT_WHOLE_WARP_H

#include "decode.h"
#include "warp.h"

/* True: all lanes are there. Else *step is what the executor gives: it waits for the others, or
   some have ended, which is told. */
bool whole_warp(Warp *w, const SimtInsn *in, LaneMask m, SimtStep *step);
/* n operands of 32 or of 64 bits to and from [n][32 lanes]. */
void whole_warp_read(const Warp *w, const SimtOperand *s, int n, int bits, void *out);
void whole_warp_write(Warp *w, const SimtOperand *d, int n, int bits, const void *from);

/* ---- decoding ---- */
/* Takes ".sync.aligned"; refuses what has neither. */
void dc_aligned(Decoder *dc);
/* Takes the part such as "m16n8k16", and the next that names the elements of a matrix; refuses what
   has none. */
void dc_matrix_shape(Decoder *dc, int *m, int *n, int *k);
MatrixType dc_matrix_type(Decoder *dc);
/* Refuses the instruction in a text for an older chip. */
void dc_needs_chip(Decoder *dc, int least);

#endif
