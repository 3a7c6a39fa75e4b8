/* What is known of a float's size from how it is computed. */
#ifndef TKC_LOWER_LEAST_H
#define TKC_LOWER_LEAST_H

#include "tkc/ir.h"

/* The number is no less, or it is NaN. */
double lower_least(const Value *v);
/* At least 2^-100, or NaN. */
bool lower_is_normal(const Value *v);
/* The number, fp32, is only added to such as are normal: a subnormal one is as good as 0. */
bool lower_vanishes_below_normal(const Value *v);

#endif
