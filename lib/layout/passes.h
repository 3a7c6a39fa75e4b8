/* The passes of this folder. */
#ifndef TKC_LAYOUT_PASSES_H
#define TKC_LAYOUT_PASSES_H

#include "transform/pass.h"

#define PASS(name, run, needs, gives, breaks, help) void run(Pass *p, Func *fn);
#include "layout/passes.def"
#undef PASS

#endif
