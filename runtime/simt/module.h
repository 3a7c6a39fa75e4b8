/* PTX text to modules. Everything that is not understood is refused when the text is loaded, with
   its line. */
#pragma once

#include "machine.h"

struct SimtModule {
    char *text;
    SimtFunc **funcs;
    int nfuncs;
    SimtVar *vars;    /* of the module */
    int nvars;
    SimtPlace *places; /* from 1 */
    uint32_t nplaces;
    char **files;      /* by number; NULL where there is none */
    int nfiles;
    Memory *memory;
    struct Owned *owned;
};

/* The module of the text for a chip of that number (90), or NULL and what is wrong in `problem`; errno is ENOMEM where
   there was no memory.
   Global variables get their memory from `memory`. */
SimtModule *simt_module_load(const char *text, int chip, Memory *memory, char *problem,
                             size_t size);
void simt_module_free(SimtModule *m);
const SimtVar *simt_module_global(const SimtModule *m, const char *name);
