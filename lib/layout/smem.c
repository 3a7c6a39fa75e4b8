/* Places in shared memory. An op's scratch is alive only while the op runs, so all could lie at
   offset 0. But an op whose scratch was just read by its predecessor must wait for it: a barrier
   that costs more than a few bytes. Two ops of which one may follow the other without a barrier
   between are neighbours, and get places that do not overlap as long as the sum stays small.
   Every op of today has a barrier inside, between writing and reading, so neighbours are just
   successors along control flow, and two or three places serve any number of ops. */
#include "layout/smem.h"

#include <string.h>

#include "base/unwind.h"
#include "ir/machine.h"
#include "layout/convert.h"
#include "layout/passes.h"
#include "layout/reduce_plan.h"

enum { ALIGN = 16, ROOMY = 8192 }; /* up to ROOMY bytes, memory is spent to save barriers */

/* ---- what ops need ---- */

static uint32_t need_convert(const Op *op)
{
    if (op->kind != OP_CONVERT && !convert_atomic_spreads(op)) return 0;
    if (!type_is_block(op_result(op, 0)->type))
        return ALIGN; /* a scalar atomic: one thread does it and tells the others */
    ConvertPlan plan;
    convert_plan_op(&plan, op);
    return plan.scratch_bytes;
}

static uint32_t need_reduce(const Op *op)
{
    ReducePlan plan;
    reduce_plan_op(&plan, ir_of(op->region->func)->layouts, op);
    return reduce_scratch_op(&plan, op, NULL);
}

static uint32_t (*const need[OP_COUNT])(const Op *) = {
    [OP_CONVERT] = need_convert,
    [OP_ATOMIC_RMW] = need_convert,
    [OP_ATOMIC_CAS] = need_convert,
    [OP_REDUCE] = need_reduce,
};

uint32_t smem_need(const Op *op)
{
    return need[op->kind] ? need[op->kind](op) : 0;
}

SmemUse smem_use(const Op *op)
{
    if (op->kind == OP_BARRIER) return (SmemUse){.has_barrier = true};
    uint32_t bytes = smem_need(op), at = (uint32_t)tkc_op_int(op, ATTR_OFFSET, 0);
    if (!bytes) return (SmemUse){0};
    return (SmemUse){.nbefore = 1, .before = {{at, at + bytes, true}},
                     .nafter = 1, .after = {{at, at + bytes, false}}, .has_barrier = true};
}

/* ---- along control flow ---- */

static void collect(Op *op, void *user)
{
    SmemFlow *f = user;
    if (op->kind != OP_BARRIER && !smem_need(op)) return;
    vec_push(f->scratch, &f->ops, op);
    map_set_ptr(&f->index, op, (void *)(uintptr_t)f->ops.len);
}

static Bitset copy_of(SmemFlow *f, const Bitset *s)
{
    Bitset copy = bitset_make(f->scratch, f->ops.len);
    bitset_union(&copy, s);
    return copy;
}

static void clear(Bitset *s)
{
    for (int i = bitset_next(s, 0); i >= 0; i = bitset_next(s, i + 1)) bitset_remove(s, i);
}

static void flow_op(SmemFlow *f, const Op *op, Bitset *pending);

static void flow_region(SmemFlow *f, const Region *r, Bitset *pending)
{
    for (const Op *op = r->first; op; op = op->next) flow_op(f, op, pending);
}

/* Until one more turn adds nothing; then what is pending after no turn at all, too. */
static void flow_loop(SmemFlow *f, const Op *op, Bitset *pending)
{
    bool grew = true;
    while (grew) {
        Bitset turn = copy_of(f, pending);
        for (int i = 0; i < op->nregions; i++) flow_region(f, op->regions[i], &turn);
        grew = bitset_union(pending, &turn);
    }
    if (op->kind == OP_WHILE) flow_region(f, op->regions[0], pending);
}

static void flow_branch(SmemFlow *f, const Op *op, Bitset *pending)
{
    Bitset before = copy_of(f, pending);
    clear(pending);
    for (int i = 0; i < op->nregions; i++) {
        Bitset arm = copy_of(f, &before);
        flow_region(f, op->regions[i], &arm);
        bitset_union(pending, &arm);
    }
}

static void flow_op(SmemFlow *f, const Op *op, Bitset *pending)
{
    int i = (int)(uintptr_t)map_get_ptr(&f->index, op) - 1;
    if (op->kind == OP_FOR || op->kind == OP_WHILE) flow_loop(f, op, pending);
    else if (op->kind == OP_IF) flow_branch(f, op, pending);
    if (i < 0) return;
    f->visit(f, i, pending, f->user);
    SmemUse use = smem_use(op);
    if (use.has_barrier) clear(pending);
    if (op->kind != OP_BARRIER) bitset_add(pending, i);
}

void smem_flow(SmemFlow *f, Func *fn)
{
    map_init(&f->index, f->scratch);
    ir_walk(fn->body, collect, f);
    Bitset pending = bitset_make(f->scratch, f->ops.len);
    flow_region(f, fn->body, &pending);
}

/* ---- places ---- */

typedef struct Places {
    Bitset *neighbours; /* by op number */
} Places;

static void note_neighbours(SmemFlow *f, int op, const Bitset *pending, void *user)
{
    Places *places = user;
    if (!places->neighbours) {
        places->neighbours = arena_array(f->scratch, Bitset, f->ops.len);
        for (int i = 0; i < f->ops.len; i++)
            places->neighbours[i] = bitset_make(f->scratch, f->ops.len);
    }
    bitset_union(&places->neighbours[op], pending);
    for (int i = bitset_next(pending, 0); i >= 0; i = bitset_next(pending, i + 1))
        bitset_add(&places->neighbours[i], op);
}

/* The lowest place that no neighbour placed before (one with a lower number) overlaps. Each
   failed try moves past one. */
static uint32_t free_place(const SmemFlow *f, const Places *places, int op, uint32_t bytes)
{
    uint32_t at = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        const Bitset *near = &places->neighbours[op];
        for (int i = bitset_next(near, 0); i >= 0; i = bitset_next(near, i + 1)) {
            const Op *other = f->ops.data[i];
            if (i >= op || !smem_need(other)) continue;
            uint32_t begin = (uint32_t)tkc_op_int(other, ATTR_OFFSET, 0),
                     end = begin + smem_need(other);
            if (at >= end || at + bytes <= begin) continue;
            at = (end + ALIGN - 1) & ~(uint32_t)(ALIGN - 1);
            moved = true;
        }
    }
    return at;
}

static uint32_t largest_need(const SmemFlow *f)
{
    uint32_t largest = 0;
    for (int i = 0; i < f->ops.len; i++) {
        uint32_t bytes = smem_need(f->ops.data[i]);
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

static Span span_of(const Op *op)
{
    const Loc *loc = op->loc;
    return loc && loc->source ? (Span){loc->source, loc->begin, loc->end} : SPAN_NONE;
}

static void refuse(Pass *p, const Func *fn, const Op *op, uint32_t bytes)
{
    diag_error(
        p->dx, span_of(op),
        "this takes %u bytes of shared memory, '%s' has %d for a program; use a smaller block",
        (unsigned)bytes, fn->machine->name, fn->machine->max_smem);
}

/* needs: layouts.  keeps: everything but attributes.  changes: sets `offset` on ops that need
   scratch, and the function's shared_bytes. */
bool smem_run(Pass *p, Func *fn)
{
    Places places = {0};
    SmemFlow f = {.scratch = p->scratch, .visit = note_neighbours, .user = &places};
    smem_flow(&f, fn);
    uint32_t limit = largest_need(&f);
    if (limit < ROOMY) limit = ROOMY;
    fn->shared_bytes = 0;
    for (int i = 0; i < f.ops.len; i++) {
        Op *op = f.ops.data[i];
        uint32_t bytes = smem_need(op);
        if (!bytes) continue;
        if (fn->machine && bytes > (uint32_t)fn->machine->max_smem) refuse(p, fn, op, bytes);
        uint32_t at = free_place(&f, &places, i, bytes);
        if (at + bytes > limit) at = 0;
        ir_set_int(fn, op, ATTR_OFFSET, at);
        if (at + bytes > fn->shared_bytes) fn->shared_bytes = at + bytes;
    }
    return f.ops.len > 0;
}
