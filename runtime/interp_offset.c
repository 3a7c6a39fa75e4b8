/* int32 offsets that wrap. Arithmetic wraps silently, as on a GPU; where the result is an offset in
   an access, the access is an error.

   Before running, the sums and products that lead to an offset are marked, and the values they
   start from are kept alive up to the access. Marked instructions notice when any lane wraps, which
   costs a pass over their operands. Only in a program where that happened are the offsets of its
   accesses computed again, lane by lane in 64 bits, and compared: a lane that is masked off, or
   that wrapped without being used, is no error. */
#include <string.h>

#include "interp.h"

/* ---- which ops ---- */

static bool is_step(const Op *op)
{
    return op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL;
}

static bool is_move(const Op *op)
{
    switch (op->kind) {
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_EXPAND_DIMS:
    case OP_RESHAPE:
    case OP_HINT: return true;
    default: return false;
    }
}

static bool is_int32(const Value *v)
{
    return tkc_type_element(v->type)->dtype == DT_I32;
}

/* The op that v is taken apart by; NULL: v is a leaf. Both walks ask in the same order, so they
   agree on the leaves: values that are reached in several ways count each time, and past the budget
   all are leaves. */
static const Op *taken_apart(const Value *v, int *budget)
{
    const Op *op = is_int32(v) && *budget > 0 ? v->def : NULL;
    --*budget;
    return op && (is_step(op) || is_move(op)) ? op : NULL;
}

static void walk(const Value *v, OffsetVisit visit, void *user, int *budget)
{
    const Op *op = taken_apart(v, budget);
    visit(v, !op, user);
    for (int i = 0; op && i < op->nargs; i++) walk(op_arg(op, i), visit, user, budget);
}

enum { BUDGET = 100 };

void offset_walk(const Value *v, OffsetVisit visit, void *user)
{
    int budget = BUDGET;
    walk(v, visit, user, &budget);
}

/* ---- noticing ---- */

/* The sign bit of EXPR in any lane; one operand may be the same for all. */
#define ANY_LANE(NAME, EXPR)                                                                       \
    static bool NAME(const int32_t *a, const int32_t *b, int64_t n, int64_t da, int64_t db)        \
    {                                                                                              \
        uint32_t any = 0;                                                                          \
        if (da && db)                                                                              \
            for (int64_t i = 0; i < n; i++) {                                                      \
                uint32_t x = (uint32_t)a[i], y = (uint32_t)b[i];                                   \
                any |= EXPR;                                                                       \
            }                                                                                      \
        else if (da)                                                                               \
            for (int64_t i = 0; i < n; i++) {                                                      \
                uint32_t x = (uint32_t)a[i], y = (uint32_t)b[0];                                   \
                any |= EXPR;                                                                       \
            }                                                                                      \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++) {                                                      \
                uint32_t x = (uint32_t)a[0], y = (uint32_t)b[db * i];                              \
                any |= EXPR;                                                                       \
            }                                                                                      \
        return any >> 31;                                                                          \
    }
ANY_LANE(sum_wraps, (x ^ (x + y)) & (y ^ (x + y)))
ANY_LANE(difference_wraps, (x ^ y) & (x ^ (x - y)))

static bool product_wraps(const int32_t *a, const int32_t *b, int64_t n, int64_t da, int64_t db)
{
    bool any = false;
    for (int64_t i = 0; i < n; i++) {
        int64_t p = (int64_t)a[i * da] * b[i * db];
        any |= p != (int32_t)p;
    }
    return any;
}

/* The instruction's own function, then a look at its operands. */
static void run_noticing(Frame *f, const Insn *in)
{
    const Slot *x = in->args[0], *y = in->args[1];
    bool (*wraps)(const int32_t *, const int32_t *, int64_t, int64_t, int64_t) =
        in->op->kind == OP_ADD   ? sum_wraps
        : in->op->kind == OP_SUB ? difference_wraps
                                 : product_wraps;
    const int32_t *a = slot_data(f, x), *b = slot_data(f, y);
    int64_t n = slot_len(f, in, in->results[0]);
    in->plain(f, in);
    if (in->in_order) /* if any lane wraps the first or the last one does */
        f->wrapped |= wraps(a, b, 1, 0, 0) ||
                      wraps(a + (x->uniform ? 0 : n - 1), b + (y->uniform ? 0 : n - 1), 1, 0, 0);
    else f->wrapped |= wraps(a, b, n, !x->uniform, !y->uniform);
}

void offset_notice(Insn *in, bool in_order)
{
    if (!is_step(in->op) || in->in_vector || in->results[0]->dtype != DT_I32) return;
    in->in_order = in_order;
    in->plain = in->run;
    in->run = run_noticing;
}

/* ---- the offset as it was meant ---- */

/* The operand's lane that lane i of the result of a move comes from; of a scalar any will do. */
static int64_t moved_lane(const Op *op, int64_t i)
{
    const Type *to = op_result(op, 0)->type, *from = op_arg(op, 0)->type;
    if (op->kind != OP_BROADCAST) return i;
    int64_t lane = 0, stride = 1;
    for (int d = to->rank - 1; d >= 0; d--) {
        lane += from->shape[d] == 1 ? 0 : i % to->shape[d] * stride;
        stride *= from->shape[d];
        i /= to->shape[d];
    }
    return lane;
}

static int64_t meant(const Frame *f, const Value *v, int64_t i, int *budget)
{
    const Op *op = taken_apart(v, budget);
    const Slot *s = &f->launch->in->slots[v->id];
    if (!op) return slot_int(s, slot_data(f, s), i);
    if (is_move(op)) return meant(f, op_arg(op, 0), moved_lane(op, i), budget);
    int64_t x = meant(f, op_arg(op, 0), i, budget), y = meant(f, op_arg(op, 1), i, budget), r;
    bool over = op->kind == OP_ADD   ? __builtin_add_overflow(x, y, &r)
                : op->kind == OP_SUB ? __builtin_sub_overflow(x, y, &r)
                                     : __builtin_mul_overflow(x, y, &r);
    return over ? INT64_MAX : r;
}

int64_t offset_meant(const Frame *f, const Value *offsets, int64_t lane)
{
    int budget = BUDGET;
    return meant(f, offsets, lane, &budget);
}
