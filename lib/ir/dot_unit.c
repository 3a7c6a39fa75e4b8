/* In: a dot and its target. Out: the instruction that computes it. The first that exists of

     one of the operands' types;
     for 8-bit floats, which fp16 holds exactly, one of fp16;
     for fp32, one of the type that the precision names, or fp32 in parts of that type;
     none: fused multiply and add, at least as precise as what was asked for. */
#include "ir/dot_unit.h"

#include <string.h>

#include "ir/machine.h"
#include "ir/type.h"

static const MmaRow rows[] = {
#define MMA(sm, ptx, a, b, sum, m_log2, k_log2, unit_log2)                                         \
    {sm, ptx, DT_##a, DT_##b, DT_##sum, {m_log2, 3, k_log2, unit_log2}},
#include "ir/mma.def"
#undef MMA
};

static bool is_f8(DType dt)
{
    return dt == DT_F8E4 || dt == DT_F8E5;
}

static const MmaRow *find_row(const Machine *machine, DType a, DType b, DType sum)
{
    const MmaRow *found = NULL;
    for (size_t i = 0; machine && i < sizeof rows / sizeof *rows; i++) {
        const MmaRow *r = &rows[i];
        if (is_f8(a) && !machine->fp8_mma) continue;
        if (r->sm <= machine->sm && r->a == a && r->b == b && r->sum == sum) found = r;
    }
    return found;
}

static DotUnit fp32_unit(const Machine *machine, const char *precision, DType sum)
{
    static const struct {
        const char *precision;
        DType part;
        int parts, pairs;
    } ways[] = {{"tf32", DT_F32, 1, 1},
                {"tf32x3", DT_F32, 2, 3},
                {"bf16x3", DT_BF16, 2, 3},
                {"bf16x6", DT_BF16, 3, 6}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const DType part = ways[i].part;
        const MmaRow *mma = find_row(machine, part, part, sum);
        if (mma && !strcmp(ways[i].precision, precision))
            return (DotUnit){mma, ways[i].parts, ways[i].pairs};
    }
    return (DotUnit){NULL, 1, 1};
}

DotUnit dot_unit(const Op *op)
{
    const Machine *machine = op->region->func->machine;
    const DType a = type_dtype(op_arg(op, 0)->type), b = type_dtype(op_arg(op, 1)->type),
                sum = type_dtype(op_arg(op, 2)->type);
    if (a == DT_F32 && b == DT_F32)
        return fp32_unit(machine, tkc_op_str(op, ATTR_PRECISION, "ieee"), sum);
    DotUnit unit = {find_row(machine, a, b, sum), 1, 1};
    if (!unit.mma && is_f8(a) && is_f8(b)) unit.mma = find_row(machine, DT_F16, DT_F16, sum);
    return unit;
}

bool dot_fits_group(const Op *op)
{
    enum { LEAST_N = 8, LEAST_K = 16, HOPPER = 90 };
    const Func *fn = op->region->func;
    const DotUnit unit = dot_unit(op);
    const Type *a = op_arg(op, 0)->type, *b = op_arg(op, 1)->type;
    return fn->machine && fn->machine->arch_specific && fn->machine->sm == HOPPER &&
           fn->num_warps % GROUP_WARPS == 0 && unit.mma && type_dtype(a) == unit.mma->a &&
           dtype_info(unit.mma->a)->bits == 16 && unit.mma->sum == DT_F32 && a->rank == 2 &&
           a->shape[0] >= GROUP_ROWS && a->shape[1] >= LEAST_K && b->shape[1] >= LEAST_N;
}

static bool takes_async(const Use *use)
{
    return use->user->kind == OP_DOT && tkc_op_int(use->user, ATTR_ASYNC, 0) &&
           use != &use->user->args[2];
}

const Op *dot_ring(const Op *op, int operand, bool *flipped)
{
    const Op *from = op_arg(op, operand)->def;
    *flipped = false;
    for (; from && from->kind == OP_TRANS; from = op_arg(from, 0)->def)
        *flipped ^= tkc_op_attr(from, ATTR_PERM)->v[0] == 1;
    return from && from->kind == OP_RING_LOAD ? from : NULL;
}

bool dot_reads_alone(const Op *op)
{
    const Use *use = op->nresults == 1 ? op_result(op, 0)->uses : NULL;
    if ((op->kind != OP_RING_LOAD && op->kind != OP_TRANS) || !use) return false;
    for (; use; use = use->next)
        if (!takes_async(use) && !(use->user->kind == OP_TRANS && dot_reads_alone(use->user)))
            return false;
    while (op->kind == OP_TRANS && op_arg(op, 0)->def) op = op_arg(op, 0)->def;
    return op->kind == OP_RING_LOAD;
}

const Layout *dot_operand_layout(LayoutTable *t, const Op *op, int operand, const Layout *result)
{
    const DotUnit unit = dot_unit(op);
    const Type *a = op_arg(op, 0)->type;
    uint8_t dims[TKC_MAX_RANK];
    if (unit.mma && !fragment_is_sum(unit.mma->shape, result)) return NULL;
    if (operand == 2) return result;
    layout_pad(a->rank, a->shape, dims);
    const int k_log2 = dims[a->rank - 1];
    return unit.mma ? fragment_operand(t, unit.mma->shape, operand, result, k_log2)
                    : fragment_rows(t, operand, result, k_log2);
}
