/* The common type of two operands. Knows element types and compile-time numbers only, no values of
   the IR. */
#pragma once

#include "spec/value.h"

typedef enum PromoteFault {
    PROMOTE_FINE,
    PROMOTE_SIGNS,    /* / // % of a signed and an unsigned integer */
    PROMOTE_FP8_INT,  /* fp8 with an integer */
    PROMOTE_NEGATIVE, /* a negative constant with an unsigned type */
    PROMOTE_RANGE,    /* a constant outside the type it adopts */
    PROMOTE_TOO_WIDE  /* a constant outside every integer type */
} PromoteFault;

/* The type two run-time operands are computed in; `division` for / // %. DT_NONE after a fault. */
DType promote_pair(DType a, DType b, bool division, PromoteFault *fault);
/* The same for a run-time operand and a compile-time number (BOOL, INT, FLOAT). */
DType promote_constant(DType tensor, SpecValue number, bool division, PromoteFault *fault);
/* Whether comparing it in the run-time operand's type gives what comparing it in its own would. */
bool promote_compares(DType tensor, SpecValue number);
/* The type a compile-time number has at run time; DT_NONE when no integer type holds it. */
DType promote_dtype_of(SpecValue number);
