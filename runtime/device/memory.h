/* Host memory that stands for a device's: which ranges there are, and what was freed. */
#pragma once

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
    int n;
} MemMap; /* sorted, disjoint */
/* The range that holds [begin, end), or NULL. */
const MemRange *mem_find(const MemMap *m, uint64_t begin, uint64_t end);
bool mem_add(MemMap *m, uint64_t begin,
             uint64_t end); /* one that overlaps none there; may be empty. false: no memory */
void mem_watch(MemMap *m, uint64_t begin, Shadow *shadow); /* of the range that begins there */
bool mem_remove(MemMap *m, uint64_t begin); /* false: not there */
void mem_fini(MemMap *m);

/* ---- what a device gives and takes back; threads may ask while another does so ---- */
typedef struct Memory Memory; /* begins with a MemMap of what is alive: the cpu's launches know that */
Memory *memory_new(void);     /* NULL: there is none */
void memory_free(Memory *m);
/* Aligned to 256; 0: there is none. */
uint64_t memory_alloc(Memory *m, size_t bytes);
/* False: no allocation begins there. *bytes: its size. What it held is lost; while its addresses
   are nobody else's, whoever still uses them is known to be wrong. */
bool memory_release(Memory *m, uint64_t begin, size_t *bytes);
/* The allocation that holds the address; false: none. */
bool memory_find(Memory *m, uint64_t address, uint64_t *begin, uint64_t *end);
/* The nearest allocation that begins at or below the address, alive or not long dead, for
   messages. */
bool memory_near(Memory *m, uint64_t address, uint64_t *begin, uint64_t *end, bool *freed);
/* What is wrong with an argument that is told to point to so many bytes there, by what is and was the
   device's; NULL: nothing. *held: an allocation holds the address. */
const char *memory_fault(Memory *m, uint64_t address, size_t bytes, bool *held);
size_t memory_count(const Memory *m);
