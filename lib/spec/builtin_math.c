/* Elementwise mathematics. The floats narrower than 32 bits are computed in fp32 and rounded back
   where the op has no meaning of its own on them. */
#include <string.h>

#include "spec/argument.h"
#include "spec/memory.h"

SpecValue builtin_math(Spec *sp, const Call *c)
{
    Value *v = c->args[0].v;
    DType dt = type_dtype(v->type);
    if (type_bits(v->type) < 32) v = build_cast(&sp->b, v, DT_F32, NULL);
    return sv_value(build_cast(&sp->b, build_unary(&sp->b, c->builtin->op, v), dt, NULL));
}

SpecValue builtin_abs(Spec *sp, const Call *c)
{
    SpecValue x = c->args[0];
    if ((c->builtin->where & NS_PYTHON) && sv_is_number(x)) {
        if (x.kind == SV_FLOAT) return sv_float(x.f < 0 || (x.f == 0 && 1 / x.f < 0) ? -x.f : x.f);
        return sv_integer(x) < 0 ? constant_unary(sp, AOP_NEG, x, c->at) : sv_int(sv_integer(x));
    }
    Value *v = arg_value(sp, c, 0);
    if (!v) return sv_error();
    if (type_is_pointer(v->type)) return arg_refuse(sp, c, 0, "a number or a block of numbers");
    bool is_unsigned = type_is_int(v->type) && type_kind(v->type) != DK_INT;
    return sv_value(is_unsigned ? v : build_unary(&sp->b, OP_ABS, v));
}

SpecValue builtin_bits(Spec *sp, const Call *c)
{
    Value *r = build_unary(&sp->b, c->builtin->op, c->args[0].v);
    return sv_value(build_cast(&sp->b, r, DT_I32, NULL));
}

/* At run time, whatever is known. */
SpecValue builtin_arithmetic(Spec *sp, const Call *c)
{
    const OpKind kind = c->builtin->op;
    SpecValue x = c->args[0], y = c->args[1];
    if (sv_is_constant(x) && sv_is_constant(y)) {
        x = strengthen(sp, x, c->at);
        y = strengthen(sp, y, c->at);
    }
    const AstOp op = kind == OP_ADD ? AOP_ADD : kind == OP_SUB ? AOP_SUB : AOP_MUL;
    sp->may_wrap = !c->args[2].b;
    SpecValue r = op_binary(sp, op, x, y, c->at);
    sp->may_wrap = false;
    return r;
}

static SpecValue refuse_operands(Spec *sp, const Call *c, const Value *x, const char *expected)
{
    return spec_error(sp, c->at, "%s is for %s, found %s", arg_operation(sp, c), expected,
                      type_text(sp->arena, tkc_type_element(x->type)));
}

/* fdiv, and div_rn, which is told nothing. */
SpecValue builtin_fdiv(Spec *sp, const Call *c)
{
    Value *x, *y;
    const bool is_told = c->params->len > 2, exact = !is_told || c->args[2].b,
               approx = is_told && c->args[3].b;
    if (!arg_pair(sp, c, UNIFY_NUMBERS, &x, &y)) return sv_error();
    if (exact && approx)
        return spec_error(sp, c->at, "'ieee_rounding' and 'approx' of %s exclude each other",
                          arg_operation(sp, c));
    if (!type_is_float(x->type)) return refuse_operands(sp, c, x, "floats");
    if (approx && type_dtype(x->type) != DT_F32)
        return refuse_operands(sp, c, x, "fp32 when 'approx' is given");
    return sv_value(build_binary(&sp->b, exact ? OP_DIV_RN : OP_DIV, x, y));
}

SpecValue builtin_umulhi(Spec *sp, const Call *c)
{
    Value *x, *y;
    if (!arg_pair(sp, c, UNIFY_NUMBERS, &x, &y)) return sv_error();
    if (!type_is_int(x->type) || type_bits(x->type) < 32)
        return refuse_operands(sp, c, x, "32- and 64-bit integers");
    if (strcmp(c->builtin->name, "umulhi") != 0)
        return sv_value(build_binary(&sp->b, OP_MULHI, x, y));
    DType dt = type_bits(x->type) == 32 ? DT_U32 : DT_U64;
    return sv_value(op_by_bits(sp, OP_MULHI, dt, x, y));
}

SpecValue builtin_fma(Spec *sp, const Call *c)
{
    const char *what = arg_operation(sp, c);
    Value *x, *y, *z;
    if (!arg_pair(sp, c, UNIFY_NUMBERS, &x, &y) ||
        !unify(sp, sv_value(x), strengthen(sp, c->args[2], c->at), UNIFY_NUMBERS, &x, &z, what,
               c->at) ||
        !unify(sp, sv_value(y), sv_value(z), UNIFY_NUMBERS, &y, &z, what, c->at)) {
        return sv_error();
    }
    if (!type_is_float(x->type)) return refuse_operands(sp, c, x, "floats");
    return sv_value(build_fma(&sp->b, x, y, z));
}

/* An operand of an extremum: a number is of its own type, and bfloat16 goes as fp32, which Triton
   gives, too. */
static SpecValue widened(Spec *sp, SpecValue v, Span at)
{
    v = strengthen(sp, v, at);
    const bool narrow = v.kind == SV_VALUE && !type_is_pointer(v.v->type) &&
                        type_dtype(v.v->type) == DT_BF16;
    return narrow ? sv_value(build_cast(&sp->b, v.v, DT_F32, NULL)) : v;
}

static bool unify_widened(Spec *sp, SpecValue a, SpecValue b, Value **x, Value **y,
                           const char *what, Span at)
{
    return unify(sp, widened(sp, a, at), widened(sp, b, at), UNIFY_NUMBERS, x, y, what, at);
}

/* kind: MAX or MIN */
static Value *extremum(Spec *sp, OpKind kind, Value *x, Value *y, bool nan)
{
    if (nan && type_is_float(x->type)) kind = kind == OP_MAX ? OP_MAX_NAN : OP_MIN_NAN;
    return build_binary(&sp->b, kind, x, y);
}

SpecValue builtin_extremum(Spec *sp, const Call *c)
{
    Value *x, *y;
    if (!unify_widened(sp, c->args[0], c->args[1], &x, &y, arg_operation(sp, c), c->at))
        return sv_error();
    return sv_value(extremum(sp, c->builtin->op, x, y, c->args[2].b));
}

/* min(…) and max(…) of Python: compile-time numbers stay so. */
SpecValue builtin_python_extremum(Spec *sp, const Call *c)
{
    SpecValue *items;
    int n = arg_rest(c, &items);
    if (n == 0) return spec_error(sp, c->at, "%s needs values, found none", c->builtin->name);
    const OpKind kind = c->builtin->op;
    SpecValue r = items[0];
    if (items == c->rest && n == 1 && !sv_is_error(r)) {
        spec_error(sp, c->at, "%s needs two values or more, found %s alone", c->builtin->name,
                   spec_describe(sp, r));
        if (r.kind == SV_VALUE && type_is_block(r.v->type))
            spec_note(sp, c->at, "tl.%s(x, axis) reduces a block", c->builtin->name);
        return sv_error();
    }
    for (int i = 1; i < n; i++) {
        if (sv_is_constant(r) && sv_is_constant(items[i])) {
            SpecValue better = op_compare(sp, kind == OP_MAX ? AOP_GT : AOP_LT, items[i], r, c->at);
            if (sv_is_error(better)) return better;
            if (better.b) r = items[i];
            continue;
        }
        Value *x, *y;
        if (!unify_widened(sp, r, items[i], &x, &y, c->builtin->name, c->at)) return sv_error();
        r = sv_value(extremum(sp, kind, x, y, false));
    }
    return r;
}

/* The bounds promote each other first. */
SpecValue builtin_clamp(Spec *sp, const Call *c)
{
    Value *x, *lo, *hi;
    const bool nan = c->args[3].b;
    if (!unify_widened(sp, c->args[1], c->args[2], &lo, &hi, "tl.clamp", c->at) ||
        !unify_widened(sp, c->args[0], sv_value(lo), &x, &lo, "tl.clamp", c->at) ||
        !unify_widened(sp, sv_value(x), sv_value(hi), &x, &hi, "tl.clamp", c->at))
        return sv_error();
    if (!type_is_float(x->type)) return refuse_operands(sp, c, x, "floats");
    return sv_value(extremum(sp, OP_MIN, extremum(sp, OP_MAX, x, lo, nan), hi, nan));
}

SpecValue builtin_logical(Spec *sp, const Call *c)
{
    const AstOp op = c->builtin->op == OP_AND ? AOP_LOGICAL_AND : AOP_LOGICAL_OR;
    return op_logical(sp, op, c->args[0], c->args[1], c->at);
}

SpecValue builtin_where(Spec *sp, const Call *c)
{
    Value *cond = c->args[0].v, *x, *y;
    if (type_is_pointer(cond->type)) return arg_refuse(sp, c, 0, "int1");
    cond = build_cast(&sp->b, cond, DT_I1, NULL);
    if (!unify(sp, c->args[1], c->args[2], UNIFY_POINTERS, &x, &y, "tl.where", c->at))
        return sv_error();
    if (!memory_is_alike(sp, x, y))
        return spec_error(sp, c->at, "tl.where does not work on %s and %s",
                          spec_describe(sp, c->args[1]), spec_describe(sp, c->args[2]));
    if (type_is_block(cond->type)) {
        if (!broadcast_pair(sp, &cond, &x, c->at) || !broadcast_pair(sp, &x, &y, c->at))
            return sv_error();
    }
    return sv_value(build_select(&sp->b, cond, x, y));
}
