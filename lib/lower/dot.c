/* dot. Where there is no matrix instruction for it each thread sums the products for its own
   elements: its registers hold whole rows of a and columns of b (fragment_rows in
   linear/fragment.h). Sums go in order of k; what pads K is left out. */
#include "lower/dot.h"

/* In what products are summed, by the type of the sum. */
static DType sum_type(DType sum)
{
    const DTypeInfo *info = dtype_info(sum);
    return info->kind == DK_FLOAT && info->bits < 32 ? DT_F32 : sum;
}

/* An operand, of which a ring is read as its elements are asked for. */
typedef struct Factor {
    const Value *v;
    RingReader *ring;
    LLVMValueRef *in; /* elements in the type of the sum, those asked for so far */
} Factor;

static Factor factor_of(Lower *L, const Value *v)
{
    return (Factor){.v = v,
                    .ring = v->def && lower_reads_late(v->def) ? lower_ring_open(L, v->def) : NULL,
                    .in = arena_array(L->arena, LLVMValueRef, lower_nregs(v->type))};
}

static LLVMValueRef widened(Lower *L, const Value *v, DType to, LLVMValueRef x)
{
    return lower_cast_element(L, type_dtype(v->type), to, false, x);
}

static LLVMValueRef element(Lower *L, const Factor *f, int reg, DType to)
{
    LLVMValueRef *x = &f->in[reg];
    if (!*x)
        *x = widened(L, f->v, to,
                     f->ring ? lower_ring_element(L, f->ring, reg) : lower_reg(L, f->v, reg));
    return *x;
}

static LLVMValueRef add_product(Lower *L, LLVMValueRef x, LLVMValueRef y, LLVMValueRef sum)
{
    LLVMTypeRef ty = LLVMTypeOf(sum);
    if (LLVMGetTypeKind(ty) == LLVMIntegerTypeKind)
        return LLVMBuildAdd(L->b, LLVMBuildMul(L->b, x, y, ""), sum, "");
    if (!L->fn->fp_contract) return LLVMBuildFAdd(L->b, LLVMBuildFMul(L->b, x, y, ""), sum, "");
    return lower_call(L, "llvm.fma", ty, x, y, sum);
}

/* The register of an operand for each element of the sum, in its row (column), where k is 0. */
static int *first_registers(Lower *L, const Op *op, int operand, int n)
{
    const Layout *sum = op_result(op, 0)->type->layout, *l = op_arg(op, operand)->type->layout;
    int *out = arena_array(L->arena, int, n);
    for (int r = 0; r < n; r++)
        out[r] = layout_find_register(
            l, fragment_source(sum, l, operand, layout_apply(sum, (uint32_t)r, 0, 0)));
    return out;
}

/* What is added to its number where k is `at`. */
static int step_register(const Op *op, int operand, int at)
{
    const Layout *l = op_arg(op, operand)->type->layout;
    const int shift = layout_dim_shift(l, operand == 0 ? l->rank - 1 : l->rank - 2);
    return layout_find_register(l, (uint32_t)at << shift);
}

/* k by k, so that no more than a few elements of the operands are in registers. */
static void lower_fma(Lower *L, const Op *op)
{
    const Value *acc = op_arg(op, 2), *c = op_result(op, 0);
    const DType to = type_dtype(c->type), in = sum_type(to);
    const int k = op_arg(op, 0)->type->shape[op_arg(op, 0)->type->rank - 1];
    const Factor a = factor_of(L, op_arg(op, 0)), b = factor_of(L, op_arg(op, 1));
    Regs out = lower_regs_new(L, lower_nregs(c->type));
    const int *row = first_registers(L, op, 0, out.n), *column = first_registers(L, op, 1, out.n);
    for (int r = 0; r < out.n; r++) out.r[r].v = widened(L, acc, in, lower_reg(L, acc, r));
    for (int i = 0; i < k; i++) {
        const int x = step_register(op, 0, i), y = step_register(op, 1, i);
        for (int r = 0; r < out.n; r++)
            out.r[r].v = add_product(L, element(L, &a, row[r] ^ x, in),
                                     element(L, &b, column[r] ^ y, in), out.r[r].v);
    }
    for (int r = 0; r < out.n; r++) out.r[r].v = lower_cast_element(L, in, to, false, out.r[r].v);
    lower_set(L, c, out);
}

void lower_dot(Lower *L, const Op *op)
{
    const DotUnit unit = dot_unit(op);
    if (tkc_op_int(op, ATTR_ASYNC, 0)) lower_group_dot(L, op);
    else if (unit.mma) lower_mma(L, op, unit);
    else lower_fma(L, op);
}
