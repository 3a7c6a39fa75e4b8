/* A Redis server as the store behind the folder of kernels on disk (tkc_device_set_store): machines
   that ask the same server compile a kernel once. The library libtkc_redis.a, over hiredis.

     TkcRedisOptions where = {.size = sizeof where, .address = "cache.example:6379"};
     TkcRedis *redis = tkc_redis_new(&where);
     TkcStore store = tkc_redis_store(redis);
     tkc_device_set_store(dev, &store);
     ...
     tkc_device_set_store(dev, NULL);
     tkc_redis_free(redis);

   Whatever becomes of the server, a launch computes what is right: without an answer in time the
   kernel is compiled here, and the server is left alone for a while; what it gives is verified like
   a file. It decides what the GPU executes all the same: it has to be as trusted as the program. */
#ifndef TKC_REDIS_H
#define TKC_REDIS_H

#include <tkc/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One connection, made when it is first needed: for the devices of one context. */
typedef struct TkcRedis TkcRedis;

/* size is set; what is 0 or NULL is as said. */
typedef struct TkcRedisOptions {
    size_t size;
    const char *address;  /* "HOST:PORT", "[IPv6]:PORT", or the path of a unix socket, with a '/' */
    const char *user;     /* with a password; NULL: the server's default user */
    const char *password; /* NULL: none */
    const char *prefix;   /* of the keys; NULL: "tkc:" */
    int timeout_ms;    /* the longest that a look or a put waits for the server, but for the lookup
                          of HOST's address; 0: 250 */
    int retry_ms;      /* after a failure the server is asked no more for so long; 0: 5000 */
    size_t most_bytes; /* of an entry: larger ones are neither given nor taken; 0: 16 MiB */
} TkcRedisOptions;

/* NULL: there is no memory, no size, a number is negative, or the address is none. */
TKC_API TkcRedis *tkc_redis_new(const TkcRedisOptions *options);
/* Not before the devices have another store, or none. redis may be NULL. */
TKC_API void tkc_redis_free(TkcRedis *redis);
/* What tkc_device_set_store takes. */
TKC_API TkcStore tkc_redis_store(TkcRedis *redis);

/* Since tkc_redis_new. Each call of the store is one of these. */
typedef struct TkcRedisStats {
    uint64_t found, absent, stored;
    uint64_t too_large;  /* entries above most_bytes, in either direction */
    uint64_t failures;   /* tries that the server did not answer, or with an error */
    uint64_t left_alone; /* and those that were not made, soon after a failure */
} TkcRedisStats;
TKC_API TkcRedisStats tkc_redis_stats(const TkcRedis *redis);
/* What was wrong last; "" when nothing was. It lives until the next call of the store. */
TKC_API const char *tkc_redis_error(const TkcRedis *redis);

#ifdef __cplusplus
}
#endif

#endif
