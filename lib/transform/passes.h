/* The passes of this folder. */
#ifndef TKC_TRANSFORM_PASSES_H
#define TKC_TRANSFORM_PASSES_H

#include "transform/pass.h"

#define PASS(name, run, needs, gives, breaks, help) void run(Pass *p, Func *fn);
#include "transform/passes.def"
#undef PASS

#endif
