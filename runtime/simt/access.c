/* Loads and stores: addresses of all lanes, what they reach, and the values between memory and
   registers. Bounds and alignment are checked for every lane; of shared memory also what other
   threads do with it (shared.c). */
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "shared.h"
#include "warp.h"

/* ---- addresses ---- */

bool warp_addresses(Warp *w, const SimtInsn *in, LaneMask m, SimtOperand base, int64_t offset,
                    uint64_t *address)
{
    const void *lanes = simt_lanes(w, base);
    const LaneMask missing = base.number ? 0 : m & ~w->written[base.reg];
    if (missing)
        return simt_refuse(w, in, simt_first(missing), SIMT_ILLEGAL_ADDRESS,
                           "the address is in a register that nothing has written");
    if (base.bits == 32)
        for (int i = 0; i < SIMT_LANES; i++)
            address[i] = ((const uint32_t *)lanes)[i] + (uint64_t)offset;
    else
        for (int i = 0; i < SIMT_LANES; i++)
            address[i] = ((const uint64_t *)lanes)[i] + (uint64_t)offset;
    return true;
}

bool warp_uniform(Warp *w, const SimtInsn *in, LaneMask m, SimtOperand o, const char *told,
                  uint64_t *x)
{
    *x = simt_read(w, o, simt_first(m));
    SIMT_EACH_LANE(lane, m)
        if (simt_read(w, o, lane) != *x)
            return simt_refuse(w, in, lane, SIMT_LAUNCH_FAILED, "%s", told);
    return true;
}

/* ---- spaces ---- */

static const char *const space_names[] = {"generic", "global", "shared", "local", "parameter",
                                          "constant"};

/* ", of 'x'": the parameter that points into [begin, end). */
static void owner_text(const SimtLaunch *l, uint64_t begin, uint64_t end, char *text, size_t size)
{
    *text = 0;
    for (int i = 0; l->run.pointers && i < l->func->nparams; i++) {
        uint64_t x;
        if (!l->run.pointers[i]) continue;
        memcpy(&x, l->params + l->func->params[i].address, sizeof x);
        if (x < begin || x >= end) continue;
        snprintf(text, size, ", of '%.100s'", l->run.pointers[i]);
        return;
    }
}

static bool tell_outside(Warp *w, const SimtInsn *in, int lane, SimtSpace space, uint64_t address,
                         uint32_t bytes)
{
    uint64_t begin, end;
    bool freed;
    char owner[128];
    if (space != SPACE_GLOBAL) {
        simt_fault(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                   "%u bytes at %s address 0x%llx, which is outside of it", bytes,
                   space_names[space], (unsigned long long)address);
    } else if (!memory_near(w->block->launch->memory, address, &begin, &end, &freed)) {
        simt_fault(w, in, lane, SIMT_ILLEGAL_ADDRESS, "%u bytes at 0x%llx, where nothing is", bytes,
                   (unsigned long long)address);
    } else {
        owner_text(w->block->launch, begin, end, owner, sizeof owner);
        simt_fault(w, in, lane, SIMT_ILLEGAL_ADDRESS,
                   "%u bytes at 0x%llx, %llu bytes %s an allocation of %llu%s%s", bytes,
                   (unsigned long long)address,
                   (unsigned long long)(address < end ? address - begin : address - end),
                   address < end ? "into" : "behind the end of", (unsigned long long)(end - begin),
                   freed ? " that was freed" : "", owner);
    }
    return false;
}

/* Global memory: one look-up for all lanes that are in one allocation. */
static bool reach_global(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address,
                         uint32_t bytes, uint8_t **host)
{
    uint64_t begin = 1, end = 0;
    SIMT_EACH_LANE(lane, m) {
        const uint64_t a = address[lane];
        bool inside = a >= begin && a < end;
        if (!inside) inside = memory_find(w->block->launch->memory, a, &begin, &end);
        if (!inside || end - a < bytes) return tell_outside(w, in, lane, SPACE_GLOBAL, a, bytes);
        host[lane] = (uint8_t *)(uintptr_t)a;
    }
    return true;
}

bool warp_bounds(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address, uint32_t bytes,
                 uint32_t *offset, uint8_t **host)
{
    const Block *b = w->block;
    SIMT_EACH_LANE(lane, m) {
        const uint64_t a = address[lane] - SIMT_SHARED_BASE;
        if (a > b->shared_bytes || b->shared_bytes - a < bytes)
            return tell_outside(w, in, lane, SPACE_SHARED, address[lane], bytes);
        offset[lane] = (uint32_t)a;
        host[lane] = b->shared + a;
    }
    return true;
}

static bool reach_shared(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address,
                         uint32_t bytes, Touch touch, uint8_t **host)
{
    uint32_t offset[SIMT_LANES];
    return warp_bounds(w, in, m, address, bytes, offset, host) &&
           shared_touch(w, in, w->index, m, offset, bytes, touch);
}

/* Of local memory each lane has its own, of parameters all have the same. */
static bool reach_offset(Warp *w, const SimtInsn *in, LaneMask m, SimtSpace space,
                         const uint64_t *address, uint32_t bytes, uint8_t **host)
{
    const bool local = space == SPACE_LOCAL;
    const uint32_t size = local ? w->func->local_bytes : w->func->param_bytes;
    SIMT_EACH_LANE(lane, m) {
        if (address[lane] > size || size - address[lane] < bytes)
            return tell_outside(w, in, lane, space, address[lane], bytes);
        host[lane] = local ? w->local + (size_t)lane * size : w->block->launch->params;
        host[lane] += address[lane];
    }
    return true;
}

static bool reach_space(Warp *w, const SimtInsn *in, LaneMask m, SimtSpace space,
                        const uint64_t *address, uint32_t bytes, Touch touch, uint8_t **host)
{
    switch (space) {
    case SPACE_SHARED: return reach_shared(w, in, m, address, bytes, touch, host);
    case SPACE_LOCAL:
    case SPACE_PARAM: return reach_offset(w, in, m, space, address, bytes, host);
    case SPACE_GENERIC:
    case SPACE_GLOBAL:
    case SPACE_CONST: break;
    }
    return reach_global(w, in, m, address, bytes, host);
}

/* Generic addresses, by the window that each lane's is in. */
static bool reach_generic(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address,
                          uint32_t bytes, Touch touch, uint8_t **host)
{
    uint64_t inner[SIMT_LANES];
    LaneMask of[SPACE_PARAM + 1] = {0};
    SIMT_EACH_LANE(lane, m) {
        const uint64_t window = address[lane] >> 56;
        if (window == SPACE_GLOBAL || window > SPACE_PARAM)
            return tell_outside(w, in, lane, SPACE_GENERIC, address[lane], bytes);
        of[window ? window : SPACE_GLOBAL] |= 1u << lane;
        inner[lane] = ptx_low(address[lane], 56);
    }
    for (int space = SPACE_GLOBAL; space <= SPACE_PARAM; space++)
        if (of[space] && !reach_space(w, in, of[space], space, inner, bytes, touch, host))
            return false;
    return true;
}

bool warp_aligned(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address, uint32_t bytes)
{
    SIMT_EACH_LANE(lane, m) {
        if (!(address[lane] & (bytes - 1))) continue;
        return simt_refuse(w, in, lane, SIMT_MISALIGNED, "%u bytes at 0x%llx, which is no multiple of %u",
                           bytes, (unsigned long long)address[lane], bytes);
    }
    return true;
}

bool warp_reach(Warp *w, const SimtInsn *in, LaneMask m, SimtSpace space, const uint64_t *address,
                uint32_t bytes, Touch touch, uint8_t **host)
{
    if (!(bytes & (bytes - 1)) && !warp_aligned(w, in, m, address, bytes)) return false;
    if (space == SPACE_GENERIC) return reach_generic(w, in, m, address, bytes, touch, host);
    return reach_space(w, in, m, space, address, bytes, touch, host);
}

uint8_t *warp_reach_lane(Warp *w, const SimtInsn *in, int lane, SimtSpace space, uint64_t address,
                         uint32_t bytes, Touch touch)
{
    uint64_t addresses[SIMT_LANES] = {0};
    uint8_t *host[SIMT_LANES];
    addresses[lane] = address;
    return warp_reach(w, in, 1u << lane, space, addresses, bytes, touch, host) ? host[lane] : NULL;
}

bool warp_read(Warp *w, const SimtInsn *in, int lane, uint64_t address, void *out, uint32_t bytes)
{
    const uint8_t *host = warp_reach_lane(w, in, lane, SPACE_GENERIC, address, bytes, TOUCH_READ);
    if (host) memcpy(out, host, bytes);
    return host != NULL;
}

bool warp_string(Warp *w, const SimtInsn *in, int lane, uint64_t address, char *out, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++, address++) {
        if (!warp_read(w, in, lane, address, out + i, 1)) return false;
        out[i + 1] = 0;
        if (!out[i]) return true;
    }
    return true;
}

/* ---- values ---- */

static uint64_t get_bytes(const uint8_t *from, int bytes, bool is_signed)
{
    uint64_t x = 0;
    memcpy(&x, from, (size_t)bytes);
    return is_signed ? (uint64_t)ptx_signed(x, bytes * 8) : x;
}

/* Registers as wide as what is in memory, all lanes: the common case. */
static bool load_words(Warp *w, SimtOperand d, int i, LaneMask m, uint8_t *const *host)
{
    uint32_t *to = (uint32_t *)(w->regs + d.at);
    if (d.bits != 32 || m != SIMT_ALL_LANES) return false;
    for (int lane = 0; lane < SIMT_LANES; lane++) memcpy(&to[lane], host[lane] + 4 * i, 4);
    w->written[d.reg] = m;
    return true;
}

static SimtStep exec_ld(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    uint8_t *host[SIMT_LANES];
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address) ||
        !warp_reach(w, in, m, in->space, address, (uint32_t)in->bytes * in->count, TOUCH_READ, host))
        return STEP_FAULT;
    if (in->space <= SPACE_GLOBAL) w->reads = in;
    for (int i = 0; i < in->nd; i++) {
        const SimtOperand d = in->d[i];
        if (!d.bits || (in->bytes == 4 && load_words(w, d, i, m, host))) continue;
        SIMT_EACH_LANE(lane, m)
            simt_write(w, d, lane,
                       ptx_low(get_bytes(host[lane] + i * in->bytes, in->bytes, in->is_signed),
                               d.bits));
    }
    return STEP_NEXT;
}

/* ld.param: one value for all lanes. */
static SimtStep exec_ld_param(Warp *w, const SimtInsn *in, LaneMask m)
{
    const uint8_t *from = w->block->launch->params + in->offset[0];
    for (int i = 0; i < in->nd; i++) {
        const uint64_t x = get_bytes(from + i * in->bytes, in->bytes, in->is_signed);
        SIMT_EACH_LANE(lane, m) simt_write(w, in->d[i], lane, ptx_low(x, in->d[i].bits));
    }
    return STEP_NEXT;
}

bool warp_holds(const Warp *w, SimtSpace space, uint64_t address, const void *what, uint32_t bytes)
{
    const Block *b = w->block;
    const uint64_t end = SIMT_SHARED_BASE + (uint64_t)b->shared_bytes;
    const uint64_t at = address - (space == SPACE_GENERIC ? SIMT_WINDOW(SPACE_SHARED) : 0);
    return at >= SIMT_SHARED_BASE && at < end && end - at >= bytes &&
           !memcmp(what, b->shared + (at - SIMT_SHARED_BASE), bytes);
}

/* The lanes that would write what is there already. */
static LaneMask silent_lanes(const Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address)
{
    LaneMask silent = 0;
    SIMT_EACH_LANE(lane, m) {
        bool same = true;
        for (int i = 0; i < in->count && same; i++) {
            const uint64_t x = simt_read(w, in->s[1 + i], lane);
            same = warp_holds(w, in->space, address[lane] + (uint64_t)i * in->bytes, &x, in->bytes);
        }
        silent |= (LaneMask)same << lane;
    }
    return silent;
}

/* Threads may write the same to one place of shared memory, in whatever order: what they write is
   no race with what is there. */
static bool reach_to_store(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address,
                           uint8_t **host)
{
    const uint32_t bytes = (uint32_t)in->bytes * in->count;
    const bool may_be_shared = in->space == SPACE_SHARED || in->space == SPACE_GENERIC;
    const LaneMask silent = may_be_shared ? silent_lanes(w, in, m, address) : 0;
    return (!silent || warp_reach(w, in, silent, in->space, address, bytes, TOUCH_SAME, host)) &&
           (silent == m ||
            warp_reach(w, in, m & ~silent, in->space, address, bytes, TOUCH_WRITE, host));
}

static SimtStep exec_st(Warp *w, const SimtInsn *in, LaneMask m)
{
    bool changes = false;
    uint64_t address[SIMT_LANES];
    uint8_t *host[SIMT_LANES];
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address) ||
        !reach_to_store(w, in, m, address, host))
        return STEP_FAULT;
    for (int i = 0; i < in->count; i++) {
        const SimtOperand s = in->s[1 + i];
        const void *lanes = simt_lanes(w, s);
        SIMT_EACH_LANE(lane, m) {
            const uint64_t x = simt_lane(lanes, s.bits, lane);
            changes |= memcmp(host[lane] + i * in->bytes, &x, in->bytes) != 0;
            memcpy(host[lane] + i * in->bytes, &x, in->bytes);
        }
    }
    w->block->progress = true;
    w->block->changes += changes;
    return STEP_NEXT;
}

/* ---- decoding ---- */

static SimtSpace space_named(const char *text, size_t len)
{
    static const struct {
        const char *name;
        SimtSpace space;
    } names[] = {{"global", SPACE_GLOBAL}, {"shared", SPACE_SHARED}, {"shared::cta", SPACE_SHARED},
                 {"shared::cluster", SPACE_SHARED}, {"local", SPACE_LOCAL}, {"param", SPACE_PARAM},
                 {"param::entry", SPACE_PARAM}, {"param::func", SPACE_PARAM},
                 {"const", SPACE_CONST}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k].name) == len && !memcmp(text, names[k].name, len))
            return names[k].space;
    return SPACE_GENERIC;
}

uint8_t dc_space(Decoder *dc)
{
    SimtSpace space = SPACE_GENERIC;
    PTX_FIRST(&dc->ps.parts, space, space_named);
    return (uint8_t)space;
}

/* What orders, scopes and caches is in order here in any case: global memory is the host's. */
void dc_memory_order(Decoder *dc)
{
    static const char hints[] =
        "weak volatile relaxed acquire release acq_rel sc mmio cta cluster gpu sys ca cg cs lu cv "
        "wb wt nc L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
        "L2::cache_hint L2::64B L2::128B L2::256B L2::evict_last L2::evict_normal L2::evict_first";
    while (op_choose(dc, hints) >= 0) continue;
}

static const PtxType *read_access(Decoder *dc, SimtInsn *in)
{
    op_take(dc, "unified");
    in->space = dc_space(dc);
    dc_memory_order(dc);
    const int vector = op_choose(dc, "v2 v4 v8");
    in->count = (uint8_t)(vector < 0 ? 1 : 2 << vector);
    const PtxType *t = op_type(dc);
    if (!t || t->bits < 8 || t->lanes > 1) op_refuse(dc);
    if (dc->ps.failed) return NULL;
    in->bytes = t->bits / 8;
    in->is_signed = t->class == PTX_INT && tkc_dtype_info(t->dtype)->kind == DK_INT;
    return t;
}

/* The policy behind an access with .L2::cache_hint. */
void dc_cache_policy(Decoder *dc)
{
    if (ptx_take_mark(&dc->ps, ',')) dc_source(dc, ptx_type("b64"), false);
}

void decode_ld(Decoder *dc, SimtInsn *in)
{
    const PtxType *t = read_access(dc, in);
    if (!t || !dc_form(dc, in, exec_ld, ">{+} [ ~", t)) return;
    const uint64_t end = (uint64_t)in->offset[0] + (uint64_t)in->bytes * in->count;
    if (in->space == SPACE_PARAM && in->s[0].number) {
        if (in->offset[0] < 0 || end > dc->func->param_bytes)
            ptx_fail(&dc->ps, "the kernel has %u bytes of parameters", dc->func->param_bytes);
        in->exec = exec_ld_param;
    }
}

void decode_st(Decoder *dc, SimtInsn *in)
{
    if (op_take(dc, "async") || op_take(dc, "bulk")) op_refuse(dc);
    const PtxType *t = read_access(dc, in);
    if (!t || !dc_form(dc, in, exec_st, "[ <{+} ~", t)) return;
    if (in->space == SPACE_PARAM || in->space == SPACE_CONST)
        ptx_fail(&dc->ps, "%s memory cannot be written", space_names[in->space]);
}
