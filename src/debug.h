/* The prompt of -break. */
#ifndef TKC_SRC_DEBUG_H
#define TKC_SRC_DEBUG_H

#include "options.h"
#include "tkc/runtime.h"

typedef struct Prompt {
    const Options *options;
    char last[1024]; /* what an empty line repeats */
} Prompt;

/* For tkc_device_on_stop; user is a Prompt. */
TkcStopAction prompt(TkcStop *stop, void *user);

#endif
