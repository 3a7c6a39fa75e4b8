/* Atomics: one instruction for each element, or for neighbours that the pass `access` puts
   together, done by its canonical holder where mask and validity allow. That holder has the old
   value then, nobody else (memory/expand.c hands it on). */
#include "layout/vector.h"
#include "lower/vector.h"

#include "base/unwind.h"

/* Where the element that begins a vector is changed: all of that share it. */
static LLVMValueRef predicate(Lower *L, const Op *op, uint32_t reg, LLVMValueRef canonical)
{
    const Value *mask = op->kind != OP_ATOMIC_CAS && op->nargs > 2 ? op_arg(op, 2) : NULL;
    return lower_and(L, lower_allowed(L, op_arg(op, 0)->type, mask, reg), canonical);
}

/* Before sm_90, which has vectors, two fp16 are one word. */
static void change_pair(Lower *L, const Atomic *a, LLVMValueRef elems[2])
{
    const Packing p = packing_of(L, a->word, 2);
    Atomic one = *a;
    LLVMValueRef word;
    pack_words(L, &p, elems, &word);
    one.count = 1;
    one.pair = true;
    one.word = p.word;
    target_atomic(L, &one, &word);
    unpack_words(L, &p, &word, elems);
}

/* Those of a vector, as `vec` says, the first in `head`. */
static void change(Lower *L, const Op *op, const VectorBits *vec, uint32_t head,
                   LLVMValueRef canonical, Regs out)
{
    const Value *x = op_arg(op, 1);
    const bool is_cas = op->kind == OP_ATOMIC_CAS;
    LLVMValueRef words[VECTOR_MAX], pred = predicate(L, op, head, canonical);
    const int n = 1 << vec->log2;
    const Reg at = lower_get(L, op_arg(op, 0)).r[head];
    Atomic a = {.ptr = at.v,
                .offset = at.imm,
                .pred = pred,
                .dtype = type_dtype(x->type),
                .rmw = is_cas ? "cas" : tkc_op_str(op, ATTR_RMW, "add"),
                .sem = tkc_op_str(op, ATTR_SEM, "acq_rel"),
                .scope = tkc_op_str(op, ATTR_SCOPE, "gpu"),
                .count = n,
                .word = lower_type(L, x->type)};
    if (is_cas) a.value2 = lower_reg(L, op_arg(op, 2), (int)head);
    for (int i = 0; i < n; i++) words[i] = lower_reg(L, x, (int)vector_register(vec, head, i));
    const bool is_pair = n == 2 && L->machine->sm < MACHINE_VECTOR_ATOMICS;
    if (!lower_is_false(pred)) (is_pair ? change_pair : target_atomic)(L, &a, words);
    for (int i = 0; i < n; i++)
        out.r[vector_register(vec, head, i)].v =
            lower_is_false(pred) ? lower_bits(L, op_result(op, 0)->type, 0) : words[i];
}

void lower_atomic(Lower *L, const Op *op)
{
    const Value *result = op_result(op, 0);
    const char *rmw = op->kind == OP_ATOMIC_CAS ? "cas" : tkc_op_str(op, ATTR_RMW, "add");
    const DType dt = type_dtype(op_arg(op, 1)->type);
    if (!target_has_atomic(L, rmw, dt)) {
        lower_refuse(L, op, "cuda has no atomic '%s' of %s on %s", rmw,
                     dt ? dtype_info(dt)->name : "pointers", L->machine->name);
        return;
    }
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    LLVMValueRef canonical = lower_canonical(L, result->type);
    const uint32_t free = lower_free_registers(result->type);
    const VectorBits vec = vector_of(op);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++)
        if (!(r & free) && vector_begins(&vec, r)) change(L, op, &vec, r, canonical, out);
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
        a.start = target_instr(L, INSTR_NANOSECONDS, 0, NULL);
    }
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    LLVMValueRef canonical = lower_canonical(L, result->type);
    const uint32_t free = lower_free_registers(result->type);
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) {
        if (r & free) continue;
        Reg at = lower_get(L, ptr).r[r];
        a.pred = lower_and(L, lower_valid(L, ptr->type, r), canonical);
        a.ptr = at.v;
        a.offset = at.imm;
        a.expected = lower_reg(L, op_arg(op, 1), (int)r);
        out.r[r].v = lower_is_false(a.pred) ? lower_bits(L, result->type, 0) : target_poll(L, &a);
    }
    for (uint32_t r = 0; r < (uint32_t)out.n; r++) out.r[r] = out.r[r & ~free];
    lower_set(L, result, out);
}
