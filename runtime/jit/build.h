/* A kernel for the arguments of a launch. */
#ifndef TKC_RUNTIME_BUILD_H
#define TKC_RUNTIME_BUILD_H

#include "launch.h"

/* Fills *c but for its key; the context is locked. Where it fails, what is there is for compiled_free. */
TkcStatus compiled_build(TkcJit *jit, const TkcArg *args, Compiled *c);
/* PTX, or the text of block IR. */
const char *compiled_text(const Compiled *c);

#endif
