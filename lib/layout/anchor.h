/* Which layout each dot would like: what computes it has its own. */
#pragma once

#include "layout/access.h"

/* What is known of a function's dots. */
typedef struct Anchors Anchors;
Anchors *anchors_find(Arena *scratch, const Func *fn, const Accesses *accesses);
/* The layout of a dot's result. */
const Layout *anchor_dot(const Anchors *x, const Op *dot);
/* log2 of the neighbours along k that a thread should have of the dot's factors (dot_run_log2) when
   its result has that layout; 0: as the instruction has them. */
int anchor_run_log2(const Anchors *x, const Op *dot, const Layout *sum);
/* Of a part of b that lies across in memory, as `load` has it, the layout to store it from for a
   warp group, when the dot's result has that layout; NULL: any. */
const Layout *anchor_part(const Anchors *x, const Op *dot, const Layout *sum, Op **load);
