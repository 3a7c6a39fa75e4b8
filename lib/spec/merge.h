/* Values where paths join: a value is taken apart into its run-time leaves, which control ops can
   carry, and put together again. */
#ifndef TKC_SPEC_MERGE_H
#define TKC_SPEC_MERGE_H

#include "spec/eval.h"

typedef struct Leaves { Value **data; int len, cap; } Leaves;

/* True when nothing distinguishes them: the same IR value, or equal compile-time values. */
bool sv_is_same(SpecValue a, SpecValue b);
/* Records of one class, or with the same fields; tuples of one length. */
bool sv_is_same_class(const SpecTuple *a, const SpecTuple *b);
/* True when v has run-time parts that are not constants. */
bool sv_is_runtime(SpecValue v);
/* v with each leaf replaced: what is neither a sequence nor an address, and the parts of addresses. */
typedef SpecValue (*LeafFn)(void *ctx, SpecValue leaf);
SpecValue sv_map(Arena *a, SpecValue v, LeafFn fn, void *ctx);
/* Appends the run-time leaves of v in order; numbers become typed scalars. False for a number that
   no type holds (reported). */
bool merge_flatten(Spec *sp, SpecValue v, Leaves *out, Span at);
/* v with the leaves replaced, starting at data[*next]. */
SpecValue merge_rebuild(Spec *sp, SpecValue v, Value *const *data, int *next);

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
/* Rebuilds what merge_join gave. */
SpecValue merge_result(Spec *sp, SpecValue joined, Value *const *data, int *next);

#endif
