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

   Stores are done by one holder of each element; loads by all of them. */
#include "lower/vector.h"

#include "base/unwind.h"
#include "ir/type.h"

/* The register bits whose combinations are the neighbours of one access, least first. */
typedef struct VectorBits {
    int dim, log2;
    uint32_t bit[5];
} VectorBits;

typedef struct Memory {
    const Op *op;
    const Value *ptr, *mask;
    const Type *ty; /* of the pointers: shape and layout */
    LLVMTypeRef elem;
    VectorBits vec;
    int run;                /* neighbours that share a predicate, at most the vector */
    LLVMValueRef canonical; /* stores: the holder that acts */
    Access access;          /* what all accesses have in common */
} Memory;

static int log2_of(int64_t v)
{
    return 63 - __builtin_clzll((uint64_t)v);
}

/* Register bits that step along dim by 1, 2, 4, … */
static VectorBits steps_along(const Layout *l, int dim, int max_log2)
{
    VectorBits v = {.dim = dim};
    const int shift = layout_dim_shift(l, dim);
    for (int k = 0; k < max_log2 && k < l->dim_log2[dim]; k++) {
        int bit = -1;
        for (int i = 0; i < l->nbits[DIM_REGISTER] && bit < 0; i++) {
            if (l->basis[DIM_REGISTER][i] == 1u << (shift + k)) bit = i;
        }
        if (bit < 0) break;
        v.bit[v.log2++] = 1u << bit;
    }
    return v;
}

static VectorBits widest(const Lower *L, const Value *ptr, int elem_bytes)
{
    VectorBits best = {0};
    if (!type_is_block(ptr->type)) return best;
    const int max_bytes = 16;
    for (int d = ptr->type->rank - 1; d >= 0; d--) {
        int width = axis_vector_width(L->facts, ptr, d, max_bytes);
        if (width > max_bytes / elem_bytes) width = max_bytes / elem_bytes;
        VectorBits v = steps_along(ptr->type->layout, d, width > 1 ? log2_of(width) : 0);
        if (v.log2 > best.log2) best = v;
    }
    return best;
}

static int predicate_run(const Lower *L, const Memory *m)
{
    int64_t run = 1 << m->vec.log2;
    if (run == 1) return 1;
    int64_t size = m->ty->shape[m->vec.dim];
    int64_t valid = size & -size; /* the edge of the shape lies between groups of this many */
    if ((size & (size - 1)) && valid < run) run = valid;
    if (m->mask && type_is_block(m->mask->type)) {
        int64_t constancy = axis_mask_constancy(L->facts, m->mask, m->vec.dim);
        if (constancy < run) run = constancy < 1 ? 1 : constancy;
    }
    return (int)run;
}

static Memory memory_of(Lower *L, const Op *op, const Value *mask)
{
    Memory m = {.op = op, .ptr = op_arg(op, 0), .mask = mask};
    const Type *pointee = tkc_type_element(m.ptr->type)->elem;
    m.ty = m.ptr->type;
    m.elem = lower_type(L, pointee);
    m.vec = widest(L, m.ptr, type_bytes(pointee));
    m.run = predicate_run(L, &m);
    m.access = (Access){.space = SPACE_GLOBAL,
                        .cache = tkc_op_str(op, ATTR_CACHE, ""),
                        .evict = tkc_op_str(op, ATTR_EVICT, ""),
                        .is_volatile = tkc_op_int(op, ATTR_VOLATILE, 0) != 0,
                        .loc = op->loc};
    return m;
}

/* The register of neighbour k of the vector that begins at `head`. */
static uint32_t neighbour(const Memory *m, uint32_t head, int k)
{
    for (int i = 0; i < m->vec.log2; i++) {
        if (k >> i & 1) head |= m->vec.bit[i];
    }
    return head;
}

static bool is_head(const Memory *m, uint32_t reg)
{
    uint32_t inside = lower_free_registers(m->ty);
    for (int i = 0; i < m->vec.log2; i++) inside |= m->vec.bit[i];
    return !(reg & inside);
}

/* Mask, validity and who acts, of one element; NULL is true. */
static LLVMValueRef predicate(Lower *L, const Memory *m, uint32_t reg)
{
    LLVMValueRef p = type_is_block(m->ty) ? lower_valid(L, m->ty, reg) : NULL;
    if (m->mask && !lower_is_false(p))
        p = lower_and(L, p, lower_reg(L, m->mask, type_is_block(m->mask->type) ? (int)reg : 0));
    return p;
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
    const bool is_store = m->op->kind == OP_STORE;
    if (lower_is_false(pred)) return;
    set_access(L, m, reg, count, &at, &p);
    at.pred = lower_and(L, pred, m->canonical);
    if (is_store || at.pred) pack_words(L, &p, elems, words);
    if (is_store) {
        L->target->store(L, &at, words);
        return;
    }
    L->target->load(L, &at, words);
    unpack_words(L, &p, words, elems);
}

static void access_vector(Lower *L, const Memory *m, uint32_t head, LLVMValueRef *elems)
{
    const int width = 1 << m->vec.log2;
    LLVMValueRef preds[VECTOR_MAX], all = NULL;
    for (int k = 0; k < width; k += m->run) {
        preds[k] = predicate(L, m, neighbour(m, head, k));
        all = lower_and(L, all, preds[k]);
    }
    access_run(L, m, head, width, all, elems);
    if (m->run == width || !all) return;
    LLVMValueRef ragged = LLVMBuildNot(L->b, all, "");
    for (int k = 0; k < width; k += m->run)
        access_run(L, m, neighbour(m, head, k), m->run, lower_and(L, preds[k], ragged), elems + k);
}

void lower_load(Lower *L, const Op *op)
{
    const Value *mask = op->nargs > 1 ? op_arg(op, 1) : NULL,
                *other = op->nargs > 2 ? op_arg(op, 2) : NULL;
    const Type *ty = op_result(op, 0)->type;
    Memory m = memory_of(L, op, mask);
    Regs out = lower_regs_new(L, lower_nregs(ty));
    LLVMValueRef zero = lower_bits(L, ty, 0), elems[VECTOR_MAX];
    for (uint32_t reg = 0; reg < (uint32_t)out.n; reg++) {
        if (!is_head(&m, reg)) continue;
        for (int k = 0; k < 1 << m.vec.log2; k++)
            elems[k] = other
                           ? lower_reg(L, other,
                                       type_is_block(other->type) ? (int)neighbour(&m, reg, k) : 0)
                           : zero;
        access_vector(L, &m, reg, elems);
        for (int k = 0; k < 1 << m.vec.log2; k++) out.r[neighbour(&m, reg, k)].v = elems[k];
    }
    const uint32_t free = lower_free_registers(m.ty);
    for (uint32_t reg = 0; reg < (uint32_t)out.n; reg++) out.r[reg] = out.r[reg & ~free];
    lower_set(L, op_result(op, 0), out);
}

void lower_store(Lower *L, const Op *op)
{
    const Value *value = op_arg(op, 1), *mask = op->nargs > 2 ? op_arg(op, 2) : NULL;
    Memory m = memory_of(L, op, mask);
    m.canonical = lower_canonical(L, m.ty);
    const int n = lower_nregs(m.ty);
    LLVMValueRef elems[VECTOR_MAX];
    for (uint32_t reg = 0; reg < (uint32_t)n; reg++) {
        if (!is_head(&m, reg)) continue;
        for (int k = 0; k < 1 << m.vec.log2; k++)
            elems[k] =
                lower_reg(L, value, type_is_block(value->type) ? (int)neighbour(&m, reg, k) : 0);
        access_vector(L, &m, reg, elems);
    }
}
