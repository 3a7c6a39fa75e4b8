/* Floats of PTX as bits and numbers, for its arithmetic and its conversions. */
#pragma once

#include "ptx.h"

typedef enum PtxRound { PTX_NEAREST, PTX_TO_ZERO, PTX_DOWN, PTX_UP } PtxRound;
PtxRound ptx_rounding(const PtxCall *c); /* from rn rz rm rp */

/* v rounded once to the type; NaN is the type's own. */
uint64_t ptx_round(DType dt, double v, PtxRound mode);
bool ptx_is_nan(DType dt, uint64_t x);
/* The NaN of a type: what instructions give that keep nothing of a NaN operand; of fp64, what an
   invalid operation gives. */
uint64_t ptx_nan(DType dt);
/* A NaN's sign and the upper bits of its significand, quiet, in another type or the same. */
uint64_t ptx_kept_nan(DType from, DType to, uint64_t x);
/* A subnormal number becomes the zero of its sign. */
uint64_t ptx_flush(DType dt, uint64_t x);
/* What .sat and .relu make of a number: into 0 … 1, NaN being 0; at least 0. */
uint64_t ptx_clamp(const PtxCall *c, DType dt, uint64_t x);
