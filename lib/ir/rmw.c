/* Read-modify-write as the type of the elements has it. max and min of floats work on the bits: two
   non-negative floats order as signed integers, two negative ones as unsigned integers the other
   way round; the sign of the operand picks one of two masked ops. */
#include <string.h>

#include "ir/build.h"

typedef struct Rmw {
    Value *pointer, *value, *mask;
    const char *sem, *scope;
} Rmw;

static Value *float_extremum(Builder *b, const Rmw *r, bool max)
{
    TypeTable *types = ir_of(b->fn)->types;
    const bool wide = type_bits(r->value->type) == 64;
    const Type *s = type_scalar(types, wide ? DT_I64 : DT_I32),
               *u = type_scalar(types, wide ? DT_U64 : DT_U32);
    Value *bits = build_bitcast(b, r->value, s);
    Value *negative = build_binary(b, OP_LT, bits, build_const(b, bits->type, 0));
    Value *positive = build_unary(b, OP_NOT, negative);
    Value *mask = build_and(b, r->mask, positive);
    Value *pointer = build_bitcast(b, r->pointer, type_pointer(types, s));
    Value *x = build_atomic_rmw(b, max ? "max" : "min", pointer, bits, mask, r->sem, r->scope);
    mask = build_and(b, r->mask, negative);
    bits = build_bitcast(b, r->value, u);
    pointer = build_bitcast(b, r->pointer, type_pointer(types, u));
    Value *y = build_atomic_rmw(b, max ? "umin" : "umax", pointer, bits, mask, r->sem, r->scope);
    Value *old = build_select(b, positive, x, build_bitcast(b, y, s));
    return build_bitcast(b, old, tkc_type_element(r->value->type));
}

Value *build_rmw(Builder *b, const char *what, Value *pointer, Value *value, Value *mask,
                 const char *sem, const char *scope)
{
    const Rmw r = {pointer, value, mask, sem, scope};
    const bool is_max = strcmp(what, "max") == 0, is_order = is_max || strcmp(what, "min") == 0;
    const bool is_float = type_is_float(value->type);
    if (is_order && is_float) return float_extremum(b, &r, is_max);
    if (is_float && strcmp(what, "add") == 0) what = "fadd";
    if (is_order && dtype_info(type_dtype(value->type))->kind == DK_UINT)
        what = is_max ? "umax" : "umin";
    return build_atomic_rmw(b, what, pointer, value, mask, sem, scope);
}
