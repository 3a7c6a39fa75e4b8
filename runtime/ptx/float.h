/* Floats of PTX as bits and numbers, for its arithmetic and its conversions. */
#ifndef TKC_PTX_FLOAT_H
#define TKC_PTX_FLOAT_H

#include "ptx.h"

typedef enum PtxRound { PTX_NEAREST, PTX_TO_ZERO, PTX_DOWN, PTX_UP } PtxRound;
PtxRound ptx_rounding(const PtxCall *c); /* from rn rz rm rp */

/* v rounded once to the type; NaN is the one NaN that PTX's instructions give. */
uint64_t ptx_round(DType dt, double v, PtxRound mode);
bool ptx_is_nan(DType dt, uint64_t x);
uint64_t ptx_nan(DType dt);
/* A subnormal number becomes the zero of its sign. */
uint64_t ptx_flush(DType dt, uint64_t x);
/* What .sat and .relu make of a number: into 0 … 1, NaN being 0; at least 0. */
uint64_t ptx_clamp(const PtxCall *c, DType dt, uint64_t x);

#endif
