/* Offsets in int32 that overflow within the declared extents.

   In: IR before any pass. Out: warnings. A pointer parameter with declared extents, x: "*fp16[M, N]"
   of M, N known while compiling, is indexed by hand as x + i * N + j. The product is of the type of
   i, and wraps before it is added to the pointer. It is a mistake when the array has rows which that
   type cannot reach: (M - 1) * N > 2^31 - 1. */
#include "analysis/warnings.h"

#include "analysis/axis.h"
#include "analysis/range.h"
#include "ir/ir.h"

typedef struct Check {
    Diags *dx;
    const Func *fn;
    AxisFacts *facts; /* made when first needed */
    int steps;
} Check;

enum { STEPS = 100 };

static const Value *unmoved(const Value *v)
{
    while (v->def && ir_has(v->def, OT_SHAPE) && v->def->nargs == 1) v = op_arg(v->def, 0);
    return v;
}

static const Param *array_of(const Func *fn, const Value *pointer)
{
    const Value *v = unmoved(pointer);
    if (v->def || v->region != fn->body) return NULL;
    const Param *p = &fn->params[v->index];
    return p->rank > 0 ? p : NULL;
}

/* Elements from one index of dimension d to the next; -1: not known. */
static Wide stride_of(const Param *p, int d)
{
    if (p->stride_param[d] >= 0) return -1;
    if (p->stride[d] >= 0) return p->stride[d];
    Wide product = 1;
    for (int i = d + 1; i < p->rank; i++) {
        if (p->extent[i] < 0 || product > INT64_MAX / (p->extent[i] + 1)) return -1;
        product *= p->extent[i];
    }
    return product;
}

/* The dimension whose stride is `factor` and whose last index times it is not in the type; -1. */
static int dimension_beyond(const Param *p, int64_t factor, DType dt)
{
    for (int d = 0; d < p->rank; d++) {
        if (p->extent[d] < 1 || stride_of(p, d) != factor) continue;
        if (!range_has(range_of_dtype(dt), (Wide)(p->extent[d] - 1) * factor)) return d;
    }
    return -1;
}

static bool stays_small(Check *c, const Value *index, int64_t factor, DType dt)
{
    if (!c->facts) c->facts = axis_analyze(c->dx->arena, c->fn, AXIS_PROVED, NULL);
    const AxisFact *f = axis_of(c->facts, index);
    Range all = range_of_dtype(dt);
    return range_has(all, (Wide)f->lo * factor) && range_has(all, (Wide)f->hi * factor);
}

static void check_product(Check *c, const Param *p, const Op *op)
{
    DType dt = type_dtype(op_result(op, 0)->type);
    for (int i = 0; i < 2; i++) {
        int64_t factor;
        if (!ir_const_int(unmoved(op_arg(op, i)), &factor) || factor < 2) continue;
        int d = dimension_beyond(p, factor, dt);
        if (d < 0 || stays_small(c, op_arg(op, !i), factor, dt)) return;
        Diag *w =
            diag_warning(c->dx, DIAG_INT32_OFFSET, ir_span(op->loc),
                         "this %s product overflows within '%s': dimension %d has %lld indices "
                         "of %lld elements each",
                         type_text(c->dx->arena, tkc_type_element(op_result(op, 0)->type)), p->name,
                         d, (long long)p->extent[d], (long long)factor);
        diag_note(c->dx, w, ir_span(op->loc), "make the index int64 first, with .to(tl.int64)");
        return;
    }
}

/* The products that are summed up to an offset. */
static void check_offset(Check *c, const Param *p, const Value *v)
{
    v = unmoved(v);
    const Op *op = v->def;
    if (!op || c->steps-- <= 0 || type_bits(v->type) > 32) return;
    if (op->kind == OP_MUL) check_product(c, p, op);
    if (op->kind != OP_ADD && op->kind != OP_SUB) return;
    for (int i = 0; i < 2; i++) check_offset(c, p, op_arg(op, i));
}

void offset32_check(Diags *dx, const Func *fn)
{
    Check c = {.dx = dx, .fn = fn};
    if (dx->off[DIAG_INT32_OFFSET]) return;
    for (const Op *op = fn->body->first; op; op = ir_next(op, NULL)) {
        const Param *p = op->kind == OP_ADDPTR ? array_of(fn, op_arg(op, 0)) : NULL;
        c.steps = STEPS;
        if (p) check_offset(&c, p, op_arg(op, 1));
    }
}
