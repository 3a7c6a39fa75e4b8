/* When what was started takes place: the list of a program's bulk copies. */
#include "async.h"

#include "device/grow.h"
#include "shared.h"
#include "warp.h"

struct AsyncState {
    BulkCopy *copies;
    int n;
};

void async_reset(Block *b)
{
    if (b->async) b->async->n = 0;
}

void async_free(Block *b)
{
    if (b->async) free(b->async->copies);
    free(b->async);
    b->async = NULL;
}

bool async_start(Warp *w, const SimtInsn *in, const BulkCopy *copy)
{
    Block *b = w->block;
    if (!b->async) b->async = calloc(1, sizeof *b->async);
    AsyncState *s = b->async;
    if (!s || !grow_array(&s->copies, s->n))
        return simt_refuse(w, in, -1, SIMT_OUT_OF_MEMORY, "no memory for what is started");
    s->copies[s->n++] = *copy;
    return true;
}

/* The bytes move; whoever waits at the mbarrier hears of it. */
static bool take_place(BulkCopy *c)
{
    c->done = true;
    c->warp->block->progress = true;
    c->warp->block->changes++;
    if (!c->move(c)) return false;
    if (!c->mbarrier) return true;
    bool told = mbarrier_arrive(c->warp, c->in, c->lane, c->mbarrier, c->bytes, 0, c->agent, 1);
    order_end(shared_order(c->warp), c->agent);
    return told;
}

/* Those of groups stay until somebody waits for them. */
static void drop_done(AsyncState *s)
{
    int kept = 0;
    for (int i = 0; i < s->n; i++)
        if (!s->copies[i].done || !s->copies[i].mbarrier) s->copies[kept++] = s->copies[i];
    s->n = kept;
}

bool async_progress(Block *b, bool all)
{
    AsyncState *s = b->async;
    bool any = false;
    for (int i = 0; s && i < s->n; i++) {
        if (s->copies[i].done || (!all && simt_random(&b->random) & 3)) continue;
        if (!take_place(&s->copies[i])) return false;
        any = true;
    }
    if (any) drop_done(s);
    return any;
}

void async_commit(Warp *w, LaneMask m)
{
    AsyncState *s = w->block->async;
    for (int i = 0; s && i < s->n; i++) {
        BulkCopy *c = &s->copies[i];
        if (c->warp != w || c->mbarrier || c->committed || !(m >> c->lane & 1)) continue;
        c->committed = true;
        c->group = w->bulk_groups[c->lane];
    }
    SIMT_EACH_LANE(lane, m) w->bulk_groups[lane]++;
}

bool async_wait(Warp *w, LaneMask m, uint32_t may_remain)
{
    AsyncState *s = w->block->async;
    for (int i = 0; s && i < s->n; i++) {
        BulkCopy *c = &s->copies[i];
        if (c->warp != w || c->mbarrier || !c->committed || !(m >> c->lane & 1)) continue;
        if (c->group + may_remain >= w->bulk_groups[c->lane]) continue;
        if (!c->done && !take_place(c)) return false;
        order_join(shared_order(w), w->index, 1u << c->lane, c->agent);
        order_end(shared_order(w), c->agent);
        s->copies[i--] = s->copies[--s->n];
    }
    return true;
}
