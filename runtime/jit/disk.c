/* A file an entry, in a folder that is the user's own: NAME is the hash of what the kernel is asked for
   by, NAME.claim is locked by the process that compiles it, NAME.XXXXXX is being written. A file gets
   its name when it is complete, and is read without a lock: what is read is whole, or is no entry.

   A claim is a lock of the system's, which ends with its process; who waits longer than MOST_WAIT
   compiles for itself. The time of a file is that of its last use, which decides what goes when
   there is too much. A clock that is wrong keeps the wrong ones, no more; what it has put into the
   future goes first when it is right again. */
#define _GNU_SOURCE
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tkc/grow.h"
#include "sha256.h"
#include "tkc/clock.h"

enum {
    NAME = SHA256_TEXT - 1,
    MOST_ENTRY = 1 << 28,
    DEFAULT_MIB = 1024,
    PUTS_A_TRIM = 16,     /* how often the folder is looked through */
    LEFT_SECONDS = 3600,  /* a temporary or a claim older than that was left by a process that died */
    MOST_WAIT = 60        /* seconds, for another process to compile */
};

/* ---- the folder ---- */

static char *join(const char *folder, const char *name, const char *ending)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s%s", folder, name, ending) < 0 ? NULL : path;
}

/* NULL: the environment switches it off, or names no place. */
static char *default_folder(void)
{
    const char *own = secure_getenv("TKC_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME");
    const char *home = secure_getenv("HOME");
    if (own) return *own ? strdup(own) : NULL;
    if (xdg && *xdg == '/') return join(xdg, "tkc", "");
    return home && *home == '/' ? join(home, ".cache/tkc", "") : NULL;
}

/* Nobody else can have written it. */
static bool is_own(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static bool make_folder(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0;
}

static bool has_folder(const struct DiskCache *c)
{
    struct stat st;
    if (!c->folder || (stat(c->folder, &st) && (!make_folder(c->folder) || stat(c->folder, &st))))
        return false;
    return S_ISDIR(st.st_mode) && is_own(&st);
}

/* ---- reading ---- */

/* Where an outcome is counted. */
static const size_t counters[OUTCOMES] = {
    [HIT] = offsetof(TkcDiskStats, hits),
    [ABSENT] = offsetof(TkcDiskStats, absent),
    [DAMAGED] = offsetof(TkcDiskStats, damaged),
    [OTHER_VERSION] = offsetof(TkcDiskStats, other_version),
    [OTHER_KEY] = offsetof(TkcDiskStats, other_key),
    [STALE] = offsetof(TkcDiskStats, stale),
    [FOREIGN] = offsetof(TkcDiskStats, foreign),
    [FROM_STORE] = offsetof(TkcDiskStats, from_store),
    [STORE_WRONG] = offsetof(TkcDiskStats, store_wrong),
};

/* Every file that imports were looked for in says what it said then. The first is the source, which the
   key has. */
static bool is_current(const Manifest *m, TkcSource *source)
{
    bool same = true;
    tkc_context_mute(tkc_source_context(source), 1);
    for (int64_t i = 1; same && i < m->nfiles; i++) {
        char hash[SHA256_TEXT] = "absent";
        size_t len;
        char *text;
        const TkcStatus status = tkc_source_import(source, m->files[i].path, &text, &len);
        if (text) sha256_text(hash, text, len);
        free(text);
        same = status == TKC_OK && !strcmp(hash, m->files[i].hash);
    }
    tkc_context_mute(tkc_source_context(source), -1);
    return same;
}

/* Takes the bytes. */
static Outcome judge(const DiskAsk *ask, char *bytes, size_t len, TkcSource *source, Entry *e)
{
    const Outcome outcome = entry_open(e, bytes, len, &ask->key);
    if (outcome != HIT || is_current(&e->manifest, source)) return outcome;
    entry_fini(e);
    return STALE;
}

/* The whole file, malloc'ed; NULL: *outcome says why. */
static char *read_file(const char *path, size_t *len, Outcome *outcome)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    *outcome = fd >= 0 || errno == ENOENT ? ABSENT : FOREIGN;
    if (fd < 0) return NULL;
    char *bytes = NULL;
    *len = 0;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_own(&st) || st.st_size > MOST_ENTRY)
        *outcome = FOREIGN;
    else bytes = malloc((size_t)st.st_size + 1);
    for (ssize_t n = 1; bytes && n > 0 && *len<(size_t)st.st_size; *len += n> 0 ? (size_t)n : 0)
        n = read(fd, bytes + *len, (size_t)st.st_size - *len);
    close(fd);
    return bytes;
}

static Outcome look(const DiskAsk *ask, TkcDevice *dev, TkcSource *source, Entry *e)
{
    const struct DiskCache *c = dev->cache;
    Outcome outcome = c->folder ? FOREIGN : ABSENT;
    size_t len;
    char *path = has_folder(c) ? join(c->folder, ask->name, "") : NULL;
    char *bytes = path ? read_file(path, &len, &outcome) : NULL;
    if (bytes) outcome = judge(ask, bytes, len, source, e);
    if (outcome == HIT) utimensat(AT_FDCWD, path, NULL, 0); /* used now */
    free(path);
    return outcome;
}

/* ---- writing ---- */

typedef struct Item { char name[NAME + 8]; off_t bytes; struct timespec used; } Item;
typedef struct Items { Item *data; size_t n; uint64_t bytes; } Items;

static bool is_name(const char *name)
{
    return strspn(name, "0123456789abcdef") == NAME && (!name[NAME] || name[NAME] == '.') &&
           strlen(name) < sizeof((Item *)0)->name;
}

/* What the folder holds of ours. */
static Items list(const char *folder)
{
    Items all = {0};
    struct stat st;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    while (dir && (entry = readdir(dir))) {
        if (!is_name(entry->d_name) || fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (!grow_array(&all.data, all.n)) break;
        Item *item = &all.data[all.n++];
        memcpy(item->name, entry->d_name, strlen(entry->d_name) + 1); /* is_name: it fits */
        item->bytes = st.st_size;
        item->used = st.st_mtim;
        all.bytes += (uint64_t)st.st_size;
    }
    if (dir) closedir(dir);
    return all;
}

static void remove_item(const char *folder, const Item *item)
{
    char *path = join(folder, item->name, "");
    if (path) unlink(path);
    free(path);
}

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const Item *)a)->used, *y = &((const Item *)b)->used;
    return x->tv_sec != y->tv_sec ? (x->tv_sec > y->tv_sec) - (x->tv_sec < y->tv_sec)
                                  : (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Down to the bound what was used longest ago goes, and what dead processes left. */
static void trim(struct DiskCache *c)
{
    Items all = list(c->folder);
    const time_t now = time(NULL);
    for (size_t i = 0; i < all.n; i++)
        if (all.data[i].used.tv_sec > now + LEFT_SECONDS)
            all.data[i].used.tv_sec = 0; /* the clock went back: nobody knows when that was */
    if (all.n) qsort(all.data, all.n, sizeof *all.data, by_use);
    for (size_t i = 0; i < all.n; i++) {
        const Item *item = &all.data[i];
        const bool is_entry = !item->name[NAME];
        if (is_entry ? all.bytes <= c->most_bytes : item->used.tv_sec > now - LEFT_SECONDS)
            continue;
        remove_item(c->folder, item);
        all.bytes -= (uint64_t)item->bytes;
        c->stats.evicted += is_entry;
    }
    free(all.data);
}

static void write_entry(const DiskAsk *ask, struct DiskCache *c, const char *bytes, size_t len)
{
    char *path = c->folder ? join(c->folder, ask->name, "") : NULL;
    const bool ok = path && has_folder(c) && bytes_write(path, bytes, len, 0600);
    free(path);
    *(ok ? &c->stats.stored : &c->stats.unwritable) += c->folder != NULL;
    if (ok && c->puts++ % PUTS_A_TRIM == 0) trim(c);
}

void disk_put(DiskAsk *ask, TkcDevice *dev, const char *bytes, size_t len)
{
    struct DiskCache *c = dev->cache;
    if (ask->is_off) return;
    write_entry(ask, c, bytes, len);
    if (c->store.put) c->store.put(ask->name, bytes, len, c->store.user);
}

/* ---- looking up ---- */

/* The host's store, whose kernels are kept here, too. A store that has nothing leaves the outcome as
   it was on disk. */
static Outcome ask_store(const DiskAsk *ask, TkcDevice *dev, TkcSource *source, Entry *e, Outcome on_disk)
{
    struct DiskCache *c = dev->cache;
    size_t len = 0;
    const void *given = c->store.get ? c->store.get(ask->name, &len, c->store.user) : NULL;
    const bool is_possible = given && len <= MOST_ENTRY;
    char *bytes = is_possible ? malloc(len + 1) : NULL;
    Outcome outcome = given && !is_possible ? STORE_WRONG : on_disk;
    if (bytes) {
        memcpy(bytes, given, len);
        const Outcome judged = judge(ask, bytes, len, source, e);
        outcome = judged == HIT ? FROM_STORE : judged == STALE ? STALE : STORE_WRONG;
    }
    if (outcome == FROM_STORE) write_entry(ask, c, e->bytes, e->len);
    return outcome;
}

/* Waits for whoever compiles the same now. */
static void claim(DiskAsk *ask, struct DiskCache *c)
{
    char *path = has_folder(c) ? join(c->folder, ask->name, ".claim") : NULL;
    ask->claim = path ? open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
    free(path);
    const double start = clock_seconds();
    bool waited = false;
    while (ask->claim >= 0 && flock(ask->claim, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK &&
           clock_seconds() - start < MOST_WAIT) {
        waited = true;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    c->stats.waits += waited;
}

bool disk_find(DiskAsk *ask, TkcDevice *dev, TkcSource *source, const TkcOptions *o, Entry *e)
{
    struct DiskCache *c = dev->cache;
    *ask = (DiskAsk){.claim = -1};
    ask->is_off = !c || (!c->folder && !c->store.get && !c->store.put) || o->remarks ||
                  o->time_report || o->verify_each || !request_write(&ask->key, dev, source, o) ||
                  ask->key.no_memory;
    if (ask->is_off) return false;
    sha256_text(ask->name, ask->key.data, ask->key.len);
    Outcome outcome = look(ask, dev, source, e);
    /* Another process may have finished since, or while this one waited. */
    if (outcome != HIT && c->folder && (claim(ask, c), look(ask, dev, source, e) == HIT))
        outcome = HIT;
    if (outcome != HIT) outcome = ask_store(ask, dev, source, e, outcome);
    ++*(uint64_t *)((char *)&c->stats + counters[outcome]);
    return outcome == HIT || outcome == FROM_STORE;
}

void disk_end(DiskAsk *ask, TkcDevice *dev)
{
    char *path = ask->claim >= 0 ? join(dev->cache->folder, ask->name, ".claim") : NULL;
    if (path) unlink(path);
    if (ask->claim >= 0) close(ask->claim);
    free(path);
    free(ask->key.data);
}

/* ---- devices ---- */

void device_open_cache(TkcDevice *dev)
{
    const char *mib = secure_getenv("TKC_CACHE_SIZE");
    char *end = NULL;
    const unsigned long long n = mib ? strtoull(mib, &end, 10) : DEFAULT_MIB;
    if (dev->ops->emit != TKC_EMIT_PTX || !(dev->cache = calloc(1, sizeof *dev->cache))) return;
    dev->cache->folder = default_folder();
    dev->cache->most_bytes = (end && (end == mib || *end) ? DEFAULT_MIB : n) << 20;
}

void device_close_cache(TkcDevice *dev)
{
    if (dev->cache) free(dev->cache->folder);
    free(dev->cache);
}

TkcStatus tkc_device_set_cache(TkcDevice *dev, const char *folder)
{
    if (!device_is(dev)) return TKC_MISUSE;
    char *copy = folder ? strdup(folder) : NULL;
    if (folder && !copy) return tkc_no_memory(dev->cx);
    tkc_context_lock(dev->cx);
    char *old = copy;
    if (dev->cache) {
        old = dev->cache->folder;
        dev->cache->folder = copy;
    }
    tkc_context_unlock(dev->cx);
    free(old);
    return TKC_OK;
}

TkcStatus tkc_device_set_store(TkcDevice *dev, const TkcStore *store)
{
    TkcStore taken = {.size = sizeof taken};
    if (!device_is(dev)) return TKC_MISUSE;
    const char *wrong = store ? tkc_take(&taken, sizeof taken, store) : NULL;
    if (wrong) return tkc_refuse(dev->cx, TKC_MISUSE, "%s", wrong);
    tkc_context_lock(dev->cx);
    if (dev->cache) dev->cache->store = taken;
    tkc_context_unlock(dev->cx);
    return TKC_OK;
}

void tkc_device_cache_stats(TkcDevice *dev, TkcDiskStats *stats)
{
    TkcDiskStats now = {.size = sizeof now};
    if (!stats || !device_is(dev)) return;
    tkc_context_lock(dev->cx);
    if (dev->cache) now = dev->cache->stats;
    tkc_context_unlock(dev->cx);
    tkc_give(stats, &now, sizeof now);
}

/* ---- the folder, for people ---- */

static void visit(const char *folder, const Item *item,
                  void (*each)(const TkcCacheEntry *entry, void *user), void *user)
{
    Entry e;
    size_t len;
    Outcome outcome;
    char *path = join(folder, item->name, "");
    char *bytes = path ? read_file(path, &len, &outcome) : NULL;
    const bool ok = bytes && entry_open(&e, bytes, len, NULL) == HIT;
    const TkcCacheEntry told = {.size = sizeof told,
                                .name = item->name,
                                .kernel = ok ? e.manifest.kernel : NULL,
                                .target = ok ? e.manifest.target : NULL,
                                .source = ok && e.manifest.nfiles ? e.manifest.files[0].path : NULL,
                                .bytes = (uint64_t)item->bytes,
                                .used = item->used.tv_sec};
    each(&told, user);
    if (ok) entry_fini(&e);
    free(path);
}

TkcStatus tkc_cache_visit(TkcContext *cx, const char *folder, bool remove,
                          void (*each)(const TkcCacheEntry *entry, void *user), void *user)
{
    if (!tkc_handle_is(cx, TKC_HANDLE_CONTEXT)) return TKC_MISUSE;
    char *path = folder ? strdup(folder) : default_folder();
    if (!path)
        return tkc_refuse(cx, TKC_ERROR, "there is no cache: its folder is not known, or it is switched off");
    Items all = list(path);
    if (all.n) qsort(all.data, all.n, sizeof *all.data, by_use);
    for (size_t i = all.n; i-- > 0;) {
        if (each && !all.data[i].name[NAME]) visit(path, &all.data[i], each, user);
        if (remove) remove_item(path, &all.data[i]);
    }
    free(all.data);
    free(path);
    return TKC_OK;
}
