/* Typed constructors. Each appends at the builder's place, folds when every operand is constant and
   the op can be evaluated, and checks its operands' types (`check`: a wrong type here is our bug;
   users' mistakes are found in spec/). */
#pragma once

#include "ir/ir.h"

typedef struct Builder {
    Func *fn;
    Region *region; /* where ops go: before `before`, or at the end when it is NULL */
    Op *before;
    const Loc *loc; /* given to each op */
} Builder;

static inline Builder build_at_end(Func *fn, Region *r) { return (Builder){.fn = fn, .region = r}; }
/* At the end of another region, from where `b` is in the source. */
static inline Builder build_in(const Builder *b, Region *r)
{
    return (Builder){.fn = b->fn, .region = r, .loc = b->loc};
}
/* Before an op, and from where that is in the source, or from elsewhere. */
Builder build_before(Op *op);
Builder build_before_at(Op *op, const Loc *loc);

/* An op that is made already, a clone. Returns it. */
Op *build_put(Builder *b, Op *op);
/* Any op, of which nothing is checked. */
Op *build_op(Builder *b, OpKind kind, int nargs, Value *const *args, int nresults,
             const Type *const *types);
/* The op itself, with its attributes, when the rules have nothing against it. */
Op *build_checked(Builder *b, Op *op);

Value *build_const(Builder *b, const Type *ty, uint64_t bits);      /* scalar or block type */
/* What an op gives as a constant, or NULL when an operand is not one or the op has no value known
   here. */
Value *build_folded(Builder *b, const Op *op, const Type *result);
Value *build_int(Builder *b, DType dt, int64_t v);                  /* scalar */
Value *build_float(Builder *b, DType dt, double v);
Value *build_bool(Builder *b, bool v);
Value *build_arange(Builder *b, int32_t start, int32_t end);        /* block<(end-start)xint32> */
Value *build_grid(Builder *b, OpKind kind, int axis);               /* program_id, num_programs */

/* operands of one type */
Value *build_binary(Builder *b, OpKind kind, Value *x, Value *y);
Value *build_unary(Builder *b, OpKind kind, Value *x);
Value *build_fma(Builder *b, Value *x, Value *y, Value *z);
/* cond scalar int1, or in the shape of x */
Value *build_select(Builder *b, Value *cond, Value *x, Value *y);
/* x itself when it has that type; rounding NULL: rtne */
Value *build_cast(Builder *b, Value *x, DType to, const char *rounding);
Value *build_bitcast(Builder *b, Value *x, const Type *elem);
/* shapes equal */
static inline Value *build_addptr(Builder *b, Value *ptr, Value *offset)
{
    return build_binary(b, OP_ADDPTR, ptr, offset);
}
Value *build_hint(Builder *b, Value *x, AttrKey key, int n, const int64_t *values);
/* another value that is the same: a hint that says nothing */
static inline Value *build_copy(Builder *b, Value *x) { return build_unary(b, OP_HINT, x); }

Value *build_splat(Builder *b, Value *scalar, int rank, const int32_t *shape);
Value *build_expand_dims(Builder *b, Value *x, int axis);
/* x itself when it has that shape */
Value *build_broadcast(Builder *b, Value *x, int rank, const int32_t *shape);
Value *build_trans(Builder *b, Value *x, const int *perm);
/* rank 0: to scalar */
Value *build_reshape(Builder *b, Value *x, int rank, const int32_t *shape, bool can_reorder);
static inline Value *build_join(Builder *b, Value *x, Value *y)
{
    return build_binary(b, OP_JOIN, x, y);
}
void build_split(Builder *b, Value *x, Value **lo, Value **hi);
Value *build_convert(Builder *b, Value *x, const Layout *to);

/* x & y of one type, where either may be NULL */
Value *build_and(Builder *b, Value *x, Value *y);
/* mask, other may be NULL; attributes are set by the caller on ->def */
Value *build_load(Builder *b, Value *ptr, Value *mask, Value *other);
Op *build_store(Builder *b, Value *ptr, Value *value, Value *mask);
/* The operands of an atomic in their order, NULL behind the last; of read-modify-write: pointer,
   value, mask. */
typedef struct AtomicArgs {
    Value *args[3];
    const char *sem, *scope;
} AtomicArgs;
/* rmw: of OP_ATOMIC_RMW. NULL: of a store. */
Value *build_atomic(Builder *b, OpKind kind, const char *rmw, const AtomicArgs *a);
/* add and or xor max min xchg, as the elements' type has it (rmw.c) */
Value *build_rmw(Builder *b, const char *what, const AtomicArgs *a);
/* Of type smem; `content`: a block, or of a buffer of one element a scalar; so_far may be NULL. */
Value *build_alloc(Builder *b, const Type *buffer);
/* For such a block; copies: of it, 0 where waits of its own are not asked for. */
Value *build_buffer(Builder *b, const Type *block, const Layout *layout, int copies);
Op *build_sstore(Builder *b, Value *buffer, Value *x, uint32_t piece);
Value *build_sload(Builder *b, Value *buffer, const Type *content, Value *so_far, uint32_t piece);
Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, const char *precision);
/* keep: of each row, 0 for all */
Value *build_sort(Builder *b, Value *x, bool descending, bool bitonic, int32_t keep);
Value *build_gather(Builder *b, Value *src, Value *index, int axis);

/* Ops with regions: made with region arguments in place and empty bodies; fill them with a Builder
   on op->regions[i], ending in build_yield. Results have the initial (for, while, if: given)
   types. */
Op *build_for(Builder *b, Value *lower, Value *upper, Value *step, int n, Value *const *inits);
Op *build_while(Builder *b, int n, Value *const *inits);
Op *build_if(Builder *b, Value *cond, int n, const Type *const *results);
/* region args: 2n scalars; results without the axis */
Op *build_reduce(Builder *b, int axis, int n, Value *const *xs);
Op *build_scan(Builder *b, int axis, bool reverse, int n, Value *const *xs);
Op *build_yield(Builder *b, int n, Value *const *vals);
Op *build_condition(Builder *b, Value *cond, int n, Value *const *vals);
static inline Op *build_return(Builder *b) { return build_op(b, OP_RETURN, 0, NULL, 0, NULL); }
Op *build_print(Builder *b, const char *prefix, bool hex, int n, Value *const *vals);
Op *build_assert(Builder *b, Value *cond, Value *mask, const char *message);
Op *build_assume(Builder *b, Value *cond);
Value *build_ring_load(Builder *b, Value *ring, Value *which, const Type *content);
static inline Op *build_barrier(Builder *b) { return build_op(b, OP_BARRIER, 0, NULL, 0, NULL); }
Op *build_wait(Builder *b, int pending);                            /* for copies */
Value *build_dot_wait(Builder *b, Value *sum, int pending);
