/* What a reduction makes of the lanes that a load masks off.

   In: IR before any pass. Out: warnings. Idea: from the operand of a reduction back through
   elementwise ops and shapes to loads, saying of each value what its masked-off lanes hold: 0, as
   the load leaves them; something else, as when x is exp(load) or load - mean; or nothing that
   concerns us. The last is the answer whenever an op is not known here, above all for a select,
   with which the kernel itself chooses what those lanes count as. A mask that does not change along
   the axis of the reduction leaves out whole results, which is no mistake.

   Few and right: integers under a maximum are mostly counts and indices, so only floats are looked
   at there; numbers that cannot be negative may be 0 under a maximum. */
#include "analysis/warnings.h"

#include "analysis/axis.h"
#include "ir/ir.h"

typedef enum Lanes {
    LANES_PLAIN, /* none that concern us */
    LANES_ZERO,
    LANES_OTHER  /* the same in all of them or not, but not 0 */
} Lanes;

/* `load` is the one without `other` that leaves them; NULL: the kernel says what they are. */
typedef struct Masked {
    Lanes lanes;
    const Op *load;
} Masked;

/* Of one reduction. */
typedef struct Trace {
    const Func *fn;
    Arena *arena;
    AxisFacts *facts; /* made when a first load asks for them */
    Map reported;     /* loads: one warning each */
    int steps;        /* left: what is shared is looked at again on each path */
} Trace;

enum { ALL_DIMS = -1, STEPS = 200 };

/* ---- masks ---- */

static bool is_constant_along(Trace *t, const Value *mask, int axis)
{
    const Type *ty = mask->type;
    if (!type_is_block(ty)) return true;
    if (!t->facts) t->facts = axis_analyze(t->arena, t->fn, AXIS_PROVED, NULL);
    if (axis_truth(t->facts, mask) == 1) return true;
    for (int d = 0; d < ty->rank; d++) {
        bool counts = axis == ALL_DIMS || axis == d;
        if (counts && axis_constancy(t->facts, mask, d) < ty->shape[d]) return false;
    }
    return true;
}

static bool is_zero(const Value *v)
{
    uint64_t bits;
    while (v->def && (v->def->kind == OP_SPLAT || v->def->kind == OP_CAST ||
                      v->def->kind == OP_BROADCAST))
        v = op_arg(v->def, 0);
    return ir_const_bits(v, &bits) && (type_is_float(v->type) ? bits << 1 == 0 : bits == 0);
}

static Masked of_load(Trace *t, const Op *op, int axis)
{
    Masked plain = {LANES_PLAIN, NULL};
    if (op->nargs < 2 || is_constant_along(t, op_arg(op, 1), axis)) return plain;
    if (op->nargs == 2) return (Masked){LANES_ZERO, op};
    return is_zero(op_arg(op, 2)) ? (Masked){LANES_ZERO, NULL} : plain;
}

/* ---- ops ---- */

static Masked trace(Trace *t, const Value *v, int axis);

static Masked with(Lanes lanes, Masked a, Masked b)
{
    return (Masked){lanes, a.load ? a.load : b.load};
}

/* A product, or a quotient's numerator: 0 stays 0 whatever meets it. */
static Masked of_product(Masked a, Masked b)
{
    if (a.lanes == LANES_ZERO) return a;
    if (b.lanes == LANES_ZERO) return b;
    return with(a.lanes > b.lanes ? a.lanes : b.lanes, a, b);
}

/* x is the value of the operand that is not 0 in the lanes. */
static Masked of_sum(Masked a, Masked b, const Value *x, const Value *y)
{
    if (a.lanes == LANES_PLAIN && b.lanes == LANES_PLAIN) return a;
    bool a_zero = a.lanes == LANES_ZERO || is_zero(x), b_zero = b.lanes == LANES_ZERO || is_zero(y);
    return with(a_zero && b_zero ? LANES_ZERO : LANES_OTHER, a, b);
}

static Masked of_unary(OpKind kind, Masked a)
{
    switch (kind) {
    case OP_NEG:
    case OP_ABS:
    case OP_SIN:
    case OP_TANH:
    case OP_ERF:
    case OP_SQRT:
    case OP_SQRT_RN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
    case OP_RINT:
    case OP_CAST:
    case OP_HINT: return a;
    case OP_EXP:
    case OP_EXP2:
    case OP_COS:
        if (a.lanes == LANES_ZERO) a.lanes = LANES_OTHER;
        return a;
    default: return (Masked){LANES_PLAIN, NULL};
    }
}

static Masked of_binary(Trace *t, const Op *op, int axis)
{
    const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    Masked a = trace(t, x, axis), b = trace(t, y, axis);
    switch (op->kind) {
    case OP_MUL: return of_product(a, b);
    case OP_DIV:
    case OP_DIV_RN:
        if (a.lanes == LANES_ZERO || b.lanes == LANES_PLAIN) return a;
        return with(LANES_OTHER, a, b);
    case OP_ADD:
    case OP_SUB: return of_sum(a, b, x, y);
    default: return (Masked){LANES_PLAIN, NULL};
    }
}

/* ---- shapes: the axis as the operand has it ---- */

static Masked of_shape(Trace *t, const Op *op, int axis)
{
    const Value *x = op_arg(op, 0);
    Masked plain = {LANES_PLAIN, NULL};
    if (!type_is_block(x->type)) return plain;
    if (axis == ALL_DIMS) return op->kind == OP_SPLIT ? plain : trace(t, x, axis);
    switch (op->kind) {
    case OP_EXPAND_DIMS:
    case OP_BROADCAST:
    case OP_TRANS: {
        const int was = tkc_moved_dim(op, axis);
        return was < 0 || x->type->shape[was] == 1 ? plain : trace(t, x, was);
    }
    case OP_RESHAPE: /* of a whole block, for a reduction without an axis */
        return op_result(op, 0)->type->rank == 1 ? trace(t, x, ALL_DIMS) : plain;
    default: return plain;
    }
}

static Masked trace(Trace *t, const Value *v, int axis)
{
    const Op *op = v->def;
    Masked plain = {LANES_PLAIN, NULL};
    if (!op || !type_is_block(v->type) || t->steps-- <= 0) return plain;
    if (op->kind == OP_LOAD) return of_load(t, op, axis);
    if (ir_has(op, OT_SHAPE)) return of_shape(t, op, axis);
    if (!ir_has(op, OT_EW) || op->nargs < 1) return plain;
    if (op->nargs == 1) return of_unary(op->kind, trace(t, op_arg(op, 0), axis));
    return op->nargs == 2 ? of_binary(t, op, axis) : plain;
}

/* ---- numbers that are not negative ---- */

static bool is_unsigned(const Type *t)
{
    DTypeKind kind = type_kind(t);
    return kind == DK_UINT || kind == DK_BOOL;
}

static bool is_never_negative(const Value *v, int depth)
{
    const Op *op = v->def;
    if (type_is_pointer(v->type) || is_unsigned(v->type)) return true;
    if (!op || depth == 0) return false;
    switch (op->kind) {
    case OP_ABS:
    case OP_EXP:
    case OP_EXP2:
    case OP_SQRT:
    case OP_SQRT_RN: return true;
    case OP_MUL:
        if (op_arg(op, 0) == op_arg(op, 1)) return true;
        return is_never_negative(op_arg(op, 0), depth - 1) &&
               is_never_negative(op_arg(op, 1), depth - 1);
    case OP_CAST:
    case OP_SPLAT:
    case OP_EXPAND_DIMS:
    case OP_BROADCAST:
    case OP_TRANS:
    case OP_RESHAPE: return is_never_negative(op_arg(op, 0), depth - 1);
    default: return false;
    }
}

/* ---- reductions ---- */

/* The op that the combine is; MAX or MIN for one that carries an index along. OP_NONE: unknown. */
static OpKind combine_kind(const Op *op)
{
    const Region *r = op->regions[0];
    const Op *first = r->first;
    if (op->nargs == 1) return ir_combine_kind(r);
    if (op->nargs != 2 || first == r->last || first->nargs != 2 || op_arg(first, 0) != r->args[0] ||
        op_arg(first, 1) != r->args[2])
        return OP_NONE;
    if (first->kind == OP_GT || first->kind == OP_GE) return OP_MAX;
    return first->kind == OP_LT || first->kind == OP_LE ? OP_MIN : OP_NONE;
}

/* The operand's masked-off lanes change the result; what the reduction is called, and what to give
   the load so that they do not. */
static const char *mistake(OpKind kind, const Value *x, Lanes lanes, const char **other)
{
    bool is_float = type_is_float(x->type), has_zeros = lanes == LANES_ZERO;
    *other = NULL;
    switch (kind) {
    case OP_MAX:
    case OP_MAX_NAN:
        if (!is_float || (has_zeros && is_never_negative(x, 8))) return NULL;
        *other = "-float('inf')";
        return "maximum";
    case OP_MIN:
    case OP_MIN_NAN: *other = is_float ? "float('inf')" : "the greatest integer"; return "minimum";
    case OP_MUL: *other = "1"; return "product";
    case OP_ADD: return has_zeros ? NULL : "sum";
    default: return NULL;
    }
}

/* In the user's text: the library's own is in files that are called <…>. */
static Span span_of(const Op *op)
{
    const Loc *loc = op->loc;
    while (loc && loc->file[0] == '<' && loc->caller) loc = loc->caller;
    return ir_span(loc);
}

static void check_reduce(Diags *dx, Trace *t, const Op *op)
{
    const char *other;
    const Value *x = op_arg(op, 0);
    OpKind kind = combine_kind(op);
    t->steps = STEPS;
    if (kind == OP_NONE || !mistake(kind, x, LANES_OTHER, &other)) return;
    Masked m = trace(t, x, (int)tkc_op_int(op, ATTR_AXIS, 0));
    const char *what = m.load && m.lanes != LANES_PLAIN ? mistake(kind, x, m.lanes, &other) : NULL;
    if (!what || map_get_ptr(&t->reported, m.load)) return;
    map_set_ptr(&t->reported, m.load, (void *)m.load);
    bool has_zeros = m.lanes == LANES_ZERO;
    Diag *d = diag_warning(dx, DIAG_MASKED_LOAD, span_of(op),
                           has_zeros ? "lanes that are masked off count as 0 in this %s"
                                     : "lanes that are masked off, and are not 0 here, count in this %s",
                           what);
    diag_note(dx, d, span_of(m.load),
              has_zeros && other ? "they are 0 because this load has no 'other'; other=%s leaves them out"
                                 : "they come from this load; choose what they are with tl.where%s",
              has_zeros && other ? other : "");
}

void masked_check(Diags *dx, const Func *fn)
{
    Trace t = {.fn = fn, .arena = dx->arena};
    if (dx->off[DIAG_MASKED_LOAD]) return;
    map_init(&t.reported, dx->arena);
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL))
        if (op->kind == OP_REDUCE) check_reduce(dx, &t, op);
}
