/* Instructions that order, hint or wait: here memory is always in order and nothing is cached, so
   they have little to do. */
#include "decode.h"
#include "shared.h"

SimtStep exec_nothing(Warp *w, const SimtInsn *in, LaneMask m)
{
    (void)w, (void)in, (void)m;
    return STEP_NEXT;
}

SimtStep exec_yield(Warp *w, const SimtInsn *in, LaneMask m)
{
    (void)w, (void)in, (void)m;
    return STEP_YIELD;
}

static SimtStep exec_proxy_fence(Warp *w, const SimtInsn *in, LaneMask m)
{
    (void)in;
    order_fence(shared_order(w), w->index, m);
    return STEP_NEXT;
}

void decode_fence(Decoder *dc, SimtInsn *in)
{
    in->exec = exec_nothing;
    dc_memory_order(dc);
    op_take(dc, "mbarrier_init");
    op_take(dc, "gl");
    if (op_take(dc, "proxy")) {
        const bool is_async = op_take(dc, "async");
        op_choose(dc, "alias tensormap::generic async::generic async::global");
        if (dc_space(dc) != SPACE_GLOBAL && is_async) in->exec = exec_proxy_fence;
        op_choose(dc, "sync_restrict::shared::cta sync_restrict::shared::cluster");
    }
    op_done(dc);
    dc_skip_operands(dc);
}

void decode_hint(Decoder *dc, SimtInsn *in)
{
    in->space = dc_space(dc);
    dc_memory_order(dc);
    op_choose(dc, "L1 L2 L2::evict_last L2::evict_normal");
    op_take(dc, "tensormap");
    if (dc_form(dc, in, exec_nothing, "[", NULL)) dc_skip_operands(dc);
}

/* How many registers a warp has is of no matter here; that all its lanes ask is. */
void decode_setmaxnreg(Decoder *dc, SimtInsn *in)
{
    dc_aligned(dc);
    if (op_choose(dc, "inc dec") < 0 || op_type(dc) != ptx_type("u32")) op_refuse(dc);
    dc_form(dc, in, exec_nothing, "", NULL);
    const int64_t n = dc_integer(dc);
    if (n < 24 || n > 256 || n % 8) ptx_fail(&dc->ps, "a count of registers is 24 to 256 by 8");
}

/* in->offset[0], 0 where the decoder says nothing. */
SimtStep exec_constant(Warp *w, const SimtInsn *in, LaneMask m)
{
    SIMT_EACH_LANE(lane, m) simt_write(w, in->d[0], lane, (uint64_t)in->offset[0]);
    return STEP_NEXT;
}

/* A policy is a number that only accesses with a cache hint read, and they do not. */
void decode_createpolicy(Decoder *dc, SimtInsn *in)
{
    const int kind = op_choose(dc, "fractional range cvt");
    dc_memory_order(dc);
    op_take(dc, "L2");
    dc_space(dc);
    while (op_take(dc, "L2::evict_unchanged")) continue;
    if (kind < 0 || op_type(dc) != ptx_type("b64")) op_refuse(dc);
    if (dc_form(dc, in, exec_constant, ">b64", NULL)) dc_skip_operands(dc);
    in->offset[0] = INT64_C(0x12f0000000000000);
}
