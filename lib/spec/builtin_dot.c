/* Matrix products: which types multiply, in what they accumulate, and how precisely fp32 is
   multiplied. */
#include "spec/advice.h"
#include "spec/argument.h"

enum { DOT_X, DOT_Y, DOT_ACC, DOT_PRECISION, DOT_TF32, DOT_IMPRECISE, DOT_OUT };

static bool is_operand(DType dt)
{
    return dt == DT_I8 || dtype_is_f8(dt) || dt == DT_F16 || dt == DT_BF16 || dt == DT_F32 ||
           dt == DT_F64;
}

static bool check_operands(Spec *sp, const Call *c, const Value *x, const Value *y)
{
    DType a = type_dtype(x->type), b = type_dtype(y->type);
    for (int i = DOT_X; i <= DOT_Y; i++) {
        if (!is_operand(i == DOT_X ? a : b))
            return arg_fail(sp, c, i, "a block of int8, fp8, fp16, bf16, fp32 or fp64");
    }
    if (a != b && !(dtype_is_f8(a) && dtype_is_f8(b))) {
        spec_error(sp, c->at, "the operands of tl.dot must have one type, found %s and %s",
                   type_text(sp->arena, x->type), type_text(sp->arena, y->type));
        spec_note(sp, SPAN_NONE,
                  "cast one of them: the first with .to(tl.%s), or the second with .to(tl.%s)",
                  dtype_info(b)->name, dtype_info(a)->name);
        return false;
    }
    int rank = x->type->rank;
    bool fits = rank >= 2 && y->type->rank == rank;
    const int k = fits ? x->type->shape[rank - 1] : 0, l = fits ? y->type->shape[rank - 2] : 0;
    fits = fits && k == l;
    for (int i = 0; fits && i < rank - 2; i++) fits = x->type->shape[i] == y->type->shape[i];
    if (fits) return true;
    spec_error(sp, c->at, "tl.dot multiplies [M, K] by [K, N], or batches of them, found %s and %s%s",
               type_text(sp->arena, x->type), type_text(sp->arena, y->type),
               k == l ? "" : arena_printf(sp->arena, ": K is %d and %d", k, l));
    if (rank == 2 && y->type->rank == 2 && x->type->shape[1] == y->type->shape[1])
        spec_note(sp, c->at, "the second operand fits when transposed: tl.trans(…)");
    if (rank == 2 && y->type->rank == 1)
        spec_note(sp, SPAN_NONE, "a matrix by a vector is tl.sum(x * y[None, :], 1)");
    if (rank == 1 && y->type->rank == 1)
        spec_note(sp, SPAN_NONE, "of two vectors it is tl.sum(x * y)");
    return false;
}

/* The accumulator's type, from the operands and what the call asks for. */
static bool result_dtype(Spec *sp, const Call *c, DType operand, const Value *acc, DType *out)
{
    *out = operand == DT_I8 ? DT_I32 : operand == DT_F64 ? DT_F64 : DT_F32;
    bool half = operand == DT_F16 || dtype_is_f8(operand);
    if (operand == DT_I8) return true; /* whatever is asked for, as in Triton */
    if (!arg_is_given(c, DOT_OUT)) {
        if (half && acc && type_dtype(acc->type) == DT_F16) *out = DT_F16;
        return true;
    }
    DType dt = type_dtype(c->args[DOT_OUT].type);
    if (half && dt == DT_F16) *out = DT_F16;
    bool fine =
        dt == *out || (dt == DT_F32 && operand != DT_BF16) || (dt == DT_F16 && operand == DT_F32);
    if (fine) return true;
    arg_refuse(sp, c, DOT_OUT, half ? "tl.float32 or tl.float16" : dtype_info(*out)->name);
    if (dt == DT_BF16)
        spec_note(sp, c->spans[DOT_OUT], "accumulate in fp32 and cast with .to(tl.bfloat16)");
    return false;
}

/* NULL after an error. */
static const char *precision_of(Spec *sp, const Call *c)
{
    const bool by_bool = arg_is_given(c, DOT_TF32);
    if (!arg_is_given(c, DOT_PRECISION)) return !by_bool || c->args[DOT_TF32].b ? "tf32" : "ieee";
    if (!by_bool) return c->args[DOT_PRECISION].s;
    return spec_null(sp, c->spans[DOT_TF32],
                     "input_precision and allow_tf32 say the same; give one of them");
}

/* The accumulator given, checked, or zeros. */
static Value *accumulator(Spec *sp, const Call *c, Value *acc, const Type *t)
{
    if (!acc) return build_const(&sp->b, t, 0);
    if (acc->type == t) return acc;
    spec_error(sp, c->spans[DOT_ACC], "'acc' of tl.dot must be %s, found %s",
               type_text(sp->arena, t), type_text(sp->arena, acc->type));
    advise_dot_accumulator(sp, t);
    return NULL;
}

/* The op has one dimension of batches: the leading ones are made into one. */
static Value *in_batches(Spec *sp, Value *v)
{
    const Type *t = v->type;
    if (t->rank <= 3) return v;
    int32_t shape[3] = {1, t->shape[t->rank - 2], t->shape[t->rank - 1]};
    for (int i = 0; i < t->rank - 2; i++) shape[0] *= t->shape[i];
    return build_reshape(&sp->b, v, 3, shape, false);
}

SpecValue builtin_dot(Spec *sp, const Call *c)
{
    Value *x = c->args[DOT_X].v, *y = c->args[DOT_Y].v, *acc = c->args[DOT_ACC].v;
    DType dt;
    const char *precision = precision_of(sp, c);
    if (!precision || !check_operands(sp, c, x, y) ||
        !result_dtype(sp, c, type_dtype(x->type), acc, &dt))
        return sv_error();
    Shape shape = shape_of(x->type);
    shape.dims[shape.rank - 1] = y->type->shape[shape.rank - 1];
    if (!shape_check(sp, &shape, c->at)) return sv_error();
    acc = accumulator(sp, c, acc, shape_type(sp, type_scalar(sp->ir->types, dt), &shape));
    if (!acc) return sv_error();
    const int64_t imprecise =
        arg_is_given(c, DOT_IMPRECISE) ? (int64_t)c->args[DOT_IMPRECISE].i : -1;
    if (type_dtype(x->type) != DT_F32) precision = NULL;
    Value *r =
        build_dot(&sp->b, in_batches(sp, x), in_batches(sp, y), in_batches(sp, acc), precision);
    if (imprecise >= 0) ir_set_int(sp->fn, r->def, ATTR_IMPRECISE, imprecise);
    if (shape.rank > 3) r = build_reshape(&sp->b, r, shape.rank, shape.dims, false);
    return sv_value(r);
}
