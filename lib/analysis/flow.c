/* Values are defined once, so the state of a value is the analysis's answer for it, and control
   flow is only where one value stands for several: loop-carried arguments and the results of loops
   and branches. What flows into those is merged; a loop is looked at again until its carried
   arguments rest.

   Merged state is never set back, also when an enclosing loop is looked at again: it has only
   become weaker since, so what was merged before is still covered. That keeps nested loops linear:
   each further look at a loop is paid for by a change of one of its arguments, and those are
   bounded. */
#include "analysis/flow.h"

typedef struct Flow {
    const FlowRules *rules;
    void *state;
} Flow;

static void flow_ops(const Flow *f, const Region *r);

static void enter_region(const Flow *f, const Region *r)
{
    f->rules->enter(f->state, r);
}

static void flow_region(const Flow *f, const Region *r)
{
    enter_region(f, r);
    flow_ops(f, r);
}

static void leave_region(const Flow *f, const Region *r)
{
    f->rules->leave(f->state, r);
}

/* n values from args[first_from] of a terminator (or an op's operands) into n values. */
static bool merge_into(const Flow *f, Value *const *into, const Op *from, int first_from, int n)
{
    bool changed = false;
    for (int i = 0; i < n; i++)
        changed |= f->rules->merge(f->state, into[i], op_arg(from, first_from + i));
    return changed;
}

static bool merge_results(const Flow *f, const Op *op, Value *const *from)
{
    bool changed = false;
    for (int i = 0; i < op->nresults; i++)
        changed |= f->rules->merge(f->state, op_result(op, i), from[i]);
    return changed;
}

/* The carried values are the initial ones or those of the last round, and the results are the
   carried values. */
static void flow_for(const Flow *f, const Op *op)
{
    const Region *body = op->regions[0];
    merge_into(f, body->args + 1, op, 3, op->nresults);
    bool changed = true;
    while (changed) {
        f->rules->bind(f->state, body->args[0]);
        flow_region(f, body);
        changed = merge_into(f, body->args + 1, body->last, 0, op->nresults);
        leave_region(f, body);
    }
    merge_results(f, op, body->args + 1);
}

/* What the condition passes on goes to the body and, at the end, to the results. */
static void flow_while(const Flow *f, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    merge_into(f, test->args, op, 0, op->nresults);
    bool changed = true;
    while (changed) {
        flow_region(f, test);
        enter_region(f, body);
        merge_into(f, body->args, test->last, 1, op->nresults);
        flow_ops(f, body);
        changed = merge_into(f, test->args, body->last, 0, op->nresults);
        leave_region(f, body);
        leave_region(f, test);
    }
    for (int i = 0; i < op->nresults; i++) {
        f->rules->merge(f->state, op_result(op, i), op_arg(test->last, 1 + i));
    }
}

static void flow_if(const Flow *f, const Op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        flow_region(f, op->regions[i]);
        merge_into(f, op->results, op->regions[i]->last, 0, op->nresults);
        leave_region(f, op->regions[i]);
    }
}

/* The region of a reduce or scan: its arguments are any elements, its results are what `define`
   says. */
static void flow_combine(const Flow *f, const Op *op)
{
    for (int i = 0; i < op->nregions; i++) {
        const Region *r = op->regions[i];
        for (int j = 0; j < r->nargs; j++) f->rules->bind(f->state, r->args[j]);
        flow_region(f, r);
        leave_region(f, r);
    }
    f->rules->define(f->state, op);
}

static void flow_ops(const Flow *f, const Region *r)
{
    for (const Op *op = r->first; op; op = op->next) {
        if (op->kind == OP_FOR) flow_for(f, op);
        else if (op->kind == OP_WHILE) flow_while(f, op);
        else if (op->kind == OP_IF) flow_if(f, op);
        else flow_combine(f, op);
    }
}

void flow_run(const FlowRules *rules, void *state, const Func *fn)
{
    Flow f = {rules, state};
    for (int i = 0; i < fn->body->nargs; i++) rules->bind(state, fn->body->args[i]);
    flow_region(&f, fn->body);
    leave_region(&f, fn->body);
}
