/* The passes of this folder. */
#pragma once

#include "transform/pass.h"

#define PASS(name, run, needs, gives, breaks, help) void run(Pass *p, Func *fn);
#include "memory/passes.def"
#undef PASS

/* True for an op that `expand` takes apart: as it stands it has no code. */
bool expand_wants(const Op *op);
