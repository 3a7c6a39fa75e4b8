/* Read-modify-write as the type of the elements has it. max and min of floats work on the bits: two
   non-negative floats order as signed integers, two negative ones as unsigned integers the other
   way round; the sign of the operand picks one of two masked ops. Where the bits are 16 memory does
   neither, and the target compares floats in a loop. */
#include <string.h>

#include "ir/build.h"

/* Of the value's bits, as integers. */
static Value *extremum_of_bits(Builder *b, const AtomicArgs *a, const char *rmw, Value *bits,
                               Value *mask)
{
    const Type *as = type_pointer(ir_of(b->fn)->types, tkc_type_element(bits->type));
    Value *pointer = build_bitcast(b, a->args[0], as);
    return build_atomic(b, OP_ATOMIC_RMW, rmw,
                        &(AtomicArgs){{pointer, bits, mask}, a->sem, a->scope});
}

static Value *float_extremum(Builder *b, const AtomicArgs *a, bool max)
{
    TypeTable *types = ir_of(b->fn)->types;
    const bool wide = type_bits(a->args[1]->type) == 64;
    const Type *s = type_scalar(types, wide ? DT_I64 : DT_I32),
               *u = type_scalar(types, wide ? DT_U64 : DT_U32);
    Value *bits = build_bitcast(b, a->args[1], s);
    Value *negative = build_binary(b, OP_LT, bits, build_const(b, bits->type, 0));
    Value *positive = build_unary(b, OP_NOT, negative);
    Value *mask = build_and(b, a->args[2], positive);
    Value *x = extremum_of_bits(b, a, max ? "max" : "min", bits, mask);
    mask = build_and(b, a->args[2], negative);
    bits = build_bitcast(b, a->args[1], u);
    Value *y = extremum_of_bits(b, a, max ? "umin" : "umax", bits, mask);
    Value *old = build_select(b, positive, x, build_bitcast(b, y, s));
    return build_bitcast(b, old, tkc_type_element(a->args[1]->type));
}

Value *build_rmw(Builder *b, const char *what, const AtomicArgs *a)
{
    const Type *ty = a->args[1]->type;
    const bool is_max = strcmp(what, "max") == 0, is_order = is_max || strcmp(what, "min") == 0;
    const bool is_half = type_is_float(ty) && type_bits(ty) == 16;
    if (is_order && type_is_float(ty) && !is_half) return float_extremum(b, a, is_max);
    if (is_order && is_half) what = is_max ? "fmax" : "fmin";
    if (type_is_float(ty) && strcmp(what, "add") == 0) what = "fadd";
    if (is_order && type_kind(ty) == DK_UINT) what = is_max ? "umax" : "umin";
    return build_atomic(b, OP_ATOMIC_RMW, what, a);
}
