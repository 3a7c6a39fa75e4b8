/* Linear probing, at most half full. */
#include "cache_mem.h"

#include <stdlib.h>
#include <string.h>

static CacheSlot *find(const CacheMem *c, uint64_t hash, const unsigned char *key, uint32_t len)
{
    for (uint32_t i = (uint32_t)hash & (c->cap - 1);; i = (i + 1) & (c->cap - 1)) {
        CacheSlot *s = &c->slots[i];
        bool same = s->hash == hash && s->len == len && (!len || !memcmp(s->key, key, len));
        if (!s->value || same)
            return s;
    }
}

void *cache_mem_get(const CacheMem *c, const Key *k)
{
    return c->len ? find(c, k->hash, k->data, k->len)->value : NULL;
}

static bool grow(CacheMem *c)
{
    CacheMem bigger = {.cap = c->cap ? c->cap * 2 : 16, .len = c->len};
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots)
        return false;
    for (uint32_t i = 0; i < c->cap; i++)
        if (c->slots[i].value)
            *find(&bigger, c->slots[i].hash, c->slots[i].key, c->slots[i].len) = c->slots[i];
    free(c->slots);
    *c = bigger;
    return true;
}

bool cache_mem_put(CacheMem *c, const Key *k, void *value)
{
    if ((c->len + 1) * 2 > c->cap && !grow(c))
        return false;
    unsigned char *key = malloc(k->len + 1u);
    if (!key)
        return false;
    if (k->len)
        memcpy(key, k->data, k->len);
    *find(c, k->hash, k->data, k->len) = (CacheSlot){k->hash, key, k->len, value};
    c->len++;
    return true;
}

void *cache_mem_least(const CacheMem *c, uint64_t (*measure)(const void *value))
{
    void *least = NULL;
    for (uint32_t i = 0; i < c->cap; i++) {
        void *value = c->slots[i].value;
        if (value && (!least || measure(value) < measure(least)))
            least = value;
    }
    return least;
}

/* Closes the gap at i: entries behind it that were pushed past it move up. */
static void close_gap(CacheMem *c, uint32_t i)
{
    const uint32_t mask = c->cap - 1;
    for (uint32_t k = (i + 1) & mask; c->slots[k].value; k = (k + 1) & mask) {
        uint32_t home = (uint32_t)c->slots[k].hash & mask;
        if (((k - home) & mask) < ((k - i) & mask))
            continue; /* it belongs behind the gap */
        c->slots[i] = c->slots[k];
        i = k;
    }
    c->slots[i] = (CacheSlot){0};
}

void cache_mem_remove(CacheMem *c, const void *value)
{
    uint32_t i = 0;
    while (c->slots[i].value != value)
        i++;
    free(c->slots[i].key);
    close_gap(c, i);
    c->len--;
}

void cache_mem_fini(CacheMem *c, void (*drop)(void *value, void *user), void *user)
{
    for (uint32_t i = 0; i < c->cap; i++) {
        if (c->slots[i].value && drop)
            drop(c->slots[i].value, user);
        free(c->slots[i].key);
    }
    free(c->slots);
    *c = (CacheMem){0};
}
