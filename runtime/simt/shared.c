/* The order of what a program's threads do with shared memory, and what is told when there is
   none. Instructions are known by their number in the function. */
#include "shared.h"

#include <stdio.h>
#include "tkc/grow.h"

SharedState *shared_new(uint32_t bytes, int warps)
{
    SharedState *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->order = order_new(warps);
    s->race = s->order ? race_new(bytes, s->order) : NULL;
    if (s->race) return s;
    shared_free(s);
    return NULL;
}

static void drop_clocks(SharedState *s)
{
    for (int i = 0; i <= SIMT_BARRIERS; i++) order_clock_reset(&s->barriers[i]);
    for (int i = 0; i < s->nclocks; i++) order_clock_reset(&s->clocks[i].clock);
    s->nclocks = 0;
}

void shared_free(SharedState *s)
{
    if (!s) return;
    drop_clocks(s);
    free(s->clocks);
    race_free(s->race);
    order_free(s->order);
    free(s);
}

void shared_reset(SharedState *s)
{
    drop_clocks(s);
    order_reset(s->order);
    race_reset(s->race);
}

/* ---- what is told ---- */

static const char *const done_by[] = {[TOUCH_READ] = "read", [TOUCH_WRITE] = "written",
                                      [TOUCH_ATOMIC] = "changed by an atomic"};

/* Who made the earlier access, and where in the code. */
static void describe_earlier(const Warp *w, const RaceReport *r, char *out, size_t size)
{
    const SimtFunc *f = w->func;
    char place[512];
    simt_describe(f, &f->insns[r->earlier_insn < f->ninsns ? r->earlier_insn : 0], place,
                  sizeof place);
    if (r->earlier_unit < w->block->nwarps)
        snprintf(out, size, "%s by lane %d of warp %d%s", done_by[r->earlier_kind], r->earlier_lane,
                 r->earlier_unit, place);
    else
        snprintf(out, size, "%s by an asynchronous operation that nobody has waited for%s",
                 done_by[r->earlier_kind], place);
}

static bool tell(Warp *w, const SimtInsn *in, const RaceReport *r, Touch touch, bool async)
{
    static const char *const does[] = {"", "reads", "writes", "changes"};
    const uint32_t at = r->offset + SIMT_SHARED_BASE;
    const char *who = async ? "what it starts " : "";
    char earlier[768];
    if (r->problem == RACE_UNWRITTEN)
        return simt_refuse(w, in, r->lane, SIMT_LAUNCH_FAILED,
                           "%s%s shared memory at 0x%x that nothing has written", who, does[touch],
                           at);
    describe_earlier(w, r, earlier, sizeof earlier);
    return simt_refuse(
        w, in, r->lane, SIMT_LAUNCH_FAILED,
        r->problem == RACE_UNFENCED
            ? "%s%s shared memory at 0x%x without a fence.proxy.async behind where it was %s\nand then here:"
            : "race in shared memory: %s%s 0x%x, with nothing that orders it after where it was %s\nand then here:",
        who, does[touch], at, earlier);
}

/* Without memory for all of what was seen, a race may be none and none a race. Lanes that write one
   byte together may do so when they write the same; which of them is the last is nobody's to
   know. */
static bool judge(Warp *w, const SimtInsn *in, const RaceReport *r, Touch touch, bool async)
{
    const SharedState *s = w->block->shared_state;
    if (order_failed(s->order) || race_failed(s->race))
        return simt_refuse(w, in, -1, SIMT_OUT_OF_MEMORY,
                           "no memory to look for races in shared memory");
    return !r->problem || r->together || touch == TOUCH_SAME || tell(w, in, r, touch, async);
}

static uint32_t number_of(const Warp *w, const SimtInsn *in)
{
    return (uint32_t)(in - w->func->insns);
}

bool shared_touch(Warp *w, const SimtInsn *in, int unit, LaneMask m, const uint32_t *offset,
                  uint32_t bytes, Touch touch)
{
    RaceReport r = {0};
    if (unit >= 0)
        race_access(w->block->shared_state->race, unit, m, offset, bytes,
                    touch == TOUCH_SAME ? TOUCH_WRITE : touch, number_of(w, in), &r);
    return judge(w, in, &r, touch, unit != w->index);
}

bool shared_agent_range(Warp *w, const SimtInsn *in, int agent, uint32_t offset, uint32_t bytes,
                        Touch touch)
{
    uint32_t offsets[SIMT_LANES] = {[0] = offset};
    return shared_touch(w, in, agent, 1, offsets, bytes, touch);
}

/* ---- order ---- */

OrderClock *shared_clock(Block *b, uint32_t offset)
{
    SharedState *s = b->shared_state;
    for (int i = 0; i < s->nclocks; i++)
        if (s->clocks[i].offset == offset) return &s->clocks[i].clock;
    if (!grow_array(&s->clocks, s->nclocks)) return NULL;
    s->clocks[s->nclocks] = (MemoryClock){.offset = offset};
    return &s->clocks[s->nclocks++].clock;
}
