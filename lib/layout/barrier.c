/* Barriers between ops. Each op that uses shared memory waits inside itself, between writing its
   scratch and reading it. What is left is one op writing where another may still be reading,
   along any path, around loops too (a reduction in a loop meets itself). Such an op gets a
   `barrier` before it. Two reads never conflict.

   A scalar atomic is done by one thread for its program. One that releases says that what the
   program did before it is done, and that is what all its threads did: they meet before it. */
#include <string.h>

#include "base/vec.h"
#include "ir/build.h"
#include "ir/ir.h"
#include "layout/passes.h"
#include "layout/smem.h"

typedef struct Needed { Bitset before; } Needed;

static bool conflict(const SmemRange *a, int na, const SmemRange *b, int nb)
{
    for (int i = 0; i < na; i++) {
        for (int j = 0; j < nb; j++) {
            bool overlap = a[i].begin < b[j].end && b[j].begin < a[i].end;
            if (overlap && (a[i].writes || b[j].writes)) return true;
        }
    }
    return false;
}

/* What an op leaves behind: with a barrier of its own only what it does after it. */
static bool must_wait(const Op *earlier, const Op *later)
{
    SmemUse a = smem_use(earlier), b = smem_use(later);
    if (conflict(a.after, a.nafter, b.before, b.nbefore)) return true;
    return !a.has_barrier && conflict(a.before, a.nbefore, b.before, b.nbefore);
}

static void note_barrier(SmemFlow *f, int op, const Bitset *pending, void *user)
{
    Needed *needed = user;
    if (!needed->before.words) needed->before = bitset_make(f->scratch, f->ops.len);
    for (int i = bitset_next(pending, 0); i >= 0; i = bitset_next(pending, i + 1)) {
        if (must_wait(f->ops.data[i], f->ops.data[op])) bitset_add(&needed->before, op);
    }
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
    return !type_is_block(op->args[0].value->type) && !met &&
           (!strcmp(sem, "acq_rel") || !strcmp(sem, "release"));
}

static void note_release(Op *op, void *user)
{
    Releases *r = user;
    if (releases(op)) vec_push(r->arena, &r->ops, op);
}

static void add_barrier(Func *fn, Op *before)
{
    Builder b = build_before(fn, before);
    b.loc = before->loc;
    build_barrier(&b);
}

static bool meet_before_releases(Pass *p, Func *fn)
{
    Releases r = {.arena = p->scratch};
    if (fn->num_warps == 1) return false;
    ir_walk(fn->body, note_release, &r);
    for (int i = 0; i < r.ops.len; i++) add_barrier(fn, r.ops.data[i]);
    return r.ops.len > 0;
}

/* needs: places in shared memory.  keeps: everything else.  changes: adds barrier ops. */
bool barrier_run(Pass *p, Func *fn)
{
    Needed needed = {0};
    SmemFlow f = {.scratch = p->scratch, .visit = note_barrier, .user = &needed};
    smem_flow(&f, fn);
    bool changed = false;
    for (int i = 0; i < f.ops.len; i++) {
        if (!bitset_has(&needed.before, i)) continue;
        add_barrier(fn, f.ops.data[i]);
        changed = true;
    }
    return meet_before_releases(p, fn) || changed;
}
