/* Partial results of a reduction or scan, and how two of them combine. The combining region is
   lowered anew wherever two meet.

   A combine that is one known op has a neutral element that padded elements are replaced by; NaN is
   neutral for the minimum and maximum in which a NaN loses, -0 for a sum. Any other combine carries
   a bit that says whether a partial result holds any real element, and combine(x, nothing) is x. */
#include "lower/combine.h"

#include "ir/evaluate.h"

/* The element e with combine(x, e) = x; false when there is none to be had. */
static bool neutral_bits(OpKind kind, DType dt, uint64_t *bits)
{
    const DTypeInfo *info = dtype_info(dt);
    const bool is_float = info->kind == DK_FLOAT, is_signed = info->kind == DK_INT;
    const int64_t greatest = (int64_t)(UINT64_MAX >> (64 - info->bits + is_signed));
    switch (kind) {
    case OP_ADD: *bits = is_float ? bits_from_double(dt, -0.0) : 0; return true;
    case OP_MUL: *bits = is_float ? bits_from_double(dt, 1) : 1; return true;
    case OP_OR:
    case OP_XOR: *bits = 0; return true;
    case OP_AND: *bits = bits_from_int(dt, -1); return true;
    case OP_MAX:
        *bits = is_float ? bits_from_double(dt, __builtin_nan(""))
                         : bits_from_int(dt, is_signed ? ~greatest : 0);
        return true;
    case OP_MIN:
        *bits = is_float ? bits_from_double(dt, __builtin_nan("")) : bits_from_int(dt, greatest);
        return true;
    case OP_MAX_NAN: *bits = bits_from_double(dt, -__builtin_inf()); return true;
    case OP_MIN_NAN: *bits = bits_from_double(dt, __builtin_inf()); return true;
    default: return false;
    }
}

Combine combine_of(const Op *op, int first, int n)
{
    Combine c = {.op = op, .region = op->regions[0], .n = n, .first = first, .axis = ir_axis(op)};
    c.known = ir_combine_kind(c.region);
    c.dt = type_dtype(op_arg(op, first)->type);
    return c;
}

/* ---- elements ---- */

static Partial partial_new(Lower *L, const Combine *c)
{
    return (Partial){arena_array(L->arena, LLVMValueRef, c->n), NULL};
}

Partial combine_element_as_is(Lower *L, const Combine *c, uint32_t reg)
{
    Partial p = partial_new(L, c);
    for (int i = 0; i < c->n; i++) p.x[i] = lower_reg(L, op_arg(c->op, c->first + i), (int)reg);
    return p;
}

Partial combine_where(Lower *L, const Combine *c, Partial p, LLVMValueRef condition)
{
    uint64_t bits;
    if (!condition || !c->known || lower_is_false(condition) ||
        !neutral_bits(c->known, c->dt, &bits)) {
        p.valid = lower_and(L, p.valid, condition);
        return p;
    }
    const Partial out = {arena_array(L->arena, LLVMValueRef, 1), p.valid};
    const Type *elem = tkc_type_element(op_arg(c->op, c->first)->type);
    out.x[0] = LLVMBuildSelect(L->b, condition, p.x[0], lower_bits(L, elem, bits), "");
    return out;
}

Partial combine_element(Lower *L, const Combine *c, uint32_t reg)
{
    const Type *ty = op_arg(c->op, c->first)->type;
    return combine_where(L, c, combine_element_as_is(L, c, reg),
                         lower_valid_along(L, ty, c->axis, reg));
}

/* ---- combining two partial results ---- */

static Partial run_region(Lower *L, const Combine *c, Partial a, Partial b)
{
    for (int i = 0; i < c->n; i++) {
        lower_set_all(L, c->region->args[i], a.x[i]);
        lower_set_all(L, c->region->args[c->n + i], b.x[i]);
    }
    L->combines = lower_and(L, a.valid, b.valid);
    const Op *yield = lower_region(L, c->region);
    L->combines = NULL;
    Partial out = partial_new(L, c);
    for (int i = 0; i < c->n; i++) out.x[i] = lower_scalar(L, op_arg(yield, i));
    return out;
}

Partial combine_two(Lower *L, const Combine *c, Partial a, Partial b)
{
    if (lower_is_false(a.valid)) return b;
    if (lower_is_false(b.valid)) return a;
    Partial out = run_region(L, c, a, b);
    for (int i = 0; i < c->n; i++) {
        if (b.valid) out.x[i] = LLVMBuildSelect(L->b, b.valid, out.x[i], a.x[i], "");
        if (a.valid) out.x[i] = LLVMBuildSelect(L->b, a.valid, out.x[i], b.x[i], "");
    }
    if (a.valid && b.valid) out.valid = LLVMBuildOr(L->b, a.valid, b.valid, "");
    return out;
}

/* ---- between lanes ---- */

/* A value that is nowhere real in this thread may be so in its partner: the bit travels as a
   number. */
Partial combine_shuffle(Lower *L, const Combine *c, Partial p, Lane from)
{
    Partial other = partial_new(L, c);
    for (int i = 0; i < c->n; i++) other.x[i] = lower_shuffle(L, p.x[i], from);
    if (p.valid) other.valid = lower_shuffle(L, p.valid, from);
    return other;
}

void combine_set_results(Lower *L, const Combine *c, int first, const Partial *parts, int n)
{
    for (int i = 0; i < c->n; i++) {
        Regs out = lower_regs_new(L, n);
        for (int k = 0; k < n; k++) out.r[k].v = parts[k].x[i];
        lower_set(L, op_result(c->op, first + i), out);
    }
}
