/* Arithmetic on single elements, by table where LLVM has the operation, by a rule of LANGUAGE.md
   where it has not. No result is ever undefined for LLVM: shift counts outside their range (and
   divisors, divide.c) are selected away, unless they are constants in it.

   16-bit floats: sums and products are done as they are, two at a time, where the chip can
   (bfloat16 from sm_80 on), and comparisons of fp16; everything else is done in fp32 and rounded
   once, which for + - * / and sqrt is the same as rounding the exact result (24 bits are more than
   twice 11 plus two). */
#include "lower/lower.h"

#include "base/unwind.h"

typedef LLVMValueRef (*BuildBinary)(LLVMBuilderRef, LLVMValueRef, LLVMValueRef, const char *);

static const struct {
    BuildBinary on_int, on_float;
} builders[OP_COUNT] = {
    [OP_ADD] = {LLVMBuildAdd, LLVMBuildFAdd},
    [OP_SUB] = {LLVMBuildSub, LLVMBuildFSub},
    [OP_MUL] = {LLVMBuildMul, LLVMBuildFMul},
    [OP_AND] = {LLVMBuildAnd, NULL},
    [OP_OR] = {LLVMBuildOr, NULL},
    [OP_XOR] = {LLVMBuildXor, NULL},
};

static const struct {
    LLVMIntPredicate on_signed, on_unsigned;
    LLVMRealPredicate on_float;
} predicates[OP_COUNT] = {
    [OP_EQ] = {LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ},
    [OP_NE] = {LLVMIntNE, LLVMIntNE, LLVMRealUNE},
    [OP_LT] = {LLVMIntSLT, LLVMIntULT, LLVMRealOLT},
    [OP_LE] = {LLVMIntSLE, LLVMIntULE, LLVMRealOLE},
    [OP_GT] = {LLVMIntSGT, LLVMIntUGT, LLVMRealOGT},
    [OP_GE] = {LLVMIntSGE, LLVMIntUGE, LLVMRealOGE},
};

/* LLVM intrinsics on floats of one operand type. */
static const char *const intrinsics[OP_COUNT] = {
    [OP_MIN] = "llvm.minimumnum",  [OP_MAX] = "llvm.maximumnum", [OP_MIN_NAN] = "llvm.minimum",
    [OP_MAX_NAN] = "llvm.maximum", [OP_FMA] = "llvm.fma",        [OP_FLOOR] = "llvm.floor",
    [OP_CEIL] = "llvm.ceil",       [OP_TRUNC] = "llvm.trunc",    [OP_RINT] = "llvm.roundeven",
    [OP_SQRT_RN] = "llvm.sqrt",
};

static bool is_signed(DType dt)
{
    return dtype_info(dt)->kind == DK_INT;
}

static LLVMValueRef compare(Lower *L, OpKind kind, DType dt, LLVMValueRef x, LLVMValueRef y)
{
    LLVMIntPredicate p = is_signed(dt) ? predicates[kind].on_signed : predicates[kind].on_unsigned;
    return LLVMBuildICmp(L->b, p, x, y, "");
}

/* ---- integers ---- */

/* By a count that is not known, which PTX's own shifts take as it is. LLVM 22 recognises the
   protection below and drops it, but of 64-bit values it forgets that PTX looks at 32 bits of the
   count only, and a remainder, whose count it knows to be small, it protects in another way. */
static LLVMValueRef shift_by_any(Lower *L, OpKind kind, bool keeps_sign, LLVMValueRef x,
                                 LLVMValueRef count)
{
    const bool wide = LLVMTypeOf(x) == L->i64;
    const Instr instr = kind == OP_SHL ? wide ? INSTR_SHL_64 : INSTR_SHL_32
                        : keeps_sign   ? wide ? INSTR_SHR_S64 : INSTR_SHR_S32
                                       : wide ? INSTR_SHR_U64 : INSTR_SHR_U32;
    if (!wide) return lower_instr(L, instr, x, count);
    LLVMValueRef in_range =
        LLVMBuildICmp(L->b, LLVMIntULT, count, LLVMConstInt(L->i64, 64, false), "");
    LLVMValueRef low = LLVMBuildTrunc(L->b, count, L->i32, "");
    return lower_instr(L, instr, x, LLVMBuildSelect(L->b, in_range, low, lower_i32(L, 64), ""));
}

static bool is_in_range(const Lower *L, const Value *count, int width)
{
    const AxisFact *f = axis_of(L->facts, count);
    return f->lo_all >= 0 && f->hi_all < width;
}

/* Counts at or above the width give 0, or the sign for signed types. The count is unsigned. */
static LLVMValueRef shift(Lower *L, const Op *op, DType dt, LLVMValueRef x, LLVMValueRef count)
{
    const int width = dtype_info(dt)->bits;
    const bool keeps_sign = op->kind == OP_SHR && is_signed(dt);
    if (width == 1) return LLVMBuildAnd(L->b, x, LLVMBuildNot(L->b, count, ""), "");
    if (!LLVMIsAConstantInt(count) &&
        (width == 64 || (width == 32 && !is_in_range(L, op_arg(op, 1), width))))
        return shift_by_any(L, op->kind, keeps_sign, x, count);
    LLVMTypeRef ty = lower_dtype(L, dt);
    LLVMValueRef limit = LLVMConstInt(ty, (unsigned)width, false),
                 last = LLVMConstInt(ty, (unsigned)width - 1, false);
    LLVMValueRef in_range = LLVMBuildICmp(L->b, LLVMIntULT, count, limit, "");
    LLVMValueRef safe = LLVMBuildSelect(L->b, in_range, count, last, "");
    if (keeps_sign) return LLVMBuildAShr(L->b, x, safe, "");
    LLVMValueRef y =
        op->kind == OP_SHL ? LLVMBuildShl(L->b, x, safe, "") : LLVMBuildLShr(L->b, x, safe, "");
    return LLVMBuildSelect(L->b, in_range, y, LLVMConstNull(ty), "");
}

LLVMValueRef lower_high_product(Lower *L, DType dt, LLVMValueRef x, LLVMValueRef y)
{
    const int width = dtype_info(dt)->bits;
    LLVMTypeRef wide = LLVMIntTypeInContext(L->cx, (unsigned)width * 2),
                narrow = lower_dtype(L, dt);
    LLVMValueRef wx = LLVMBuildIntCast2(L->b, x, wide, is_signed(dt), ""),
                 wy = LLVMBuildIntCast2(L->b, y, wide, is_signed(dt), "");
    LLVMValueRef high = LLVMBuildLShr(L->b, LLVMBuildMul(L->b, wx, wy, ""),
                                      LLVMConstInt(wide, (unsigned)width, false), "");
    return LLVMBuildTrunc(L->b, high, narrow, "");
}

bool lower_is_half_product(const Op *op)
{
    const OpKind other = op->kind == OP_MUL ? OP_MULHI : OP_MUL;
    if (op->kind != OP_MUL && op->kind != OP_MULHI) return false;
    const Value *x = op_arg(op, 0), *y = op_arg(op, 1);
    if (type_dtype(x->type) != DT_U32) return false;
    const bool first = !x->def || !(ir_has(x->def, OT_CONST) || ir_has(x->def, OT_SHAPE));
    for (const Use *use = first ? x->uses : y->uses; use; use = use->next) {
        if (use->user->kind != other) continue;
        const Value *a = op_arg(use->user, 0), *b = op_arg(use->user, 1);
        if ((a == x && b == y) || (a == y && b == x)) return true;
    }
    return false;
}

/* One instruction makes both halves, which LLVM takes apart where it sees the product. Both ops ask
   for it with the operands in one order. */
static LLVMValueRef half_of_product(Lower *L, const Op *op, LLVMValueRef x, LLVMValueRef y)
{
    const bool swapped = op_arg(op, 0)->id > op_arg(op, 1)->id;
    LLVMValueRef both = lower_instr(L, INSTR_MUL_WIDE_U32, swapped ? y : x, swapped ? x : y);
    if (op->kind == OP_MULHI) both = LLVMBuildLShr(L->b, both, LLVMConstInt(L->i64, 32, false), "");
    return LLVMBuildTrunc(L->b, both, L->i32, "");
}

static LLVMValueRef absolute(Lower *L, DType dt, LLVMValueRef x)
{
    if (!is_signed(dt)) return x;
    return lower_call(L, "llvm.abs", lower_dtype(L, dt), x, LLVMConstInt(L->i1, 0, false));
}

static LLVMValueRef int_element(Lower *L, const Op *op, DType dt, const LLVMValueRef *args)
{
    LLVMValueRef x = args[0], y = op->nargs > 1 ? args[1] : NULL;
    if (lower_is_half_product(op) && !(LLVMIsConstant(x) && LLVMIsConstant(y)))
        return half_of_product(L, op, x, y);
    if (builders[op->kind].on_int) return builders[op->kind].on_int(L->b, x, y, "");
    switch (op->kind) {
    case OP_DIV:
    case OP_REM: return lower_divide_element(L, op, x, y);
    case OP_MULHI: return lower_high_product(L, dt, x, y);
    case OP_SHL:
    case OP_SHR: return shift(L, op, dt, x, y);
    case OP_MIN: return LLVMBuildSelect(L->b, compare(L, OP_LT, dt, x, y), x, y, "");
    case OP_MAX: return LLVMBuildSelect(L->b, compare(L, OP_GT, dt, x, y), x, y, "");
    case OP_NEG: return LLVMBuildNeg(L->b, x, "");
    case OP_NOT: return LLVMBuildNot(L->b, x, "");
    case OP_ABS: return absolute(L, dt, x);
    case OP_POPC: return lower_call(L, "llvm.ctpop", LLVMTypeOf(x), x);
    case OP_CLZ: /* of 0, too */
        return lower_call(L, "llvm.ctlz", LLVMTypeOf(x), x, LLVMConstInt(L->i1, 0, false));
    default: unwind_raise("integer '%s' reached the lowering", tkc_op_info(op->kind)->name);
    }
}

/* ---- floats ---- */

static void contract(const Lower *L, LLVMValueRef v)
{
    if (L->fn->fp_contract && LLVMIsAInstruction(v))
        LLVMSetFastMathFlags(v, LLVMFastMathAllowContract);
}

/* Sign-bit operations, which work on every format alike. */
static LLVMValueRef float_sign(Lower *L, OpKind kind, DType dt, LLVMValueRef x)
{
    LLVMTypeRef ty = lower_dtype(L, dt);
    if (LLVMGetTypeKind(ty) != LLVMIntegerTypeKind)
        return kind == OP_NEG ? LLVMBuildFNeg(L->b, x, "") : lower_call(L, "llvm.fabs", ty, x);
    uint64_t sign = UINT64_C(1) << (dtype_info(dt)->bits - 1);
    if (kind == OP_NEG) return LLVMBuildXor(L->b, x, LLVMConstInt(ty, sign, false), "");
    return LLVMBuildAnd(L->b, x, LLVMConstInt(ty, sign - 1, false), "");
}

/* On f32, f64, and f16 for what fp16 does itself. */
static LLVMValueRef float_native(Lower *L, const Op *op, const LLVMValueRef *args)
{
    LLVMTypeRef ty = LLVMTypeOf(args[0]);
    if (builders[op->kind].on_float) {
        LLVMValueRef v = builders[op->kind].on_float(L->b, args[0], args[1], "");
        contract(L, v);
        return v;
    }
    if (intrinsics[op->kind]) return lower_intrinsic(L, intrinsics[op->kind], ty, op->nargs, args);
    if (op->kind == OP_DIV_RN || (op->kind == OP_DIV && ty == L->f64))
        return LLVMBuildFDiv(L->b, args[0], args[1], "");
    if (op->kind == OP_DIV) return target_instr(L, INSTR_DIV, 2, args);
    if (op->kind == OP_REM) return lower_float_remainder(L, args[0], args[1]);
    unwind_raise("float '%s' reached the lowering", tkc_op_info(op->kind)->name);
}

/* Whether the chip does it in this type. */
static bool is_native(const Lower *L, OpKind kind, DType dt)
{
    if (dt == DT_F32 || dt == DT_F64) return true;
    switch (kind) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_FMA: return dt == DT_F16 || (dt == DT_BF16 && L->machine->sm >= 80);
    case OP_MIN:
    case OP_MAX:
    case OP_MIN_NAN:
    case OP_MAX_NAN: return dt == DT_F16 && L->machine->sm >= 80;
    default: return false;
    }
}

/* For formats of at most 22 bits without an fma of their own: in fp32 rounded to odd (of the two
   neighbours of an inexact result the one with an odd last place), which rounds on as the exact sum
   would. */
static LLVMValueRef narrow_fma(Lower *L, DType dt, const LLVMValueRef *args)
{
    LLVMValueRef wide[3];
    for (int i = 0; i < 3; i++) wide[i] = lower_to_f32(L, dt, args[i]);
    LLVMValueRef down = target_instr(L, INSTR_FMA_DOWN, 3, wide),
                 up = target_instr(L, INSTR_FMA_UP, 3, wide);
    LLVMValueRef bits = LLVMBuildBitCast(L->b, down, L->i32, "");
    LLVMValueRef down_is_odd = LLVMBuildTrunc(L->b, bits, L->i1, "");
    return lower_from_f32(L, dt, LLVMBuildSelect(L->b, down_is_odd, down, up, ""));
}

/* x + y = x 1 + y, x - y = y -1 + x and x y = x y + -0, rounded once. */
static LLVMValueRef by_fma(Lower *L, OpKind kind, const LLVMValueRef *args)
{
    LLVMTypeRef ty = LLVMTypeOf(args[0]);
    const bool is_vector = LLVMGetTypeKind(ty) == LLVMVectorTypeKind;
    LLVMValueRef number =
        LLVMConstReal(is_vector ? LLVMGetElementType(ty) : ty, kind == OP_ADD   ? 1
                                                               : kind == OP_SUB ? -1
                                                                                : -0.0);
    LLVMValueRef both[2] = {number, number}, c = is_vector ? LLVMConstVector(both, 2) : number;
    return lower_call(L, "llvm.fma", ty, args[kind == OP_SUB], kind == OP_MUL ? args[1] : c,
                      kind == OP_MUL ? c : args[kind == OP_ADD]);
}

/* bfloat16 is i16 everywhere but here; `is` how the elements are given, one or two of them. */
static LLVMValueRef native_bf16(Lower *L, const Op *op, LLVMTypeRef is, LLVMTypeRef real,
                                const LLVMValueRef *args)
{
    LLVMValueRef x[3];
    for (int i = 0; i < op->nargs; i++) x[i] = LLVMBuildBitCast(L->b, args[i], real, "");
    const bool adds = L->machine->bf16_arith || op->kind == OP_FMA;
    return LLVMBuildBitCast(L->b, adds ? float_native(L, op, x) : by_fma(L, op->kind, x), is, "");
}

static LLVMValueRef float_element(Lower *L, const Op *op, DType dt, const LLVMValueRef *args)
{
    if (op->kind == OP_NEG || op->kind == OP_ABS) return float_sign(L, op->kind, dt, args[0]);
    if (is_native(L, op->kind, dt))
        return dt == DT_BF16 ? native_bf16(L, op, L->i16, LLVMBFloatTypeInContext(L->cx), args)
                             : float_native(L, op, args);
    if (op->kind == OP_FMA) return narrow_fma(L, dt, args);
    LLVMValueRef wide[3];
    for (int i = 0; i < op->nargs; i++) wide[i] = lower_to_f32(L, dt, args[i]);
    return lower_from_f32(L, dt, float_native(L, op, wide));
}

bool lower_is_pair_arith(const Lower *L, const Op *op)
{
    const Type *ty = op_result(op, 0)->type;
    if (!type_is_block(ty) || !type_is_float(ty) || type_bits(ty) != 16) return false;
    return (builders[op->kind].on_float || op->kind == OP_FMA) &&
           is_native(L, op->kind, type_dtype(ty));
}

/* Two in a word, as they are loaded, stored and multiplied. */
void lower_arith_pair(Lower *L, const Op *op, LLVMValueRef in[][2], LLVMValueRef out[2])
{
    const DType dt = type_dtype(op_result(op, 0)->type);
    LLVMTypeRef ty = LLVMVectorType(lower_dtype(L, dt), 2);
    LLVMValueRef x[3], both;
    for (int i = 0; i < op->nargs; i++) {
        x[i] = LLVMGetPoison(ty);
        for (int k = 0; k < 2; k++)
            x[i] = LLVMBuildInsertElement(L->b, x[i], in[i][k], lower_i32(L, k), "");
    }
    if (dt != DT_BF16) both = float_native(L, op, x);
    else both = native_bf16(L, op, ty, LLVMVectorType(LLVMBFloatTypeInContext(L->cx), 2), x);
    for (int k = 0; k < 2; k++) out[k] = LLVMBuildExtractElement(L->b, both, lower_i32(L, k), "");
}

static LLVMValueRef float_compare(Lower *L, const Op *op, DType dt, const LLVMValueRef *args)
{
    LLVMValueRef x = args[0], y = args[1];
    if (dt != DT_F16) {
        x = lower_to_f32(L, dt, x);
        y = lower_to_f32(L, dt, y);
    }
    return LLVMBuildFCmp(L->b, predicates[op->kind].on_float, x, y, "");
}

LLVMValueRef lower_arith_element(Lower *L, const Op *op, const LLVMValueRef *args)
{
    if (op->kind == OP_SELECT) return LLVMBuildSelect(L->b, args[0], args[1], args[2], "");
    const Type *ty = op_arg(op, 0)->type;
    const DType dt = type_is_pointer(ty) ? DT_U64 : type_dtype(ty);
    const bool is_compare = ir_has(op, OT_COMPARE);
    if (dtype_info(dt)->kind == DK_FLOAT)
        return is_compare ? float_compare(L, op, dt, args) : float_element(L, op, dt, args);
    return is_compare ? compare(L, op->kind, dt, args[0], args[1]) : int_element(L, op, dt, args);
}
