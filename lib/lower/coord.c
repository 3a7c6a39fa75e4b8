/* Which element a thread's register holds. A layout is linear over F2, so

       index(register, thread) = index(register, 0) ^ index(0, thread)

   the first being a constant, the second computed once in the entry block, and once more behind each
   loop that multiplies matrices, for which nothing of it is kept (layout/again.c). Where the two have no
   bit in common, as in every blocked layout, ^ is +, and the constant goes into the immediate of
   the Reg. The thread's part is a sum of a few shifted and masked pieces of the thread number: runs
   of bits whose basis vectors double from one to the next move together.

   Example: lanes 4 8 16 32 64, warps 128 256 on 128 threads: (thread & 127) << 2; the mask is all
   of a thread number and is left out. */
#include "lower/lower.h"

#include "base/power.h"
#include "base/unwind.h"

static int thread_bits(const Lower *L)
{
    return MACHINE_LANE_BITS + log2_floor(L->fn->num_warps);
}

static LLVMValueRef shift(Lower *L, LLVMBuilderRef b, LLVMValueRef x, int by)
{
    if (by > 0) return LLVMBuildShl(b, x, lower_i32(L, by), "");
    if (by < 0) return LLVMBuildLShr(b, x, lower_i32(L, -by), "");
    return x;
}

/* The bits of x in `bits`, shifted. `all`: every bit that x can have. */
static LLVMValueRef take_run(Lower *L, LLVMBuilderRef b, LLVMValueRef x, uint32_t bits,
                             uint32_t all, int by)
{
    if (bits != all) x = LLVMBuildAnd(b, x, lower_i32(L, bits), "");
    return shift(L, b, x, by);
}

/* basis where bit i of x is set, else 0. */
static LLVMValueRef take_bit(Lower *L, LLVMBuilderRef b, LLVMValueRef x, int i, uint32_t basis)
{
    LLVMValueRef bit = LLVMBuildAnd(b, shift(L, b, x, -i), lower_i32(L, 1), "");
    LLVMValueRef all = LLVMBuildNeg(b, bit, "");
    return LLVMBuildAnd(b, all, lower_i32(L, basis), "");
}

static ThreadPart linear(Lower *L, LLVMBuilderRef b, LLVMValueRef x, int nbits,
                         const uint32_t *basis)
{
    ThreadPart part = {lower_i32(L, 0), 0};
    const uint32_t all = nbits == 32 ? UINT32_MAX : (1u << nbits) - 1;
    for (int i = 0, n; i < nbits; i += n) {
        const uint32_t v = basis[i];
        n = 1;
        if (!v) continue;
        const bool is_power = !(v & (v - 1));
        while (is_power && i + n < nbits && basis[i + n] == v << n) n++;
        const uint32_t bits = (all >> (nbits - n)) << i,
                       image = is_power ? bits >> i << __builtin_ctz(v) : v;
        LLVMValueRef piece =
            is_power ? take_run(L, b, x, bits, all, __builtin_ctz(v) - i) : take_bit(L, b, x, i, v);
        if (!part.mask) part.v = piece;
        else
            part.v = part.mask & image ? LLVMBuildXor(b, part.v, piece, "")
                                       : LLVMBuildOr(b, part.v, piece, "");
        part.mask |= image;
    }
    return part;
}

static uint32_t project(const Layout *l, int dim, uint32_t index)
{
    return (index >> layout_dim_shift(l, dim)) & ((1u << l->dim_log2[dim]) - 1);
}

LLVMBuilderRef lower_aside(const Lower *L)
{
    if (!L->threads.before) return L->entry;
    LLVMPositionBuilderBefore(L->aside, L->threads.before);
    return L->aside;
}

static Threads threads_of(Lower *L, LLVMValueRef number)
{
    Threads t = {.number = number, .parts = arena_new(L->arena, Map)};
    map_init(t.parts, L->arena);
    return t;
}

void lower_threads(Lower *L)
{
    L->threads = threads_of(L, target_thread_id(L));
}

void lower_threads_anew(Lower *L)
{
    L->threads = threads_of(L, target_thread_id_anew(L));
    LLVMBasicBlockRef next = lower_block(L, "behind");
    LLVMMoveBasicBlockAfter(next, LLVMGetInsertBlock(L->b));
    L->threads.before = LLVMBuildBr(L->b, next);
    lower_place(L, next);
}

/* Basis of the element index over the bits of the thread number, lanes first. */
static int thread_basis(const Lower *L, const Layout *l, uint32_t *basis)
{
    int n = 0;
    for (int i = 0; i < l->nbits[DIM_LANE]; i++) basis[n++] = l->basis[DIM_LANE][i];
    for (int i = 0; i < l->nbits[DIM_WARP]; i++) basis[n++] = l->basis[DIM_WARP][i];
    check(n == thread_bits(L), "a layout for %d thread bits in a program of %d", n, thread_bits(L));
    return n;
}

static ThreadPart thread_part(Lower *L, const Layout *l, int dim)
{
    const uint64_t key = (uint64_t)l->id * TKC_MAX_RANK + (uint64_t)dim + 1;
    ThreadPart *known = map_get(L->threads.parts, key);
    if (known) return *known;
    uint32_t basis[32];
    int n = thread_basis(L, l, basis);
    for (int i = 0; i < n; i++) basis[i] = project(l, dim, basis[i]);
    known = arena_new(L->arena, ThreadPart);
    *known = linear(L, lower_aside(L), L->threads.number, n, basis);
    map_set(L->threads.parts, key, known);
    return *known;
}

ThreadPart lower_thread_linear(Lower *L, const uint32_t *lane, const uint32_t *warp)
{
    const int bits = thread_bits(L);
    uint32_t basis[32];
    for (int i = 0; i < bits; i++)
        basis[i] = i < MACHINE_LANE_BITS ? lane[i] : warp[i - MACHINE_LANE_BITS];
    return linear(L, lower_aside(L), L->threads.number, bits, basis);
}

LLVMValueRef lower_thread_offset(Lower *L, ThreadPart part, uint32_t constant)
{
    if (!constant) return part.v;
    LLVMValueRef c = lower_i32(L, constant);
    return part.mask & constant ? LLVMBuildXor(L->b, part.v, c, "")
                                : LLVMBuildOr(L->b, part.v, c, "");
}

LLVMValueRef lower_thread_address(Lower *L, ThreadPart part, uint32_t constant, int64_t *imm)
{
    *imm += constant & ~part.mask;
    return lower_thread_offset(L, part, constant & part.mask);
}

static uint32_t thread_mask(uint32_t lane_mask, uint32_t warp_mask)
{
    return lane_mask | warp_mask << MACHINE_LANE_BITS;
}

LLVMValueRef lower_thread_parity(Lower *L, uint32_t lane_mask, uint32_t warp_mask)
{
    uint32_t basis[32], mask = thread_mask(lane_mask, warp_mask);
    for (int i = 0; i < thread_bits(L); i++) basis[i] = mask >> i & 1;
    ThreadPart part = linear(L, lower_aside(L), L->threads.number, thread_bits(L), basis);
    return LLVMBuildTrunc(lower_aside(L), part.v, L->i1, "");
}

LLVMValueRef lower_thread_is_zero(Lower *L, uint32_t lane_mask, uint32_t warp_mask)
{
    uint32_t mask = thread_mask(lane_mask, warp_mask) & ((1u << thread_bits(L)) - 1);
    if (!mask) return NULL;
    LLVMValueRef bits = L->threads.number;
    if (mask != (1u << thread_bits(L)) - 1) bits = LLVMBuildAnd(L->b, bits, lower_i32(L, mask), "");
    return LLVMBuildICmp(L->b, LLVMIntEQ, bits, lower_i32(L, 0), "");
}

uint32_t lower_reg_coord(const Layout *l, int dim, uint32_t reg)
{
    return project(l, dim, layout_apply(l, reg, 0, 0));
}

Reg lower_coord(Lower *L, const Layout *l, int dim, uint32_t reg)
{
    const ThreadPart part = thread_part(L, l, dim);
    Reg coord = {0};
    coord.v = lower_thread_address(L, part, lower_reg_coord(l, dim, reg), &coord.imm);
    return coord;
}

LLVMValueRef lower_below(Lower *L, const Layout *l, int dim, uint32_t reg, uint32_t limit)
{
    const uint32_t constant = lower_reg_coord(l, dim, reg);
    const ThreadPart part = thread_part(L, l, dim);
    if ((constant | part.mask) < limit) return NULL;
    if ((constant & ~part.mask) >= limit) return LLVMConstInt(L->i1, 0, false);
    if (part.mask & constant) {
        LLVMValueRef coord = LLVMBuildXor(L->b, part.v, lower_i32(L, constant), "");
        return LLVMBuildICmp(L->b, LLVMIntULT, coord, lower_i32(L, limit), "");
    }
    return LLVMBuildICmp(L->b, LLVMIntULT, part.v, lower_i32(L, limit - constant), "");
}

LLVMValueRef lower_valid_along(Lower *L, const Type *ty, int dim, uint32_t reg)
{
    const uint32_t size = (uint32_t)ty->shape[dim];
    return size & (size - 1) ? lower_below(L, ty->layout, dim, reg, size) : NULL;
}

LLVMValueRef lower_valid(Lower *L, const Type *ty, uint32_t reg)
{
    LLVMValueRef valid = NULL;
    for (int d = 0; d < ty->rank; d++)
        valid = lower_and(L, valid, lower_valid_along(L, ty, d, reg));
    return valid;
}

LLVMValueRef lower_allowed(Lower *L, const Type *ty, const Value *mask, uint32_t reg)
{
    LLVMValueRef valid = lower_valid(L, ty, reg);
    if (!mask || lower_is_false(valid)) return valid;
    return lower_and(L, valid, lower_reg(L, mask, (int)reg));
}

/* Threads whose bits of this mask differ hold the same elements. */
static uint32_t free_thread_bits(const Lower *L, const Type *ty)
{
    if (!type_is_block(ty)) return (1u << thread_bits(L)) - 1;
    uint32_t lanes = layout_free_bits(ty->layout, DIM_LANE),
             warps = layout_free_bits(ty->layout, DIM_WARP);
    return lanes | warps << ty->layout->nbits[DIM_LANE];
}

uint32_t lower_free_registers(const Type *ty)
{
    return type_is_block(ty) ? layout_free_bits(ty->layout, DIM_REGISTER) : 0;
}

int lower_distinct_registers(const Type *ty)
{
    return lower_nregs(ty) >> __builtin_popcount(lower_free_registers(ty));
}

LLVMValueRef lower_canonical(Lower *L, const Type *ty)
{
    return lower_thread_is_zero(L, free_thread_bits(L, ty), 0);
}
