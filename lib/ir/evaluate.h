/* What each elementwise op means on scalars, bit for bit: the reference that constant folding uses
   and the interpreter agrees with.
   Element bits are as in ATTR_VALUE: integers extended to 64 bits by signedness, floats in their
   own format, zero-extended. */
#pragma once

#include "tkc/edge.h" /* tkc_evaluate */

/* Number <-> bits; each rounds once. Overflow gives infinity, but float8e4nv and float8e5 saturate
   to their largest finite numbers, infinity included (what cvt.rn.satfinite does); every NaN
   becomes the one positive quiet NaN. */
uint64_t bits_from_double(DType dt, double v);    /* to nearest even */
uint64_t bits_of_written(DType dt, double v);     /* the same, but a NaN keeps its sign */
uint64_t bits_from_float_rtz(DType dt, double v); /* toward zero */
double bits_to_double(DType dt, uint64_t bits);   /* exact, of a float dtype */
/* wraps to the width, then extends; a float dtype: to nearest even */
uint64_t bits_from_int(DType dt, int64_t v);
uint64_t bits_from_uint(DType dt, uint64_t v);
/* The infinity, or for float8e4nv, which has none, its NaN. */
uint64_t bits_infinity(DType dt);
uint64_t bits_nan(DType dt);
