/* dot. Where there is no matrix instruction for it each thread sums the products for its own
   elements: its registers hold whole rows of a and columns of b (fragment_rows in
   linear/fragment.h). Sums go in order of k; what pads K is left out. */
#include "lower/dot.h"

#include "ir/type.h"

/* In what products are summed, by the type of the sum. */
static DType sum_type(DType sum)
{
    const DTypeInfo *info = dtype_info(sum);
    return info->kind == DK_FLOAT && info->bits < 32 ? DT_F32 : sum;
}

/* An operand's elements in that type. */
static LLVMValueRef *widened(Lower *L, const Value *v, DType to)
{
    const int n = lower_nregs(v->type);
    LLVMValueRef *out = arena_array(L->arena, LLVMValueRef, n);
    for (int r = 0; r < n; r++)
        out[r] = lower_cast_element(L, type_dtype(v->type), to, false, lower_reg(L, v, r));
    return out;
}

static LLVMValueRef add_product(Lower *L, LLVMValueRef x, LLVMValueRef y, LLVMValueRef sum)
{
    LLVMTypeRef ty = LLVMTypeOf(sum);
    if (LLVMGetTypeKind(ty) == LLVMIntegerTypeKind)
        return LLVMBuildAdd(L->b, LLVMBuildMul(L->b, x, y, ""), sum, "");
    if (!L->fn->fp_contract) return LLVMBuildFAdd(L->b, LLVMBuildFMul(L->b, x, y, ""), sum, "");
    LLVMValueRef args[3] = {x, y, sum};
    return lower_intrinsic(L, "llvm.fma", ty, 3, args);
}

/* A register of an operand for each k, in the row (column) of element `index` of the sum. */
static void find_registers(const Layout *sum, const Type *ty, int operand, uint32_t index, int k,
                           int *out)
{
    const Layout *l = ty->layout;
    const uint32_t base = fragment_source(sum, l, operand, index);
    const int shift = layout_dim_shift(l, operand == 0 ? l->rank - 1 : l->rank - 2);
    for (int i = 0; i < k; i++) out[i] = layout_find_register(l, base | (uint32_t)i << shift);
}

static void lower_fma(Lower *L, const Op *op)
{
    const Value *a = op_arg(op, 0), *b = op_arg(op, 1), *acc = op_arg(op, 2), *c = op_result(op, 0);
    const DType to = type_dtype(c->type), in = sum_type(to);
    const Layout *sum = c->type->layout;
    const int k = a->type->shape[a->type->rank - 1];
    LLVMValueRef *x = widened(L, a, in), *y = widened(L, b, in), *z = widened(L, acc, in);
    Regs out = lower_regs_new(L, lower_nregs(c->type));
    int *row = arena_array(L->arena, int, k), *column = arena_array(L->arena, int, k);
    for (int r = 0; r < out.n; r++) {
        const uint32_t index = layout_apply(sum, (uint32_t)r, 0, 0);
        find_registers(sum, a->type, 0, index, k, row);
        find_registers(sum, b->type, 1, index, k, column);
        for (int i = 0; i < k; i++) z[r] = add_product(L, x[row[i]], y[column[i]], z[r]);
        out.r[r].v = lower_cast_element(L, in, to, false, z[r]);
    }
    lower_set(L, c, out);
}

void lower_dot(Lower *L, const Op *op)
{
    const DotUnit unit = dot_unit(op);
    if (tkc_op_int(op, ATTR_ASYNC, 0)) lower_group_dot(L, op);
    else if (unit.mma) lower_mma(L, op, unit);
    else lower_fma(L, op);
}
