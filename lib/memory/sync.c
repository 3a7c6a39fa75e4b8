/* Barriers. Where an access to shared memory must wait for others that may have happened, along any
   path, around loops too (a reduction in a loop meets itself), all threads meet before it.

   A scalar atomic is done by one thread for its program. One that releases says that what the
   program did before it is done, and that is what all its threads did: they meet before it. So they
   do after a poll, for which the program waits as a whole. */
#include <string.h>

#include "ir/build.h"
#include "memory/flow.h"
#include "memory/global.h"
#include "memory/passes.h"

static bool overlap(const Value *a, const Value *b, void *user)
{
    (void)user;
    const int64_t x = tkc_op_int(a->def, ATTR_OFFSET, 0), y = tkc_op_int(b->def, ATTR_OFFSET, 0);
    return x < y + memory_bytes(b->def) && y < x + memory_bytes(a->def);
}

static void add_barrier(Op *before)
{
    Builder b = build_before(before);
    build_barrier(&b);
}

/* ---- atomics that release, and that wait ---- */

static bool is_barrier(const Op *op)
{
    return op && op->kind == OP_BARRIER;
}

/* A store says so by its order alone; what else releases by default is often a count. */
static bool releases(const Op *op)
{
    if (!ir_has(op, OT_ATOMIC)) return false;
    const char *sem = tkc_op_str(op, ATTR_SEM, "acq_rel");
    return (op->kind == OP_ATOMIC_STORE || !type_is_block(op_arg(op, 0)->type)) &&
           (!strcmp(sem, "acq_rel") || !strcmp(sem, "release"));
}

static void meet_before(Op *op)
{
    if (!is_barrier(op) && !is_barrier(op->prev)) add_barrier(op);
}

static void meet(Func *fn)
{
    for (Op *op = fn->body->first; op; op = ir_next(op, NULL)) {
        if (releases(op) && fn->num_warps > 1) meet_before(op);
        if (op->kind == OP_ATOMIC_POLL) meet_before(op->next);
    }
}

/* needs: places of buffers.  keeps: everything else.  changes: adds barrier ops. */
void sync_run(Pass *p, Func *fn)
{
    meet(fn);
    MemoryFlow flow = {
        .scratch = p->scratch, .overlap = overlap, .global = global_new(p->scratch, fn)};
    memory_flow(&flow, fn);
    for (int i = bitset_next(&flow.waits, 0); i >= 0; i = bitset_next(&flow.waits, i + 1))
        add_barrier(flow.ops.data[i]);
}
