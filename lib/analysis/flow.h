/* A forward fixpoint over structured regions, and what it asks of the analysis of values
   (axis.c). */
#pragma once

#include "analysis/axis.h"

/* Sets the results of an op into whose results nothing flows: any but for, while, if. */
void axis_define(AxisFacts *facts, const Op *op);
/* Sets a region argument into which nothing flows: a parameter, an induction variable, an operand
   of a combine. */
void axis_bind(AxisFacts *facts, const Value *arg);
/* What is known of `from` flows into `into`, which only loses by it. True when `into` changed; that
   may happen to one value a bounded number of times only. The first time is a change. */
bool axis_merge(AxisFacts *facts, const Value *into, const Value *from);

/* Looks at each op at least once, at those in loops until nothing changes. */
void flow_run(AxisFacts *facts, const Func *fn);
