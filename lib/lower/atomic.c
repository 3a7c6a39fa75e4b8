/* Atomics: one instruction for each element, done by its canonical holder where mask and validity
   allow. When somebody reads the old values, they go from that holder to the others: by the plan of
   a conversion from canonical holders only, or, for a scalar, through one slot of shared memory. */
#include "layout/convert.h"
#include "lower/lower.h"

#include "base/unwind.h"
#include "ir/type.h"

static LLVMValueRef one_element(Lower *L, const Op *op, uint32_t reg, LLVMValueRef canonical)
{
    const Value *ptr = op_arg(op, 0), *x = op_arg(op, 1), *mask = NULL;
    const bool is_cas = op->kind == OP_ATOMIC_CAS;
    if (!is_cas && op->nargs > 2) mask = op_arg(op, 2);
    LLVMValueRef pred = type_is_block(ptr->type) ? lower_valid(L, ptr->type, reg) : NULL;
    if (mask)
        pred = lower_and(L, pred, lower_reg(L, mask, type_is_block(mask->type) ? (int)reg : 0));
    pred = lower_and(L, pred, canonical);
    if (lower_is_false(pred)) return lower_bits(L, op_result(op, 0)->type, 0);
    Reg at = lower_get(L, ptr).r[reg];
    Atomic a = {.ptr = at.v,
                .offset = at.imm,
                .pred = pred,
                .dtype = type_dtype(x->type),
                .rmw = is_cas ? "cas" : tkc_op_str(op, ATTR_RMW, "add"),
                .sem = tkc_op_str(op, ATTR_SEM, "acq_rel"),
                .scope = tkc_op_str(op, ATTR_SCOPE, "gpu"),
                .value = lower_reg(L, x, (int)reg),
                .word = lower_type(L, x->type)};
    if (is_cas) a.value2 = lower_reg(L, op_arg(op, 2), (int)reg);
    return L->target->atomic(L, &a);
}

static LLVMValueRef spread_scalar(Lower *L, const Op *op, LLVMValueRef x)
{
    const Attr *scratch = tkc_op_attr(op, ATTR_OFFSET);
    check(scratch, "an atomic's result has no scratch memory");
    LLVMValueRef zero = lower_i32(L, 0), out;
    lower_shared_store(L, zero, scratch->i, 1, &x, lower_canonical(L, op_result(op, 0)->type));
    L->target->barrier(L);
    lower_shared_load(L, zero, scratch->i, LLVMTypeOf(x), 1, &out);
    return out;
}

static void spread(Lower *L, const Op *op, Regs *out)
{
    const Type *ty = op_result(op, 0)->type;
    if (!type_is_block(ty)) {
        out->r[0].v = spread_scalar(L, op, out->r[0].v);
        return;
    }
    ConvertPlan plan;
    convert_plan_op(&plan, op);
    *out = lower_by_plan(L, op, &plan, ty, *out);
}

void lower_atomic(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    const char *rmw = op->kind == OP_ATOMIC_CAS ? "cas" : tkc_op_str(op, ATTR_RMW, "add");
    const DType dt = type_dtype(op_arg(op, 1)->type);
    if (!L->target->has_atomic(L, rmw, dt)) {
        lower_refuse(L, op, "%s has no atomic '%s' of %s on %s", L->target->device, rmw,
                     dt ? dtype_info(dt)->name : "pointers", L->machine->name);
        return;
    }
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    LLVMValueRef canonical = lower_canonical(L, result->type);
    const uint32_t free = lower_free_registers(result->type);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) {
        if (!(r & free)) out.r[r].v = one_element(L, op, r, canonical);
    }
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) out.r[r] = out.r[r & ~free];
    if (convert_atomic_spreads(op)) spread(L, op, &out);
    lower_set(L, result, out);
}
