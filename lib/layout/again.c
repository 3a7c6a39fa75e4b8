/* What ops ask for behind a loop that multiplies matrices, but none in it, is made again behind it,
   where that takes but a little arithmetic with ranges and scalars: rows of a tile, its mask and
   pointers, which loads before the loop ask for and a store behind it. A thread that keeps them
   keeps more than their registers: where a function needs more than it may have, ptxas orders all of
   it for few, and each turn waits for one exponential after the other.

   The lowering reads a thread's number anew behind such a loop (lower/coord.c); else LLVM would find
   that both are the same. */
#include "ir/build.h"
#include "layout/passes.h"
#include "layout/weight.h"

typedef struct Again {
    Func *fn;
    Arena *scratch;
    const Op *loop;
    Map numbers; /* of ops, in their order */
    ValueMap made;
} Again;

static bool is_behind(Again *a, const Op *op)
{
    return map_number(&a->numbers, op) > map_number(&a->numbers, a->loop);
}

/* Ready before the loop and asked for behind it, but not in it; nor, where a loop around it goes on
   with it, before it in the next turn. */
static bool goes_through(Again *a, const Value *v)
{
    const Region *here = a->loop->region;
    const bool outside = ir_is_defined_outside(v, here);
    if (!v->def || (!outside && is_behind(a, ir_op_of(v->def, here)))) return false;
    for (const Use *u = v->uses; u; u = u->next) {
        const Op *user = ir_op_of(u->user, here);
        if (user == a->loop || (outside && !(user && is_behind(a, user)))) return false;
    }
    return true;
}

/* What is one number for all elements, threads keep no more of. */
static bool is_ready(Again *a, Value *v)
{
    return ir_is_uniform(v) || ir_mapped(&a->made, v) != v;
}

/* By a few ops that cost little, of scalars, or what is kept anyway. Ranges that the loop asks for are
   made again, too: of them LLVM would find what was there before. */
static bool may_be_made(Again *a, const Value *v, int *few)
{
    const Op *op = v->def;
    if (!op || --*few < 0 || op->nregions || op->nresults != 1 || weight_of(op) > 1) return false;
    for (int i = 0; i < op->nargs; i++) {
        Value *x = op_arg(op, i);
        if (!is_ready(a, x) && !may_be_made(a, x, few) && goes_through(a, x)) return false;
    }
    return true;
}

/* v itself, where it cannot be made. */
static Value *make(Again *a, Value *v, Op *at)
{
    enum { FEW = 48 };
    if (is_ready(a, v) || !may_be_made(a, v, &(int){FEW})) return ir_mapped(&a->made, v);
    for (int i = 0; i < v->def->nargs; i++) make(a, op_arg(v->def, i), at);
    Op *op = ir_clone(a->fn, v->def, &a->made);
    ir_insert_before(at, op);
    map_set_number(&a->numbers, op, map_number(&a->numbers, at));
    return op_result(op, 0);
}

/* Of what asks: an op beside the loop, or in one. */
static void serve(Again *a, Op *op, Op *at)
{
    for (int i = 0; i < op->nargs; i++) {
        Value *v = op_arg(op, i);
        if (!ir_is_uniform(v) && goes_through(a, v)) ir_set_arg(op, i, make(a, v, at));
    }
}

/* What comes behind the next such loop goes through that, too. */
static void pass_loop(Again *a, const Op *loop)
{
    a->loop = loop;
    a->made = ir_value_map(a->scratch, a->fn);
    for (Op *at = loop->next; at; at = ir_is_product_loop(at) ? NULL : at->next)
        for (Op *op = at; op; op = ir_next(op, at)) serve(a, op, at);
}

static void pass_region(Again *a, Region *r)
{
    for (Op *op = r->first; op; op = op->next) {
        for (int i = 0; i < op->nregions; i++) pass_region(a, op->regions[i]);
        if (ir_is_product_loop(op)) pass_loop(a, op);
    }
}

/* needs: layouts.  keeps: what every op computes.  changes: how long numbers, masks and pointers are
   kept. */
void again_run(Pass *p, Func *fn)
{
    Again a = {.fn = fn, .scratch = p->scratch};
    int n = 0;
    map_init(&a.numbers, p->scratch);
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL))
        map_set_number(&a.numbers, op, n++);
    pass_region(&a, fn->body);
}
