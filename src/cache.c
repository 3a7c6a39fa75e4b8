/* -cache=stat|list|clear: what is kept on disk of earlier runs. */
#include <string.h>
#include <time.h>

#include "command.h"

typedef struct Total { size_t n, damaged; uint64_t bytes; bool is_listed; } Total;

static void count(const TkcCacheEntry *e, void *user)
{
    Total *t = user;
    char used[32];
    const time_t at = (time_t)e->used;
    struct tm date;
    t->n++;
    t->damaged += !e->kernel;
    t->bytes += e->bytes;
    strftime(used, sizeof used, "%F %T", localtime_r(&at, &date));
    if (t->is_listed)
        printf("%.12s  %s  %8llu  %-7s %s%s%s\n", e->name, used, (unsigned long long)e->bytes,
               e->kernel ? e->target : "-", e->kernel ? e->kernel : "(damaged)",
               e->source ? "  " : "", e->source ? e->source : "");
}

int command_cache(TkcContext *cx, Options *o)
{
    const bool clear = !strcmp(o->cache, "clear");
    Total t = {.is_listed = !strcmp(o->cache, "list")};
    TkcStatus status = tkc_cache_visit(cx, NULL, clear, count, &t);
    if (status == TKC_OK && !t.is_listed)
        printf("%s%zu kernel%s, %zu damaged, %llu bytes\n", clear ? "removed " : "", t.n,
               t.n == 1 ? "" : "s", t.damaged, (unsigned long long)t.bytes);
    return command_exit(status);
}
