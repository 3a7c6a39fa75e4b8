/* The compiled kernels of a jit, and how one is made: build.c. */
#pragma once

#include "launch.h"

/* The kernel that was used last, if it is for such arguments, for the caller to release, with launch_again's
   `out`; or NULL. No key is made. */
Compiled *kernels_again(TkcJit *jit, const TkcArg *args, size_t nargs, const LaunchPack *out);
/* The kernel of this key, for the caller to release, or NULL. */
Compiled *kernels_find(TkcJit *jit, const Key *key);
/* Takes c, whose key must be absent, and lets the caller use it too, who releases it. False: no
   memory; c is the caller's. */
bool kernels_add(TkcJit *jit, const Key *key, Compiled *c);
void kernels_release(TkcJit *jit, Compiled *c);
/* Most that are held; 0: the default. */
void kernels_limit(TkcJit *jit, size_t most);
void kernels_clear(TkcJit *jit);
/* A kernel for the arguments of a launch: fills *c but for its key; the context is locked. Where it
   fails, what is there is for compiled_free. */
TkcStatus compiled_build(TkcJit *jit, const TkcArg *args, Compiled *c);
/* PTX, or the text of block IR. */
const char *compiled_text(const Compiled *c);
/* One that is not held, whole or not. */
void compiled_free(TkcJit *jit, Compiled *c);
