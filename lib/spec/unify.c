/* Promotion and broadcasting of two operands, at least one of them a run-time value; two
   compile-time numbers become run-time scalars first. */
#include "spec/operator.h"

#include "spec/broadcast.h"
#include "spec/promote.h"

static const char *const faults[] = {
    [PROMOTE_SIGNS] = "they have different signedness; cast one of them",
    [PROMOTE_FP8_INT] = "fp8 has no common type with an integer; cast one of them",
    [PROMOTE_NEGATIVE] = "a negative constant does not go with an unsigned type; cast one of them",
    [PROMOTE_RANGE] = "the constant is out of range for the type",
    [PROMOTE_TOO_WIDE] = "no integer type holds the constant",
};

static Value *to_dtype(Spec *sp, SpecValue v, DType dt, Span at)
{
    return v.kind == SV_VALUE ? build_cast(&sp->b, v.v, dt, NULL) : cast_number(sp, v, dt, at);
}

bool unify_types(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
                 const char *what, Span at)
{
    if (sv_is_error(a) || sv_is_error(b)) return false;
    const bool are_pointers = sv_is_pointer(a) && b.kind == SV_VALUE && (rules & UNIFY_POINTERS) &&
                              tkc_type_element(a.v->type) == tkc_type_element(b.v->type);
    if (are_pointers) return *x = a.v, *y = b.v, true;
    if (!sv_is_operand(a) || !sv_is_operand(b) || sv_is_pointer(a) || sv_is_pointer(b))
        return op_refuse_pair(sp, what, a, b, at), false;
    if (a.kind != SV_VALUE && b.kind != SV_VALUE) {
        a = strengthen(sp, a, at);
        b = strengthen(sp, b, at);
    }
    if (sv_is_error(a) || sv_is_error(b)) return false;
    PromoteFault fault;
    bool division = rules & UNIFY_DIVISION;
    DType dt = a.kind != SV_VALUE ? promote_constant(type_dtype(b.v->type), a, division, &fault)
               : b.kind != SV_VALUE
                   ? promote_constant(type_dtype(a.v->type), b, division, &fault)
                   : promote_pair(type_dtype(a.v->type), type_dtype(b.v->type), division, &fault);
    if (dt == DT_NONE)
        return spec_fail(sp, at, "Cannot use %s with %s and %s because %s", what,
                         spec_describe(sp, a), spec_describe(sp, b), faults[fault]);
    *x = to_dtype(sp, a, dt, at);
    *y = to_dtype(sp, b, dt, at);
    return true;
}

bool unify(Spec *sp, SpecValue a, SpecValue b, unsigned rules, Value **x, Value **y,
           const char *what, Span at)
{
    return unify_types(sp, a, b, rules, x, y, what, at) && broadcast_pair(sp, x, y, at);
}
