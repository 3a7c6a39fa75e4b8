/* Moves of elements. A block of one value stays one through every move, and arithmetic on such
   blocks is done on the scalar: `splat` sinks to where the blocks begin to differ. Chains of one
   kind of move become one move. With layouts only the first holds: a chain's inner types are where
   layouts change. */
#include "transform/fold.h"

#include <stddef.h>

static Value *make(Builder *b, OpKind kind, int n, Value *const *args, const Type *ty)
{
    return op_result(build_op(b, kind, n, args, 1, &ty), 0);
}

/* ---- blocks of one value ---- */

/* The scalar that v repeats, or NULL: made anew from a block constant. */
static Value *repeated(Builder *b, Value *v, bool make_it)
{
    uint64_t bits;
    const Op *splat = ir_def(v, OP_SPLAT);
    if (splat) return op_arg(splat, 0);
    if (!type_is_block(v->type)) return v;
    if (!ir_const_bits(v, &bits)) return NULL;
    return make_it ? build_const(b, tkc_type_element(v->type), bits) : v;
}

static bool is_move(const Op *op)
{
    return ir_has(op, OT_SHAPE) && op->nargs == 1;
}

static Value *fold_move_of_one_value(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    const Op *splat = ir_def(op_arg(op, 0), OP_SPLAT);
    if (!splat || op->kind == OP_SPLAT) return NULL;
    Value *scalar = op_arg(splat, 0);
    return type_is_block(ty) ? make(b, OP_SPLAT, 1, &scalar, ty) : scalar;
}

/* Hints speak of dims and stay. Arithmetic that is all constants and still here has no value at
   compile time. */
static bool can_be_scalar(Builder *b, const Op *op)
{
    if (!ir_has(op, OT_EW) || op->kind == OP_HINT || op->nargs < 1 || op->nargs > 3) return false;
    bool some = false;
    for (int i = 0; i < op->nargs; i++) {
        if (!repeated(b, op_arg(op, i), false)) return false;
        some |= !type_is_block(op_arg(op, i)->type) || ir_def(op_arg(op, i), OP_SPLAT);
    }
    return some && type_is_block(op_result(op, 0)->type);
}

static Value *fold_splat_arithmetic(Builder *b, Op *op)
{
    Value *args[3];
    if (!can_be_scalar(b, op)) return NULL;
    const Type *ty = op_result(op, 0)->type;
    for (int i = 0; i < op->nargs; i++) args[i] = repeated(b, op_arg(op, i), true);
    Value *scalar = make(b, op->kind, op->nargs, args, tkc_type_element(ty));
    ir_copy_attrs(b->fn, scalar->def, op);
    return make(b, OP_SPLAT, 1, &scalar, ty);
}

/* ---- chains ---- */

static Value *fold_broadcast(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    const Op *inner = ir_def(op_arg(op, 0), OP_BROADCAST);
    return inner ? build_broadcast(b, op_arg(inner, 0), ty->rank, ty->shape) : NULL;
}

static Value *fold_trans(Builder *b, const Op *op)
{
    const Op *inner = ir_def(op_arg(op, 0), OP_TRANS);
    if (!inner) return NULL;
    const Attr *outer_perm = tkc_op_attr(op, ATTR_PERM),
               *inner_perm = tkc_op_attr(inner, ATTR_PERM);
    int perm[TKC_MAX_RANK];
    for (int i = 0; i < outer_perm->count; i++) perm[i] = (int)inner_perm->v[outer_perm->v[i]];
    return build_trans(b, op_arg(inner, 0), perm);
}

/* What was another shape for one conversion alone. */
static Value *fold_there_and_back(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    const Op *cast = ir_def(op_arg(op, 0), OP_CAST);
    if (!cast || op_result(cast, 0)->uses->next) return NULL;
    const Op *inner = ir_def(op_arg(cast, 0), OP_RESHAPE);
    if (!inner || tkc_op_int(op, ATTR_REORDER, 0) || tkc_op_int(inner, ATTR_REORDER, 0)) return NULL;
    Value *x = op_arg(inner, 0);
    if (!type_same_shape(x->type, ty)) return NULL;
    Value *v = make(b, OP_CAST, 1, &x, ty);
    ir_copy_attrs(b->fn, v->def, cast);
    return v;
}

/* Adding a dim of extent 1 is a reshape too. */
static Value *fold_reshape(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    const Op *inner = ir_def(op_arg(op, 0), OP_RESHAPE);
    if (!inner) inner = ir_def(op_arg(op, 0), OP_EXPAND_DIMS);
    if (!inner) return fold_there_and_back(b, op);
    if (tkc_op_int(op, ATTR_REORDER, 0) || tkc_op_int(inner, ATTR_REORDER, 0)) return NULL;
    return build_reshape(b, op_arg(inner, 0), ty->rank, ty->shape, false);
}

static Value *fold_chain(Builder *b, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    const bool moves = op->kind == OP_TRANS || tkc_op_int(op, ATTR_REORDER, 0) ||
                       tkc_op_int(op, ATTR_CANONICAL, 0);
    if (op_arg(op, 0)->type == ty && !moves) return op_arg(op, 0);
    if (ty->layout) return NULL;
    switch (op->kind) {
    case OP_BROADCAST: return fold_broadcast(b, op);
    case OP_TRANS: return fold_trans(b, op);
    case OP_RESHAPE: return fold_reshape(b, op);
    default: return NULL;
    }
}

Value *fold_shape(Builder *b, Op *op)
{
    if (!is_move(op)) return fold_splat_arithmetic(b, op);
    Value *v = fold_move_of_one_value(b, op);
    return v ? v : fold_chain(b, op);
}
