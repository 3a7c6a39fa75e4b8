/* Quotients and remainders of integers: truncating; x / 0 = 0 and x % 0 = x; min / -1 = min and
   min % -1 = 0, as negation wraps.

   A block divided by one int32 that is not known (the size of a row) costs more than all else of a
   kernel that finds its place so. 2^32 - 1 over the divisor's size, computed once, gives each
   quotient by the high half of a product, at most one too small; in place of 0, of which the
   quotient is to be 0, 2^32 - 1 divides. So it does in an innermost loop that does not change the
   divisor (the scales of a product's blocks), whatever is divided. Where neighbours in a thread
   count up from a multiple of their number, which divides the divisor, too, none but the first is a
   multiple of it: one quotient is all theirs, but that below zero, where quotients are rounded up,
   a first one without remainder is alone. */
#include "analysis/range.h"
#include "base/power.h"
#include "layout/vector.h"
#include "lower/math.h"

/* Of an op, and of one divisor of it. */
typedef struct Division {
    Lower *L;
    DType dt;
    LLVMTypeRef wide; /* of an instruction: 16 bits for a byte, so that -128 / -1 fits; 32 of 64
                         where these are enough */
    bool is_signed, may_be_zero, may_be_minus_one, may_be_negative, x_may_be_negative;
    bool by_product; /* the first element prepares it … */
    bool stays;      /* … and a loop around divides by the same in each turn */
    LLVMValueRef size, inverse, sign; /* then */
} Division;

static LLVMValueRef constant_of(const Division *d, int64_t v)
{
    return LLVMConstInt(d->wide, (uint64_t)v, true);
}

static LLVMValueRef is_number(const Division *d, LLVMValueRef x, int64_t v)
{
    return LLVMBuildICmp(d->L->b, LLVMIntEQ, x, constant_of(d, v), "");
}

/* Where another loop is within, what a turn divides takes little of its time, and what is kept for
   it registers of the inner one's. */
static bool stays_in_loop(const Op *op, const Value *by)
{
    const Region *turn = ir_turn(op);
    return turn && ir_is_defined_outside(by, turn) && !ir_contains(turn, OP_FOR, true) &&
           !ir_contains(turn, OP_WHILE, true);
}

/* 64 bits are divided by a program of some 100 instructions; the quotient of the least number by -1
   would not fit 32. */
static bool fits_32_bits(bool is_signed, const AxisFact *x, const AxisFact *y)
{
    const int64_t least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    return x->lo_all >= least + is_signed && x->hi_all <= most && y->lo_all >= least &&
           y->hi_all <= most;
}

/* What is known on every lane. */
static Division division_of(Lower *L, const Op *op)
{
    const AxisFact *x = axis_of(L->facts, op_arg(op, 0)), *y = axis_of(L->facts, op_arg(op, 1));
    const DType dt = type_dtype(op_arg(op, 0)->type);
    const bool is_signed = dtype_info(dt)->kind == DK_INT, is_byte = dtype_info(dt)->bits == 8;
    const bool is_short = dtype_info(dt)->bits == 64 && fits_32_bits(is_signed, x, y);
    const Value *by = op_arg(op, 1);
    const bool by_one = ir_is_uniform(by) && !ir_def(by, OP_CONST);
    return (Division){.L = L,
                      .dt = dt,
                      .wide = is_byte ? L->i16 : is_short ? L->i32 : lower_dtype(L, dt),
                      .is_signed = is_signed,
                      .may_be_zero = !(y->lo_all > 0 || y->hi_all < 0),
                      .may_be_minus_one =
                          is_signed && !is_byte && !(y->lo_all > -1 || y->hi_all < -1),
                      .may_be_negative = is_signed && y->lo_all < 0,
                      .x_may_be_negative = is_signed && x->lo_all < 0,
                      .by_product = by_one && dt == DT_I32,
                      .stays = stays_in_loop(op, by)};
}

/* ---- by an instruction ---- */

/* The divisor where it has a quotient, else 1; and where it has none. NULL: it is known not to be. */
typedef struct Guarded {
    LLVMValueRef by, is_zero, is_minus_one;
} Guarded;

static Guarded guarded(const Division *d, LLVMValueRef y)
{
    LLVMValueRef one = constant_of(d, 1);
    Guarded g = {.by = y};
    if (d->may_be_zero) g.by = pick(d->L, g.is_zero = is_number(d, y, 0), one, g.by);
    if (d->may_be_minus_one) g.by = pick(d->L, g.is_minus_one = is_number(d, y, -1), one, g.by);
    return g;
}

static LLVMValueRef as_wide(const Division *d, LLVMValueRef v)
{
    return LLVMBuildIntCast2(d->L->b, v, d->wide, d->is_signed, "");
}

static LLVMValueRef of_its_type(const Division *d, LLVMValueRef v)
{
    return LLVMBuildIntCast2(d->L->b, v, lower_dtype(d->L, d->dt), d->is_signed, "");
}

static LLVMValueRef quotient_by_instruction(const Division *d, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = d->L->b;
    const Guarded g = guarded(d, as_wide(d, y));
    LLVMValueRef n = as_wide(d, x);
    LLVMValueRef q = d->is_signed ? LLVMBuildSDiv(b, n, g.by, "") : LLVMBuildUDiv(b, n, g.by, "");
    if (g.is_minus_one) q = pick(d->L, g.is_minus_one, LLVMBuildNeg(b, n, ""), q);
    if (g.is_zero) q = pick(d->L, g.is_zero, constant_of(d, 0), q);
    return of_its_type(d, q);
}

static LLVMValueRef remainder_by_instruction(const Division *d, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = d->L->b;
    const Guarded g = guarded(d, as_wide(d, y));
    LLVMValueRef n = as_wide(d, x);
    LLVMValueRef r = d->is_signed ? LLVMBuildSRem(b, n, g.by, "") : LLVMBuildURem(b, n, g.by, "");
    if (g.is_zero) r = pick(d->L, g.is_zero, n, r);
    return of_its_type(d, r);
}

/* ---- by a product ---- */

/* All ones where x is negative. */
static LLVMValueRef sign_of(const Division *d, LLVMValueRef x)
{
    const LLVMTypeRef ty = LLVMTypeOf(x);
    return LLVMBuildAShr(d->L->b, x, LLVMConstInt(ty, LLVMGetIntTypeWidth(ty) - 1, false), "");
}

/* x, or -x where the sign is all ones. */
static LLVMValueRef with_sign(const Division *d, LLVMValueRef x, LLVMValueRef sign)
{
    if (!sign) return x;
    return LLVMBuildSub(d->L->b, LLVMBuildXor(d->L->b, x, sign, ""), sign, "");
}

/* To build behind what gives y: no turn does it again, though LLVM moves nothing out of loops. */
static void move_behind(Lower *L, LLVMValueRef y)
{
    if (LLVMIsAArgument(y)) L->b = L->entry;
    if (!LLVMIsAInstruction(y)) return;
    LLVMValueRef next = LLVMGetNextInstruction(y);
    while (next && LLVMIsAPHINode(next)) next = LLVMGetNextInstruction(next);
    if (next) LLVMPositionBuilderBefore(L->b, next);
    else lower_place(L, LLVMGetInstructionParent(y));
}

static void prepare(Division *d, LLVMValueRef y)
{
    LLVMBuilderRef b = d->L->b;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    if (d->stays) move_behind(d->L, y);
    LLVMValueRef most = constant_of(d, -1);
    d->sign = d->may_be_negative ? sign_of(d, y) : NULL;
    d->size = with_sign(d, y, d->sign);
    if (d->may_be_zero) d->size = pick(d->L, is_number(d, y, 0), most, d->size);
    d->inverse = LLVMBuildUDiv(d->L->b, most, d->size, "");
    d->L->b = b;
    lower_place(d->L, here);
}

static LLVMValueRef quotient_by_product(Division *d, LLVMValueRef x, LLVMValueRef y)
{
    LLVMBuilderRef b = d->L->b;
    if (!d->inverse) prepare(d, y);
    LLVMValueRef sign = d->x_may_be_negative ? sign_of(d, x) : NULL, size = with_sign(d, x, sign);
    LLVMValueRef q = lower_instr(d->L, INSTR_MUL_HI_U32, size, d->inverse);
    LLVMValueRef rest = LLVMBuildSub(b, size, LLVMBuildMul(b, q, d->size, ""), "");
    LLVMValueRef more = LLVMBuildICmp(b, LLVMIntUGE, rest, d->size, "");
    q = LLVMBuildAdd(b, q, LLVMBuildZExt(b, more, d->L->i32, ""), "");
    if (sign && d->sign) sign = LLVMBuildXor(b, sign, d->sign, "");
    return with_sign(d, q, sign ? sign : d->sign);
}

static LLVMValueRef remainder_of(const Division *d, LLVMValueRef x, LLVMValueRef y, LLVMValueRef q)
{
    return LLVMBuildSub(d->L->b, x, LLVMBuildMul(d->L->b, q, y, ""), "");
}

static LLVMValueRef quotient(Division *d, LLVMValueRef x, LLVMValueRef y)
{
    return d->by_product ? quotient_by_product(d, x, y) : quotient_by_instruction(d, x, y);
}

LLVMValueRef lower_divide_element(Lower *L, const Op *op, LLVMValueRef x, LLVMValueRef y)
{
    const Division d = division_of(L, op);
    if (d.dt == DT_I1) /* by 1, or by 0 */
        return LLVMBuildAnd(L->b, x, op->kind == OP_DIV ? y : LLVMBuildNot(L->b, y, ""), "");
    return (op->kind == OP_DIV ? quotient_by_instruction : remainder_by_instruction)(&d, x, y);
}

/* ---- of a block ---- */

/* Nothing but the vector's own registers tells its elements apart. */
static bool is_whole(const Layout *l, const VectorBits *v)
{
    const uint32_t inside = ((UINT32_C(1) << v->log2) - 1) << layout_dim_shift(l, v->dim);
    for (int kind = DIM_REGISTER; kind <= DIM_WARP; kind++)
        for (int i = 0; i < l->nbits[kind]; i++) {
            const uint32_t basis = l->basis[kind][i];
            if (basis & inside && (kind != DIM_REGISTER || basis & (basis - 1))) return false;
        }
    return !layout_has_offset(l);
}

/* Neighbours in a thread that have one quotient, but for the first of them. */
static VectorBits neighbours_of(const Lower *L, const Op *op)
{
    VectorBits best = {0};
    const Type *ty = op_result(op, 0)->type;
    for (int d = 0; type_is_block(ty) && d < ty->rank; d++) {
        VectorBits v = {.dim = d};
        const int most = log2_floor(axis_group_of_division(L->facts, op, d)),
                  room = (int)(sizeof v.bit / sizeof *v.bit);
        v.log2 = layout_steps(ty->layout, d, most < room ? most : room, v.bit);
        if (v.log2 > best.log2 && is_whole(ty->layout, &v)) best = v;
    }
    return best;
}

/* The quotient of all but the first. */
static LLVMValueRef quotient_of_others(const Division *d, LLVMValueRef x, LLVMValueRef y,
                                       LLVMValueRef q)
{
    LLVMBuilderRef b = d->L->b;
    if (!d->x_may_be_negative) return q;
    LLVMValueRef zero = LLVMConstInt(LLVMTypeOf(x), 0, false),
                 one = LLVMConstInt(LLVMTypeOf(x), 1, false);
    LLVMValueRef is_below = LLVMBuildICmp(b, LLVMIntSLT, x, zero, ""),
                 is_even = LLVMBuildICmp(b, LLVMIntEQ, remainder_of(d, x, y, q), zero, "");
    LLVMValueRef rounds_up = LLVMBuildAnd(b, is_below, is_even, ""),
                 up = with_sign(d, one, d->may_be_negative ? sign_of(d, y) : NULL);
    return LLVMBuildAdd(b, q, pick(d->L, rounds_up, up, zero), "");
}

/* Of the vector whose first element is x. */
static void divide_vector(Division *d, const Op *op, const VectorBits *v, uint32_t head,
                          LLVMValueRef x, LLVMValueRef y, Regs out)
{
    LLVMValueRef q = quotient(d, x, y), others = v->log2 ? quotient_of_others(d, x, y, q) : q;
    const bool is_div = op->kind == OP_DIV;
    LLVMValueRef rest = is_div || !v->log2 ? NULL : remainder_of(d, x, y, others);
    out.r[head].v = is_div ? q : remainder_of(d, x, y, q);
    for (int i = 1; i < 1 << v->log2; i++)
        out.r[vector_register(v, head, i)] =
            is_div ? (Reg){.v = others} : (Reg){.v = rest, .imm = i};
}

void lower_divide(Lower *L, const Op *op)
{
    const Value *a = op_arg(op, 0), *b = op_arg(op, 1), *result = op_result(op, 0);
    const int n = lower_nregs(result->type);
    const VectorBits v = neighbours_of(L, op);
    Division d = division_of(L, op);
    if (!v.log2 && (!d.by_product || (n == 1 && !d.stays))) {
        lower_elementwise(L, op, lower_arith_element);
        return;
    }
    const uint32_t equal = lower_equal_registers(L, result);
    Regs out = lower_regs_new(L, n);
    for (int r = 0; r < n; r++) {
        if ((uint32_t)r & equal) out.r[r] = out.r[(uint32_t)r & ~equal];
        else if (vector_begins(&v, (uint32_t)r))
            divide_vector(&d, op, &v, (uint32_t)r, lower_reg(L, a, r), lower_reg(L, b, r), out);
    }
    lower_set(L, result, out);
}
