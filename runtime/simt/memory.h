/* Global memory: what was allocated, and nothing else. Any number of threads may ask while another
   allocates or frees. */
#ifndef TKC_SIMT_MEMORY_H
#define TKC_SIMT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SimtMemory SimtMemory;

SimtMemory *simt_memory_new(void);
void simt_memory_free(SimtMemory *m);
/* Aligned to 256; 0: no memory. */
uint64_t simt_memory_alloc(SimtMemory *m, size_t bytes);
/* False: no allocation begins there. *bytes: its size. */
bool simt_memory_release(SimtMemory *m, uint64_t begin, size_t *bytes);
/* The allocation that holds the address; false: none. */
bool simt_memory_find(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end);
/* The nearest allocation that begins at or below the address, alive or not long dead, for
   messages. */
bool simt_memory_near(SimtMemory *m, uint64_t address, uint64_t *begin, uint64_t *end, bool *freed);
size_t simt_memory_count(const SimtMemory *m);

#endif
