/* Values where paths join: a value is taken apart into its run-time leaves, which control ops can
   carry, and put together again. */
#pragma once

#include "spec/eval.h"

typedef struct Leaves { Value **data; int len, cap; } Leaves;

/* Appends the run-time leaves of v in order; numbers become typed scalars. False, and nothing is
   appended, where an error (reported) is in v, as a number that no type holds. */
bool merge_flatten(Spec *sp, SpecValue v, Leaves *out, Span at);
/* v with the leaves replaced, starting at data[*next]; of what merge_join or merge_fill gave, those
   that must be carried. */
SpecValue merge_rebuild(Spec *sp, SpecValue v, bool is_joined, Value *const *data, int *next);

/* The two values a join gets, each built where its builder is; sp->b is behind the join. */
typedef struct Join {
    Spec *sp;
    Builder *a, *b;
    Value *lanes;       /* a block to select by, to whose shape scalars go; or NULL */
    Leaves left, right; /* of equal length and types */
} Join;
/* Appends what must be carried to the leaves; *out is a value to rebuild with the results. False
   when they do not merge. */
bool merge_join(Join *j, SpecValue a, SpecValue b, Span at, SpecValue *out);
/* The same when one side has no value: its leaves are fillers. */
SpecValue merge_fill(Join *j, SpecValue v, bool v_is_left);
