/* Programs that wait in loops for memory to change, when nobody is left to change it.

   What a warp does follows from its registers, from where its lanes are and from memory. A warp that
   comes back to an earlier state, while memory has not changed, will come back for ever. So when all
   warps of all programs that run have done so, none of them will ever end.

   In: a program between turns of its warps. Out: whether all of them have come back to a state they
   were in before. A state is kept as its hash; which one is compared with is chosen anew after 1, 2,
   4, … looks, so that loops of any length are found (Brent: An Improved Monte Carlo Factorization
   Algorithm). */
#include "warp.h"

#include <stdlib.h>

typedef struct Seen {
    uint64_t state, clock;
    bool again; /* it has run, and was in that state once more */
} Seen;

struct Spin {
    uint64_t looks, limit; /* limit 0: nothing is seen yet */
    Seen seen[];
};

Spin *spin_new(int nwarps)
{
    return calloc(1, sizeof(Spin) + (size_t)nwarps * sizeof(Seen));
}

void spin_forget(Spin *s)
{
    s->looks = s->limit = 0;
}

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t state_of(const Warp *w)
{
    const uint64_t *regs = (const uint64_t *)(const void *)w->regs;
    uint64_t h = mix((uint64_t)w->live << 32 | w->carry, (uint64_t)w->gathered << 32 | w->barred);
    SIMT_EACH_LANE(lane, w->live) h = mix(h, w->active >> lane & 1 ? w->at : w->pc[lane]);
    SIMT_EACH_LANE(lane, w->barred) h = mix(h, w->barrier[lane]);
    for (size_t i = 0; i < w->func->reg_bytes / 8; i++) h = mix(h, regs[i]);
    return h;
}

static bool can_run(const Warp *w)
{
    return (w->live & ~(w->gathered | w->barred)) != 0;
}

static void remember(Block *b, Spin *s)
{
    for (int i = 0; i < b->nwarps; i++)
        s->seen[i] = (Seen){state_of(&b->warps[i]), b->warps[i].clock, false};
    s->limit = s->limit ? 2 * s->limit : 1;
    s->looks = 0;
}

void spin_look(Block *b)
{
    Spin *s = b->spin;
    bool all = true;
    if (s->looks++ >= s->limit) {
        remember(b, s);
        return;
    }
    for (int i = 0; i < b->nwarps; i++) {
        const Warp *w = &b->warps[i];
        Seen *seen = &s->seen[i];
        const bool moved = w->clock != seen->clock;
        if (!seen->again && moved) seen->again = state_of(w) == seen->state;
        all &= !w->live || seen->again || (!moved && !can_run(w));
    }
    b->goes_round |= all;
}

void spin_tell(Block *b, bool more)
{
    const Warp *found = NULL;
    for (int i = 0; i < b->nwarps && !found; i++)
        if (b->warps[i].live && b->warps[i].reads) found = &b->warps[i];
    Warp *w = found ? &b->warps[found->index] : &b->warps[0];
    const int lane = w->live ? simt_first(w->live) : 0;
    if (!w->reads) {
        simt_fault(w, &w->func->insns[w->active ? w->at : w->pc[lane]], lane, SIMT_LAUNCH_FAILED,
                   "the loop never ends: a round of it changes nothing");
        return;
    }
    simt_fault(w, w->reads, lane, SIMT_LAUNCH_FAILED,
               more ? "deadlock: the loop waits for memory to change, and the programs that could "
                      "change it cannot begin before one of those that wait has ended"
                    : "deadlock: the loop waits for memory to change, and no program is left that "
                      "will change it");
}
