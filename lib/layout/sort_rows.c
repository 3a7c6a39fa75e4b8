/* A sort of rows that are fewer than the warps: all would sort the same. Each row [N] becomes P
   shorter ones, [P, C]; a bitonic network over the P rows is made of sorts again, of rows, which a
   warp has whole, and of columns, which a thread has:

     sort the rows, every other one the other way round
     for each bit s of a row's number:
       turn what goes another way in the next step round
       sort the columns of each 2^(s + 1) rows        the steps on bits s, …, 0 of the row's number
       sort the rows                                  the steps within a row

   Elements become integers that order as they do, and an integer's complement orders the other way
   round: so every sort ascends. A column of a sequence that rises and falls rises and falls, and so
   does a row after the steps above: all sorts but the first are single merges. Where but the first
   of a row are asked for, those of the shorter rows, each in order, are merged. What `layout` finds
   to move between a sort of rows and one of columns goes through shared memory. */
#include <string.h>

#include "base/power.h"
#include "ir/build.h"
#include "ir/evaluate.h"
#include "layout/passes.h"

enum { LEAST_COLUMNS_LOG2 = 5 }; /* a row shorter than that is sorted by one warp */

typedef struct Rows {
    Builder b;
    const Op *sort;
    const Type *type; /* of the operand */
    DType key;
    bool descending;
    int rows_log2, columns_log2;
} Rows;

/* ---- elements as integers ---- */

static DType key_dtype(DType dt)
{
    const DTypeInfo *info = dtype_info(dt);
    if (info->kind != DK_FLOAT) return dt;
    switch (info->bits) {
    case 8: return DT_I8;
    case 16: return DT_I16;
    case 32: return DT_I32;
    default: return DT_I64;
    }
}

static Value *constant(Rows *r, const Type *ty, uint64_t bits)
{
    return build_const(&r->b, ty, bits);
}

/* A NaN, which comes last in both directions. */
static uint64_t greatest(const Rows *r)
{
    return UINT64_MAX >> (65 - dtype_info(r->key)->bits);
}

/* All bits but the sign, where that is set: what makes the bits of a float a signed number, and
 * back. */
static Value *turn_negative(Rows *r, Value *x)
{
    Value *sign = build_binary(&r->b, OP_SHR, x,
                               constant(r, x->type, (uint64_t)dtype_info(r->key)->bits - 1)),
          *turned = build_binary(&r->b, OP_AND, sign, constant(r, x->type, greatest(r)));
    return build_binary(&r->b, OP_XOR, x, turned);
}

static Value *key_of(Rows *r, Value *x)
{
    const bool is_float = r->key != type_dtype(x->type);
    Value *key = x;
    if (is_float)
        key = turn_negative(r, build_bitcast(&r->b, x, type_scalar(ir_of(r->b.fn)->types, r->key)));
    if (r->descending) key = build_unary(&r->b, OP_NOT, key);
    if (!is_float) return key;
    Value *is_nan = build_binary(&r->b, OP_NE, x, x);
    return build_select(&r->b, is_nan, constant(r, key->type, greatest(r)), key);
}

static Value *element_of(Rows *r, Value *key)
{
    const Type *elem = tkc_type_element(r->type);
    const bool is_float = r->key != type_dtype(elem);
    Value *x = r->descending ? build_unary(&r->b, OP_NOT, key) : key;
    if (!is_float) return x;
    x = build_bitcast(&r->b, turn_negative(r, x), elem);
    Value *is_nan = build_binary(&r->b, OP_EQ, key, constant(r, key->type, greatest(r)));
    const uint64_t nan = bits_from_double(type_dtype(elem), __builtin_nan(""));
    return build_select(&r->b, is_nan, constant(r, x->type, nan), x);
}

/* ---- the network ---- */

/* x as [.., P, C]; the complement in rows of which bits s and s + 1 of the number differ. */
static Value *turn_rows(Rows *r, Value *x, int s)
{
    const Type *ty = x->type;
    int32_t shape[TKC_MAX_RANK];
    for (int d = 0; d < ty->rank; d++) shape[d] = d == ty->rank - 2 ? ty->shape[d] : 1;
    Builder *b = &r->b;
    Value *row = build_arange(b, 0, 1 << r->rows_log2), *one = constant(r, row->type, 1);
    Value *next = build_binary(b, OP_SHR, row, constant(r, row->type, (uint64_t)s + 1));
    if (s >= 0)
        next = build_binary(b, OP_XOR, next,
                            build_binary(b, OP_SHR, row, constant(r, row->type, (uint64_t)s)));
    Value *mask = build_unary(b, OP_NEG, build_binary(b, OP_AND, next, one));
    mask = build_reshape(b, build_cast(b, mask, r->key, NULL), ty->rank, shape, false);
    return build_binary(b, OP_XOR, x, build_broadcast(b, mask, ty->rank, ty->shape));
}

static Value *swap_last(Rows *r, Value *x)
{
    int perm[TKC_MAX_RANK];
    const int rank = x->type->rank;
    for (int d = 0; d < rank; d++) perm[d] = d;
    perm[rank - 2] = rank - 1;
    perm[rank - 1] = rank - 2;
    return build_trans(&r->b, x, perm);
}

/* The last two dims of x are `rows` and what is left. */
static Value *in_rows(Rows *r, Value *x, int rank, int rows_log2)
{
    int32_t shape[TKC_MAX_RANK];
    const int all = r->rows_log2 + r->columns_log2, outer = r->type->rank - 1;
    memcpy(shape, r->type->shape, sizeof shape);
    if (rank == outer + 1) shape[outer] = 1 << all;
    if (rank == outer + 3) shape[outer] = 1 << (r->rows_log2 - rows_log2);
    if (rank > outer + 1) shape[rank - 2] = 1 << rows_log2;
    if (rank > outer + 1) shape[rank - 1] = 1 << r->columns_log2;
    return build_reshape(&r->b, x, rank, shape, false);
}

static Value *merge(Rows *r, Value *x, int s)
{
    const int outer = r->type->rank - 1;
    x = swap_last(r, in_rows(r, x, outer + 3, s + 1));
    x = swap_last(r, build_sort(&r->b, x, false, true, 0));
    return build_sort(&r->b, in_rows(r, x, outer + 2, r->rows_log2), false, true, 0);
}

static Value *sort_rows(Rows *r)
{
    const int outer = r->type->rank - 1;
    Value *x = key_of(r, op_arg(r->sort, 0));
    x = turn_rows(r, in_rows(r, x, outer + 2, r->rows_log2), -1);
    x = build_sort(&r->b, x, false, false, 0);
    for (int s = 0; s < r->rows_log2; s++) x = merge(r, turn_rows(r, x, s), s);
    return element_of(r, in_rows(r, x, outer + 1, 0));
}

/* Each of the P rows gives its first ones, and these the row's. */
static Value *keep_first(Rows *r, int32_t keep)
{
    const int outer = r->type->rank - 1;
    Builder *b = &r->b;
    int32_t shape[TKC_MAX_RANK];
    memcpy(shape, r->type->shape, sizeof shape);
    shape[outer] = keep << r->rows_log2;
    Value *x = in_rows(r, op_arg(r->sort, 0), outer + 2, r->rows_log2);
    x = build_sort(b, x, r->descending, false, keep);
    x = build_reshape(b, x, outer + 1, shape, false);
    return build_sort(b, x, r->descending, true, keep);
}

/* ---- which sorts ---- */

/* log2 of the rows that each row becomes, each of which keeps less than it has. */
static int choose_rows(const Func *fn, const Type *ty, int32_t keep)
{
    const int n = ty->shape[ty->rank - 1];
    int64_t rows = 1;
    for (int d = 0; d + 1 < ty->rank; d++) rows *= ty->shape[d];
    const int idle = log2_floor(fn->num_warps) - (rows > 1 ? log2_floor(2 * rows - 1) : 0),
              kept = log2_floor(2 * (int64_t)keep | 1),
              most = log2_floor(n) - (kept > LEAST_COLUMNS_LOG2 ? kept : LEAST_COLUMNS_LOG2);
    if (ty->layout || n & (n - 1) || ty->rank + 2 > TKC_MAX_RANK || idle <= 0 || most <= 0)
        return 0;
    return idle < most ? idle : most;
}

static void visit(Op *op, void *user)
{
    (void)user;
    if (op->kind != OP_SORT) return;
    Func *fn = op->region->func;
    const Type *ty = op_arg(op, 0)->type;
    const int32_t keep = (int32_t)tkc_op_int(op, ATTR_KEEP, 0);
    Rows r = {.b = build_before(op),
              .sort = op,
              .type = ty,
              .key = key_dtype(type_dtype(ty)),
              .descending = tkc_op_int(op, ATTR_DESCENDING, 0),
              .rows_log2 = choose_rows(fn, ty, keep)};
    if (!r.rows_log2) return;
    r.columns_log2 = log2_floor(ty->shape[ty->rank - 1]) - r.rows_log2;
    ir_replace_uses(op_result(op, 0), keep ? keep_first(&r, keep) : sort_rows(&r));
    ir_unlink(op);
}

/* needs: no layouts yet.  keeps: what every op computes.  changes: takes sorts apart. */
void rows_run(Pass *p, Func *fn)
{
    (void)p;
    ir_walk(fn->body, visit, NULL);
}
