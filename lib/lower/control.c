/* Regions become basic blocks; what they carry becomes phi nodes, one for each base of a value's
   registers.

   A carried pointer or offset block that only moves by the same step in all elements (ptrs += BLOCK
     stride) keeps the constants of its registers apart through the loop: one phi for each base
   instead of one for each register. Whether it does is read off the IR before the loop is lowered
   (is_uniform_step); everything else is carried element by element.

   A loop runs a fixed number of times, counted before it: it ends rightly even where the induction
   variable would wrap. */
#include "lower/lower.h"

#include "base/unwind.h"
#include "ir/type.h"
#include "tkc/carry.h"

/* The phis of one carried value. */
typedef struct Carried {
    const Type *ty;
    Regs regs;   /* what the value is inside: phis plus constants */
    int *phi_of; /* register to phi */
    LLVMValueRef *phis;
    int nphis;
    bool keeps_constants;
} Carried;

static bool is_uniform(const Value *v)
{
    return v->def && (v->def->kind == OP_SPLAT || v->def->kind == OP_CONST);
}

/* y is x plus something that is the same for all elements. */
static bool is_uniform_step(const Value *y, const Value *x)
{
    for (int depth = 0; depth < 16; depth++) {
        if (y == x) return true;
        const Op *def = y->def;
        if (!def || (def->kind != OP_ADD && def->kind != OP_ADDPTR && def->kind != OP_SUB))
            return false;
        const bool left = is_uniform(op_arg(def, 1)),
                   right = def->kind == OP_ADD && is_uniform(op_arg(def, 0));
        if (!left && !right) return false;
        y = op_arg(def, left ? 0 : 1);
    }
    return false;
}

/* Makes the phis at the builder's place, from what comes in over the edge from `from`. Registers
   share a phi when what comes in is one value. */
static Carried carry_in(Lower *L, const Type *ty, Regs in, LLVMBasicBlockRef from,
                        bool keeps_constants)
{
    Carried c = {.ty = ty,
                 .regs = lower_regs_new(L, in.n),
                 .phi_of = arena_array(L->arena, int, in.n),
                 .phis = arena_array(L->arena, LLVMValueRef, in.n),
                 .keeps_constants = keeps_constants};
    LLVMValueRef *incoming = arena_array(L->arena, LLVMValueRef, in.n);
    for (int r = 0; r < in.n; r++) {
        int k = keeps_constants ? 0 : c.nphis;
        while (k < c.nphis && incoming[k] != in.r[r].v) k++;
        if (k == c.nphis) {
            incoming[k] = in.r[r].v;
            c.phis[c.nphis++] = LLVMBuildPhi(L->b, lower_type(L, ty), "");
            LLVMAddIncoming(c.phis[k], &incoming[k], &from, 1);
        }
        c.phi_of[r] = k;
        c.regs.r[r] = (Reg){c.phis[k], keeps_constants ? in.r[r].imm : 0};
    }
    return c;
}

/* Every register without its constant: carried element by element. */
static Regs elements_of(Lower *L, const Type *ty, Regs in)
{
    Regs out = lower_regs_new(L, in.n);
    for (int r = 0; r < in.n; r++) out.r[r].v = lower_element(L, ty, in.r[r]);
    return out;
}

static Regs ready_to_carry(Lower *L, const Value *v, bool keeps_constants)
{
    return keeps_constants ? lower_get(L, v) : elements_of(L, v->type, lower_get(L, v));
}

/* The value that comes back into each phi, at the builder's place (before the branch is made). */
static LLVMValueRef *carry_back(Lower *L, const Carried *c, const Value *v)
{
    Regs back = ready_to_carry(L, v, c->keeps_constants);
    LLVMValueRef *to = arena_array(L->arena, LLVMValueRef, c->nphis);
    Reg *seen = arena_array(L->arena, Reg, c->nphis);
    for (int r = 0; r < back.n; r++) {
        const int k = c->phi_of[r];
        const int unused = 64 - type_bits(c->ty);
        const uint64_t moved = (uint64_t)back.r[r].imm - (uint64_t)c->regs.r[r].imm;
        const Reg x = {back.r[r].v, (int64_t)(moved << unused) >> unused};
        check(!to[k] || (x.v == seen[k].v && x.imm == seen[k].imm),
              "a uniform step moves registers apart");
        if (to[k]) continue;
        seen[k] = x;
        to[k] = lower_element(L, c->ty, x);
    }
    return to;
}

static void add_edge(const Carried *c, LLVMValueRef *values, LLVMBasicBlockRef from)
{
    for (int k = 0; k < c->nphis; k++) LLVMAddIncoming(c->phis[k], &values[k], &from, 1);
}

/* ---- for ---- */

/* Number of times the body runs, in the induction variable's type. */
static LLVMValueRef trip_count(Lower *L, const Op *op, DType dt)
{
    const bool down = tkc_op_int(op, ATTR_DOWN, 0) != 0, is_signed = dtype_info(dt)->kind == DK_INT;
    LLVMValueRef lower = lower_scalar(L, op_arg(op, 0)), upper = lower_scalar(L, op_arg(op, 1));
    LLVMValueRef step = lower_scalar(L, op_arg(op, 2)), from = down ? upper : lower,
                 to = down ? lower : upper;
    LLVMTypeRef ty = LLVMTypeOf(step);
    LLVMValueRef one = LLVMConstInt(ty, 1, false), zero = LLVMConstNull(ty);
    if (down) step = LLVMBuildNeg(L->b, step, "");
    LLVMValueRef some = LLVMBuildICmp(L->b, is_signed ? LLVMIntSLT : LLVMIntULT, from, to, "");
    uint64_t bits;
    const bool is_const = lower_is_const(step, &bits);
    if (!is_const) { /* a step that does not lead to the end gives no round */
        LLVMValueRef leads =
            LLVMBuildICmp(L->b, is_signed ? LLVMIntSGT : LLVMIntNE, step, zero, "");
        some = LLVMBuildAnd(L->b, some, leads, "");
        step = LLVMBuildSelect(L->b, leads, step, one, "");
    } else if (!bits || (is_signed && LLVMConstIntGetSExtValue(step) < 0)) {
        return zero;
    }
    LLVMValueRef span = LLVMBuildSub(L->b, to, from, ""), count = span;
    if (!is_const || bits != 1) {
        count = LLVMBuildUDiv(L->b, LLVMBuildSub(L->b, span, one, ""), step, "");
        count = LLVMBuildAdd(L->b, count, one, "");
    }
    return LLVMBuildSelect(L->b, some, count, zero, "");
}

void lower_for(Lower *L, const Op *op)
{
    const Region *body = op->regions[0];
    const int n = op->nresults;
    const Type *index_type = body->args[0]->type;
    LLVMValueRef count = trip_count(L, op, type_dtype(index_type)),
                 start = lower_scalar(L, op_arg(op, 0));
    LLVMValueRef step = lower_scalar(L, op_arg(op, 2)), zero = LLVMConstNull(LLVMTypeOf(count));
    Regs *inits = arena_array(L->arena, Regs, n + 1);
    Carried *in = arena_array(L->arena, Carried, n + 1),
            *out = arena_array(L->arena, Carried, n + 1);
    for (int i = 0; i < n; i++)
        inits[i] = ready_to_carry(L, carry_init(op, i),
                                  is_uniform_step(carry_passed(body, i), carry_param(body, i)));

    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), loop = lower_block(L, "for"),
                      after = lower_block(L, "for.end");
    LLVMBuildCondBr(L->b, LLVMBuildICmp(L->b, LLVMIntEQ, count, zero, ""), after, loop);
    lower_place(L, loop);
    LLVMValueRef index = LLVMBuildPhi(L->b, LLVMTypeOf(start), ""),
                 left = LLVMBuildPhi(L->b, LLVMTypeOf(count), "");
    LLVMAddIncoming(index, &start, &before, 1);
    LLVMAddIncoming(left, &count, &before, 1);
    for (int i = 0; i < n; i++) {
        const bool keeps = is_uniform_step(carry_passed(body, i), carry_param(body, i));
        in[i] = carry_in(L, carry_param(body, i)->type, inits[i], before, keeps);
        lower_set(L, carry_param(body, i), in[i].regs);
    }
    lower_set_scalar(L, body->args[0], index);
    lower_region(L, body);

    LLVMValueRef **back = arena_array(L->arena, LLVMValueRef *, n + 1);
    for (int i = 0; i < n; i++) back[i] = carry_back(L, &in[i], carry_passed(body, i));
    LLVMValueRef next = LLVMBuildAdd(L->b, index, step, "");
    LLVMValueRef still = LLVMBuildSub(L->b, left, LLVMConstInt(LLVMTypeOf(left), 1, false), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(L->b);
    LLVMBuildCondBr(L->b, LLVMBuildICmp(L->b, LLVMIntNE, still, zero, ""), loop, after);
    LLVMAddIncoming(index, &next, &latch, 1);
    LLVMAddIncoming(left, &still, &latch, 1);
    for (int i = 0; i < n; i++) add_edge(&in[i], back[i], latch);

    LLVMMoveBasicBlockAfter(after, latch);
    lower_place(L, after);
    for (int i = 0; i < n; i++) {
        out[i] = carry_in(L, op_result(op, i)->type, inits[i], before, in[i].keeps_constants);
        check(out[i].nphis == in[i].nphis, "a loop carries another number of values out than in");
        add_edge(&out[i], back[i], latch);
        lower_set(L, op_result(op, i), out[i].regs);
    }
}

/* ---- while ---- */

void lower_while(Lower *L, const Op *op)
{
    const Region *test = op->regions[0], *body = op->regions[1];
    const int n = op->nresults;
    Regs *inits = arena_array(L->arena, Regs, n + 1);
    Carried *in = arena_array(L->arena, Carried, n + 1);
    for (int i = 0; i < n; i++) inits[i] = ready_to_carry(L, carry_init(op, i), false);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), head = lower_block(L, "while"),
                      inside = lower_block(L, "while.body");
    LLVMBuildBr(L->b, head);
    lower_place(L, head);
    for (int i = 0; i < n; i++) {
        in[i] = carry_in(L, carry_param(test, i)->type, inits[i], before, false);
        lower_set(L, carry_param(test, i), in[i].regs);
    }
    const Op *condition = lower_region(L, test);
    LLVMBasicBlockRef after = lower_block(L, "while.end");
    LLVMBuildCondBr(L->b, lower_scalar(L, op_arg(condition, 0)), inside, after);
    for (int i = 0; i < n; i++)
        lower_set(L, carry_param(body, i), lower_get(L, carry_passed(test, i)));
    lower_place(L, inside);
    lower_region(L, body);
    LLVMValueRef **back = arena_array(L->arena, LLVMValueRef *, n + 1);
    for (int i = 0; i < n; i++) back[i] = carry_back(L, &in[i], carry_passed(body, i));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(L->b);
    LLVMBuildBr(L->b, head);
    for (int i = 0; i < n; i++) add_edge(&in[i], back[i], latch);
    LLVMMoveBasicBlockAfter(after, latch);
    lower_place(L, after);
    for (int i = 0; i < n; i++)
        lower_set(L, op_result(op, i), lower_get(L, carry_passed(test, i)));
}

/* ---- if ---- */

void lower_if(Lower *L, const Op *op)
{
    const int n = op->nresults;
    LLVMBasicBlockRef arms[2] = {lower_block(L, "then"), lower_block(L, "else")}, ends[2],
                      after = lower_block(L, "if.end");
    Regs *values[2];
    LLVMBuildCondBr(L->b, lower_scalar(L, op_arg(op, 0)), arms[0], arms[1]);
    for (int k = 0; k < 2; k++) {
        lower_place(L, arms[k]);
        lower_region(L, op->regions[k]);
        values[k] = arena_array(L->arena, Regs, n + 1);
        for (int i = 0; i < n; i++)
            values[k][i] = ready_to_carry(L, carry_passed(op->regions[k], i), false);
        ends[k] = LLVMGetInsertBlock(L->b);
        LLVMBuildBr(L->b, after);
        if (k == 0) LLVMMoveBasicBlockAfter(arms[1], ends[0]);
    }
    LLVMMoveBasicBlockAfter(after, ends[1]);
    lower_place(L, after);
    for (int i = 0; i < n; i++) {
        const Type *ty = op_result(op, i)->type;
        Regs out = lower_regs_new(L, values[0][i].n);
        for (int r = 0; r < out.n; r++) {
            LLVMValueRef both[2] = {values[0][i].r[r].v, values[1][i].r[r].v};
            out.r[r].v = both[0];
            if (both[0] == both[1]) continue;
            out.r[r].v = LLVMBuildPhi(L->b, lower_type(L, ty), "");
            LLVMAddIncoming(out.r[r].v, both, ends, 2);
        }
        lower_set(L, op_result(op, i), out);
    }
}
