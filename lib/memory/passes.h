/* The passes of this folder. */
#ifndef TKC_MEMORY_PASSES_H
#define TKC_MEMORY_PASSES_H

#include "transform/pass.h"

#define PASS(name, run, needs, gives, breaks, help) void run(Pass *p, Func *fn);
#include "memory/passes.def"
#undef PASS

/* True for an op that `expand` takes apart: as it stands it has no code. */
bool expand_wants(const Op *op);

#endif
