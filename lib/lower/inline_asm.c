/* Inline assembly, element by element. A thread runs the text once for every `pack` of its
   registers, in their order, with elements below 32 bits packed as tkc/inline_asm.h says. Where its
   registers are not a multiple of `pack`, zeros take the places that are left, and what comes back
   there is dropped.

   Registers that hold one element are not told apart: pure text is then run twice with the same
   operands, which LLVM sees; text with effects runs once for each. */

#include "base/unwind.h"
#include "lower/vector.h"
#include "tkc/inline_asm.h"

static LLVMTypeRef register_type(const Lower *L, const AsmRegister *r)
{
    switch (r->letter) {
    case 'b': return L->i1;
    case 'h': return L->i16;
    case 'r': return L->i32;
    case 'l': return L->i64;
    case 'f': return L->f32;
    case 'd': return L->f64;
    default: unwind_raise("constraint '%c' reached the lowering", r->letter);
    }
}

/* The word that `r->count` elements make together. */
static LLVMValueRef to_register(Lower *L, const AsmRegister *r, const LLVMValueRef *elems)
{
    LLVMTypeRef elem = LLVMTypeOf(elems[0]);
    if (elem == L->i1) return lower_recast(L, elems[0], register_type(L, r));
    Packing p = packing_of(L, elem, r->count);
    LLVMValueRef word;
    pack_words(L, &p, elems, &word);
    return lower_recast(L, word, register_type(L, r));
}

static void from_register(Lower *L, const AsmRegister *r, LLVMTypeRef elem, LLVMValueRef x,
                          LLVMValueRef *elems)
{
    if (elem == L->i1) {
        elems[0] = lower_recast(L, x, elem);
        return;
    }
    Packing p = packing_of(L, elem, r->count);
    LLVMValueRef word = lower_recast(L, x, p.word);
    unpack_words(L, &p, &word, elems);
}

/* Elements base … base + pack - 1 of the thread. */
static void lower_instance(Lower *L, const Op *op, const AsmRegisters *regs, int base,
                           Regs *results)
{
    LLVMValueRef elems[ASM_MAX_PACK], in[ASM_MAX_REGISTERS], out[ASM_MAX_REGISTERS];
    for (int i = 0; i < regs->ninputs; i++) {
        const AsmRegister *r = &regs->r[regs->noutputs + i];
        const Value *v = op_arg(op, r->value);
        for (int k = 0; k < r->count; k++) {
            int at = base + r->first + k;
            elems[k] = at < lower_nregs(v->type) ? lower_reg(L, v, at)
                                                 : lower_bits(L, tkc_type_element(v->type), 0);
        }
        in[i] = to_register(L, r, elems);
    }
    LLVMTypeRef types[ASM_MAX_REGISTERS];
    for (int i = 0; i < regs->noutputs; i++) types[i] = register_type(L, &regs->r[i]);
    target_assembly(L, op, regs, types, in, out);
    for (int i = 0; i < regs->noutputs; i++) {
        const AsmRegister *r = &regs->r[i];
        Regs *to = &results[r->value];
        from_register(L, r, lower_type(L, op_result(op, r->value)->type), out[i], elems);
        for (int k = 0; k < r->count && base + r->first + k < to->n; k++)
            to->r[base + r->first + k].v = elems[k];
    }
}

void lower_inline_asm(Lower *L, const Op *op)
{
    AsmRegisters regs;
    char problem[256];
    check(!tkc_asm_registers(op, &regs, problem, sizeof problem), "%s", problem);
    const Value *any = op->nresults ? op_result(op, 0) : op->nargs ? op_arg(op, 0) : NULL;
    const int n = any ? lower_nregs(any->type) : 1;
    Regs *results = arena_array(L->arena, Regs, op->nresults + 1);
    for (int i = 0; i < op->nresults; i++) results[i] = lower_regs_new(L, n);
    for (int base = 0; base < n; base += regs.pack) lower_instance(L, op, &regs, base, results);
    for (int i = 0; i < op->nresults; i++) lower_set(L, op_result(op, i), results[i]);
}
