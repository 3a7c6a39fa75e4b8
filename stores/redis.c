/* In: names and entries. Out: what a Redis server keeps of them, by GETRANGE and SET.

   hiredis makes the commands, takes the replies apart and begins a connection; bytes are sent and
   received here, since a call as a whole has a deadline, however slowly the server drips, a reply a
   size, and a server that goes away must not raise SIGPIPE. Whatever is wrong ends the connection:
   what a reply was for is not known any more. */
#define _GNU_SOURCE
#include "tkc/redis.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <hiredis/hiredis.h>

enum {
    TIMEOUT_MS = 250,
    RETRY_MS = 5000,
    MOST_BYTES = 16 << 20,
    REPLY_HEAD = 64, /* what a reply has around its bytes, and more */
    MOST_ADDRESS = 256
};

struct TkcRedis {
    TkcRedisOptions o;
    char *host, *user, *password, *prefix; /* a host without a port: the path of a socket */
    int port;
    redisContext *connection;       /* NULL: none, or not any more */
    redisReply *held;               /* what get gave last */
    int64_t deadline, asleep_until; /* ms */
    TkcRedisStats stats;
    char error[256];
};

/* Bytes that are no text, as arguments of a command. */
typedef struct Words {
    int n;
    const char *at[4];
    size_t len[4];
} Words;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool fail(TkcRedis *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(TkcRedis *r, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(r->error, sizeof r->error, format, ap);
    va_end(ap);
    return false;
}

/* ---- bytes ---- */

static bool wait_for(TkcRedis *r, short events)
{
    struct pollfd p = {.fd = r->connection->fd, .events = events};
    for (;;) {
        const int64_t left = r->deadline - now_ms();
        const int n = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (n > 0) return true;
        if (!n || errno != EINTR) return fail(r, "no answer within %d ms", r->o.timeout_ms);
    }
}

static bool send_bytes(TkcRedis *r, const char *bytes, size_t len)
{
    while (len) {
        if (!wait_for(r, POLLOUT)) return false;
        const ssize_t n = send(r->connection->fd, bytes, len, MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) return fail(r, "%s", strerror(errno));
        if (n > 0) bytes += n, len -= (size_t)n;
    }
    return true;
}

/* NULL: why was said. A reply has at most so many bytes. */
static redisReply *receive(TkcRedis *r, size_t most)
{
    char bytes[16384];
    void *reply = NULL;
    for (size_t got = 0; got <= most;) {
        if (!wait_for(r, POLLIN)) return NULL;
        const ssize_t n = recv(r->connection->fd, bytes, sizeof bytes, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (n <= 0)
            return fail(r, "%s", n ? strerror(errno) : "the server has closed the connection"),
                   NULL;
        got += (size_t)n;
        if (redisReaderFeed(r->connection->reader, bytes, (size_t)n) != REDIS_OK ||
            redisReaderGetReply(r->connection->reader, &reply) != REDIS_OK)
            return fail(r, "%s", r->connection->reader->errstr), NULL;
        if (reply) return reply;
    }
    return fail(r, "the reply has more bytes than were asked for"), NULL;
}

/* Of the type that is wanted; NULL: why was said. */
static redisReply *ask(TkcRedis *r, Words w, int type, size_t most)
{
    char *command = NULL;
    const int len = redisFormatCommandArgv(&command, w.n, w.at, w.len);
    if (len < 0) return fail(r, "out of memory"), NULL;
    redisReply *reply = send_bytes(r, command, (size_t)len) ? receive(r, most + REPLY_HEAD) : NULL;
    redisFreeCommand(command);
    if (!reply || reply->type == type) return reply;
    fail(r, "the server says: %s",
         reply->type == REDIS_REPLY_ERROR ? reply->str : "another kind of reply");
    freeReplyObject(reply);
    return NULL;
}

static void add(Words *w, const char *word, size_t len)
{
    w->at[w->n] = word;
    w->len[w->n++] = len;
}

/* ---- the connection ---- */

static void disconnect(TkcRedis *r)
{
    if (r->connection) redisFree(r->connection);
    r->connection = NULL;
}

static bool log_in(TkcRedis *r)
{
    Words w = {0};
    if (!r->password) return true;
    add(&w, "AUTH", 4);
    if (r->user) add(&w, r->user, strlen(r->user));
    add(&w, r->password, strlen(r->password));
    redisReply *reply = ask(r, w, REDIS_REPLY_STATUS, sizeof r->error);
    freeReplyObject(reply);
    return reply != NULL;
}

/* Nothing that nobody asked for is there, nor the end of all: a server may end what is idle, and
 * come back. */
static bool is_quiet(const TkcRedis *r)
{
    const redisReader *reader = r->connection->reader;
    return reader->pos == reader->len &&
           poll(&(struct pollfd){.fd = r->connection->fd, .events = POLLIN}, 1, 0) == 0;
}

static bool connect_to(TkcRedis *r)
{
    if (r->connection && is_quiet(r)) return true;
    disconnect(r);
    r->connection =
        r->port ? redisConnectNonBlock(r->host, r->port) : redisConnectUnixNonBlock(r->host);
    if (!r->connection) return fail(r, "out of memory");
    if (r->connection->err) return fail(r, "%s", r->connection->errstr);
    return log_in(r);
}

/* ---- entries ---- */

/* False: the server was not asked, since it failed a short while ago. */
static bool begin(TkcRedis *r)
{
    const int64_t now = now_ms();
    if (now < r->asleep_until) return ++r->stats.left_alone, false;
    r->deadline = now + r->o.timeout_ms;
    return true;
}

static redisReply *end(TkcRedis *r, redisReply *reply)
{
    if (reply) return reply;
    disconnect(r);
    r->stats.failures++;
    r->asleep_until = now_ms() + r->o.retry_ms;
    return NULL;
}

static void add_key(const TkcRedis *r, Words *w, char *key, size_t size, const char *name)
{
    add(w, key, (size_t)snprintf(key, size, "%s%s", r->prefix, name));
}

/* A byte more than there may be is asked for: that there are more is seen, and they do not come. */
static const void *get(const char *name, size_t *bytes, void *user)
{
    TkcRedis *r = user;
    char key[MOST_ADDRESS + 80], last[24];
    Words w = {0};
    add(&w, "GETRANGE", 8);
    add_key(r, &w, key, sizeof key, name);
    add(&w, "0", 1);
    add(&w, last, (size_t)snprintf(last, sizeof last, "%zu", r->o.most_bytes));
    freeReplyObject(r->held);
    r->held = NULL;
    if (!begin(r)) return NULL;
    r->held = end(r, connect_to(r) ? ask(r, w, REDIS_REPLY_STRING, r->o.most_bytes + 1) : NULL);
    if (!r->held) return NULL;
    *bytes = (size_t)r->held->len;
    if (!*bytes) return ++r->stats.absent, NULL;
    if (*bytes > r->o.most_bytes) return ++r->stats.too_large, NULL;
    r->stats.found++;
    return r->held->str;
}

static void put(const char *name, const void *entry, size_t bytes, void *user)
{
    TkcRedis *r = user;
    char key[MOST_ADDRESS + 80];
    Words w = {0};
    add(&w, "SET", 3);
    add_key(r, &w, key, sizeof key, name);
    add(&w, entry, bytes);
    if (bytes > r->o.most_bytes) {
        r->stats.too_large++;
        return;
    }
    if (!begin(r)) return;
    redisReply *reply =
        end(r, connect_to(r) ? ask(r, w, REDIS_REPLY_STATUS, sizeof r->error) : NULL);
    r->stats.stored += reply != NULL;
    freeReplyObject(reply);
}

/* ---- calls ---- */

/* "HOST:PORT", "[HOST]:PORT", or a path. */
static bool read_address(TkcRedis *r, const char *address)
{
    const char *colon = strrchr(address, ':');
    char *end_of_port = NULL;
    if (!(r->host = strdup(address)) || strlen(address) >= MOST_ADDRESS) return false;
    if (strchr(address, '/')) return true;
    const long port = colon ? strtol(colon + 1, &end_of_port, 10) : 0;
    if (port < 1 || port > 65535 || *end_of_port) return false;
    r->port = (int)port;
    r->host[colon - address] = 0;
    const size_t n = strlen(r->host);
    if (n > 2 && *r->host == '[' && r->host[n - 1] == ']') {
        r->host[n - 1] = 0;
        memmove(r->host, r->host + 1, n - 1);
    }
    return *r->host != 0;
}

static bool copy_text(char **out, const char *text)
{
    return !text || (*out = strdup(text)) != NULL;
}

static bool take(TkcRedis *r, const TkcRedisOptions *o)
{
    const char *prefix = o->prefix ? o->prefix : "tkc:";
    r->o = *o;
    r->o.timeout_ms = o->timeout_ms ? o->timeout_ms : TIMEOUT_MS;
    r->o.retry_ms = o->retry_ms ? o->retry_ms : RETRY_MS;
    r->o.most_bytes = o->most_bytes ? o->most_bytes : MOST_BYTES;
    return r->o.timeout_ms > 0 && r->o.retry_ms > 0 && r->o.most_bytes < SIZE_MAX / 2 &&
           strlen(prefix) < MOST_ADDRESS && copy_text(&r->prefix, prefix) &&
           copy_text(&r->user, o->user) && copy_text(&r->password, o->password) &&
           read_address(r, o->address);
}

TkcRedis *tkc_redis_new(const TkcRedisOptions *options)
{
    const bool is_possible = options && options->size >= sizeof *options && options->address;
    TkcRedis *r = is_possible ? calloc(1, sizeof *r) : NULL;
    if (!r || take(r, options)) return r;
    tkc_redis_free(r);
    return NULL;
}

void tkc_redis_free(TkcRedis *r)
{
    if (!r) return;
    disconnect(r);
    freeReplyObject(r->held);
    free(r->host);
    free(r->user);
    free(r->password);
    free(r->prefix);
    free(r);
}

TkcStore tkc_redis_store(TkcRedis *r)
{
    return (TkcStore){.size = sizeof(TkcStore), .get = get, .put = put, .user = r};
}

TkcRedisStats tkc_redis_stats(const TkcRedis *r)
{
    return r->stats;
}

const char *tkc_redis_error(const TkcRedis *r)
{
    return r->error;
}
