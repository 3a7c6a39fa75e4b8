/* Atomics: one instruction for each element, done by its canonical holder where mask and validity
   allow. That holder has the old value then, nobody else (memory/expand.c hands it on). */
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
    lower_set(L, result, out);
}

/* All elements share one time, which begins before the first of them is read. */
void lower_poll(Lower *L, const Op *op)
{
    const Value *ptr = op_arg(op, 0), *result = op_result(op, 0);
    Poll a = {.sem = tkc_op_str(op, ATTR_SEM, "acquire"),
              .scope = tkc_op_str(op, ATTR_SCOPE, "gpu")};
    if (op->nargs > 2) {
        a.timeout = lower_reg(L, op_arg(op, 2), 0);
        a.start = L->target->nanoseconds(L);
    }
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    LLVMValueRef canonical = lower_canonical(L, result->type);
    const uint32_t free = lower_free_registers(result->type);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) {
        if (r & free) continue;
        Reg at = lower_get(L, ptr).r[r];
        a.pred = type_is_block(ptr->type) ? lower_valid(L, ptr->type, r) : NULL;
        a.pred = lower_and(L, a.pred, canonical);
        a.ptr = at.v;
        a.offset = at.imm;
        a.expected = lower_reg(L, op_arg(op, 1), (int)r);
        out.r[r].v = lower_is_false(a.pred) ? lower_bits(L, result->type, 0)
                                            : L->target->poll(L, &a);
    }
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) out.r[r] = out.r[r & ~free];
    lower_set(L, result, out);
}
