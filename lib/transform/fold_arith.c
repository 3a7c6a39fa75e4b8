/* Elementwise ops: constants, identities (a table), and a few rules that look one op further back
   (a function each). Operands of commutative ops get one order: constants right, else the value
   defined first to the left, so that equal computations look equal. */
#include "transform/fold.h"

#include <stddef.h>

#include "analysis/range.h"
#include "ir/evaluate.h"

/* ---- what operands look like ---- */

typedef enum Pattern {
    ANY,
    SAME /* as the other operand */,
    ZERO,
    ONE,
    ONES /* every bit */,
    NEG_ZERO,
    LEAST,
    MOST
} Pattern;
typedef enum Outcome { X, Y, GIVES_ZERO, GIVES_ONES, GIVES_TRUE, GIVES_FALSE } Outcome;

typedef struct Identity {
    OpKind kind;
    OpDomain domain; /* of the operands */
    Pattern x, y;
    Outcome gives;
} Identity;

/* Commutative ops have their constant to the right. */
static const Identity identities[] = {
    {OP_ADD, DOM_INT, ANY, ZERO, X},
    {OP_SUB, DOM_INT, ANY, ZERO, X},
    {OP_SUB, DOM_INT, ANY, SAME, GIVES_ZERO},
    {OP_MUL, DOM_INT, ANY, ZERO, GIVES_ZERO},
    {OP_MUL, DOM_INT, ANY, ONE, X},
    {OP_DIV, DOM_INT, ANY, ONE, X},
    {OP_DIV, DOM_INT, ANY, ZERO, GIVES_ZERO},
    {OP_DIV, DOM_INT, ZERO, ANY, GIVES_ZERO},
    {OP_REM, DOM_INT, ANY, ONE, GIVES_ZERO},
    {OP_REM, DOM_INT, ANY, ZERO, X},
    {OP_REM, DOM_INT, ZERO, ANY, GIVES_ZERO},
    {OP_REM, DOM_INT, ANY, SAME, GIVES_ZERO},
    {OP_MULHI, DOM_INT, ANY, ZERO, GIVES_ZERO},
    {OP_AND, DOM_INT, ANY, ZERO, GIVES_ZERO},
    {OP_AND, DOM_INT, ANY, ONES, X},
    {OP_AND, DOM_INT, ANY, SAME, X},
    {OP_OR, DOM_INT, ANY, ZERO, X},
    {OP_OR, DOM_INT, ANY, ONES, GIVES_ONES},
    {OP_OR, DOM_INT, ANY, SAME, X},
    {OP_XOR, DOM_INT, ANY, ZERO, X},
    {OP_XOR, DOM_INT, ANY, SAME, GIVES_ZERO},
    {OP_SHL, DOM_INT, ANY, ZERO, X},
    {OP_SHL, DOM_INT, ZERO, ANY, GIVES_ZERO},
    {OP_SHR, DOM_INT, ANY, ZERO, X},
    {OP_SHR, DOM_INT, ZERO, ANY, GIVES_ZERO},
    {OP_MIN, DOM_NUM, ANY, SAME, X},
    {OP_MAX, DOM_NUM, ANY, SAME, X},
    {OP_MIN, DOM_INT, ANY, MOST, X},
    {OP_MIN, DOM_INT, ANY, LEAST, Y},
    {OP_MAX, DOM_INT, ANY, LEAST, X},
    {OP_MAX, DOM_INT, ANY, MOST, Y},
    {OP_EQ, DOM_INT, ANY, SAME, GIVES_TRUE},
    {OP_NE, DOM_INT, ANY, SAME, GIVES_FALSE},
    {OP_LE, DOM_INT, ANY, SAME, GIVES_TRUE},
    {OP_GE, DOM_INT, ANY, SAME, GIVES_TRUE},
    {OP_LT, DOM_ANY, ANY, SAME, GIVES_FALSE},
    {OP_GT, DOM_ANY, ANY, SAME, GIVES_FALSE},
    {OP_LT, DOM_INT, ANY, LEAST, GIVES_FALSE},
    {OP_GE, DOM_INT, ANY, LEAST, GIVES_TRUE},
    {OP_GT, DOM_INT, ANY, MOST, GIVES_FALSE},
    {OP_LE, DOM_INT, ANY, MOST, GIVES_TRUE},
    {OP_EQ, DOM_PTR, ANY, SAME, GIVES_TRUE},
    {OP_NE, DOM_PTR, ANY, SAME, GIVES_FALSE},
    {OP_ADD, DOM_FLOAT, ANY, NEG_ZERO, X},
    {OP_SUB, DOM_FLOAT, ANY, ZERO, X},
    {OP_MUL, DOM_FLOAT, ANY, ONE, X},
    {OP_DIV, DOM_FLOAT, ANY, ONE, X},
    {OP_DIV_RN, DOM_FLOAT, ANY, ONE, X},
    {OP_ADDPTR, DOM_PTR, ANY, ZERO, X},
};

static uint64_t number_bits(DType dt, int v)
{
    return dtype_info(dt)->kind == DK_FLOAT ? bits_from_double(dt, v) : bits_from_int(dt, v);
}

static bool matches(const Value *v, const Value *other, Pattern pattern)
{
    uint64_t bits;
    DType dt = type_dtype(v->type);
    if (pattern == ANY) return true;
    if (pattern == SAME) return v == other;
    if (!ir_const_bits(v, &bits)) return false;
    switch (pattern) {
    case ZERO: return bits == number_bits(dt, 0);
    case ONE: return bits == number_bits(dt, 1);
    case ONES: return bits == bits_from_int(dt, -1);
    case NEG_ZERO: return bits == bits_from_double(dt, -0.0);
    case LEAST: return bits == bits_from_int(dt, (int64_t)range_of_dtype(dt).lo);
    case MOST: return bits == bits_from_uint(dt, (uint64_t)range_of_dtype(dt).hi);
    case ANY:
    case SAME: break;
    }
    return false;
}

static Value *outcome_of(Builder *b, const Op *op, Outcome gives)
{
    const Type *ty = op_result(op, 0)->type;
    switch (gives) {
    case X: return op_arg(op, 0);
    case Y: return op_arg(op, 1);
    case GIVES_ZERO:
    case GIVES_FALSE: return build_const(b, ty, 0);
    case GIVES_TRUE: return build_const(b, ty, 1);
    case GIVES_ONES: return build_const(b, ty, bits_from_int(type_dtype(ty), -1));
    }
    return NULL;
}

static Value *fold_identity(Builder *b, const Op *op)
{
    if (op->nargs != 2) return NULL;
    Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
        const Identity *id = &identities[i];
        if (id->kind == op->kind && type_is_of(x->type, id->domain) && matches(x, y, id->x) &&
            matches(y, x, id->y)) {
            return outcome_of(b, op, id->gives);
        }
    }
    return NULL;
}

static bool is_const(const Value *v)
{
    return ir_def(v, OP_CONST) != NULL;
}

/* ---- operand order ---- */

static OpKind mirrored(OpKind kind)
{
    switch (kind) {
    case OP_LT: return OP_GT;
    case OP_LE: return OP_GE;
    case OP_GT: return OP_LT;
    case OP_GE: return OP_LE;
    default: return kind;
    }
}

/* Constant and variable change places. Only an op that may swap comes here. */
static Value *fold_order(Builder *b, Op *op)
{
    Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    bool commutes = ir_has(op, OT_COMMUTE), compares = ir_has(op, OT_COMPARE);
    if (!commutes && !compares) return NULL;
    bool swap = is_const(x) != is_const(y) ? is_const(x) : commutes && x->id > y->id;
    return swap ? build_binary(b, mirrored(op->kind), y, x) : NULL;
}

/* (x op c) op d is x op (c op d) for integer ops that wrap alike in any order. */
static Value *fold_constants_together(Builder *b, const Op *op)
{
    Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    const Op *inner = ir_def(x, op->kind);
    if (!type_is_int(x->type) || !is_const(y) || !inner || !is_const(op_arg(inner, 1))) return NULL;
    return build_binary(b, op->kind, op_arg(inner, 0),
                        build_binary(b, op->kind, op_arg(inner, 1), y));
}

/* (x + c) - d is x + (c - d), and the like; what comes out below 0 is a difference, as people write
   it. */
static Value *fold_offsets(Builder *b, Op *op)
{
    int64_t c, d;
    Value *x = op_arg(op, 0);
    const Op *inner = x->def;
    if (!type_is_int(x->type) || !inner || (inner->kind != OP_ADD && inner->kind != OP_SUB) ||
        !ir_const_int(op_arg(inner, 1), &c) || !ir_const_int(op_arg(op, 1), &d))
        return NULL;
    const uint64_t to = (inner->kind == OP_ADD ? (uint64_t)c : 0 - (uint64_t)c) +
                        (op->kind == OP_ADD ? (uint64_t)d : 0 - (uint64_t)d);
    const bool is_less = to >> 63;
    const uint64_t bits = bits_from_uint(type_dtype(x->type), is_less ? 0 - to : to);
    return build_binary(b, is_less ? OP_SUB : OP_ADD, op_arg(inner, 0),
                        build_const(b, x->type, bits));
}

static Value *fold_associative(Builder *b, Op *op)
{
    Value *v = fold_order(b, op);
    if (!v && op->kind == OP_ADD) v = fold_offsets(b, op);
    return v ? v : fold_constants_together(b, op);
}

/* ---- comparisons and logic ---- */

/* x <= c is x < c+1, and x > c is x >= c+1: masks then have one form, which divisors can decide by
   groups. The largest c was an identity. */
static Value *fold_strictness(Builder *b, const Op *op)
{
    Value *x = op_arg(op, 0), *c = op_arg(op, 1);
    if ((op->kind != OP_LE && op->kind != OP_GT) || !type_is_int(x->type) || !is_const(c))
        return NULL;
    Value *one = build_const(b, c->type, 1);
    return build_binary(b, op->kind == OP_LE ? OP_LT : OP_GE, x, build_binary(b, OP_ADD, c, one));
}

/* Comparing a bool with a constant, or the number a bool was cast to. */
static Value *fold_bool_compare(Builder *b, const Op *op)
{
    uint64_t bits;
    Value *x = op_arg(op, 0);
    if ((op->kind != OP_EQ && op->kind != OP_NE) || !ir_const_bits(op_arg(op, 1), &bits))
        return NULL;
    const Op *cast = ir_def(x, OP_CAST);
    if (cast && type_is_bool(op_arg(cast, 0)->type) && type_is_int(x->type)) x = op_arg(cast, 0);
    if (!type_is_bool(x->type) || bits > 1) return NULL;
    return (op->kind == OP_EQ) == (bits == 1) ? x : build_unary(b, OP_NOT, x);
}

static Value *fold_compare(Builder *b, Op *op)
{
    Value *v = fold_order(b, op);
    if (!v) v = fold_strictness(b, op);
    return v ? v : fold_bool_compare(b, op);
}

/* Comparisons of floats have no opposite but for equality: all are false for NaN. */
static Value *fold_not(Builder *b, Op *op)
{
    Value *x = op_arg(op, 0);
    const Op *inner = x->def;
    if (!inner) return NULL;
    if (inner->kind == OP_NOT) return op_arg(inner, 0);
    OpKind kind = ir_opposite_compare(inner->kind);
    bool exact = kind == OP_EQ || kind == OP_NE ||
                 (kind != OP_NONE && !type_is_float(op_arg(inner, 0)->type));
    return exact ? build_binary(b, kind, op_arg(inner, 0), op_arg(inner, 1)) : NULL;
}

static Value *fold_neg(Builder *b, Op *op)
{
    (void)b;
    const Op *inner = ir_def(op_arg(op, 0), OP_NEG);
    return inner ? op_arg(inner, 0) : NULL;
}

static Value *fold_select(Builder *b, Op *op)
{
    Value *cond = op_arg(op, 0), *x = op_arg(op, 1), *y = op_arg(op, 2);
    uint64_t bits, yes, no;
    if (x == y) return x;
    if (ir_const_bits(cond, &bits)) return bits ? x : y;
    const Op *splat = ir_def(cond, OP_SPLAT), *negation = ir_def(cond, OP_NOT);
    if (splat && type_is_block(x->type)) return build_select(b, op_arg(splat, 0), x, y);
    if (negation) return build_select(b, op_arg(negation, 0), y, x);
    if (cond->type != x->type || !ir_const_bits(x, &yes) || !ir_const_bits(y, &no)) return NULL;
    if (yes == no) return x;
    return yes ? cond : build_unary(b, OP_NOT, cond);
}

/* ---- casts ---- */

/* Every value of `from` is one of `to`, and casting it there does not change it. */
static bool is_lossless(DType from, DType to)
{
    const DTypeInfo *f = dtype_info(from), *t = dtype_info(to);
    if (f->kind == DK_FLOAT && t->kind == DK_FLOAT)
        return f->exp_bits <= t->exp_bits && f->man_bits <= t->man_bits;
    if (f->kind == DK_FLOAT || t->kind == DK_FLOAT || t->kind == DK_BOOL) return from == to;
    return range_is_within(range_of_dtype(from), range_of_dtype(to));
}

static bool is_integer(DType dt)
{
    return dtype_info(dt)->kind == DK_INT || dtype_info(dt)->kind == DK_UINT;
}

/* A number's low bits are the same in every integer type that has them. */
static bool takes_low_bits(DType from, DType via, DType to)
{
    return dtype_info(from)->kind != DK_FLOAT && is_integer(via) && is_integer(to) &&
           dtype_info(to)->bits <= dtype_info(via)->bits;
}

/* A cast of a cast where the first one lost nothing the second could see. */
static Value *fold_cast(Builder *b, Op *op)
{
    Value *x = op_arg(op, 0);
    const Op *inner = ir_def(x, OP_CAST);
    if (op_result(op, 0)->type == x->type) return x;
    if (!inner) return NULL;
    Value *source = op_arg(inner, 0);
    DType from = type_dtype(source->type), via = type_dtype(x->type),
          to = type_dtype(op_result(op, 0)->type);
    if (!takes_low_bits(from, via, to) && !is_lossless(from, via)) return NULL;
    return build_cast(b, source, to, tkc_op_str(op, ATTR_ROUNDING, NULL));
}

static Value *fold_bitcast(Builder *b, Op *op)
{
    Value *x = op_arg(op, 0);
    const Type *to = op_result(op, 0)->type;
    if (to == x->type) return x;
    const Op *inner = ir_def(x, OP_BITCAST);
    if (!inner) return NULL;
    if (op_arg(inner, 0)->type == to) return op_arg(inner, 0);
    return build_bitcast(b, op_arg(inner, 0), tkc_type_element(to));
}

static Value *(*const rules[OP_COUNT])(Builder *, Op *) = {
    [OP_ADD] = fold_associative, [OP_MUL] = fold_associative, [OP_AND] = fold_associative,
    [OP_OR] = fold_associative,  [OP_MULHI] = fold_order,     [OP_MIN_NAN] = fold_order,
    [OP_MAX_NAN] = fold_order,   [OP_XOR] = fold_associative, [OP_MIN] = fold_associative,
    [OP_MAX] = fold_associative, [OP_EQ] = fold_compare,      [OP_NE] = fold_compare,
    [OP_LT] = fold_compare,      [OP_LE] = fold_compare,      [OP_GT] = fold_compare,
    [OP_GE] = fold_compare,      [OP_NOT] = fold_not,         [OP_NEG] = fold_neg,
    [OP_SUB] = fold_offsets,     [OP_SELECT] = fold_select,   [OP_CAST] = fold_cast,
    [OP_BITCAST] = fold_bitcast,
};

Value *fold_arithmetic(Builder *b, Op *op)
{
    if (!ir_has(op, OT_EW)) return NULL;
    Value *v = fold_identity(b, op);
    return v || !rules[op->kind] ? v : rules[op->kind](b, op);
}
