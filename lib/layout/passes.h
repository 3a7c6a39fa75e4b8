/* The passes of this folder. */
#pragma once

#include "transform/pass.h"

#define PASS(name, run, needs, gives, breaks, help) void run(Pass *p, Func *fn);
#include "layout/passes.def"
#undef PASS
