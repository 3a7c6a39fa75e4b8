/* Loads and stores of global memory.

   A thread's registers that hold neighbours along one dim are accessed together, as wide as
   contiguity and alignment of the addresses allow (16 bytes at most). The mask and the validity of
   padded lanes become one predicate for each run of neighbours that share it. When a vector is
   longer than such a run (a ragged edge may pass through it), there are two ways, both under
   predicates:

       all = AND of the runs' predicates
       @all        one access of the whole vector
       @run & !all one access for each run

   so that nothing is touched beyond the mask, and a vector that is wholly inside costs one access.

   Stores are done by one holder of each element, loads by all of them; atomic ones by one holder,
   element by element (memory/expand.c hands on what it read). */
#include "lower/vector.h"

#include "base/unwind.h"
#include "layout/vector.h"

typedef struct Memory {
    const Op *op;
    const Value *ptr, *mask;
    const Type *ty; /* of the pointers: shape and layout */
    LLVMTypeRef elem;
    VectorBits vec;
    uint32_t others;        /* register bits that lead to what another register has as well */
    LLVMValueRef canonical; /* stores, atomics: the holder that acts */
    Access access;          /* what all accesses have in common */
} Memory;

static Memory memory_of(Lower *L, const Op *op)
{
    Memory m = {.op = op, .ptr = op_arg(op, 0), .mask = vector_mask(op)};
    const Type *pointee = tkc_type_element(m.ptr->type)->elem;
    m.ty = m.ptr->type;
    m.elem = lower_type(L, pointee);
    m.vec = vector_of(op);
    m.others = lower_free_registers(m.ty) | (type_is_block(m.ty) ? vector_equal(op) : 0);
    m.access = (Access){.space = SPACE_GLOBAL,
                        .cache = tkc_op_str(op, ATTR_CACHE, ""),
                        .evict = tkc_op_str(op, ATTR_EVICT, ""),
                        .is_volatile = tkc_op_int(op, ATTR_VOLATILE, 0) != 0,
                        .sem = tkc_op_str(op, ATTR_SEM, NULL),
                        .scope = tkc_op_str(op, ATTR_SCOPE, NULL)};
    return m;
}

static uint32_t neighbour(const Memory *m, uint32_t head, int k)
{
    return vector_register(&m->vec, head, k);
}

static bool is_head(const Memory *m, uint32_t reg)
{
    return !(reg & m->others) && vector_begins(&m->vec, reg);
}

static void set_access(Lower *L, const Memory *m, uint32_t reg, int count, Access *at, Packing *p)
{
    Reg ptr = lower_get(L, m->ptr).r[reg];
    *p = packing_of(L, m->elem, count);
    *at = m->access;
    at->ptr = ptr.v;
    at->offset = ptr.imm;
    at->count = p->words;
    at->bits = p->word_bits;
    at->word = p->word;
}

/* elems: for a load, what stays where pred is false, then what was read; for a store, what is
   written. */
static void access_run(Lower *L, const Memory *m, uint32_t reg, int count, LLVMValueRef pred,
                       LLVMValueRef *elems)
{
    Access at;
    Packing p;
    LLVMValueRef words[VECTOR_MAX];
    const bool is_store = m->op->nresults == 0;
    if (lower_is_false(pred)) return;
    set_access(L, m, reg, count, &at, &p);
    at.pred = lower_and(L, pred, m->canonical);
    if (is_store || at.pred) pack_words(L, &p, elems, words);
    if (is_store) {
        target_store(L, &at, words);
        return;
    }
    target_load(L, &at, words);
    unpack_words(L, &p, words, elems);
}

static void access_vector(Lower *L, const Memory *m, uint32_t head, LLVMValueRef *elems)
{
    const int width = 1 << m->vec.log2;
    LLVMValueRef preds[VECTOR_MAX], all = NULL;
    for (int k = 0; k < width; k += m->vec.run) {
        preds[k] = lower_allowed(L, m->ty, m->mask, neighbour(m, head, k));
        all = lower_and(L, all, preds[k]);
    }
    access_run(L, m, head, width, all, elems);
    if (m->vec.run == width || !all) return;
    LLVMValueRef ragged = LLVMBuildNot(L->b, all, "");
    for (int k = 0; k < width; k += m->vec.run)
        access_run(L, m, neighbour(m, head, k), m->vec.run, lower_and(L, preds[k], ragged),
                   elems + k);
}

void lower_load(Lower *L, const Op *op)
{
    const Value *other = op->nargs > 2 ? op_arg(op, 2) : NULL;
    const Type *ty = op_result(op, 0)->type;
    Memory m = memory_of(L, op);
    if (ir_has(op, OT_ATOMIC)) m.canonical = lower_canonical(L, m.ty);
    Regs out = lower_regs_new(L, lower_nregs(ty));
    LLVMValueRef zero = lower_bits(L, ty, 0), elems[VECTOR_MAX];
    for (uint32_t reg = 0; reg < (uint32_t)out.n; reg++) {
        if (!is_head(&m, reg)) continue;
        for (int k = 0; k < 1 << m.vec.log2; k++)
            elems[k] = other ? lower_reg(L, other, (int)neighbour(&m, reg, k)) : zero;
        access_vector(L, &m, reg, elems);
        for (int k = 0; k < 1 << m.vec.log2; k++) out.r[neighbour(&m, reg, k)].v = elems[k];
    }
    for (uint32_t reg = 0; reg < (uint32_t)out.n; reg++) out.r[reg] = out.r[reg & ~m.others];
    lower_set(L, op_result(op, 0), out);
}

void lower_store(Lower *L, const Op *op)
{
    const Value *value = op_arg(op, 1);
    Memory m = memory_of(L, op);
    m.canonical = lower_canonical(L, m.ty);
    const int n = lower_nregs(m.ty);
    LLVMValueRef elems[VECTOR_MAX];
    for (uint32_t reg = 0; reg < (uint32_t)n; reg++) {
        if (!is_head(&m, reg)) continue;
        for (int k = 0; k < 1 << m.vec.log2; k++)
            elems[k] = lower_reg(L, value, (int)neighbour(&m, reg, k));
        access_vector(L, &m, reg, elems);
    }
}
