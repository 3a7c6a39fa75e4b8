/* Kernels on disk: disk_cache_test [FOLDER [PROCESSES KERNELS]], the folder empty; with numbers, so many processes launch so many
   kernels at once, and nothing else is tried. What is found there is right, whatever has become of the files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "jit/entry.h"
#include "launch_once.h"
#include "tkc/runtime.h"

#define HEAD "import triton\nimport triton.language as tl\n"
static const char importing[] = HEAD "from helper import two\n@triton.jit\n"
                                     "def k(x: '*fp32', C: tl.constexpr):\n    tl.store(x, two() + C)\n";
static const char warning[] = HEAD "@triton.jit\ndef k(x: '*fp32', C: tl.constexpr):\n    tl.load(x) + 1\n    tl.store(x, C)\n";

static const char *root;

static const char *at(const char *name)
{
    static char path[4][4096];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", root, name);
    return path[turn];
}

static void put_bytes(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "w");
    EXPECT(f && fwrite(bytes, 1, len, f) == len && fclose(f) == 0 && chmod(path, 0600) == 0);
}

/* The helper that the kernel imports gives this. */
static void put_helper(const char *name, const char *number)
{
    char text[200];
    snprintf(text, sizeof text, HEAD "@triton.jit\ndef two():\n    return %s\n", number);
    put_bytes(at(name), text, strlen(text));
}

static char *get_bytes(const char *path, size_t *len)
{
    struct stat st;
    FILE *f = fopen(path, "r");
    if (!f || fstat(fileno(f), &st)) return NULL;
    char *bytes = malloc((size_t)st.st_size + 1);
    *len = fread(bytes, 1, (size_t)st.st_size, f);
    fclose(f);
    return bytes;
}

/* The only entry of a folder; "": there is none, or there are several. */
static const char *entry_of(const char *folder)
{
    static char path[8192];
    struct dirent *e;
    int n = 0;
    DIR *dir = opendir(folder);
    *path = 0;
    while (dir && (e = readdir(dir)))
        if (strlen(e->d_name) == 64 && ++n) snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (dir) closedir(dir);
    return n == 1 ? path : "";
}

static int files_in(const char *folder)
{
    int n = -2; /* . and .. */
    DIR *dir = opendir(folder);
    while (dir && readdir(dir)) n++;
    if (dir) closedir(dir);
    return n;
}

/* ---- a process, as far as the cache can tell ---- */

typedef struct Try {
    TkcDiskStats stats;
    TkcStatus status;
    float got;
    int warnings;
} Try;

static void count_warnings(const TkcDiagnostic *d, void *user)
{
    Try *t = user;
    t->warnings += d->severity == TKC_WARNING;
}

static const char *cache = "cache";
static const TkcStore *store;

/* Launches the kernel of a file with C=value. */
static Try launch(const char *file, const char *value)
{
    Try t = {.stats = {.size = sizeof t.stats}, .got = -1};
    TkcContext *cx = tkc_context_new();
    TkcSource *source = NULL;
    tkc_context_on_diagnostic(cx, count_warnings, &t);
    EXPECT_INT(tkc_source_open(cx, at(file), TKC_LANGUAGE_TK, &source), TKC_OK);
    t.status = launch_once(cx, source, cache ? at(cache) : NULL, store, value, &t.got, &t.stats);
    tkc_source_free(source);
    tkc_context_free(cx);
    return t;
}

/* It gives the right result, and counted exactly one outcome, this one (a member of the statistics). */
#define EXPECT_OUTCOME(t, member, result)                                                          \
    do {                                                                                           \
        const Try t_ = (t);                                                                        \
        const TkcDiskStats *s_ = &t_.stats;                                                        \
        EXPECT(t_.got == (result));                                                                \
        EXPECT_INT(s_->member, 1);                                                                 \
        EXPECT_INT(s_->hits + s_->from_store + s_->absent + s_->damaged + s_->other_version +      \
                   s_->other_key + s_->stale + s_->foreign + s_->store_wrong, 1);                                    \
    } while (0)

static void clear(void)
{
    TkcContext *cx = tkc_context_new();
    EXPECT_INT(tkc_cache_visit(cx, at("cache"), true, NULL, NULL), TKC_OK);
    tkc_context_free(cx);
}

/* ---- cases ---- */

static void found_again(void)
{
    struct stat st;
    Try cold = launch("k.tk", "40");
    EXPECT_OUTCOME(cold, absent, 42);
    EXPECT_INT(cold.stats.stored, 1);
    EXPECT(stat(at("cache"), &st) == 0 && (st.st_mode & 07777) == 0700);
    EXPECT(stat(entry_of(at("cache")), &st) == 0 && (st.st_mode & 07777) == 0600);
    EXPECT_INT(files_in(at("cache")), 1); /* no claim, no temporary */
    Try warm = launch("k.tk", "40");
    EXPECT_OUTCOME(warm, hits, 42);
    EXPECT_INT(warm.stats.stored, 0);
    EXPECT_OUTCOME(launch("k.tk", "41"), absent, 43);
    EXPECT_OUTCOME(launch("k.tk", "41"), hits, 43);
    cache = NULL;
    Try off = launch("k.tk", "41");
    EXPECT(off.got == 43 && off.stats.hits + off.stats.absent + off.stats.foreign == 0);
    cache = "cache";
}

/* Any length, any byte: no entry. */
static void every_byte(void)
{
    size_t len;
    Entry e;
    clear();
    launch("k.tk", "1");
    char *bytes = get_bytes(entry_of(at("cache")), &len);
    for (size_t n = 0; n <= len; n++) {
        char *copy = malloc(n + 1);
        memcpy(copy, bytes, n);
        Outcome fault = entry_open(&e, copy, n, NULL);
        EXPECT_INT(fault == HIT, n == len);
        entry_fini(&e);
    }
    for (size_t i = 0; i < len; i++) {
        char *copy = malloc(len + 1);
        memcpy(copy, bytes, len);
        copy[i] = (char)(copy[i] ^ 1 << i % 8);
        Outcome fault = entry_open(&e, copy, len, NULL);
        EXPECT(fault != HIT);
        if (fault == HIT) entry_fini(&e);
    }
    free(bytes);
}

/* What is wrong is compiled anew, and is there the next time. */
static void mended(void)
{
    size_t len, other;
    clear();
    launch("k.tk", "7");
    char path[8192];
    snprintf(path, sizeof path, "%s", entry_of(at("cache")));
    char *bytes = get_bytes(path, &len);
    put_bytes(path, bytes, len / 2);
    EXPECT_OUTCOME(launch("k.tk", "7"), damaged, 9);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    put_bytes(path, "", 0);
    EXPECT_OUTCOME(launch("k.tk", "7"), damaged, 9);
    bytes[len - 20] ^= 4; /* in the code */
    put_bytes(path, bytes, len);
    EXPECT_OUTCOME(launch("k.tk", "7"), damaged, 9);
    bytes[len - 20] ^= 4;
    bytes[7]++;
    put_bytes(path, bytes, len);
    EXPECT_OUTCOME(launch("k.tk", "7"), other_version, 9);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    free(bytes);
    /* Another kernel's, whole, under the name of this: as if the two had the same hash. */
    bytes = get_bytes(path, &len);
    unlink(path);
    launch("k.tk", "8");
    char *wrong = get_bytes(entry_of(at("cache")), &other);
    put_bytes(path, wrong, other);
    EXPECT_OUTCOME(launch("k.tk", "7"), other_key, 9);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    free(bytes);
    free(wrong);
}

/* What others may have written is not read, and what cannot be written is no error. */
static void not_ours(void)
{
    char path[8192];
    clear();
    launch("k.tk", "7");
    snprintf(path, sizeof path, "%s", entry_of(at("cache")));
    chmod(path, 0620);
    EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9); /* replaced */
    if (geteuid() == 0) {
        EXPECT(chown(path, 12345, 12345) == 0);
        EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
        EXPECT(chown(at("cache"), 12345, 12345) == 0);
        EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
        EXPECT(chown(at("cache"), 0, 0) == 0);
    }
    rename(path, at("elsewhere"));
    EXPECT(symlink(at("elsewhere"), path) == 0);
    EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
    unlink(path);
    EXPECT(mkdir(path, 0700) == 0);
    Try folder = launch("k.tk", "7");
    EXPECT_OUTCOME(folder, foreign, 9);
    EXPECT_INT(folder.stats.unwritable, 1);
    rmdir(path);
    chmod(at("cache"), 0777);
    Try open_to_all = launch("k.tk", "7");
    EXPECT_OUTCOME(open_to_all, foreign, 9);
    EXPECT(open_to_all.stats.unwritable == 1 && open_to_all.stats.stored == 0);
    chmod(at("cache"), 0700);
    cache = "k.tk"; /* no folder */
    EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
    cache = "k.tk/below";
    EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
    cache = "read-only/cache";
    mkdir(at("read-only"), 0500);
    if (geteuid() != 0) EXPECT_OUTCOME(launch("k.tk", "7"), foreign, 9);
    cache = "new/a/b";
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    cache = "cache";
    EXPECT(files_in(at("new/a/b")) == 1);
}

/* ---- with other processes ---- */

static pid_t begin(Try (*f)(void *), void *arg)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        Try t = f(arg);
        _exit(t.got == 9 ? (int)t.stats.stored : 99);
    }
    return pid;
}

static int end(pid_t pid)
{
    int status = 0;
    EXPECT(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static Try launch_seven(void *unused)
{
    (void)unused;
    return launch("k.tk", "7");
}

/* No file gets longer than that: a disk that is full, or for who does not ignore the signal a death while writing. */
static Try launch_limited(void *arg)
{
    const struct rlimit limit = {*(rlim_t *)arg, *(rlim_t *)arg};
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_FSIZE, &limit);
    return launch("k.tk", "7");
}

static void no_room(void)
{
    size_t len;
    clear();
    launch("k.tk", "7");
    free(get_bytes(entry_of(at("cache")), &len));
    clear();
    for (rlim_t room = 0; room < len; room += len / 5) {
        signal(SIGXFSZ, SIG_IGN);
        EXPECT_INT(end(begin(launch_limited, &room)), 0);
        EXPECT_INT(files_in(at("cache")), 0); /* nothing half is left */
        signal(SIGXFSZ, SIG_DFL);
        EXPECT_INT(end(begin(launch_limited, &room)), -SIGXFSZ);
        EXPECT(!*entry_of(at("cache")));
        EXPECT_INT(files_in(at("cache")), 2); /* a temporary and a claim of the dead */
        clear();
        EXPECT_INT(files_in(at("cache")), 0);
    }
    rlim_t room = len / 2;
    EXPECT_INT(end(begin(launch_limited, &room)), -SIGXFSZ);
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9); /* and nobody waits for the dead */
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
}

static void all_at_once(void)
{
    enum { MANY = 12 };
    pid_t pids[MANY];
    for (int round = 0; round < 3; round++) {
        int stored = 0;
        clear();
        for (int i = 0; i < MANY; i++) pids[i] = begin(launch_seven, NULL);
        for (int i = 0; i < MANY; i++) stored += end(pids[i]);
        EXPECT_INT(stored, 1);
        EXPECT_INT(files_in(at("cache")), 1);
    }
}

/* Each launches all kernels, from another one on, by its own number; how many it compiled. */
static int launch_all(int first, int kernels)
{
    char value[16];
    int stored = 0;
    for (int i = 0; i < kernels; i++) {
        const int k = (first * 37 + i) % kernels;
        snprintf(value, sizeof value, "%d", k);
        const Try t = launch("k.tk", value);
        if (t.got != (float)(k + 2) || t.stats.damaged || t.stats.unwritable) return -1;
        stored += (int)t.stats.stored;
    }
    return stored;
}

/* Each kernel is compiled once, and what everybody gets is right. */
static void crowd(int processes, int kernels)
{
    pid_t *pids = calloc((size_t)processes, sizeof *pids);
    int ends[2], stored, all = 0;
    EXPECT(pipe(ends) == 0);
    clear();
    fflush(stdout);
    for (int i = 0; i < processes; i++)
        if ((pids[i] = fork()) == 0) {
            stored = launch_all(i, kernels);
            _exit(stored < 0 || write(ends[1], &stored, sizeof stored) != sizeof stored);
        }
    for (int i = 0; i < processes; i++) {
        EXPECT_INT(end(pids[i]), 0);
        EXPECT(read(ends[0], &stored, sizeof stored) == sizeof stored);
        all += stored;
    }
    EXPECT_INT(all, kernels);
    EXPECT_INT(files_in(at("cache")), kernels);
    free(pids);
}

/* Who waits goes on when the claim is given up, though nothing came of it. */
static void claimed(void)
{
    char path[8192];
    clear();
    launch("k.tk", "7");
    snprintf(path, sizeof path, "%s", entry_of(at("cache")));
    unlink(path);
    strcat(path, ".claim");
    fflush(stdout);
    int ready[2];
    EXPECT(pipe(ready) == 0);
    pid_t holder = fork();
    if (holder == 0) {
        flock(open(path, O_RDWR | O_CREAT, 0600), LOCK_EX);
        if (write(ready[1], "", 1) == 1) usleep(300000);
        _exit(0);
    }
    char byte;
    EXPECT(read(ready[0], &byte, 1) == 1);
    Try t = launch("k.tk", "7");
    EXPECT_OUTCOME(t, absent, 9);
    EXPECT_INT(t.stats.waits, 1);
    EXPECT_INT(end(holder), 0);
}

/* ---- what decides a kernel ---- */

static void helper_edited(void)
{
    clear();
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9);
    put_helper("helper.tk", "20.0");
    Try edited = launch("k.tk", "7");
    EXPECT_OUTCOME(edited, stale, 27);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 27);
    /* A file that was looked for before it, and was not there. */
    put_helper("helper.py", "30.0");
    EXPECT_OUTCOME(launch("k.tk", "7"), stale, 37);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 37);
    unlink(at("helper.py"));
    EXPECT_OUTCOME(launch("k.tk", "7"), stale, 27);
    put_helper("helper.tk", "2.00");
    EXPECT_OUTCOME(launch("k.tk", "7"), stale, 9);
    unlink(at("helper.tk"));
    EXPECT_INT(launch("k.tk", "7").status, TKC_ERROR);
    put_helper("helper.tk", "2.00");
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
}

/* Who is warned today is warned tomorrow. */
static void warned(void)
{
    clear();
    for (int i = 0; i < 2; i++) {
        Try t = launch("warning.tk", "5");
        EXPECT_OUTCOME(t, absent, 5);
        EXPECT(t.warnings > 0 && t.stats.warned == 1 && t.stats.stored == 0);
    }
    EXPECT_INT(files_in(at("cache")), 0);
}

/* ---- the bound ---- */

static void set_age(const char *path, time_t seconds)
{
    const struct timespec times[] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - seconds}};
    EXPECT(utimensat(AT_FDCWD, path, times, 0) == 0);
}

/* A bound of 1 MiB: of files of 300 KiB, the three used last stay beside the new kernel; what dead processes left goes when it
   is old. */
static void bounded(void)
{
    char name[80], *large = calloc(300, 1024);
    clear();
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9);
    set_age(entry_of(at("cache")), 100);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "cache/%064x", i);
        put_bytes(at(name), large, 300 * 1024);
        set_age(at(name), 10 * i);
    }
    for (int i = 0; i < 4; i++) {
        char path[200];
        snprintf(path, sizeof path, i % 2 ? "cache/%064x.claim" : "cache/%064x.abcdef", i / 2);
        put_bytes(at(path), "", 0);
        set_age(at(path), i < 2 ? 7200 : 60);
    }
    put_bytes(at("cache/README"), "mine", 4);
    set_age(at("cache/README"), 1000000);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9); /* which makes it the newest but the next */
    Try t = launch("k.tk", "9");
    EXPECT_OUTCOME(t, absent, 11);
    EXPECT_INT(t.stats.evicted, 2);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "cache/%064x", i);
        EXPECT_INT(access(at(name), F_OK) == 0, i < 3);
    }
    EXPECT_INT(files_in(at("cache")), 2 + 3 + 2 + 1);
    EXPECT(access(at("cache/README"), F_OK) == 0);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    clear();
    EXPECT_INT(files_in(at("cache")), 1); /* what is not the cache's stays */
    free(large);
}

/* A clock that was a year ahead: what is from then is right, and does not push out what is new. */
static void clock_back(void)
{
    char name[80], *large = calloc(300, 1024);
    const time_t ahead = -365 * 86400;
    clear();
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9);
    set_age(entry_of(at("cache")), ahead);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9); /* from now on it is today's */
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "cache/%064x", i);
        put_bytes(at(name), large, 300 * 1024);
        set_age(at(name), ahead - i);
    }
    put_bytes(at("cache/0000000000000000000000000000000000000000000000000000000000000000.claim"), "", 0);
    set_age(at("cache/0000000000000000000000000000000000000000000000000000000000000000.claim"), ahead);
    Try t = launch("k.tk", "9");
    EXPECT_OUTCOME(t, absent, 11);
    EXPECT_INT(t.stats.evicted, 1);
    EXPECT_INT(files_in(at("cache")), 1 + 2 + 3); /* README; no claim */
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    EXPECT_OUTCOME(launch("k.tk", "9"), hits, 11);
    free(large);
}

/* ---- a store ---- */

static struct { char name[65], *bytes; size_t len; int gets, puts, lie; } kept;

static const void *get(const char *name, size_t *bytes, void *user)
{
    EXPECT(user == &kept);
    kept.gets++;
    if (!kept.bytes || (strcmp(name, kept.name) && kept.lie != 3)) return NULL;
    *bytes = kept.lie == 1 ? kept.len / 2 : kept.lie == 4 ? SIZE_MAX : kept.len;
    if (kept.lie == 2) kept.bytes[kept.len - 9] ^= 1;
    return kept.bytes;
}

static void put(const char *name, const void *entry, size_t bytes, void *user)
{
    EXPECT(user == &kept);
    kept.puts++;
    free(kept.bytes);
    snprintf(kept.name, sizeof kept.name, "%s", name);
    kept.bytes = memcpy(malloc(bytes), entry, bytes);
    kept.len = bytes;
}

static void shared_store(void)
{
    const TkcStore hooks = {sizeof hooks, get, put, &kept};
    clear();
    store = &hooks;
    EXPECT_OUTCOME(launch("k.tk", "7"), absent, 9);
    EXPECT(kept.gets == 1 && kept.puts == 1);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    EXPECT_INT(kept.gets, 1); /* the disk comes first */
    clear();
    Try t = launch("k.tk", "7");
    EXPECT_OUTCOME(t, from_store, 9);
    EXPECT(t.stats.stored == 1 && kept.puts == 1);
    EXPECT_OUTCOME(launch("k.tk", "7"), hits, 9);
    cache = NULL; /* a store alone */
    EXPECT_OUTCOME(launch("k.tk", "7"), from_store, 9);
    EXPECT_OUTCOME(launch("k.tk", "8"), absent, 10);
    EXPECT_OUTCOME(launch("k.tk", "8"), from_store, 10);
    for (kept.lie = 1; kept.lie <= 4; kept.lie++) {
        const bool seven = kept.lie >= 3; /* another's; then what is kept is of 7 */
        EXPECT_OUTCOME(launch("k.tk", seven ? "7" : "8"), store_wrong, seven ? 9 : 10);
        EXPECT_INT(kept.puts, 2 + kept.lie);
    }
    put_helper("helper.tk", "20.0");
    kept.lie = 0;
    EXPECT_OUTCOME(launch("k.tk", "7"), stale, 27);
    put_helper("helper.tk", "2.00");
    cache = "cache";
    store = NULL;
    free(kept.bytes);
}

/* ---- calls ---- */

typedef struct Seen { int n, damaged; } Seen;

static void see(const TkcCacheEntry *e, void *user)
{
    Seen *s = user;
    s->n++;
    s->damaged += !e->kernel;
    EXPECT(strlen(e->name) == 64 && e->bytes > 0 && llabs((long long)e->used - (long long)time(NULL)) < 1000);
    if (e->kernel) EXPECT(!strcmp(e->kernel, "k") && !strcmp(e->target, "sm_90a") && !strcmp(e->source, at("k.tk")));
}

static void calls(void)
{
    TkcContext *cx = tkc_context_new();
    TkcDevice *cpu;
    TkcDiskStats stats = {.size = sizeof stats, .hits = 5};
    Seen seen = {0};
    clear();
    launch("k.tk", "7");
    put_bytes(entry_of(at("cache")), "xyz", 3);
    launch("k.tk", "8");
    EXPECT_INT(tkc_cache_visit(cx, at("cache"), false, see, &seen), TKC_OK);
    EXPECT(seen.n == 2 && seen.damaged == 1);
    EXPECT_INT(tkc_cache_visit(cx, at("nowhere"), true, see, &seen), TKC_OK);
    EXPECT_INT(tkc_cache_visit(NULL, at("cache"), true, see, &seen), TKC_MISUSE);
    EXPECT_INT(seen.n, 2);
    EXPECT_INT(tkc_device_open(cx, "cpu", 0, &cpu), TKC_OK);
    EXPECT_INT(tkc_device_set_cache(cpu, at("cache")), TKC_OK); /* it compiles nothing that is kept */
    EXPECT_INT(tkc_device_set_store(cpu, NULL), TKC_OK);
    EXPECT_INT(tkc_device_set_store(cpu, &(TkcStore){.put = put}), TKC_MISUSE);
    EXPECT_STR(tkc_last_error(cx), "error: the options are not initialized: their size is not set\n");
    tkc_device_cache_stats(cpu, &stats);
    EXPECT_INT(stats.hits, 0);
    EXPECT_INT(tkc_device_set_cache(NULL, at("cache")), TKC_MISUSE);
    EXPECT_INT(tkc_device_set_store(NULL, NULL), TKC_MISUSE);
    tkc_device_cache_stats(NULL, &stats);
    tkc_device_cache_stats(cpu, NULL);
    tkc_device_free(cpu);
    tkc_context_free(cx);
}

int main(int argc, char **argv)
{
    char made[] = "/tmp/tkc-disk-cache-XXXXXX", gone[80];
    root = argc > 1 ? argv[1] : mkdtemp(made);
    umask(0);
    setenv("TKC_CACHE_SIZE", "1", 1);
    put_bytes(at("k.tk"), importing, strlen(importing));
    put_bytes(at("warning.tk"), warning, strlen(warning));
    put_helper("helper.tk", "2.00");
    if (argc == 4) {
        crowd(atoi(argv[2]), atoi(argv[3]));
        return expect_done();
    }
    RUN(found_again);
    RUN(every_byte);
    RUN(mended);
    RUN(not_ours);
    RUN(no_room);
    RUN(all_at_once);
    RUN(claimed);
    RUN(helper_edited);
    RUN(warned);
    RUN(bounded);
    RUN(clock_back);
    RUN(shared_store);
    RUN(calls);
    snprintf(gone, sizeof gone, "rm -rf %s", made);
    if (argc == 1) EXPECT_INT(system(gone), 0);
    return expect_done();
}
