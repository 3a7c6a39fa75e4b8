/* Warnings about a kernel's decorators: @autotune, @heuristics, and those that mean nothing here. */
#ifndef TKC_SPEC_TUNING_H
#define TKC_SPEC_TUNING_H

#include "spec/spec.h"

void tuning_check(Spec *sp, const SpecFunc *kernel);

#endif
