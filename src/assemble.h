/* PTX to a cubin, by NVIDIA's assembler. */
#ifndef TKC_SRC_ASSEMBLE_H
#define TKC_SRC_ASSEMBLE_H

#include "options.h"

/* The ptxas to use: what -ptxas says, else the first that is on the PATH, in $CUDA_HOME/bin (where
   CUDA_HOME is not set, /usr/local/cuda/bin); kept with the options. NULL: there is none, or -ptxas=none. */
const char *assemble_find(Options *o);
/* What that ptxas makes of the PTX for a target, malloc'ed. NULL, and it was said what is wrong. */
char *assemble(const Options *o, const char *ptxas, const char *arch, const char *ptx, size_t *len);

#endif
