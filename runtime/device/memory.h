/* Host memory that stands for a device's: which ranges there are, and what was freed. */
#ifndef TKC_RUNTIME_MEMORY_H
#define TKC_RUNTIME_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Shadow Shadow; /* interp/shadow.h */

/* ---- ranges; all zero is empty ---- */
typedef struct MemRange {
    uint64_t begin, end;
    Shadow *shadow; /* NULL: not watched */
} MemRange;
typedef struct MemMap {
    MemRange *ranges;
    int n, cap;
} MemMap; /* sorted, disjoint */
/* The last range that begins at or before an address, or NULL. */
const MemRange *mem_before(const MemMap *m, uint64_t at);
/* The range that holds [begin, end), or NULL. */
const MemRange *mem_find(const MemMap *m, uint64_t begin, uint64_t end);
bool mem_add(MemMap *m, uint64_t begin,
             uint64_t end); /* one that overlaps none there; may be empty. false: no memory */
void mem_watch(MemMap *m, uint64_t begin, Shadow *shadow); /* of the range that begins there */
bool mem_remove(MemMap *m, uint64_t begin); /* false: not there */
void mem_fini(MemMap *m);

/* ---- memory that its owner has freed and that is not given back yet: while it is not, no other
   memory has its addresses, so whoever still uses them is known to be wrong ---- */
enum { FREED_MOST = 256 };
typedef struct FreedBlock { uint64_t begin; size_t bytes; } FreedBlock;
typedef struct Freed {
    FreedBlock blocks[FREED_MOST]; /* a ring */
    int oldest, n;
    size_t bytes; /* of all */
} Freed; /* all zero is empty */

/* Memory aligned to 256, if need be in place of what is freed; 0: there is none. */
uint64_t memory_take(Freed *f, size_t bytes);
/* Takes what memory_take gave. What it held is lost. */
void freed_add(Freed *f, uint64_t begin, size_t bytes);
/* The block that holds the address; NULL: none. */
const FreedBlock *freed_find(const Freed *f, uint64_t address);
/* Gives all of it back; false: there was none. */
bool freed_release(Freed *f);

#endif
