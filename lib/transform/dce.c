/* Dead code, found by marking what is live and sweeping the rest.

   Live is what has an effect and what it takes to compute it. A value carried around a loop is one
   slot: initial operand, region argument, yielded value, result. It is live when any use of its
   argument or result is, so a counter that only counts itself goes, which a count of uses would
   keep. */
#include "base/bitset.h"
#include "base/vec.h"
#include "tkc/carry.h"
#include "transform/passes.h"

typedef struct Dce {
    Arena *scratch;
    Bitset live;       /* values, by id */
    VEC(Value *) work; /* live values whose causes are to be marked */
} Dce;

/* ---- marking ---- */

static void mark(Dce *d, Value *v)
{
    if (bitset_add(&d->live, (int)v->id)) vec_push(d->scratch, &d->work, v);
}

/* An op is needed if one of its results is, if it has an effect, or if something needed lies in its
   regions: then everything is that decides whether and how often those run. */
static void mark_control(Dce *d, const Op *op)
{
    for (int i = 0; i < carry_own_args(op); i++) mark(d, op_arg(op, i));
    if (op->kind == OP_WHILE) mark(d, op_arg(op->regions[0]->last, 0));
}

static void mark_parents(Dce *d, const Region *r)
{
    for (const Op *op = r->parent; op; op = op->region->parent) mark_control(d, op);
}

/* Whole, with its results: the ops of a combine are all needed. */
static void mark_op(Dce *d, const Op *op)
{
    for (const Op *in = op; in; in = ir_next(in, op)) {
        for (int i = 0; i < in->nargs; i++) mark(d, op_arg(in, i));
        for (int i = 0; i < in->nresults; i++) mark(d, op_result(in, i));
    }
}

static void mark_causes(Dce *d, const Value *v)
{
    const Op *op = v->def ? v->def : v->region->parent, *owner;
    int slot;
    if (!op) return;
    if (tkc_carry_of_value(v, &owner, &slot)) {
        Value *members[CARRY_MEMBERS];
        for (int n = tkc_carry_members(op, slot, members); n > 0;) mark(d, members[--n]);
    }
    if (carry_is_op(op)) mark_control(d, op);
    else if (v->def) mark_op(d, op);
    mark_parents(d, v->def ? op->region : v->region);
}

/* Ops nobody may remove are where liveness starts. */
static void mark_roots(Op *op, void *user)
{
    Dce *d = user;
    if (carry_is_op(op) || ir_is_terminator(op) || ir_can_erase(op)) return;
    mark_op(d, op);
    mark_parents(d, op->region);
}

/* ---- sweeping ---- */

static bool is_live(const Dce *d, const Value *v)
{
    return bitset_has(&d->live, (int)v->id);
}

static void sweep(Dce *d, Region *r);

/* Uses inside go first, so that the slots are unused when they are removed. */
static void sweep_control(Dce *d, Op *op)
{
    for (int i = op->nresults - 1; i >= 0; i--)
        if (!is_live(d, op_result(op, i))) ir_stop_passing(op, i);
    for (int i = op->nregions - 1; i >= 0; i--) sweep(d, op->regions[i]);
    for (int i = op->nresults - 1; i >= 0; i--)
        if (!is_live(d, op_result(op, i))) ir_remove_slot(op, i);
}

static bool is_dead(const Dce *d, const Op *op)
{
    for (int i = 0; i < op->nresults; i++)
        if (is_live(d, op_result(op, i))) return false;
    return !ir_is_terminator(op) && ir_can_erase(op);
}

/* From the last op back: users before what they use. */
static void sweep(Dce *d, Region *r)
{
    for (Op *op = r->last, *prev; op; op = prev) {
        prev = op->prev;
        if (is_dead(d, op)) ir_unlink(op);
        else if (carry_is_op(op)) sweep_control(d, op);
    }
}

/* needs: nothing.  keeps: the order of what stays, layouts.  changes: removes ops, and slots of
   loops and branches. */
void dce_run(Pass *p, Func *fn)
{
    Dce d = {.scratch = p->scratch, .live = bitset_make(p->scratch, (int)fn->nvalues)};
    ir_walk(fn->body, mark_roots, &d);
    while (d.work.len > 0) mark_causes(&d, d.work.data[--d.work.len]);
    sweep(&d, fn->body);
}
