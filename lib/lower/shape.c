/* Ops that only rename: every element of the result is an element of an operand held by the same
   thread, which the verifier saw to, and the layouts say in which register. */
#include "lower/lower.h"

#include "base/unwind.h"
#include "ir/dot_unit.h"
#include "ir/shape_map.h"

void lower_splat(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    Reg x = lower_get(L, op_arg(op, 0)).r[0];
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    for (int r = 0; r < out.n; r++) out.r[r] = x;
    lower_set(L, result, out);
}

void lower_hint(Lower *L, const Op *op)
{
    lower_set(L, op_result(op, 0), lower_get(L, op_arg(op, 0)));
}

/* Register of each element index that thread 0 holds: index + 1 to the canonical register + 1. */
static Map registers_by_index(Lower *L, const Layout *l)
{
    Map m;
    map_init(&m, L->arena);
    for (int r = layout_registers(l) - 1; r >= 0; r--)
        map_set(&m, layout_apply(l, (uint32_t)r, 0, 0) + UINT64_C(1), (void *)(uintptr_t)(r + 1));
    return m;
}

static Reg take(const Map *where, Regs in, uint32_t index)
{
    const uintptr_t found = (uintptr_t)map_get(where, index + UINT64_C(1));
    check(found, "a shape op needs an element of another thread");
    return in.r[found - 1];
}

void lower_shape(Lower *L, const Op *op)
{
    const Type *from = op_arg(op, 0)->type, *to = op_result(op, 0)->type;
    if (lower_reads_late(op)) return;
    if (!type_is_block(to)) {
        check(tkc_type_count(from) == 1, "a block of several elements became a scalar");
        lower_set(L, op_result(op, 0), (Regs){lower_get(L, op_arg(op, 0)).r, 1});
        return;
    }
    const Map where = registers_by_index(L, from->layout);
    for (int k = 0; k < op->nresults; k++) {
        Regs out = lower_regs_new(L, lower_nregs(to));
        for (int r = 0; r < out.n; r++) {
            const uint32_t index = layout_apply(to->layout, (uint32_t)r, 0, 0);
            const Value *x = op_arg(op, op->kind == OP_JOIN ? (int)(index & 1) : 0);
            out.r[r] = take(&where, lower_get(L, x),
                            shape_source(op, from->layout, to->layout, index) + (uint32_t)k);
        }
        lower_set(L, op_result(op, k), out);
    }
}
