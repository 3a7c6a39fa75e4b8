/* cp.async: 4, 8 or 16 bytes a lane from global to shared memory, in groups that are waited for. A
   warp's groups are those of its lanes together. */
#include "async.h"
#include "decode.h"
#include "shared.h"
#include "warp.h"

typedef struct LaneCopy {
    uint8_t *to;
    const uint8_t *from; /* NULL: zeros */
    uint8_t bytes, given; /* the rest is zeros */
    bool done;
} LaneCopy;

/* A group, open or committed. */
typedef struct CopyGroup {
    int agent;
    LaneMask lanes;
    LaneCopy *copies;
    int n;
} CopyGroup;

enum { MOST_GROUPS = 64 };
struct AsyncCopies {
    CopyGroup groups[MOST_GROUPS]; /* the last one is open */
    int n;
};

static CopyGroup *open_group(Warp *w, const SimtInsn *in, LaneMask m)
{
    if (!w->copies) w->copies = calloc(1, sizeof *w->copies);
    struct AsyncCopies *c = w->copies;
    if (!c) {
        simt_fault(w, in, -1, SIMT_OUT_OF_MEMORY, "no memory for a copy");
        return NULL;
    }
    if (!c->n) c->groups[c->n++] = (CopyGroup){.agent = -1};
    Order *order = shared_order(w);
    CopyGroup *g = &c->groups[c->n - 1];
    if (g->agent < 0) g->agent = order_fork(order, w->index, m, false, false);
    else order_fork_into(order, g->agent, w->index, m);
    g->lanes |= m;
    return g;
}

static void move(LaneCopy *c)
{
    if (c->done) return;
    c->done = true;
    if (c->from) memcpy(c->to, c->from, c->given);
    memset(c->to + c->given, 0, (size_t)(c->bytes - c->given));
}

/* The seed chooses whether it takes place at once or when it is waited for. */
static bool add_copy(Warp *w, const SimtInsn *in, CopyGroup *g, LaneCopy c)
{
    if (!grow_array(&g->copies, g->n))
        return simt_refuse(w, in, -1, SIMT_OUT_OF_MEMORY, "no memory for a copy");
    if (simt_random(&w->block->random) & 1) move(&c);
    g->copies[g->n++] = c;
    return true;
}

/* What cp.async wrote is there for wgmma without a fence.proxy.async: the ISA does not say which
   proxy it is of, and compilers (Triton's pipelines) and chips agree that none is needed. */
static void finish_group(Warp *w, CopyGroup *g, LaneMask m)
{
    Order *order = shared_order(w);
    for (int i = 0; i < g->n; i++) move(&g->copies[i]);
    order_fence(order, g->agent, g->lanes);
    order_join(order, w->index, m & g->lanes, g->agent);
    order_end(order, g->agent);
    free(g->copies);
    *g = (CopyGroup){.agent = -1};
}

/* All but the newest groups: done, and known to the lanes of m. */
static void finish_groups(Warp *w, LaneMask m, int remain)
{
    struct AsyncCopies *c = w->copies;
    const int n = c ? c->n - remain : 0;
    for (int i = 0; i < n; i++) finish_group(w, &c->groups[i], m);
    if (n > 0) {
        memmove(c->groups, c->groups + n, (size_t)(c->n - n) * sizeof *c->groups);
        c->n -= n;
        w->block->progress = true;
        w->block->changes++;
    }
}

void copies_free(Warp *w)
{
    struct AsyncCopies *c = w->copies;
    for (int i = 0; c && i < c->n; i++) free(c->groups[i].copies);
    free(c);
    w->copies = NULL;
}

/* ---- cp.async ---- */

/* What of the bytes is read: src-size, or nothing where ignore-src holds. */
static uint32_t given_bytes(const Warp *w, const SimtInsn *in, int lane)
{
    if (!in->s[2].bits) return in->bytes;
    if (in->s[2].bits == 1) return simt_read(w, in->s[2], lane) ? 0 : in->bytes;
    return (uint32_t)simt_read(w, in->s[2], lane);
}

/* Only what is given needs to be there; the address is aligned as for all of it. */
static bool read_lanes(Warp *w, const SimtInsn *in, LaneMask m, uint32_t *given, uint8_t **from)
{
    uint64_t address[SIMT_LANES];
    LaneMask reads = 0;
    SIMT_EACH_LANE(lane, m) {
        given[lane] = given_bytes(w, in, lane);
        if (given[lane]) reads |= 1u << lane;
        if (given[lane] <= in->bytes) continue;
        return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED, "%u bytes to read of a copy of %u",
                           given[lane], in->bytes);
    }
    if (!reads) return true;
    if (!warp_addresses(w, in, reads, in->s[1], in->offset[1], address) ||
        !warp_aligned(w, in, reads, address, in->bytes))
        return false;
    while (reads) {
        const uint32_t bytes = given[simt_first(reads)];
        LaneMask same = 0;
        SIMT_EACH_LANE(lane, reads) same |= (LaneMask)(given[lane] == bytes) << lane;
        if (!warp_reach(w, in, same, SPACE_GLOBAL, address, bytes, TOUCH_READ, from)) return false;
        reads &= ~same;
    }
    return true;
}

static SimtStep exec_cp_async(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    uint32_t given[SIMT_LANES], offset[SIMT_LANES];
    uint8_t *from[SIMT_LANES], *to[SIMT_LANES];
    if (!read_lanes(w, in, m, given, from) ||
        !warp_addresses(w, in, m, in->s[0], in->offset[0], address) ||
        !warp_bounds(w, in, m, address, in->bytes, offset, to))
        return STEP_FAULT;
    CopyGroup *g = open_group(w, in, m);
    if (!g || !shared_touch(w, in, g->agent, m, offset, in->bytes, TOUCH_WRITE))
        return STEP_FAULT;
    SIMT_EACH_LANE(lane, m)
        if (!add_copy(w, in, g, (LaneCopy){to[lane], given[lane] ? from[lane] : NULL, in->bytes,
                                           (uint8_t)given[lane], false}))
            return STEP_FAULT;
    return STEP_NEXT;
}

static SimtStep exec_commit(Warp *w, const SimtInsn *in, LaneMask m)
{
    if (!open_group(w, in, m)) return STEP_FAULT;
    struct AsyncCopies *c = w->copies;
    if (c->n == MOST_GROUPS) /* nobody waits so long for so many: the oldest is done by now */
        finish_groups(w, 0, MOST_GROUPS - 1);
    c->groups[c->n++] = (CopyGroup){.agent = -1};
    return STEP_NEXT;
}

/* The open group is beside the count. */
static SimtStep exec_wait_group(Warp *w, const SimtInsn *in, LaneMask m)
{
    const uint64_t n = in->ns ? simt_read(w, in->s[0], simt_first(m)) : 0;
    finish_groups(w, m, !in->ns ? 0 : n < MOST_GROUPS ? (int)n + 1 : MOST_GROUPS);
    return STEP_NEXT;
}

/* What the lanes have started arrives at the mbarrier when it is done: now. */
static SimtStep exec_arrive(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    if (!mbarrier_addresses(w, in, m, address)) return STEP_FAULT;
    finish_groups(w, m, 0);
    SIMT_EACH_LANE(lane, m)
        if (!mbarrier_arrive(w, in, lane, (uint32_t)address[lane], 0, in->a, w->index, 1u << lane))
            return STEP_FAULT;
    return STEP_NEXT;
}

/* ---- decoding ---- */

static void decode_arrive(Decoder *dc, SimtInsn *in)
{
    in->space = SPACE_SHARED;
    in->a = op_take(dc, "noinc");
    dc_space(dc);
    if (!op_take(dc, "arrive") || op_type(dc) != ptx_type("b64")) op_refuse(dc);
    dc_form(dc, in, exec_arrive, "[", NULL);
}

static void decode_copy(Decoder *dc, SimtInsn *in)
{
    const bool cg = op_take(dc, "cg");
    if (!op_take(dc, "ca") && !cg) op_refuse(dc);
    dc_space(dc);
    dc_space(dc);
    dc_memory_order(dc);
    in->space = SPACE_SHARED;
    if (!dc_form(dc, in, exec_cp_async, "[ [", NULL)) return;
    dc_comma(dc);
    const int64_t bytes = dc_integer(dc);
    if (bytes != 16 && (cg || (bytes != 4 && bytes != 8)))
        ptx_fail(&dc->ps, "a copy of %lld bytes", (long long)bytes);
    in->bytes = (uint8_t)bytes;
    if (ptx_take_mark(&dc->ps, ',')) { /* src-size, or ignore-src, or the cache's policy */
        in->ns = 3;
        const PtxName *n = ptx_find_name(&dc->ps, dc->ps.word, NULL);
        if (n && n->type->bits == 1) in->s[2] = dc_pred(dc);
        else if (n && n->type->bits == 64) dc_source(dc, ptx_type("b64"), false);
        else in->s[2] = dc_source(dc, ptx_type("u32"), false);
    }
    dc_cache_policy(dc);
}

void decode_cp(Decoder *dc, SimtInsn *in)
{
    if (dc->chip < 80) op_refuse(dc);
    if (!op_take(dc, "async") && !op_take(dc, "reduce")) op_refuse(dc);
    if (op_take(dc, "bulk")) decode_bulk(dc, in);
    else if (op_take(dc, "mbarrier")) decode_arrive(dc, in);
    else if (op_take(dc, "commit_group")) dc_form(dc, in, exec_commit, "", NULL);
    else if (op_take(dc, "wait_group")) dc_form(dc, in, exec_wait_group, "<u32", NULL);
    else if (op_take(dc, "wait_all")) dc_form(dc, in, exec_wait_group, "", NULL);
    else decode_copy(dc, in);
}
