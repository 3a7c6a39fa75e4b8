/* Compiled kernels by key, in memory: an open hash table that owns copies of its keys. */
#ifndef TKC_RUNTIME_CACHE_MEM_H
#define TKC_RUNTIME_CACHE_MEM_H

#include "key.h"

typedef struct CacheSlot {
    uint64_t hash;
    unsigned char *key;
    uint32_t len;
    void *value;
} CacheSlot;
typedef struct CacheMem { CacheSlot *slots; uint32_t cap, len; } CacheMem; /* all zero is empty */

/* NULL when absent. */
void *cache_mem_get(const CacheMem *c, const Key *k);
/* The key must be absent. False when there is no memory; then nothing changed. */
bool cache_mem_put(CacheMem *c, const Key *k, void *value);
/* The value for which `measure` gives least, of those there are. */
void *cache_mem_least(const CacheMem *c, uint64_t (*measure)(const void *value));
/* A value that is there, under one key. */
void cache_mem_remove(CacheMem *c, const void *value);
/* Calls drop for every entry's value, in no order; a value under two keys is dropped twice. drop
   may be NULL. */
void cache_mem_fini(CacheMem *c, void (*drop)(void *value, void *user), void *user);

#endif
