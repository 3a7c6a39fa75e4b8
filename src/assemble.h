/* PTX to a cubin, by NVIDIA's assembler or driver; what code costs. */
#pragma once

#include "options.h"
#include "tkc/runtime.h"

/* Who makes cubins: what -ptxas says, else the first ptxas that is on the PATH, in $CUDA_HOME/bin (where
   CUDA_HOME is not set, /usr/local/cuda/bin), else the linker of a GPU's driver; or nobody. */
typedef struct Assembler {
    Options *o;
    TkcContext *cx;
    const char *ptxas; /* kept with the options; NULL: not that */
    TkcDevice *dev;    /* NULL: not that */
} Assembler;

Assembler assemble_find(Options *o, TkcContext *cx);
void assemble_end(Assembler *by);
/* Somebody does. A driver whose linker is missing is found out by the first assemble. */
bool assemble_has(const Assembler *by);
/* The cubin of PTX, malloc'ed; NULL where nobody makes any. False: it was said what is wrong. */
bool assemble(Assembler *by, const TkcArtifact *ptx, char **cubin, size_t *len);

/* What a thread takes. */
typedef struct ThreadCost { int registers, spill_bytes; } ThreadCost;
/* What ptxas says of PTX; false: there is none, or it does not take that. */
bool assemble_ask(const Assembler *by, const TkcArtifact *ptx, ThreadCost *out);
