/* A product of fp32 by tf32x3 that warp groups could compute, were it of tf32, becomes three of
   these: groups read b from memory, and have nothing there but what is stored. Each operand is the
   sum of a part that tf32 has, and the rest of it, so that

     a b = rest(a) big(b) + big(a) rest(b) + big(a) big(b)

   but for the product of the rests, which is less than what rounding leaves. Small products first,
   apart from what is added to: the big parts of infinite operands are all that matters, what they
   leave to the others (infinity minus infinity) counts as nothing, as in lower/mma.c. */
#include <string.h>

#include "ir/build.h"
#include "ir/dot_unit.h"
#include "transform/passes.h"

static bool is_by_three(const Op *dot)
{
    return dot->kind == OP_DOT && !strcmp(tkc_op_str(dot, ATTR_PRECISION, "ieee"), "tf32x3") &&
           type_dtype(op_arg(dot, 0)->type) == DT_F32;
}

/* What two sums of a product take of a thread's registers is not to be more than a half. */
static bool has_room(const Op *dot)
{
    enum { MOST = 64, LANES = 32 };
    const Type *sum = op_result(dot, 0)->type;
    return sum->shape[0] * sum->shape[1] <= MOST * LANES * dot->region->func->num_warps;
}

/* Its first 11 bits. What is cut off, not rounded, is finite, and what rounding would take more
   instructions for than the products (a NaN by none but its last 13 bits is infinite in tf32 wherever
   it is multiplied). */
static Value *big_part(Builder *b, Value *x)
{
    enum { KEPT = -0x2000 };
    const Type *bits_type = type_with_dtype(ir_of(b->fn)->types, x->type, DT_I32);
    Value *bits = build_bitcast(b, x, tkc_type_element(bits_type)),
          *kept = build_binary(b, OP_AND, bits, build_const(b, bits_type, (uint64_t)KEPT));
    return build_bitcast(b, kept, tkc_type_element(x->type));
}

static Value *product(Builder *b, Value *x, Value *y, Value *sum)
{
    Value *v = build_dot(b, x, y, sum, "tf32");
    ir_set_int(b->fn, v->def, ATTR_PARTS, 1);
    return v;
}

static void split(Op *dot)
{
    Value *big[2], *rest[2], *sum = op_arg(dot, 2);
    for (int i = 0; i < 2; i++) {
        Value *x = op_arg(dot, i);
        Builder b = build_before_at(dot_home(dot, x), dot->loc);
        big[i] = big_part(&b, x);
        rest[i] = build_binary(&b, OP_SUB, x, big[i]);
    }
    Builder b = build_before(dot);
    Value *zero = build_const(&b, sum->type, 0),
          *small = product(&b, big[0], rest[1], product(&b, rest[0], big[1], zero)),
          *is_nan = build_binary(&b, OP_NE, small, small),
          *all = product(&b, big[0], big[1], build_select(&b, is_nan, zero, small));
    if (!dot_begins_at_0(dot)) all = build_binary(&b, OP_ADD, sum, all);
    ir_replace(dot, &all);
}

/* needs: nothing.  keeps: layouts.  changes: products by tf32x3 that warp groups can compute in
   parts. */
void parts_run(Pass *p, Func *fn)
{
    (void)p;
    for (Op *dot = fn->body->first, *next; dot; dot = next) {
        WarpSplit groups;
        next = ir_next(dot, NULL);
        if (!is_by_three(dot)) continue;
        ir_set_str(fn, dot, ATTR_PRECISION, "tf32"); /* asked of what it would be */
        const bool can = has_room(dot) && dot_splits_in_groups(dot, &groups);
        ir_set_str(fn, dot, ATTR_PRECISION, "tf32x3");
        if (can) split(dot);
    }
}
