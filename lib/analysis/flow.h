/* A forward fixpoint over structured regions: what an analysis of values is driven by. */
#ifndef TKC_ANALYSIS_FLOW_H
#define TKC_ANALYSIS_FLOW_H

#include <stdbool.h>
#include "tkc/ir.h"

/* How the analysis keeps its state is its own affair; `state` is handed through. */
typedef struct FlowRules {
    /* Sets the results of an op into whose results nothing flows: any but for, while, if. */
    void (*define)(void *state, const Op *op);
    /* Sets a region argument into which nothing flows: a parameter, an induction variable, an
       operand of a combine. */
    void (*bind)(void *state, const Value *arg);
    /* The state of `from` flows into `into`, which only loses by it. True when `into` changed; that
       may happen to one value a bounded number of times only. The first time is a change. */
    bool (*merge)(void *state, const Value *into, const Value *from);
    /* Around the ops of a region, each time they are looked at: for what holds inside it only. */
    void (*enter)(void *state, const Region *r);
    void (*leave)(void *state, const Region *r);
} FlowRules;

/* Looks at each op at least once, at those in loops until nothing changes. */
void flow_run(const FlowRules *rules, void *state, const Func *fn);

#endif
