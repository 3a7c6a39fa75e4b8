/* cp.async.bulk: ranges and boxes of tensors between global and shared memory, started by one thread
   and told to an mbarrier or waited for in groups. */
#include <string.h>

#include "async.h"
#include "atomic.h"
#include "decode.h"
#include "shared.h"
#include "warp.h"

/* What an instruction says of itself. */
typedef struct BulkForm {
    bool to_shared, tensor, reduces;
    int rank; /* 0: of a range */
    AtomOp reduction;
    int shared, global, rest; /* places of operands; rest: the number of bytes, or coordinates */
} BulkForm;

/* ---- moving ---- */

static bool reach_global(const BulkCopy *c, uint64_t at, uint32_t bytes)
{
    uint64_t begin, end;
    return (memory_find(c->warp->block->launch->memory, at, &begin, &end) && end - at >= bytes) ||
           warp_reach_lane(c->warp, c->in, c->lane, SPACE_GLOBAL, at, bytes, TOUCH_READ);
}

static bool move_range(BulkCopy *c)
{
    uint8_t *shared = c->warp->block->shared + (c->shared - SIMT_SHARED_BASE);
    void *global = (void *)(uintptr_t)c->global;
    if (!reach_global(c, c->global, c->length)) return false;
    if (c->to_shared) memcpy(shared, global, c->length);
    else memcpy(global, shared, c->length);
    return true;
}

static bool move_run(void *user, const TensorRun *run)
{
    const BulkCopy *c = user;
    const BulkForm *f = c->in->form;
    uint8_t *shared = c->warp->block->shared + (run->shared - SIMT_SHARED_BASE);
    void *global = (void *)(uintptr_t)run->global;
    if (!run->inside) {
        if (c->to_shared) simt_tensor_map_fill(&c->map, shared, run->bytes);
        return true;
    }
    if (!reach_global(c, run->global, run->bytes)) return false;
    if (c->to_shared) memcpy(shared, global, run->bytes);
    else if (f->reduces) atom_reduce(f->reduction, c->map.type, global, shared, run->bytes);
    else memcpy(global, shared, run->bytes);
    return true;
}

static bool move_tensor(BulkCopy *c)
{
    return simt_tensor_map_walk(&c->map, c->at, c->shared, move_run, c);
}

/* ---- starting ---- */

/* Shared memory as the copy uses it; the agent that does it. */
static bool begin_copy(Warp *w, const SimtInsn *in, BulkCopy *c, uint32_t align)
{
    const Block *b = w->block;
    const uint32_t offset = c->shared - SIMT_SHARED_BASE;
    if (c->shared % align)
        return simt_refuse(w, in, c->lane, SIMT_MISALIGNED,
                           "a bulk copy at the shared address 0x%x, which is no multiple of %u",
                           c->shared, align);
    if (offset > b->shared_bytes || b->shared_bytes - offset < c->length)
        return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_ADDRESS,
                           "a bulk copy of %u bytes at the shared address 0x%x, which is outside",
                           c->length, c->shared);
    c->agent = order_fork(shared_order(w), w->index, 1u << c->lane, true, true);
    return shared_agent_range(w, in, c->agent, offset, c->length,
                              c->to_shared ? TOUCH_WRITE : TOUCH_READ) &&
           async_start(w, in, c);
}

/* The 128 bytes of a map at a lane's address. */
static bool reach_map(Warp *w, const SimtInsn *in, int lane, SimtSpace space, uint64_t at,
                      Touch touch, uint8_t **half)
{
    half[0] = warp_reach_lane(w, in, lane, space, at, 64, touch);
    half[1] = half[0] ? warp_reach_lane(w, in, lane, space, at + 64, 64, touch) : NULL;
    return half[1] != NULL;
}

static void read_map(TensorMap *map, uint8_t *const *half)
{
    memcpy(map, half[0], 64);
    memcpy((uint8_t *)map + 64, half[1], 64);
}

static bool start_tensor(Warp *w, const SimtInsn *in, BulkCopy *c)
{
    const BulkForm *f = in->form;
    const char *why = NULL;
    uint8_t *half[2];
    if (!reach_map(w, in, c->lane, SPACE_GENERIC, c->global, TOUCH_READ, half)) return false;
    read_map(&c->map, half);
    if (simt_tensor_map_check(&c->map, &why) != TENSOR_VALID)
        return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_INSTRUCTION, "the tensor map: %s", why);
    if (c->map.rank_less_one + 1 != f->rank)
        return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_INSTRUCTION,
                           "a tensor map of rank %d in an instruction for rank %d",
                           c->map.rank_less_one + 1, f->rank);
    if (f->reduces && !atom_can_reduce(f->reduction, c->map.type))
        return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_INSTRUCTION,
                           "a reduction that the tensor map's type of elements does not have");
    for (int i = 0; i < f->rank; i++) c->at[i] = (int32_t)simt_read(w, in->s[f->rest + i], c->lane);
    for (int i = 0; i < f->rank; i++)
        if (!c->to_shared && c->at[i] < 0)
            return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_INSTRUCTION,
                               "a box that is written from element %d of a dimension on", c->at[i]);
    if (!simt_tensor_map_begins(&c->map, c->at[0]))
        return simt_refuse(w, in, c->lane, SIMT_ILLEGAL_INSTRUCTION,
                           "rows of a swizzled box that begin at element %d, which is no multiple of 16 bytes", c->at[0]);
    c->move = move_tensor;
    c->bytes = simt_tensor_map_bytes(&c->map);
    c->length = simt_tensor_map_extent(&c->map);
    return begin_copy(w, in, c, TENSOR_SHARED_ALIGNMENT);
}

static bool start_range(Warp *w, const SimtInsn *in, BulkCopy *c)
{
    const BulkForm *f = in->form;
    c->length = c->bytes = (uint32_t)simt_read(w, in->s[f->rest], c->lane);
    c->move = move_range;
    if (c->length % 16 || c->global % 16)
        return simt_refuse(
            w, in, c->lane, SIMT_MISALIGNED,
            "a bulk copy of %u bytes at the global address 0x%llx; both are multiples of 16",
            c->length, (unsigned long long)c->global);
    return begin_copy(w, in, c, 16);
}

/* Operand i, with the offset of that number. */
static uint64_t address_of(const Warp *w, const SimtInsn *in, int i, int offset, int lane)
{
    return simt_read(w, in->s[i], lane) + (uint64_t)in->offset[offset];
}

static SimtStep exec_bulk(Warp *w, const SimtInsn *in, LaneMask m)
{
    const BulkForm *f = in->form;
    SIMT_EACH_LANE(lane, m) {
        const int map = f->tensor; /* has no offset */
        BulkCopy c = {.warp = w, .in = in, .lane = lane, .to_shared = f->to_shared};
        c.shared = (uint32_t)address_of(w, in, f->shared, map ? 0 : f->shared, lane);
        c.global = map ? simt_read(w, in->s[f->global], lane)
                       : address_of(w, in, f->global, f->global, lane);
        if (f->to_shared) c.mbarrier = (uint32_t)address_of(w, in, in->ns - 1, 2 - map, lane);
        if (!(f->tensor ? start_tensor(w, in, &c) : start_range(w, in, &c))) return STEP_FAULT;
    }
    return STEP_NEXT;
}

static SimtStep exec_bulk_commit(Warp *w, const SimtInsn *in, LaneMask m)
{
    (void)in;
    async_commit(w, m);
    return STEP_NEXT;
}

static SimtStep exec_bulk_wait(Warp *w, const SimtInsn *in, LaneMask m)
{
    return async_wait(w, m, (uint32_t)simt_read(w, in->s[0], simt_first(m))) ? STEP_NEXT : STEP_FAULT;
}

/* ---- decoding ---- */

static void bulk_name(Decoder *dc, BulkForm *f)
{
    f->reduces = op_take(dc, "reduce");
    f->tensor = op_take(dc, "tensor");
    f->rank = f->tensor ? op_choose(dc, "1d 2d 3d 4d 5d") + 1 : 0;
    const uint8_t to = dc_space(dc), from = dc_space(dc);
    f->to_shared = to == SPACE_SHARED && from == SPACE_GLOBAL;
    const bool told = op_take(dc, "mbarrier::complete_tx::bytes");
    const bool grouped = op_take(dc, "bulk_group");
    const int reduction = f->reduces ? op_choose(dc, ATOM_REDUCTIONS) : 0;
    op_take(dc, "tile");
    op_take(dc, "multicast::cluster");
    op_take(dc, "L2::cache_hint");
    if (told == grouped || (f->tensor && !f->rank) || told != f->to_shared ||
        (!f->to_shared && (to != SPACE_GLOBAL || from != SPACE_SHARED)) ||
        (f->reduces && (reduction < 0 || !f->tensor)))
        op_refuse(dc);
    f->reduction = (AtomOp)reduction;
    op_done(dc);
}

static void decode_move(Decoder *dc, SimtInsn *in)
{
    static const char *const forms[][2] = {{"[ [ <u32", "[ [ <u32 ["},
                                           {"(b64 <{b32} ) [", "[ (b64 <{b32} ) ["}};
    BulkForm *f = dc_take(dc, sizeof *f);
    if (dc->ps.failed) return;
    bulk_name(dc, f);
    in->form = f;
    in->count = (uint8_t)f->rank;
    f->shared = f->to_shared ? 0 : 1 + f->rank;
    f->global = f->to_shared;
    f->rest = f->tensor ? f->global + 1 : 2;
    dc_form(dc, in, exec_bulk, forms[f->tensor][f->to_shared], NULL);
    while (!dc->ps.failed && ptx_take_mark(&dc->ps, ',')) ptx_next(&dc->ps); /* mask, policy */
}

void decode_bulk(Decoder *dc, SimtInsn *in)
{
    const int what = op_choose(dc, "commit_group wait_group prefetch");
    if (what == 0) dc_form(dc, in, exec_bulk_commit, "", NULL);
    else if (what == 1) op_take(dc, "read"), dc_form(dc, in, exec_bulk_wait, "<u32", NULL);
    else if (what == 2) dc_skip_operands(dc), in->exec = exec_nothing; /* it is there in any case */
    else decode_move(dc, in);
}

/* ---- tensor maps made by the kernel ---- */

static SimtStep exec_replace(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t address[SIMT_LANES];
    uint8_t *half[2];
    TensorMap map;
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], address)) return STEP_FAULT;
    SIMT_EACH_LANE(lane, m) {
        if (!reach_map(w, in, lane, in->space, address[lane], TOUCH_WRITE, half)) return STEP_FAULT;
        read_map(&map, half);
        const uint32_t ordinal = in->b ? (uint32_t)simt_read(w, in->s[1], lane) : 0;
        const uint64_t value = simt_read(w, in->s[1 + in->b], lane);
        if (!simt_tensor_map_replace(&map, in->form, ordinal, value))
            return simt_fault(w, in, lane, SIMT_ILLEGAL_INSTRUCTION,
                              "field %u of that name in a tensor map cannot be 0x%llx", ordinal,
                              (unsigned long long)value);
        memcpy(half[0], &map, 64);
        memcpy(half[1], (uint8_t *)&map + 64, 64);
    }
    return STEP_NEXT;
}

/* One thread's copy of the map is all threads'. */
static SimtStep exec_publish(Warp *w, const SimtInsn *in, LaneMask m)
{
    uint64_t to[SIMT_LANES], from[SIMT_LANES];
    uint8_t *dest[2], *source[2];
    const int lane = simt_first(m);
    if (!warp_addresses(w, in, m, in->s[0], in->offset[0], to) ||
        !warp_addresses(w, in, m, in->s[1], in->offset[1], from) ||
        !reach_map(w, in, lane, SPACE_GLOBAL, to[lane], TOUCH_WRITE, dest) ||
        !reach_map(w, in, lane, SPACE_SHARED, from[lane], TOUCH_READ, source))
        return STEP_FAULT;
    for (int i = 0; i < 2; i++) memcpy(dest[i], source[i], 64);
    return STEP_NEXT;
}

static void decode_publish(Decoder *dc, SimtInsn *in)
{
    dc_space(dc);
    dc_space(dc);
    dc_memory_order(dc);
    while (op_choose(dc, "tensormap::generic sync aligned") >= 0) continue;
    in->space = SPACE_GLOBAL;
    if (!dc_form(dc, in, exec_publish, "[ [", NULL)) return;
    dc_comma(dc);
    if (dc_integer(dc) != 128) ptx_fail(&dc->ps, "a tensor map has 128 bytes");
}

void decode_tensormap(Decoder *dc, SimtInsn *in)
{
    if (op_take(dc, "cp_fenceproxy")) {
        decode_publish(dc, in);
        return;
    }
    const TensorField *field = NULL;
    if (!op_take(dc, "replace") || !op_take(dc, "tile")) op_refuse(dc);
    PTX_FIRST(&dc->ps.parts, field, simt_tensor_field);
    in->space = dc_space(dc);
    op_take(dc, "b1024");
    const PtxType *t = op_type(dc);
    if (!field || !t || t->bits != field->bits) op_refuse(dc);
    in->form = field;
    in->b = field && field->count > 1;
    dc_form(dc, in, exec_replace, in->b ? "[ <b32 <*" : "[ <*", t);
}
