/* What a kernel's decorators say: heuristics that compute constexprs, tuning configurations with their launch options. */
#ifndef TKC_SPEC_CONFIG_H
#define TKC_SPEC_CONFIG_H

#include "spec/spec.h"

/* The value @heuristics gives a parameter, from the arguments known so far (a record by name). False when there is no rule for it or
   the rule needs something that is not known. */
bool config_heuristic(Spec *sp, const SpecFunc *kernel, Str param, SpecValue known, SpecValue *out);
/* num_warps and num_stages of the first @autotune configuration that agrees with the known values; 0 where none says. */
void config_launch(Spec *sp, const SpecFunc *kernel, SpecValue known, int *num_warps, int *num_stages);
/* Warns of decorators that mean nothing here. */
void config_check(Spec *sp, const SpecFunc *kernel);

#endif
