/* When what was started takes place: the list of a program's bulk copies. */
#include "async.h"

#include "tkc/grow.h"
#include "shared.h"
#include "warp.h"

bool async_start(Warp *w, const SimtInsn *in, const BulkCopy *copy)
{
    Block *b = w->block;
    if (!grow_array(&b->bulk, b->nbulk))
        return simt_refuse(w, in, -1, SIMT_OUT_OF_MEMORY, "no memory for what is started");
    b->bulk[b->nbulk++] = *copy;
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
static void drop_done(Block *b)
{
    int kept = 0;
    for (int i = 0; i < b->nbulk; i++)
        if (!b->bulk[i].done || !b->bulk[i].mbarrier) b->bulk[kept++] = b->bulk[i];
    b->nbulk = kept;
}

bool async_progress(Block *b, bool all)
{
    bool any = false;
    for (int i = 0; i < b->nbulk; i++) {
        if (b->bulk[i].done || (!all && simt_random(&b->random) & 3)) continue;
        if (!take_place(&b->bulk[i])) return false;
        any = true;
    }
    if (any) drop_done(b);
    return any;
}

void async_commit(Warp *w, LaneMask m)
{
    Block *b = w->block;
    for (int i = 0; i < b->nbulk; i++) {
        BulkCopy *c = &b->bulk[i];
        if (c->warp != w || c->mbarrier || c->committed || !(m >> c->lane & 1)) continue;
        c->committed = true;
        c->group = w->bulk_groups[c->lane];
    }
    SIMT_EACH_LANE(lane, m) w->bulk_groups[lane]++;
}

static bool is_due(const BulkCopy *c, const Warp *w, LaneMask m, uint32_t may_remain)
{
    return c->warp == w && !c->mbarrier && c->committed && (m >> c->lane & 1) &&
           c->group + may_remain < w->bulk_groups[c->lane];
}

/* Those that wait take place in the order in which they were started, or in the other. */
static bool end_due(Warp *w, LaneMask m, uint32_t may_remain)
{
    Block *b = w->block;
    const bool last_first = simt_random(&b->random) & 1;
    for (int i = 0; i < b->nbulk; i++) {
        BulkCopy *c = &b->bulk[last_first ? b->nbulk - 1 - i : i];
        if (is_due(c, w, m, may_remain) && !c->done && !take_place(c)) return false;
    }
    return true;
}

bool async_wait(Warp *w, LaneMask m, uint32_t may_remain)
{
    Block *b = w->block;
    if (!end_due(w, m, may_remain)) return false;
    int kept = 0;
    for (int i = 0; i < b->nbulk; i++) {
        BulkCopy *c = &b->bulk[i];
        if (!is_due(c, w, m, may_remain)) {
            b->bulk[kept++] = *c;
            continue;
        }
        order_join(shared_order(w), w->index, 1u << c->lane, c->agent);
        order_end(shared_order(w), c->agent);
    }
    b->nbulk = kept;
    return true;
}
