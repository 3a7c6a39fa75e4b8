/* A launch: the programs of a grid over the host's cores. */
#ifndef TKC_SIMT_LAUNCH_H
#define TKC_SIMT_LAUNCH_H

#include "machine.h"

/* Runs the whole grid; gives the driver's code, and on a fault launch->report says what happened.
   The launch's fields below `print_user` are the callee's. */
int simt_launch_run(SimtLaunch *launch);
uint64_t simt_now_ns(void);

#endif
