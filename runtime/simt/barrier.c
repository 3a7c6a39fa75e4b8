/* Barriers of a program and of a warp. A warp comes to a barrier when all its lanes that live have:
   then it counts for 32 threads, as on a chip. */
#include "decode.h"
#include "shared.h"
#include "warp.h"

enum { BAR_SYNC, BAR_ARRIVE, BAR_RED };
enum { RED_POPC, RED_AND, RED_OR };

static void add_votes(Warp *w, const SimtInsn *in, SimtBarrier *bar, LaneMask m)
{
    const LaneMask yes = simt_mask(w, in->s[2]) & m;
    if (!bar->reduces) bar->and_bits = 1;
    bar->reduces = true;
    bar->count += (uint32_t)__builtin_popcount(yes);
    bar->and_bits &= yes == m;
    bar->or_bits |= yes != 0;
}

/* False: told. */
static bool read_barrier(Warp *w, const SimtInsn *in, LaneMask m, uint32_t *id, uint32_t *expected)
{
    static const char told[] = "lanes name different barriers or counts";
    uint64_t number, threads = 0;
    if (!warp_uniform(w, in, m, in->s[0], told, &number) ||
        (in->s[1].bits && !warp_uniform(w, in, m, in->s[1], told, &threads)))
        return false;
    *id = (uint32_t)number;
    *expected = (uint32_t)threads;
    const bool unknown = *id >= SIMT_BARRIERS && !in->count;
    if (unknown || *expected % SIMT_LANES || (in->s[1].bits && !*expected))
        return simt_refuse(w, in, simt_first(m), SIMT_ILLEGAL_INSTRUCTION,
                           unknown ? "barrier %u; there are 16"
                                   : "%u threads at a barrier; it is a multiple of 32 above 0",
                           unknown ? *id : *expected);
    return true;
}

/* The warp has. */
static void arrive(Warp *w, SimtBarrier *bar, uint32_t id)
{
    bar->arrived += SIMT_LANES;
    order_release(shared_order(w), &w->block->shared_state->barriers[id], w->index, w->live);
    block_check_barriers(w->block);
}

static SimtStep exec_bar(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint32_t id, expected;
    if (!read_barrier(w, in, m, &id, &expected)) return STEP_FAULT;
    const bool aligned = in->c;
    if (aligned && m != w->live)
        return simt_fault(w, in, simt_first(w->live & ~m), SIMT_LAUNCH_FAILED,
                          "a barrier in divergent code: lanes 0x%08x execute it of 0x%08x that run",
                          m, w->live);
    SimtBarrier *bar = &w->block->barriers[id];
    if (bar->arrived && bar->expected != expected)
        return simt_fault(w, in, simt_first(m), SIMT_LAUNCH_FAILED,
                          "barrier %u is waited for by different numbers of threads, %u and %u (0: "
                          "all)", id, bar->expected, expected);
    if (in->a == BAR_RED) add_votes(w, in, bar, m);
    bar->expected = expected;
    if (in->a == BAR_ARRIVE) {
        w->block->changes++;
        arrive(w, bar, id);
        return STEP_NEXT;
    }
    LaneMask here = m;
    SIMT_EACH_LANE(lane, w->barred) if (w->barrier[lane] == id) here |= 1u << lane;
    warp_bar(w, m, (int)id);
    if (here == w->live) arrive(w, bar, id);
    return STEP_MOVED;
}

SimtStep exec_warp_barrier(Warp *w, const SimtInsn *in, LaneMask m)
{
    const LaneMask named = (LaneMask)simt_read(w, in->s[0], simt_first(m));
    m = warp_gather(w, in, m, named);
    if (m) order_sync(shared_order(w), w->index, m);
    return m ? STEP_NEXT : STEP_MOVED;
}

/* barrier.cluster: a cluster is one program here, so what waits for the others waits for its own
   threads. */
static void decode_cluster_barrier(Decoder *dc, SimtInsn *in)
{
    const int what = op_choose(dc, "arrive wait");
    op_choose(dc, "release acquire relaxed");
    op_take(dc, "aligned");
    if (what < 0) op_refuse(dc);
    op_done(dc);
    dc_operands(dc, in, 0, 3);
    if (dc->ps.failed) return;
    in->s[0] = dc_number(dc, SIMT_CLUSTER_BARRIER, 32);
    in->count = 1;
    in->exec = what ? exec_bar : exec_nothing;
}

/* bar.sync a[, b]; bar.arrive a, b; bar.red.op d, a[, b], p. */
void decode_bar(Decoder *dc, SimtInsn *in)
{
    static const char *const results[] = {"u32", "pred", "pred"};
    if (op_take(dc, "cluster")) {
        decode_cluster_barrier(dc, in);
        return;
    }
    op_take(dc, "cta");
    const int what = op_choose(dc, "sync arrive red"),
              op = what == BAR_RED ? op_choose(dc, "popc and or") : 0;
    in->c = op_take(dc, "aligned") || dc->ps.parts.len[0] == 3;
    if (what < 0 || op < 0 || (what == BAR_RED && op_type(dc) != ptx_type(results[op])))
        op_refuse(dc);
    op_done(dc);
    dc_operands(dc, in, what == BAR_RED, 3);
    if (dc->ps.failed) return;
    in->a = (uint8_t)what;
    in->b = (uint8_t)op;
    in->exec = exec_bar;
    if (what == BAR_RED) {
        in->d[0] = dc_dest(dc, ptx_type(results[op]), false);
        dc_comma(dc);
    }
    in->s[0] = dc_source(dc, ptx_type("u32"), false);
    bool more = ptx_take_mark(&dc->ps, ',');
    const PtxName *n = more ? ptx_find_name(&dc->ps, dc->ps.word, NULL) : NULL;
    const bool at_pred = ptx_at_mark(&dc->ps, '!') || (n && n->type->bits == 1);
    if (more && !at_pred) {
        in->s[1] = dc_source(dc, ptx_type("u32"), false);
        more = ptx_take_mark(&dc->ps, ',');
    }
    if (what == BAR_RED && more) in->s[2] = dc_pred(dc);
    if (what == BAR_RED ? !in->s[2].bits : more)
        ptx_fail(&dc->ps, "'%.*s' has other operands", in->name_len, in->name);
}
