/* Operators. Two compile-time operands follow Python (constant.c); with a run-time operand the
   types promote, the shapes broadcast, and an op is built. A pointer takes part in addition,
   subtraction of an integer, and comparison. */
#include "spec/operator.h"

#include "ir/evaluate.h"
#include "spec/advice.h"
#include "spec/host_args.h"
#include "spec/broadcast.h"
#include "spec/constant.h"
#include "spec/promote.h"

typedef struct BinaryRule {
    OpKind kind;
    unsigned unify;
    bool is_for_integers;
} BinaryRule;

static const BinaryRule binary_rules[AOP_COUNT] = {
    [AOP_ADD] = {OP_ADD, 0, false},
    [AOP_SUB] = {OP_SUB, 0, false},
    [AOP_MUL] = {OP_MUL, 0, false},
    [AOP_DIV] = {OP_DIV, UNIFY_DIVISION, false},
    [AOP_FLOORDIV] = {OP_DIV, UNIFY_DIVISION, true},
    [AOP_MOD] = {OP_REM, UNIFY_DIVISION, false},
    [AOP_SHL] = {OP_SHL, 0, true},
    [AOP_SHR] = {OP_SHR, 0, true},
    [AOP_AND] = {OP_AND, 0, true},
    [AOP_OR] = {OP_OR, 0, true},
    [AOP_XOR] = {OP_XOR, 0, true},
};

static const OpKind compare_ops[AOP_COUNT] = {
    [AOP_EQ] = OP_EQ, [AOP_NE] = OP_NE, [AOP_LT] = OP_LT,
    [AOP_LE] = OP_LE, [AOP_GT] = OP_GT, [AOP_GE] = OP_GE,
};

static bool is_run_time(SpecValue v)
{
    return v.kind == SV_VALUE || sv_is_address(v);
}

static const char *quoted(Spec *sp, AstOp op)
{
    return arena_printf(sp->arena, "'%s'", ast_op_text(op));
}

SpecValue op_refuse_pair(Spec *sp, const char *what, SpecValue a, SpecValue b, Span at)
{
    spec_error(sp, at, "%s does not work on %s and %s", what, spec_describe(sp, a),
               spec_describe(sp, b));
    if (a.kind == SV_NONE || b.kind == SV_NONE)
        spec_note(sp, SPAN_NONE, "code under 'if x is not None:' is left out where x is None");
    if (sv_is_pointer(a) || sv_is_pointer(b)) advise_load(sp, SPAN_NONE);
    if (sv_is_address(a))
        spec_note(sp, SPAN_NONE,
                  a.kind == SV_DESC ? "it stays where it is: d.load(offsets) and d.store(offsets, x) move"
                                    : "p = tl.advance(p, offsets) moves it, by one offset for each dimension");
    return sv_error();
}

/* ---- arithmetic ---- */

static SpecValue offset_pointer(Spec *sp, AstOp op, SpecValue pointer, SpecValue offset, Span at)
{
    if (sv_is_pointer(offset)) return op_refuse_pair(sp, quoted(sp, op), pointer, offset, at);
    Value *p = pointer.v, *n = op_to_value(sp, offset, at);
    if (!n) return sv_error();
    if (!type_is_int(n->type)) {
        if (advise_same_float(sp, offset)) return sv_error();
        spec_error(sp, at, "a pointer moves by an integer, found %s", spec_describe(sp, offset));
        if (!advise_float(sp, offset, at))
            spec_note(sp, at, "cast the offset, as in offset.to(tl.int32)");
        return sv_error();
    }
    if (type_is_bool(n->type)) n = build_cast(&sp->b, n, DT_I32, NULL);
    if (op == AOP_SUB) n = build_unary(&sp->b, OP_NEG, n);
    if (!broadcast_pair(sp, &p, &n, at)) return sv_error();
    return sv_value(build_addptr(&sp->b, p, n));
}

static SpecValue refuse_floats(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    spec_error(sp, at, "invalid operands of type %s and %s: %s is for integers",
               spec_describe(sp, a), spec_describe(sp, b), quoted(sp, op));
    if (op == AOP_FLOORDIV) spec_note(sp, at, "for floats write tl.floor(x / y)");
    return sv_error();
}

/* What is shifted decides, not what it became beside an unsigned count. */
static bool keeps_sign(SpecValue shifted, const Value *promoted)
{
    return shifted.kind == SV_VALUE && type_kind(shifted.v->type) == DK_INT && type_kind(promoted->type) == DK_UINT;
}

Value *op_by_bits(Spec *sp, OpKind kind, DType dt, Value *x, Value *y)
{
    const Type *own = tkc_type_element(x->type), *elem = type_scalar(sp->ir->types, dt);
    x = build_bitcast(&sp->b, x, elem);
    y = build_bitcast(&sp->b, y, elem);
    return build_bitcast(&sp->b, build_binary(&sp->b, kind, x, y), own);
}

/* The result, which is asserted to be what 64 bits would hold. */
static SpecValue sanitized(Spec *sp, AstOp op, OpKind kind, Value *x, Value *y)
{
    Value *r = build_binary(&sp->b, kind, x, y);
    Value *wide = build_binary(&sp->b, kind, build_cast(&sp->b, x, DT_I64, NULL),
                               build_cast(&sp->b, y, DT_I64, NULL));
    Value *fits = build_binary(&sp->b, OP_EQ, build_cast(&sp->b, r, DT_I64, NULL), wide);
    build_assert(&sp->b, fits, NULL,
                 arena_printf(sp->arena, "%s overflow in %s", dtype_info(type_dtype(x->type))->name,
                              quoted(sp, op)));
    return sv_value(r);
}

static bool is_sanitized(const Spec *sp, AstOp op, const Value *x)
{
    return sp->rq->sanitize_overflow && !sp->may_wrap && (op == AOP_ADD || op == AOP_SUB || op == AOP_MUL) &&
           type_is_int(x->type) && !type_is_bool(x->type) && type_bits(x->type) < 64 &&
           !spec_in_library(sp) && sp->elementwise == 0;
}

static SpecValue arithmetic(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    const BinaryRule *rule = &binary_rules[op];
    Value *x, *y;
    if (rule->kind == OP_NONE) {
        spec_error(sp, at, "%s does not work on run-time values, found %s and %s", quoted(sp, op),
                   spec_describe(sp, a), spec_describe(sp, b));
        if (op == AOP_POW)
            spec_note(sp, at, "write x * x, tl.exp2(y * tl.log2(x)), or libdevice.pow(x, y)");
        if (op == AOP_MATMUL) spec_note(sp, at, "write tl.dot(x, y)");
        return sv_error();
    }
    if (!unify(sp, a, b, rule->unify, &x, &y, quoted(sp, op), at)) return sv_error();
    if (rule->is_for_integers && !type_is_int(x->type)) return refuse_floats(sp, op, a, b, at);
    if (op == AOP_SHR && keeps_sign(a, x)) {
        DType dt = (DType)(type_dtype(x->type) - DT_U8 + DT_I8);
        return sv_value(op_by_bits(sp, OP_SHR, dt, x, y));
    }
    if (op == AOP_DIV && type_is_int(x->type)) {
        x = build_cast(&sp->b, x, DT_F32, NULL);
        y = build_cast(&sp->b, y, DT_F32, NULL);
    }
    if (is_sanitized(sp, op, x)) return sanitized(sp, op, rule->kind, x, y);
    return sv_value(build_binary(&sp->b, rule->kind, x, y));
}

SpecValue op_binary(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    if (sv_is_error(a) || sv_is_error(b)) return sv_error();
    if (!is_run_time(a) && !is_run_time(b)) return constant_binary(sp, op, a, b, at);
    spec_at(sp, at);
    if (sv_is_pointer(a) && (op == AOP_ADD || op == AOP_SUB)) return offset_pointer(sp, op, a, b, at);
    if (sv_is_pointer(b) && op == AOP_ADD) return offset_pointer(sp, op, b, a, at);
    return arithmetic(sp, op, a, b, at);
}

/* As a condition: a pointer is true unless it is null. */
static Value *as_flag(Spec *sp, Value *x, Span at)
{
    if (!type_is_pointer(x->type)) return x;
    return op_cast(sp, x, type_scalar(sp->ir->types, DT_I1), false, NULL, at);
}

SpecValue op_unary(Spec *sp, AstOp op, SpecValue a, Span at)
{
    if (sv_is_error(a) || (a.kind == SV_ARRAY && op_truth(sp, a, at) < 0)) return sv_error();
    if (!is_run_time(a)) return constant_unary(sp, op, a, at);
    spec_at(sp, at);
    if (op == AOP_NOT && a.kind == SV_VALUE) a = sv_value(as_flag(sp, a.v, at));
    bool number = a.kind == SV_VALUE && !type_is_pointer(a.v->type);
    if (number && op == AOP_POS) return a;
    if (number && op == AOP_NEG) return sv_value(build_unary(&sp->b, OP_NEG, a.v));
    if (number && ((op == AOP_INVERT && type_is_int(a.v->type)) ||
                   (op == AOP_NOT && type_is_bool(a.v->type))))
        return sv_value(build_unary(&sp->b, OP_NOT, a.v));
    const char *wants = op == AOP_INVERT ? "integers" : op == AOP_NOT ? "int1" : "numbers";
    return spec_error(sp, at, "%s is for %s at run time, found %s", quoted(sp, op), wants,
                      spec_describe(sp, a));
}

/* ---- comparison and logic ---- */

/* A number beside v, in comparisons: of its own type, unless v's serves as well. */
static SpecValue compared(Spec *sp, SpecValue number, SpecValue v, Span at)
{
    const bool adopts = v.kind == SV_VALUE && sv_is_number(number) && !type_is_pointer(v.v->type) &&
                        promote_compares(type_dtype(v.v->type), number);
    return adopts ? number : strengthen(sp, number, at);
}

SpecValue op_compare(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    if (sv_is_error(a) || sv_is_error(b)) return sv_error();
    if (!is_run_time(a) && !is_run_time(b)) return constant_compare(sp, op, a, b, at);
    const bool is_one = a.kind == SV_VALUE && b.kind == SV_VALUE && a.v == b.v;
    if (op == AOP_IS || op == AOP_IS_NOT) return sv_bool(is_one == (op == AOP_IS));
    if (op == AOP_IN || op == AOP_NOT_IN) {
        SpecValue known = weaken(a);
        if (known.kind != SV_VALUE) return constant_compare(sp, op, known, b, at);
        return spec_error(sp, at, "%s is for compile-time values, found %s and %s", quoted(sp, op),
                          spec_describe(sp, a), spec_describe(sp, b));
    }
    /* A run-time value beside something that is no number is never the same. */
    if ((op == AOP_EQ || op == AOP_NE) && !(sv_is_operand(a) && sv_is_operand(b)))
        return sv_bool(op == AOP_NE);
    spec_at(sp, at);
    Value *x, *y;
    if (!unify(sp, compared(sp, a, b, at), compared(sp, b, a, at), UNIFY_POINTERS, &x, &y,
               quoted(sp, op), at))
        return sv_error();
    return sv_value(build_binary(&sp->b, compare_ops[op], x, y));
}

SpecValue op_logical(Spec *sp, AstOp op, SpecValue a, SpecValue b, Span at)
{
    if (sv_is_error(a) || sv_is_error(b)) return sv_error();
    spec_at(sp, at);
    Value *x = op_to_value(sp, a, at), *y = op_to_value(sp, b, at);
    if (!x || !y) return sv_error();
    x = as_flag(sp, x, at);
    y = as_flag(sp, y, at);
    if (!type_is_bool(x->type) || !type_is_bool(y->type)) {
        spec_error(sp, at, "%s is for int1 at run time, found %s and %s", quoted(sp, op),
                   spec_describe(sp, a), spec_describe(sp, b));
        return spec_note(sp, at, "compare first (x != 0), or combine bits with %s",
                         op == AOP_LOGICAL_AND ? "'&'" : "'|'");
    }
    if (!broadcast_pair(sp, &x, &y, at)) return sv_error();
    return sv_value(build_binary(&sp->b, op == AOP_LOGICAL_AND ? OP_AND : OP_OR, x, y));
}

int op_truth(Spec *sp, SpecValue v, Span at)
{
    if (sv_is_error(v)) return -2;
    if (v.kind == SV_ARRAY)
        return spec_error(sp, at, "whether an array is true is not known when compiling"), -2;
    if (v.kind != SV_VALUE) return is_run_time(v) ? 1 : constant_is_true(v);
    if (tkc_type_count(v.v->type) != 1) {
        spec_error(sp, at, "a condition is one number, found %s", spec_describe(sp, v));
        spec_note(sp, at, "%s",
                  sp->elementwise ? "a loop in a function of tl.map_elementwise has as many turns for each element"
                                  : "choose by element with tl.where, or reduce the block to one number first");
        return -2;
    }
    uint64_t bits;
    if (!ir_const_bits(v.v, &bits)) return -1;
    return type_is_float(v.v->type) ? bits_to_double(type_dtype(v.v->type), bits) != 0 : bits != 0;
}

/* ---- conversions ---- */

bool op_to_int(Spec *sp, SpecValue v, int64_t *out, Span at, const char *what)
{
    if (sv_is_error(v)) return false;
    if (v.kind == SV_BOOL || v.kind == SV_INT) {
        __int128 i = sv_integer(v);
        if (i == (__int128)(int64_t)i) {
            *out = (int64_t)i;
            return true;
        }
        return spec_fail(sp, at, "%s does not fit into 64 bits: %s", what, spec_describe(sp, v));
    }
    if (v.kind == SV_VALUE && !type_is_block(v.v->type) && type_is_int(v.v->type) &&
        ir_const_int(v.v, out))
        return true;
    spec_error(sp, at, "%s must be a compile-time integer, found %s", what, spec_describe(sp, v));
    advise_integer(sp, v, at);
    return false;
}

Value *op_to_index(Spec *sp, SpecValue v, bool is_block, Span at)
{
    bool ok = v.kind == SV_VALUE || v.kind == SV_INT || v.kind == SV_BOOL;
    Value *x = ok ? op_to_value(sp, v, at) : NULL;
    const bool is_index = x && type_is_int(x->type) && (is_block || type_is_scalar(x->type));
    return is_index ? build_cast(&sp->b, x, DT_I64, NULL) : NULL;
}

static int range_items(Spec *sp, const SpecRange *r, SpecValue **items, Span at)
{
    int64_t lower, upper, step, n = 0;
    if (!op_to_int(sp, r->lower, &lower, at, "the start of a range") ||
        !op_to_int(sp, r->upper, &upper, at, "the end of a range") ||
        !op_to_int(sp, r->step, &step, at, "the step of a range")) {
        return -1;
    }
    if (step == 0) return spec_count(sp, at, "the step of a range must not be 0");
    __int128 span = step > 0 ? (__int128)upper - lower : (__int128)lower - upper;
    __int128 stride = step > 0 ? step : -(__int128)step;
    if (span > 0) {
        __int128 count = (span + stride - 1) / stride;
        if (!spec_fits(sp, count, "a compile-time range", "items", at)) return -1;
        n = (int64_t)count;
    }
    if (!spec_step_items(sp, (long)n, at)) return -1;
    *items = arena_array(sp->arena, SpecValue, n + 1);
    for (int64_t i = 0; i < n; i++) (*items)[i] = sv_int((__int128)lower + (__int128)i * step);
    return (int)n;
}

int op_items(Spec *sp, SpecValue v, SpecValue **items, Span at)
{
    if (sv_is_error(v)) return -1;
    if (host_args_are(v)) return host_args_refuse_all(sp, at), -1;
    if (constant_is_dict(v)) v = dict_keys(sp, v);
    if (sv_is_sequence(v)) {
        *items = v.tuple->data;
        return v.tuple->len;
    }
    if (v.kind == SV_RANGE) return range_items(sp, v.range, items, at);
    return spec_count(sp, at, "expected a tuple or list, found %s", spec_describe(sp, v));
}
