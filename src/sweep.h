/* A name that stands for one number after the other: -sweep N=2^10..2^26. */
#ifndef TKC_SRC_SWEEP_H
#define TKC_SRC_SWEEP_H

#include "options.h"

enum { SWEEP_MOST = 256 };
typedef struct Sweep {
    char name[64];
    int n;
    int64_t values[SWEEP_MOST];
} Sweep;

/* "N=2^10..2^26", "N=128..4096+128", "N=1,5,2^7". False: the text is none, said. */
bool sweep_read(Sweep *s, const char *text);
/* Where values of arguments and of -D are expressions of the name, and extents of arrays, the numbers
   that they are for value i. False: one of them has none, said. */
bool sweep_apply(const Sweep *s, int i, Options *o);

#endif
