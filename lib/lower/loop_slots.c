/* What a loop carries from turn to turn becomes phi nodes, one for each base of a value's
   registers.

   A pointer or offset block that only moves by the same step in all elements (ptrs += BLOCK *
   stride) keeps the constants of its registers apart through the loop: one phi for each base
   instead of one for each register. Whether it does is read off the IR before the loop is lowered;
   everything else is carried element by element.

   Pointers may be kept apart from how they move. Else LLVM shares parts among them, which ptxas
   then multiplies anew in each turn, in 64 bits; while warp groups multiply matrices that costs
   both: of a product of 4096x4096x8192 in fp16 11 % of the time (H200). */
#include "lower/loop_slots.h"

#include "base/unwind.h"

static bool is_step(const Value *v)
{
    return ir_def(v, OP_SPLAT) || ir_def(v, OP_CONST);
}

/* y is x plus something that is the same for all elements. */
static bool is_uniform_step(const Value *y, const Value *x)
{
    for (int depth = 0; depth < 16; depth++) {
        if (y == x) return true;
        const Op *def = y->def;
        if (!def || (def->kind != OP_ADD && def->kind != OP_ADDPTR && def->kind != OP_SUB))
            return false;
        const bool left = is_step(op_arg(def, 1)),
                   right = def->kind == OP_ADD && is_step(op_arg(def, 0));
        if (!left && !right) return false;
        y = op_arg(def, left ? 0 : 1);
    }
    return false;
}

/* By how many bytes y, a uniform step from the pointers x, is further; NULL if that is not known at
   the builder's place. */
static LLVMValueRef bytes_between(Lower *L, const Value *y, const Value *x)
{
    const int size = type_bytes(tkc_type_element(x->type)->elem);
    LLVMValueRef sum = LLVMConstNull(L->i64);
    for (; y != x; y = op_arg(y->def, 0)) {
        const Value *by = op_arg(y->def, 1);
        int64_t elements;
        LLVMValueRef bytes;
        if (ir_const_int(by, &elements)) {
            bytes = LLVMConstInt(L->i64, (uint64_t)(elements * size), true);
        } else {
            by = op_arg(by->def, 0);
            if (!L->values[by->id].r) return NULL;
            const Reg wide = lower_widen_int(L, by).r[0];
            LLVMValueRef whole =
                LLVMBuildAdd(L->b, wide.v, LLVMConstInt(L->i64, (uint64_t)wide.imm, true), "");
            /* not as a product, which ptxas would move into the loop */
            bytes = lower_instr(L, INSTR_SHL_64, whole,
                                lower_i32(L, __builtin_ctz((unsigned)size)));
        }
        sum = LLVMBuildAdd(L->b, sum, bytes, "");
    }
    return sum;
}

/* As they are, but LLVM takes nothing they consist of for part of what it computes from them. */
static Regs frozen(Lower *L, Regs in)
{
    Regs out = lower_regs_new(L, in.n);
    for (int r = 0; r < in.n; r++) {
        int same = 0;
        while (in.r[same].v != in.r[r].v) same++;
        out.r[r] = in.r[r];
        out.r[r].v = same < r ? out.r[same].v : LLVMBuildFreeze(L->b, in.r[r].v, "");
    }
    return out;
}

Regs carried_elements(Lower *L, const Value *v)
{
    const Regs in = lower_get(L, v);
    Regs out = lower_regs_new(L, in.n);
    for (int r = 0; r < in.n; r++) out.r[r].v = lower_element(L, v->type, in.r[r]);
    return out;
}

CarriedIn carried_before(Lower *L, const Value *init, const Value *in, const Value *passed,
                         bool apart)
{
    CarriedIn c = {.keeps_constants = passed && is_uniform_step(passed, in)};
    c.regs = c.keeps_constants ? lower_get(L, init) : carried_elements(L, init);
    if (c.keeps_constants && apart && type_is_pointer(init->type))
        c.step = bytes_between(L, passed, in);
    if (c.step) c.regs = frozen(L, c.regs);
    return c;
}

CarriedIn carried_held(Regs regs)
{
    return (CarriedIn){.regs = regs, .is_held = true};
}

/* Registers share a phi when what comes in is one value. */
Carried carried_phis(Lower *L, const Type *ty, const CarriedIn *before, LLVMBasicBlockRef from)
{
    const Regs in = before->regs;
    Carried c = {.ty = ty,
                 .regs = lower_regs_new(L, in.n),
                 .phi_of = arena_array(L->arena, int, in.n),
                 .phis = arena_array(L->arena, LLVMValueRef, in.n),
                 .in = before};
    LLVMValueRef *incoming = arena_array(L->arena, LLVMValueRef, in.n);
    if (before->is_held) c.regs = in;
    for (int r = 0; r < in.n && !before->is_held; r++) {
        int k = before->keeps_constants ? 0 : c.nphis;
        while (k < c.nphis && incoming[k] != in.r[r].v) k++;
        if (k == c.nphis) {
            incoming[k] = in.r[r].v;
            c.phis[c.nphis++] = LLVMBuildPhi(L->b, lower_type(L, ty), "");
            LLVMAddIncoming(c.phis[k], &incoming[k], &from, 1);
        }
        c.phi_of[r] = k;
        c.regs.r[r] = in.r[r]; /* without constants, if they are not kept */
        c.regs.r[r].v = c.phis[k];
    }
    return c;
}

LLVMValueRef *carried_back(Lower *L, const Carried *c, const Value *v)
{
    LLVMValueRef *to = arena_array(L->arena, LLVMValueRef, c->nphis), step = c->in->step;
    for (int k = 0; step && k < c->nphis; k++)
        to[k] = LLVMBuildGEP2(L->b, L->i8, c->phis[k], &step, 1, "");
    if (step || c->in->is_held) return to;
    Regs back = lower_get(L, v);
    if (!c->in->keeps_constants) back = carried_elements(L, v);
    Reg *seen = arena_array(L->arena, Reg, c->nphis);
    for (int r = 0; r < back.n; r++) {
        const int k = c->phi_of[r];
        const int unused = 64 - type_bits(c->ty);
        const uint64_t moved = (uint64_t)back.r[r].imm - (uint64_t)c->regs.r[r].imm;
        const Reg x = {.v = back.r[r].v, .imm = (int64_t)(moved << unused) >> unused};
        check(!to[k] || (x.v == seen[k].v && x.imm == seen[k].imm),
              "a uniform step moves registers apart");
        if (to[k]) continue;
        seen[k] = x;
        to[k] = lower_element(L, c->ty, x);
    }
    return to;
}

void carried_edge(const Carried *c, LLVMValueRef *values, LLVMBasicBlockRef from)
{
    for (int k = 0; k < c->nphis; k++) LLVMAddIncoming(c->phis[k], &values[k], &from, 1);
}
