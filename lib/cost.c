/* Accesses are judged by what the lowering goes by as well, vector_of, and by the sectors of 32 bytes
   that the lanes of a warp touch with one instruction: a run of neighbours that are known to be next
   to each other shares sectors, others each have their own. Buffers are judged by the offsets
   at which threads get at them. */
#include "cost.h"

#include "base/power.h"
#include "layout/access.h"
#include "memory/flow.h"

enum { SECTOR_BYTES = 32 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

const Loc *cost_place(const Op *op)
{
    const Loc *loc = op->loc;
    while (loc && loc->caller && (!loc->source || ((const Source *)loc->source)->is_static))
        loc = loc->caller;
    return loc;
}

/* ---- global memory ---- */

bool cost_is_access(const Op *op)
{
    uint64_t which;
    if (op->kind == OP_COPY_ASYNC) return !ir_const_bits(op_arg(op, 2), &which);
    return access_is_block(op);
}

int cost_running_dim(const AxisFact *f)
{
    int dim = f->rank - 1;
    for (int d = f->rank - 2; d >= 0; d--)
        if (f->contiguity[d] > f->contiguity[dim]) dim = d;
    return dim;
}

static void judge_sectors(AccessCost *c, const AxisFact *f, const Layout *l)
{
    const int dim = c->vec.log2 ? c->vec.dim : cost_running_dim(f),
              shift = layout_dim_shift(l, dim), run = log2_floor(f->contiguity[dim]),
              sector = log2_floor(SECTOR_BYTES / c->elem_bytes), shared = least(run, sector);
    F2Space moved = {0}, sectors = {0};
    for (int i = 0; i < c->vec.log2; i++) f2_space_add(&moved, UINT32_C(1) << (shift + i));
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) {
        const uint32_t v = l->basis[DIM_LANE][i];
        f2_space_add(&moved, v);
        f2_space_add(&sectors, v & ~(((UINT32_C(1) << shared) - 1) << shift));
    }
    const int64_t bytes = (int64_t)c->elem_bytes << moved.dim, touched = SECTOR_BYTES << sectors.dim;
    c->used = (int)(bytes < touched ? 100 * bytes / touched : 100);
    c->at_least = run < sector && c->used < 100;
}

AccessCost cost_access(const AxisFacts *facts, const Op *op)
{
    const Value *ptr = op_arg(op, 0);
    const Layout *l = ptr->type->layout;
    const bool is_atomic = ir_has(op, OT_ATOMIC);
    AccessCost c = {.op = op, .elem_bytes = type_bytes(tkc_type_element(ptr->type)->elem)};
    const int held = layout_registers(l) >> __builtin_popcount(layout_free_bits(l, DIM_REGISTER));
    c.vec = vector_of(op);
    c.bytes = c.elem_bytes << c.vec.log2;
    c.count = held >> c.vec.log2;
    c.most_log2 = is_atomic ? 0 : log2_floor(least(held, VECTOR_MAX_BYTES / c.elem_bytes));
    judge_sectors(&c, axis_of(facts, ptr), l);
    return c;
}

/* ---- shared memory ---- */

static const char *purpose(const Op *store)
{
    const Op *def = op_arg(store, 1)->def;
    return def && def->kind == OP_REDUCE && tkc_op_attr(def, ATTR_SLOTS) ? "a reduction across warps goes"
           : def && ir_has(def, OT_ATOMIC)
               ? "the result of an atomic goes"
               : "a change of layout goes";
}

/* A warp has the banks once for each 128 bytes when no lanes collide. */
static int turns(const Op *op, const Type *block)
{
    SharedAccess at;
    const int bytes = type_bytes(block);
    if (!type_is_block(block)) return 1;
    if (!memory_block_access(&at, op, block->layout)) return 0;
    const int words = (bytes << at.vector_log2) / 4;
    return shared_waves(&at, bytes) / (words > 1 ? words : 1);
}

static void add_access(BufferCost *c, const Use *use)
{
    const Op *op = use->user;
    c->barriers += op->prev && op->prev->kind == OP_BARRIER;
    if (op->kind == OP_SSTORE) {
        c->from = op_arg(op, 1)->type;
        if (!c->what) c->what = purpose(op);
        c->write_turns = turns(op, c->from);
    } else if (op->kind == OP_COPY_ASYNC) {
        c->what = "what a loop reads next comes";
    } else if (op->kind == OP_COPY_BOX && use == &op->args[tkc_buffer_operand(op)]) {
        c->what = "what a loop reads next comes by TMA";
    } else if (op->kind == OP_STORE_BOX || op->kind == OP_STORE_WAIT) {
        c->what = "what is stored leaves by TMA";
    } else if (op->kind == OP_TMA_FREE || op->kind == OP_TMA_CLAIM) {
        c->what = "word that what has come was read goes";
    } else if (op->kind == OP_COPY_ARRIVE) {
        c->what = "word that copies have come goes";
    } else if (op->kind == OP_COPY_BOX || op->kind == OP_TMA_BEGIN || op->kind == OP_TMA_WAIT ||
               op->kind == OP_TMA_END) {
        if (!c->what) c->what = "word that a box has come goes";
    } else if (op->kind == OP_SLOAD || op->kind == OP_RING_LOAD) {
        c->to = op_result(op, 0)->type;
        c->read_turns = turns(op, c->to);
    } else {
        c->has_elements = true;
    }
}

BufferCost cost_buffer(const Op *alloc)
{
    const Value *buffer = op_result(alloc, 0);
    BufferCost c = {.bytes = (int)memory_bytes(alloc)};
    for (const Use *use = buffer->uses; use; use = use->next) add_access(&c, use);
    if (!c.what || c.has_elements) c.what = "elements that change places go";
    return c;
}
