/* Values are defined once, so the state of a value is the analysis's answer for it, and control
   flow is only where one value stands for several: loop-carried arguments and the results of loops
   and branches. What flows into those is merged; a loop is looked at again until its carried
   arguments rest.

   Merged state is never set back, also when an enclosing loop is looked at again: it has only
   become weaker since, so what was merged before is still covered. That keeps nested loops linear:
   each further look at a loop is paid for by a change of one of its arguments, and those are
   bounded. */
#include "analysis/flow.h"

#include <stddef.h>

#include "tkc/carry.h"

static void flow_region(AxisFacts *f, const Region *r);

static void merge_inits(AxisFacts *f, const Op *op, const Region *r)
{
    for (int i = 0; i < op->nresults; i++) axis_merge(f, carry_param(r, i), carry_init(op, i));
}

/* What a region passes on into the slots' arguments of another, or into the results. */
static bool merge_passed(AxisFacts *f, const Region *from, const Region *to)
{
    const Op *op = from->parent;
    bool changed = false;
    for (int i = 0; i < op->nresults; i++)
        changed |= axis_merge(f, to ? carry_param(to, i) : op_result(op, i), carry_passed(from, i));
    return changed;
}

/* The carried values are the initial ones or those of the last round, and the results are the
   carried values. */
static void flow_for(AxisFacts *f, const Op *op)
{
    const Region *body = op->regions[0];
    merge_inits(f, op, body);
    bool changed = true;
    while (changed) {
        axis_bind(f, body->args[0]);
        flow_region(f, body);
        changed = merge_passed(f, body, body);
    }
    for (int i = 0; i < op->nresults; i++) axis_merge(f, op_result(op, i), carry_param(body, i));
}

/* What the condition passes on goes to the body and, at the end, to the results. */
static void flow_while(AxisFacts *f, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    merge_inits(f, op, test);
    bool changed = true;
    while (changed) {
        flow_region(f, test);
        merge_passed(f, test, body);
        flow_region(f, body);
        changed = merge_passed(f, body, test);
    }
    merge_passed(f, test, NULL);
}

static void flow_if(AxisFacts *f, const Op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        flow_region(f, op->regions[i]);
        merge_passed(f, op->regions[i], NULL);
    }
}

/* The region of a reduce or scan: its arguments are any elements, its results are what `define`
   says. */
static void flow_combine(AxisFacts *f, const Op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        const Region *r = op->regions[i];
        for (int j = 0; j < r->nargs; j++) axis_bind(f, r->args[j]);
        flow_region(f, r);
    }
    axis_define(f, op);
}

static void flow_region(AxisFacts *f, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_FOR) flow_for(f, op);
        else if (op->kind == OP_WHILE) flow_while(f, op);
        else if (op->kind == OP_IF) flow_if(f, op);
        else flow_combine(f, op);
    }
}

void flow_run(AxisFacts *f, const Func *fn)
{
    for (int i = 0; i < fn->body->nargs; i++) axis_bind(f, fn->body->args[i]);
    flow_region(f, fn->body);
}
