/* The kernels that a jit has compiled, found by key by any number of threads. At most so many are
   held: for one more, the one that was used longest ago goes. A kernel that a launch is using goes
   when that ends.

   The jit's lock is held for looking up and entering alone. Kernels are freed outside of it, since
   that may wait for a GPU. */
#include "kernels.h"

#include <stdlib.h>

enum { MOST_HELD = 1024 }; /* unless the caller says otherwise */

void compiled_free(TkcJit *jit, Compiled *c)
{
    jit->dev->ops->unload(jit->dev, c->kernel);
    tkc_artifact_free(c->artifact);
    free(c->from);
    free(c);
}

/* Under the lock: true when nobody is left. */
static bool release(Compiled *c)
{
    return --c->keepers == 0;
}

Compiled *kernels_find(TkcJit *jit, const Key *key)
{
    pthread_mutex_lock(&jit->lock);
    Compiled *c = cache_mem_get(&jit->cache, key);
    if (c) {
        c->keepers++;
        c->used = ++jit->clock;
        jit->stats.hits++;
    }
    pthread_mutex_unlock(&jit->lock);
    return c;
}

static uint64_t last_use(const void *value)
{
    return ((const Compiled *)value)->used;
}

/* Under the lock: makes room; the list of what is to be freed, by `next`. */
static Compiled *evict(TkcJit *jit, size_t most)
{
    Compiled *out = NULL;
    while (jit->cache.len > most) {
        Compiled *c = cache_mem_least(&jit->cache, last_use);
        cache_mem_remove(&jit->cache, c);
        if (!release(c))
            continue;
        c->next = out;
        out = c;
    }
    return out;
}

static void free_list(TkcJit *jit, Compiled *list)
{
    for (Compiled *c = list, *next; c; c = next) {
        next = c->next;
        compiled_free(jit, c);
    }
}

bool kernels_add(TkcJit *jit, const Key *key, Compiled *c)
{
    Compiled *gone = NULL;
    pthread_mutex_lock(&jit->lock);
    c->keepers = 2; /* the cache and the caller */
    c->used = ++jit->clock;
    bool ok = cache_mem_put(&jit->cache, key, c);
    if (ok) {
        jit->stats.compiles++;
        gone = evict(jit, jit->most_held);
    }
    pthread_mutex_unlock(&jit->lock);
    free_list(jit, gone);
    if (!ok)
        compiled_free(jit, c);
    return ok;
}

void kernels_release(TkcJit *jit, Compiled *c)
{
    pthread_mutex_lock(&jit->lock);
    bool last = release(c);
    pthread_mutex_unlock(&jit->lock);
    if (last)
        compiled_free(jit, c);
}

void kernels_limit(TkcJit *jit, size_t most)
{
    pthread_mutex_lock(&jit->lock);
    jit->most_held = most ? most : MOST_HELD;
    Compiled *gone = evict(jit, jit->most_held);
    pthread_mutex_unlock(&jit->lock);
    free_list(jit, gone);
}

void kernels_clear(TkcJit *jit)
{
    pthread_mutex_lock(&jit->lock);
    Compiled *gone = evict(jit, 0);
    cache_mem_fini(&jit->cache, NULL, NULL);
    pthread_mutex_unlock(&jit->lock);
    free_list(jit, gone);
}
