/* Passes: what runs on a function, in which order, and what each may rely on. */
#pragma once

#include <stdbool.h>
#include "ir/ir.h"

/* What a pass is given. */
typedef struct Pass {
    Arena *scratch;  /* reset after the pass */
    Diags *dx;
    const char *name;
} Pass;

/* What a function has got on its way to code, and passes rely on. */
typedef enum PassState {
    STATE_NONE = 0,
    STATE_LAYOUTS = 1,   /* every block has one */
    STATE_MEMORY = 2,    /* what goes through shared memory does so by buffers */
    STATE_PLACES = 4,    /* every buffer has one, as the ops stand */
    STATE_BARRIERS = 8,  /* between accesses to one place, as the ops stand */
    STATE_POINTERS = 16, /* nothing goes through a descriptor */
    STATE_ALL = 31
} PassState;

/* Each pass states above its definition what it needs, keeps and changes. */
typedef void (*PassFn)(Pass *p, Func *fn);

typedef struct PassInfo {
    const char *name; /* as in -passes= */
    PassFn run;
    int needs, gives, breaks; /* of PassState */
    const char *help;
} PassInfo;

/* NULL when there is no such pass. */
const PassInfo *pass_find(const PassInfo *table, int n, const char *name);

/* Runs one pass with a scratch arena of its own, then verifies when asked. False after an error
   diagnostic. */
bool pass_run(const PassInfo *info, Func *fn, Arena *scratch, Diags *dx, bool verify_each);
