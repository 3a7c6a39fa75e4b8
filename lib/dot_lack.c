/* In: a function as it is lowered. The conditions are those of layout/anchor.c and memory/groups.c,
   asked again of what came of them, one after the other. */
#include "cost.h"
#include "ir/dot_unit.h"

static const char *const ordinals[] = {"first", "second"},
                         *const advice[] = {
                             "store it as [M, K]",
                             "store it as [N, K], and multiply by the transposition of what "
                             "is loaded"};

/* ---- the product ---- */

static bool lacks_size(const Op *dot, Buf *reason)
{
    const Type *a = op_arg(dot, 0)->type, *b = op_arg(dot, 1)->type;
    if (a->rank != 2)
        buf_puts(reason, "a group multiplies one matrix at a time, not batches of them");
    else if (a->shape[0] < GROUP_ROWS)
        buf_printf(reason, "a group computes %d rows at a time, and there are %d", GROUP_ROWS,
                   a->shape[0]);
    else
        buf_printf(reason, "%dx%d by %dx%d is less than a group computes at a time", a->shape[0],
                   a->shape[1], b->shape[0], b->shape[1]);
    return true;
}

static bool lacks_warps(const Op *dot, Buf *reason, DotLack *lack)
{
    const int warps = dot->region->func->num_warps;
    if (warps % GROUP_WARPS == 0) return false;
    buf_printf(reason, "a group is %d warps, and there %s %d", GROUP_WARPS,
               warps == 1 ? "is" : "are", warps);
    lack->option = "num_warps";
    lack->value = GROUP_WARPS;
    return true;
}

/* ---- an operand ---- */

/* The op that has what v is made of, before layouts were changed and whatever was computed of it.
 */
static const Op *source_of(const Value *v, bool *flipped)
{
    const Op *op = v->def;
    for (*flipped = false; op && op->nargs; op = v->def) {
        if (op->kind == OP_LOAD || op->kind == OP_RING_LOAD) break;
        if (op->kind == OP_TRANS) *flipped ^= dot_flips(op);
        const Use *u = op->kind == OP_SLOAD ? op_arg(op, 0)->uses : NULL;
        while (u && u->user->kind != OP_SSTORE) u = u->next;
        v = u ? op_arg(u->user, 1) : op_arg(op, 0);
    }
    return op;
}

/* The load, or the copy, whose addresses say how it lies in memory. */
static const Op *access_of(const Op *source)
{
    const Use *u = source->kind == OP_RING_LOAD ? op_arg(source, 0)->uses : NULL;
    while (u && u->user->kind != OP_COPY_ASYNC) u = u->next;
    return u ? u->user : source->kind == OP_LOAD ? source : NULL;
}

static bool lies_across(const AxisFacts *facts, const Op *dot, int operand, DotLack *lack)
{
    bool flipped;
    const Op *source = source_of(op_arg(dot, operand), &flipped),
             *access = source ? access_of(source) : NULL;
    if (!access ||
        dot_lies_along(dot, operand, flipped, cost_running_dim(axis_of(facts, op_arg(access, 0)))))
        return false;
    lack->at = source;
    lack->advice = advice[operand];
    return true;
}

static bool lacks_operand_along(const AxisFacts *facts, const Op *dot, Buf *reason, DotLack *lack)
{
    const int operand = lies_across(facts, dot, 1, lack) ? 1 : 0;
    if (!lack->at && !lies_across(facts, dot, 0, lack)) return false;
    buf_printf(reason,
               "of %s a group reads what lies along k in memory, and the %s operand lies across",
               dtype_info(type_dtype(op_arg(dot, operand)->type))->name, ordinals[operand]);
    return true;
}

bool dot_lack(const AxisFacts *facts, const Op *dot, Buf *reason, DotLack *lack)
{
    WarpSplit split;
    *lack = (DotLack){0};
    if (!dot_group_row(dot) || tkc_op_int(dot, ATTR_ASYNC, 0)) return false;
    if (lacks_warps(dot, reason, lack)) return true;
    if (!dot_fits_group(dot)) return lacks_size(dot, reason);
    if (!dot_splits_in_groups(dot, &split))
        buf_puts(reason, "the sum has too few columns for so many groups");
    else if (!lacks_operand_along(facts, dot, reason, lack))
        buf_puts(reason, "shared memory has no room for its operands");
    return true;
}
