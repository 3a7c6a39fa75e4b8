/* Forward along control flow: a set of accesses, which grows at each one and is empty after a
   barrier. An access that conflicts with one of the set waits for all threads, which is a barrier
   like any other for what follows; once found it stays, so that rounds through a loop only add.
   What global memory was accessed by in one turn of a loop is there in the next where the loop does
   not move the pointer. */
#include "memory/flow.h"

#include "base/limit.h"
#include "ir/dot_unit.h"
#include "ir/machine.h"
#include "linear/swizzle.h"
#include "memory/global.h"
#include "tkc/carry.h"

AccessKind memory_access(const Op *op)
{
    const int buffer = tkc_buffer_operand(op);
    if (buffer >= op->nargs || !type_is_smem(op_arg(op, buffer)->type) || op->kind == OP_STORE_WAIT)
        return ACCESS_NONE;
    if (op->kind == OP_SATOMIC_AT) return ACCESS_ATOMIC;
    return ir_has(op, OT_WRITE) && op->kind != OP_STORE_BOX ? ACCESS_WRITE : ACCESS_READ;
}

bool memory_conflict(const Op *a, const Op *b)
{
    const AccessKind x = memory_access(a), y = memory_access(b);
    if (memory_buffer(a) == memory_buffer(b) &&
        tkc_op_int(memory_buffer(a)->def, ATTR_COPIES, 1) > 1)
        return false;
    return x == ACCESS_WRITE || y == ACCESS_WRITE || x != y;
}

void memory_each_end(const Op *access, void (*visit)(const Op *end, void *user), void *user)
{
    visit(access, user);
    if (!dot_reads_alone(access) && !dot_is_async(access)) return;
    for (const Use *u = op_result(access, 0)->uses; u; u = u->next)
        memory_each_end(u->user, visit, user);
}

uint32_t memory_align(const Op *alloc)
{
    enum { ALIGN = 16 };
    const Type *ty = op_result(alloc, 0)->type;
    Swizzle s;
    return swizzle_find(ir_of(alloc->region->func)->layouts, ty->layout, type_bytes(ty), &s)
               ? SWIZZLE_ALIGN
               : ALIGN;
}

/* Matrices that a warp writes, each element once; fewer than an instruction can move were slower than
   what threads write (H200: 0.95 for two of fp32, 0.96 for one). */
static bool writes_matrices(const Op *op, const SharedAccess *at, int elem_bytes)
{
    const Machine *machine = op->region->func->machine;
    return op->kind == OP_SSTORE && machine && machine->sm >= MACHINE_MATRIX_STORES &&
           !layout_free_bits(at->block, DIM_LANE) &&
           elem_bytes << at->vector_log2 == SHARED_ACCESS_BYTES;
}

bool memory_block_access(SharedAccess *out, const Op *op, const Layout *block)
{
    const Type *buffer = memory_buffer(op)->type;
    const int bytes = type_bytes(buffer);
    if (memory_access(op) == ACCESS_READ && !tkc_op_int(op, ATTR_OWN, 0))
        return shared_warp_access(out, block, buffer->layout, bytes);
    return (shared_warp_access(out, block, buffer->layout, bytes) &&
            out->kind != SHARED_VECTORS && writes_matrices(op, out, bytes)) ||
           shared_access(out, block, buffer->layout, bytes);
}

static bool is_barrier(const Op *op)
{
    return op->kind == OP_BARRIER || op->kind == OP_STORE_WAIT ||
           (op->kind == OP_WAIT && !tkc_op_int(op, ATTR_OWN, 0));
}

static void collect(Op *op, void *user)
{
    MemoryFlow *f = user;
    const bool is_global = f->global && (global_access(op) || ir_is_loop(op));
    if (!is_barrier(op) && !memory_access(op) && !is_global) return;
    map_set_number(&f->index, op, f->ops.len);
    vec_push(f->scratch, &f->ops, op);
}

static Bitset copy_of(MemoryFlow *f, const Bitset *s)
{
    Bitset copy = bitset_make(f->scratch, f->ops.len);
    bitset_union(&copy, s);
    return copy;
}

static void clear(Bitset *s)
{
    for (int i = bitset_next(s, 0); i >= 0; i = bitset_next(s, i + 1)) bitset_remove(s, i);
}

static void flow_op(MemoryFlow *f, const Op *op, Bitset *pending);

static void flow_region(MemoryFlow *f, const Region *r, Bitset *pending)
{
    for (const Op *op = r->first; op && !f->again; op = op->next) flow_op(f, op, pending);
}

/* From `turn` to `left` goes what the next turn does not ask for. */
static void leave_moved(MemoryFlow *f, const Op *loop, Bitset *turn, Bitset *left)
{
    for (int i = bitset_next(turn, 0); i >= 0; i = bitset_next(turn, i + 1)) {
        const Op *access = f->ops.data[i];
        if (memory_access(access) || !global_is_moved(f->global, access, loop)) continue;
        bitset_add(left, i);
        bitset_remove(turn, i);
    }
}

/* Threads meet before the loop: what was found in it by what came before that is forgotten. */
static void start_over(MemoryFlow *f, const Op *loop)
{
    f->again = NULL;
    for (int i = bitset_next(&f->waits, 0); i >= 0; i = bitset_next(&f->waits, i + 1))
        if (!ir_is_loop(f->ops.data[i]) && ir_is_part(f->ops.data[i], loop))
            bitset_remove(&f->waits, i);
}

/* Until one more turn adds nothing; then what is pending after no turn at all, too. */
static void flow_loop(MemoryFlow *f, const Op *op, Bitset *pending)
{
    Bitset left = bitset_make(f->scratch, f->ops.len);
    bool grew = true;
    while (grew) {
        Bitset turn = copy_of(f, pending);
        for (int i = 0; i < op->nregions; i++) flow_region(f, op->regions[i], &turn);
        if (f->again == op) {
            start_over(f, op);
            clear(pending), clear(&left);
            continue;
        }
        leave_moved(f, op, &turn, &left);
        grew = bitset_union(pending, &turn) && !f->again;
    }
    if (op->kind == OP_WHILE) flow_region(f, op->regions[0], pending);
    bitset_union(pending, &left);
}

static void flow_branch(MemoryFlow *f, const Op *op, Bitset *pending)
{
    Bitset before = copy_of(f, pending);
    clear(pending);
    for (int i = 0; i < op->nregions; i++) {
        Bitset arm = copy_of(f, &before);
        flow_region(f, op->regions[i], &arm);
        bitset_union(pending, &arm);
    }
}

static bool must_wait(MemoryFlow *f, const Op *op, const Bitset *pending)
{
    for (int i = bitset_next(pending, 0); i >= 0; i = bitset_next(pending, i + 1)) {
        const Op *earlier = f->ops.data[i];
        if (memory_access(earlier) && memory_access(op) && memory_conflict(earlier, op) &&
            f->overlap(memory_buffer(earlier), memory_buffer(op), f->user))
            return true;
    }
    return false;
}

/* The outermost loop around `op` and not around what came before. */
static const Op *loop_between(const Op *earlier, const Op *op)
{
    const Op *found = NULL, *at = op->region->parent;
    for (; at && !ir_is_part(earlier, at); at = at->region->parent)
        if (ir_is_loop(at)) found = at;
    return found;
}

/* Where the first of two accesses to global memory is before a loop and the second in it, threads
   meet once, before the loop. */
static void meet_globally(MemoryFlow *f, int i, Bitset *pending)
{
    const Op *op = f->ops.data[i];
    for (int k = bitset_next(pending, 0); k >= 0; k = bitset_next(pending, k + 1)) {
        if (!global_conflict(f->global, f->ops.data[k], op)) continue;
        const Op *loop = loop_between(f->ops.data[k], op);
        bitset_add(&f->waits, loop ? map_number(&f->index, loop) : i);
        f->again = loop;
        return;
    }
}

static void flow_access(MemoryFlow *f, int i, Bitset *pending)
{
    const Op *op = f->ops.data[i];
    limit_poll(); /* it looks at all that are pending */
    if (f->global) meet_globally(f, i, pending);
    if (bitset_has(&f->waits, i) || must_wait(f, op, pending)) {
        bitset_add(&f->waits, i);
        clear(pending);
    }
    if (f->visit) f->visit(f, op, pending, f->user);
    bitset_add(pending, i);
}

/* It may read rings itself, behind barriers that came since they were named. */
static void flow_dot(MemoryFlow *f, const Op *dot, Bitset *pending)
{
    for (int k = 0; k < 2; k++) {
        const Op *ring = dot_ring(dot, k, NULL);
        if (ring) bitset_add(pending, map_number(&f->index, ring));
    }
}

/* What made a sum that is waited for, in the last turn of the loop that it comes out of, too. */
static const Op *product_of(const Value *v)
{
    const Op *op = v->def;
    while (op && (op->kind == OP_DOT_WAIT || op->kind == OP_FOR)) {
        int slot = 0;
        while (op->kind == OP_FOR && op_result(op, slot) != v) slot++;
        v = op->kind == OP_FOR ? carry_passed(op->regions[0], slot) : op_arg(op, 0);
        op = v->def;
    }
    return op;
}

/* Products of warp groups, one that adds to the next, read until they are waited for, whatever
   barriers there were since they began. */
static void flow_wait(MemoryFlow *f, const Op *wait, Bitset *pending)
{
    const Op *dot = product_of(op_arg(wait, 0));
    for (; dot && dot->kind == OP_DOT; dot = op_arg(dot, 2)->def) flow_dot(f, dot, pending);
}

static void flow_op(MemoryFlow *f, const Op *op, Bitset *pending)
{
    const int i = map_number(&f->index, op);
    if (ir_is_loop(op) && i >= 0 && bitset_has(&f->waits, i)) clear(pending);
    if (ir_is_loop(op)) flow_loop(f, op, pending);
    else if (op->kind == OP_IF) flow_branch(f, op, pending);
    else if (is_barrier(op)) clear(pending);
    else if (op->kind == OP_DOT) flow_dot(f, op, pending);
    else if (op->kind == OP_DOT_WAIT) flow_wait(f, op, pending);
    else if (i >= 0) flow_access(f, i, pending);
}

void memory_flow(MemoryFlow *f, Func *fn)
{
    map_init(&f->index, f->scratch);
    ir_walk(fn->body, collect, f);
    f->waits = bitset_make(f->scratch, f->ops.len);
    Bitset pending = bitset_make(f->scratch, f->ops.len);
    flow_region(f, fn->body, &pending);
}
