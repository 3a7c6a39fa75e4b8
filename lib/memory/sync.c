/* Barriers. Where an access to shared memory must wait for others that may have happened, along any
   path, around loops too (a reduction in a loop meets itself), all threads meet before it.

   A scalar atomic is done by one thread for its program. One that releases says that what the
   program did before it is done, and that is what all its threads did: they meet before it. */
#include <string.h>

#include "ir/build.h"
#include "memory/flow.h"
#include "memory/passes.h"

static bool overlap(const Value *a, const Value *b, void *user)
{
    (void)user;
    const int64_t x = tkc_op_int(a->def, ATTR_OFFSET, 0), y = tkc_op_int(b->def, ATTR_OFFSET, 0);
    return x < y + type_smem_bytes(b->type) && y < x + type_smem_bytes(a->type);
}

static void add_barrier(Func *fn, Op *before)
{
    Builder b = build_before(fn, before);
    b.loc = before->loc;
    build_barrier(&b);
}

/* ---- atomics that release ---- */

typedef struct Releases {
    Arena *arena;
    VEC(Op *) ops;
} Releases;

static bool releases(const Op *op)
{
    if (op->kind != OP_ATOMIC_RMW && op->kind != OP_ATOMIC_CAS) return false;
    const char *sem = tkc_op_str(op, ATTR_SEM, "acq_rel");
    const bool met = op->prev && op->prev->kind == OP_BARRIER;
    return !type_is_block(op_arg(op, 0)->type) && !met &&
           (!strcmp(sem, "acq_rel") || !strcmp(sem, "release"));
}

static void note_release(Op *op, void *user)
{
    Releases *r = user;
    if (releases(op)) vec_push(r->arena, &r->ops, op);
}

static bool meet_before_releases(Pass *p, Func *fn)
{
    Releases r = {.arena = p->scratch};
    if (fn->num_warps == 1) return false;
    ir_walk(fn->body, note_release, &r);
    for (int i = 0; i < r.ops.len; i++) add_barrier(fn, r.ops.data[i]);
    return r.ops.len > 0;
}

/* needs: places of buffers.  keeps: everything else.  changes: adds barrier ops. */
bool sync_run(Pass *p, Func *fn)
{
    bool changed = meet_before_releases(p, fn);
    MemoryFlow flow = {.scratch = p->scratch, .overlap = overlap};
    memory_flow(&flow, fn);
    for (int i = bitset_next(&flow.waits, 0); i >= 0; i = bitset_next(&flow.waits, i + 1)) {
        add_barrier(fn, flow.ops.data[i]);
        changed = true;
    }
    return changed;
}
