/* The kernels that a jit has compiled, found by key by any number of threads. At most so many are
   held: for one more, the one that was used longest ago goes. A kernel that a launch is using goes
   when that ends.

   The jit's lock is held for looking up and entering alone. Kernels are freed outside of it, since
   that may wait for a GPU. */
#include "kernels.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_HELD = 1024 }; /* unless the caller says otherwise */

void compiled_free(TkcJit *jit, Compiled *c)
{
    jit->dev->ops->unload(jit->dev, c->kernel);
    tkc_artifact_free(c->artifact);
    entry_fini(&c->entry);
    free(c->slots);
    free(c->fits);
    free(c->argument);
    free(c->rest);
    free(c->key);
    free(c);
}

/* True when nobody is left. Who keeps one of a jit's is counted under its lock. */
static bool release(Compiled *c)
{
    return atomic_fetch_sub(&c->keepers, 1) == 1;
}

static bool has_key(const Compiled *c, const Key *key)
{
    return c->hash == key->hash && c->key_len == key->len &&
           (!key->len || !memcmp(c->key, key->data, key->len));
}

/* Under the lock. */
static Compiled *use(TkcJit *jit, Compiled *c)
{
    jit->latest = c;
    c->keepers++;
    c->used = ++jit->clock;
    jit->stats.hits++;
    return c;
}

Compiled *kernels_again(TkcJit *jit, const TkcArg *args, size_t nargs, const LaunchPack *out)
{
    pthread_mutex_lock(&jit->lock);
    Compiled *c = jit->latest;
    c = c && launch_again(c, args, nargs, out) ? use(jit, c) : NULL;
    pthread_mutex_unlock(&jit->lock);
    return c;
}

Compiled *kernels_find(TkcJit *jit, const Key *key)
{
    pthread_mutex_lock(&jit->lock);
    Compiled *c = jit->buckets[key->hash % KERNEL_BUCKETS];
    while (c && !has_key(c, key)) c = c->next;
    if (c) use(jit, c);
    pthread_mutex_unlock(&jit->lock);
    return c;
}

/* Under the lock: takes the one out that was used longest ago. */
static Compiled *take_oldest(TkcJit *jit)
{
    Compiled **oldest = NULL;
    for (int i = 0; i < KERNEL_BUCKETS; i++)
        for (Compiled **c = &jit->buckets[i]; *c; c = &(*c)->next)
            if (!oldest || (*c)->used < (*oldest)->used) oldest = c;
    Compiled *out = *oldest;
    *oldest = out->next;
    if (jit->latest == out) jit->latest = NULL;
    jit->nheld--;
    return out;
}

/* Under the lock: makes room; the list of what is to be freed, by `next`. */
static Compiled *evict(TkcJit *jit, size_t most)
{
    Compiled *out = NULL;
    while (jit->nheld > most) {
        Compiled *c = take_oldest(jit);
        if (!release(c)) continue;
        c->next = out;
        out = c;
    }
    return out;
}

/* Under the lock, which is given back: down to so many. */
static void shrink_and_unlock(TkcJit *jit, size_t most)
{
    Compiled *gone = evict(jit, most);
    pthread_mutex_unlock(&jit->lock);
    for (Compiled *c = gone, *next; c; c = next) {
        next = c->next;
        compiled_free(jit, c);
    }
}

bool kernels_add(TkcJit *jit, const Key *key, Compiled *c)
{
    c->key = malloc(key->len + 1u);
    if (!c->key) return false;
    if (key->len) memcpy(c->key, key->data, key->len);
    c->key_len = key->len;
    c->hash = key->hash;
    c->keepers = 2; /* the jit and the caller */
    pthread_mutex_lock(&jit->lock);
    Compiled **bucket = &jit->buckets[key->hash % KERNEL_BUCKETS];
    c->used = ++jit->clock;
    c->next = *bucket;
    *bucket = c;
    jit->latest = c;
    jit->nheld++;
    jit->stats.compiles++;
    shrink_and_unlock(jit, jit->most_held);
    return true;
}

void kernels_release(TkcJit *jit, Compiled *c)
{
    if (release(c)) compiled_free(jit, c);
}

void kernels_limit(TkcJit *jit, size_t most)
{
    pthread_mutex_lock(&jit->lock);
    jit->most_held = most ? most : MOST_HELD;
    shrink_and_unlock(jit, jit->most_held);
}

void kernels_clear(TkcJit *jit)
{
    pthread_mutex_lock(&jit->lock);
    shrink_and_unlock(jit, 0);
}
