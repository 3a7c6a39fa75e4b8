/* Regions become basic blocks; see loop_slots.c for what they carry.

   A loop runs a fixed number of times, counted before it: it ends rightly even where the induction
   variable would wrap. */
#include "base/unwind.h"
#include "lower/dot.h"
#include "lower/loop_slots.h"
#include "lower/masks.h"
#include "tkc/carry.h"

#include <llvm-c/DebugInfo.h>

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

typedef struct LoopHas {
    bool accesses;       /* to global memory */
    bool copies;         /* that run on behind it */
    bool products;       /* of any kind */
    bool group_products; /* of warp groups */
} LoopHas;

static void find(Op *op, void *found)
{
    LoopHas *has = found;
    has->accesses |= op->kind == OP_LOAD || op->kind == OP_STORE;
    has->copies |= op->kind == OP_COPY_ASYNC;
    has->products |= op->kind == OP_DOT;
    has->group_products |= dot_is_async(op);
}

static LoopHas look_into(Region *body)
{
    LoopHas has = {0};
    ir_walk(body, find, &has);
    return has;
}

/* ptxas makes two turns one after the other, and all where it knows how many there are. Between
   products of warp groups it may leave work out then (12.8 and 13.0). Where copies are asked for
   ahead many turns win nothing by it: 32 of a product had 3944 instructions and spilled 64 bytes,
   where the loop has 776 and takes the same time; of ten loops with 2 to 4 turns three were 4 %
   faster as they were, and two 4 and 6 % slower (code for sm_80 on an H200). */
static bool stays_rolled(const LoopHas *has, LLVMValueRef count)
{
    enum { MANY_TURNS = 8 };
    uint64_t turns;
    return has->group_products || (has->products && has->copies && count &&
                                   lower_is_const(count, &turns) && turns >= MANY_TURNS);
}

/* For a loop that `back` closes. */
static void keep_rolled(Lower *L, LLVMValueRef back)
{
    static const char what[] = "llvm.loop.unroll.disable";
    LLVMMetadataRef rule = LLVMMDStringInContext2(L->cx, what, sizeof what - 1);
    LLVMMetadataRef list = LLVMMDNodeInContext2(L->cx, &rule, 1);
    LLVMMetadataRef self = LLVMTemporaryMDNode(L->cx, NULL, 0), parts[] = {self, list};
    LLVMMetadataRef id = LLVMMDNodeInContext2(L->cx, parts, 2);
    LLVMMetadataReplaceAllUsesWith(self, id);
    LLVMSetMetadata(back, LLVMGetMDKindIDInContext(L->cx, "llvm.loop", 9),
                    LLVMMetadataAsValue(L->cx, id));
}

/* A known number of turns, in 64 bits: where an address tells the turn, that is compared as it is.
   Of its low half ptxas (13.0) knows no number of turns, and unrolls nothing. */
static LLVMValueRef counted_like_addresses(Lower *L, LLVMValueRef count)
{
    uint64_t turns;
    return lower_is_const(count, &turns) ? LLVMConstInt(L->i64, turns, false) : count;
}

/* Lowers a region of the loop that `into` enters, where threads are known as `outside` says. */
static const Op *lower_turn(Lower *L, LLVMValueRef into, Threads outside, const Region *r)
{
    LLVMBasicBlockRef around = LLVMGetInsertBlock(L->before);
    const Threads threads = L->around;
    LLVMPositionBuilderBefore(L->before, into);
    L->around = outside;
    const Op *end = lower_region(L, r);
    L->around = threads;
    if (around) LLVMPositionBuilderBefore(L->before, LLVMGetBasicBlockTerminator(around));
    return end;
}

void lower_for(Lower *L, const Op *op)
{
    Region *body = op->regions[0];
    const int n = op->nresults;
    const Type *index_type = body->args[0]->type;
    LLVMValueRef count = trip_count(L, op, type_dtype(index_type)),
                 start = lower_scalar(L, op_arg(op, 0));
    LLVMValueRef step = lower_scalar(L, op_arg(op, 2));
    CarriedIn *inits = arena_array(L->arena, CarriedIn, n + 1);
    Carried *in = arena_array(L->arena, Carried, n + 1),
            *out = arena_array(L->arena, Carried, n + 1);
    const LoopHas has = look_into(body);
    if (has.accesses) count = counted_like_addresses(L, count);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(count));
    for (int i = 0; i < n; i++)
        inits[i] = lower_holds_sum(op, i)
                       ? carried_held(lower_hold_sum(L, carry_init(op, i)))
                       : carried_before(L, carry_init(op, i), carry_param(body, i),
                                        carry_passed(body, i), has.copies);

    lower_stagger(L, op, count);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), loop = lower_block(L, "for"),
                      after = lower_block(L, "for.end");
    LLVMValueRef is_done = LLVMBuildICmp(L->b, LLVMIntEQ, count, zero, ""),
                 into = LLVMBuildCondBr(L->b, is_done, after, loop);
    lower_place(L, loop);
    LLVMValueRef index = LLVMBuildPhi(L->b, LLVMTypeOf(start), ""),
                 left = LLVMBuildPhi(L->b, LLVMTypeOf(count), "");
    LLVMAddIncoming(index, &start, &before, 1);
    LLVMAddIncoming(left, &count, &before, 1);
    for (int i = 0; i < n; i++) {
        in[i] = carried_phis(L, carry_param(body, i)->type, &inits[i], before);
        lower_set(L, carry_param(body, i), in[i].regs);
    }
    lower_set_all(L, body->args[0], index);
    const Masks *masks = lower_masks_again(L, body);
    lower_turn(L, into, L->threads, body);
    lower_masks_restore(L, masks);

    LLVMValueRef **back = arena_array(L->arena, LLVMValueRef *, n + 1);
    for (int i = 0; i < n; i++) back[i] = carried_back(L, &in[i], carry_passed(body, i));
    LLVMValueRef next = LLVMBuildAdd(L->b, index, step, "");
    LLVMValueRef still = LLVMBuildSub(L->b, left, LLVMConstInt(LLVMTypeOf(left), 1, false), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(L->b);
    LLVMValueRef more = LLVMBuildICmp(L->b, LLVMIntNE, still, zero, "");
    LLVMValueRef to_next = LLVMBuildCondBr(L->b, more, loop, after);
    if (stays_rolled(&has, count)) keep_rolled(L, to_next);
    LLVMAddIncoming(index, &next, &latch, 1);
    LLVMAddIncoming(left, &still, &latch, 1);
    for (int i = 0; i < n; i++) carried_edge(&in[i], back[i], latch);

    LLVMMoveBasicBlockAfter(after, latch);
    lower_place(L, after);
    for (int i = 0; i < n; i++) {
        out[i] = carried_phis(L, op_result(op, i)->type, &inits[i], before);
        check(out[i].nphis == in[i].nphis, "a loop carries another number of values out than in");
        carried_edge(&out[i], back[i], latch);
        lower_set(L, op_result(op, i), out[i].regs);
    }
    if (ir_is_product_loop(op)) lower_threads_anew(L);
}

/* ---- while ---- */

void lower_while(Lower *L, const Op *op)
{
    const Region *test = op->regions[0];
    Region *body = op->regions[1];
    const int n = op->nresults;
    CarriedIn *inits = arena_array(L->arena, CarriedIn, n + 1);
    Carried *in = arena_array(L->arena, Carried, n + 1);
    for (int i = 0; i < n; i++) inits[i] = carried_before(L, carry_init(op, i), NULL, NULL, false);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(L->b), head = lower_block(L, "while"),
                      inside = lower_block(L, "while.body");
    LLVMValueRef into = LLVMBuildBr(L->b, head);
    lower_place(L, head);
    for (int i = 0; i < n; i++) {
        in[i] = carried_phis(L, carry_param(test, i)->type, &inits[i], before);
        lower_set(L, carry_param(test, i), in[i].regs);
    }
    const Threads outside = L->threads;
    const Masks *masks = lower_masks_again(L, body);
    const Op *condition = lower_turn(L, into, outside, test);
    LLVMBasicBlockRef after = lower_block(L, "while.end");
    LLVMBuildCondBr(L->b, lower_scalar(L, op_arg(condition, 0)), inside, after);
    for (int i = 0; i < n; i++)
        lower_set(L, carry_param(body, i), lower_get(L, carry_passed(test, i)));
    lower_place(L, inside);
    lower_turn(L, into, outside, body);
    lower_masks_restore(L, masks);
    LLVMValueRef **back = arena_array(L->arena, LLVMValueRef *, n + 1);
    for (int i = 0; i < n; i++) back[i] = carried_back(L, &in[i], carry_passed(body, i));
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(L->b);
    LLVMValueRef to_next = LLVMBuildBr(L->b, head);
    const LoopHas has = look_into(body);
    if (stays_rolled(&has, NULL)) keep_rolled(L, to_next);
    for (int i = 0; i < n; i++) carried_edge(&in[i], back[i], latch);
    LLVMMoveBasicBlockAfter(after, latch);
    lower_place(L, after);
    for (int i = 0; i < n; i++) lower_set(L, op_result(op, i), lower_get(L, carry_passed(test, i)));
    if (ir_is_product_loop(op)) lower_threads_anew(L);
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
            values[k][i] = carried_elements(L, carry_passed(op->regions[k], i));
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
