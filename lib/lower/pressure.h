#ifndef TKC_LOWER_PRESSURE_H
#define TKC_LOWER_PRESSURE_H

#include "lower/lower.h"

/* The most registers a thread of the function, which has been lowered, should take, for the sake of
   programs that run beside; 0: as many as it likes. */
int pressure_limit(const Lower *L);

#endif
