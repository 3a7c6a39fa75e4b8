/* Memory of the cpu device that its owner has freed and that is not given back yet: while it is not,
   no other memory has its addresses, so whoever still uses them is known to be wrong. */
#ifndef TKC_RUNTIME_FREED_H
#define TKC_RUNTIME_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FREED_MOST = 256 };
typedef struct FreedBlock { uint64_t begin; size_t bytes; } FreedBlock;
typedef struct Freed {
    FreedBlock blocks[FREED_MOST]; /* a ring */
    int oldest, n;
    size_t bytes; /* of all */
} Freed; /* all zero is empty */

/* Takes memory that free() takes. What it held is lost. */
void freed_add(Freed *f, uint64_t begin, size_t bytes);
bool freed_has(const Freed *f, uint64_t address);
/* Gives all of it back; false: there was none. */
bool freed_release(Freed *f);

#endif
