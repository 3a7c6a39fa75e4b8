/* Ops that work on each element alone. Registers that hold the same operands (duplicates, what a
   broadcast repeats) share one result: a table from operands to result, for one op, sees to it. So
   do those whose results are proved to be equal (a mask that ends at a multiple of the vector).

   Sums keep their constants apart (Reg). Moving the constant of a 32-bit offset out of its
   extension to 64 bits, extend(base + imm) = extend(base) + imm, holds only where base + imm does
   not wrap. Two facts prove it for a register against the lowest register on the same base: bounds
   less than 2^31 apart (both values are elements, both lie within them), or one aligned group of
   contiguous values whose first value is a multiple of its length: such a group cannot straddle the
   end of the number range. Neither: the register gets a base of its own. */
#include "lower/lower.h"

#include "base/power.h"
#include "base/unwind.h"

#define MAX_OPERANDS 3

typedef struct Memo {
    LLVMValueRef args[MAX_OPERANDS], result;
} Memo;

typedef struct MemoTable {
    Memo *slots;
    uint32_t mask;
} MemoTable;

static MemoTable memo_new(Lower *L, int n)
{
    uint32_t cap = 4;
    while (cap < (uint32_t)n * 2) cap *= 2;
    return (MemoTable){arena_array(L->arena, Memo, cap), cap - 1};
}

/* The slot of these operands; its result is NULL when they are new. */
static Memo *memo_find(const MemoTable *t, int n, const LLVMValueRef *args)
{
    uint64_t h = 0;
    for (int i = 0; i < n; i++)
        h = (h ^ (uint64_t)(uintptr_t)args[i] >> 4) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = (uint32_t)(h >> 32);; i++) {
        Memo *m = &t->slots[i & t->mask];
        bool same = m->result != NULL;
        for (int k = 0; same && k < n; k++) same = m->args[k] == args[k];
        if (same || !m->result) return m;
    }
}

static Reg operand(const Lower *L, const Op *op, int i, int r)
{
    Regs regs = lower_get(L, op_arg(op, i));
    return regs.r[regs.n == 1 ? 0 : r];
}

uint32_t lower_equal_registers(const Lower *L, const Value *v)
{
    if (!type_is_block(v->type)) return 0;
    const Layout *l = v->type->layout;
    const AxisFact *fact = axis_of(L->facts, v);
    return layout_registers_within(l, layout_group_bits(l, fact->constancy));
}

static void read_operands(Lower *L, const Op *op, int r, LLVMValueRef *args)
{
    check(op->nargs <= MAX_OPERANDS, "an elementwise op of %d operands", op->nargs);
    for (int i = 0; i < op->nargs; i++) args[i] = lower_reg(L, op_arg(op, i), r);
}

void lower_elementwise(Lower *L, const Op *op, LowerElement f)
{
    const Value *result = op_result(op, 0);
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    MemoTable memo = memo_new(L, out.n);
    const uint32_t equal = lower_equal_registers(L, result);
    for (int r = 0; r < out.n; r++) {
        if ((uint32_t)r & equal) {
            out.r[r] = out.r[(uint32_t)r & ~equal];
            continue;
        }
        LLVMValueRef args[MAX_OPERANDS];
        read_operands(L, op, r, args);
        Memo *m = memo_find(&memo, op->nargs, args);
        if (!m->result) {
            for (int i = 0; i < op->nargs; i++) m->args[i] = args[i];
            m->result = f(L, op, args);
        }
        out.r[r].v = m->result;
    }
    lower_set(L, result, out);
}

void lower_elementwise_pairs(Lower *L, const Op *op, LowerPair f)
{
    const Value *result = op_result(op, 0);
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    MemoTable memo = memo_new(L, out.n);
    Memo **of = arena_array(L->arena, Memo *, out.n),
         **fresh = arena_array(L->arena, Memo *, out.n);
    const uint32_t equal = lower_equal_registers(L, result);
    int n = 0;
    for (int r = 0; r < out.n; r++) {
        Memo new = {0};
        read_operands(L, op, (int)((uint32_t)r & ~equal), new.args);
        of[r] = memo_find(&memo, op->nargs, new.args);
        if (of[r]->result) continue;
        new.result = new.args[0]; /* until there is one */
        *of[r] = new;
        fresh[n++] = of[r];
    }
    for (int i = 0; i < n; i += 2) {
        Memo *next = i + 1 < n ? fresh[i + 1] : fresh[i];
        LLVMValueRef in[MAX_OPERANDS][2], two[2];
        for (int k = 0; k < op->nargs; k++) in[k][0] = fresh[i]->args[k], in[k][1] = next->args[k];
        f(L, op, in, two);
        next->result = two[1];
        fresh[i]->result = two[0];
    }
    for (int r = 0; r < out.n; r++) out.r[r].v = of[r]->result;
    lower_set(L, result, out);
}

/* ---- sums with their constants apart ---- */

static int64_t wrap_imm(const Type *ty, int64_t imm)
{
    int unused = 64 - type_bits(ty);
    return (int64_t)((uint64_t)imm << unused) >> unused;
}

/* Constants wrap as what they are constants of. */
static int64_t wrapped(OpKind kind, int64_t x, int64_t y)
{
    const uint64_t a = (uint64_t)x, b = (uint64_t)y;
    return (int64_t)(kind == OP_ADD ? a + b : kind == OP_SUB ? a - b : a * b);
}

static bool is_const_reg(Reg reg, int64_t *value)
{
    if (!LLVMIsAConstantInt(reg.v) || LLVMGetIntTypeWidth(LLVMTypeOf(reg.v)) > 64) return false;
    *value = wrapped(OP_ADD, LLVMConstIntGetSExtValue(reg.v), reg.imm);
    return true;
}

/* One register of an integer sum or product; false: no constant can be kept apart. */
static bool sum_apart(const Op *op, Reg x, Reg y, LLVMValueRef bases[2], int64_t *imm)
{
    int64_t cx, cy;
    if (y.step && (x.step || op->kind != OP_ADD)) return false;
    if (x.step && op->kind == OP_MUL) return false;
    const bool const_x = is_const_reg(x, &cx), const_y = is_const_reg(y, &cy);
    if (const_x && !const_y && op->kind != OP_SUB) return sum_apart(op, y, x, bases, imm);
    bases[0] = x.v;
    bases[1] = y.v;
    if (op->kind == OP_MUL) {
        *imm = const_y ? wrapped(OP_MUL, x.imm, cy) : 0;
        return !y.imm && (const_y || !x.imm);
    }
    if (const_y) bases[1] = NULL;
    *imm = wrapped(op->kind, x.imm, const_y ? cy : y.imm);
    return true;
}

/* (v + imm) * y = v * y + imm * y: the second part is the same for all threads. */
static bool by_uniform(const Op *op, Reg x)
{
    const Value *y = op_arg(op, 1);
    return op->kind == OP_MUL && type_bits(y->type) == 64 && x.imm && !x.step &&
           !LLVMIsAConstantInt(x.v) && ir_def(y, OP_SPLAT) && !ir_is_uniform(op_arg(op, 0));
}

/* ADD, SUB and MUL of integers wider than a bit. */
static void lower_sum(Lower *L, const Op *op)
{
    const Value *x = op_arg(op, 0), *y = op_arg(op, 1), *result = op_result(op, 0);
    const LLVMOpcode opcode = op->kind == OP_ADD ? LLVMAdd : op->kind == OP_SUB ? LLVMSub : LLVMMul;
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    MemoTable memo = memo_new(L, out.n);
    for (int r = 0; r < out.n; r++) {
        LLVMValueRef args[2];
        int64_t imm = 0;
        const Reg a = operand(L, op, 0, r), b = operand(L, op, 1, r);
        LLVMValueRef step = a.step ? a.step : b.step;
        if (by_uniform(op, a)) {
            args[0] = a.v;
            args[1] = lower_element(L, y->type, b);
            step = LLVMBuildMul(L->b, args[1], LLVMConstInt(L->i64, (uint64_t)a.imm, true), "");
        } else if (!sum_apart(op, a, b, args, &imm)) {
            imm = 0;
            step = NULL;
            args[0] = lower_element(L, x->type, a);
            args[1] = lower_element(L, y->type, b);
        }
        Memo *m = memo_find(&memo, 2, args);
        if (!m->result)
            *m = (Memo){{args[0], args[1]},
                        args[1] ? LLVMBuildBinOp(L->b, opcode, args[0], args[1], "") : args[0]};
        out.r[r] = (Reg){m->result, wrap_imm(result->type, imm), step};
    }
    lower_set(L, result, out);
}

void lower_arith(Lower *L, const Op *op)
{
    const Type *ty = op_arg(op, 0)->type;
    const bool is_sum = op->kind == OP_ADD || op->kind == OP_SUB || op->kind == OP_MUL;
    const bool is_int = type_is_int(ty) && !type_is_bool(ty);
    if (is_sum && is_int && !lower_is_half_product(op)) lower_sum(L, op);
    else if (is_int && (op->kind == OP_DIV || op->kind == OP_REM)) lower_divide(L, op);
    else if (lower_is_pair_arith(L, op)) lower_elementwise_pairs(L, op, lower_arith_pair);
    else lower_elementwise(L, op, lower_arith_element);
}

/* ---- extension to 64 bits ---- */

/* True when along each dim the registers' elements lie in one aligned group of equal values, or of
   contiguous ones that cannot wrap inside, for every thread. */
static bool in_one_run(const AxisFact *fact, const Type *ty, uint32_t r, uint32_t s)
{
    if (!type_is_block(ty)) return false;
    const uint32_t difference =
        layout_apply(ty->layout, r, 0, 0) ^ layout_apply(ty->layout, s, 0, 0);
    for (int d = 0; d < ty->rank; d++) {
        const int64_t apart = layout_coord(ty->layout, difference, d);
        const bool runs = fact->contiguity[d] > apart && fact->divisibility[d] >= fact->contiguity[d];
        if (fact->constancy[d] <= apart && !runs) return false;
    }
    return true;
}

static bool is_bounded(const AxisFact *fact)
{
    return fact->lo_all != INT64_MIN && fact->hi_all != INT64_MAX &&
           fact->hi_all - fact->lo_all < INT64_C(1) << 31;
}

/* Registers by base, then by constant; nearly sorted as they come. */
static void sort_registers(Regs in, int *order)
{
    for (int r = 0; r < in.n; r++) {
        int at = r;
        for (; at > 0; at--) {
            const Reg before = in.r[order[at - 1]];
            bool later = before.v == in.r[r].v ? before.imm > in.r[r].imm
                                               : (uintptr_t)before.v > (uintptr_t)in.r[r].v;
            if (!later) break;
            order[at] = order[at - 1];
        }
        order[at] = r;
    }
}

static LLVMValueRef extend(Lower *L, const Type *ty, LLVMValueRef x)
{
    return LLVMBuildIntCast2(L->b, x, L->i64, type_kind(ty) == DK_INT, "");
}

/* For each register, a register of its own base that its extension is computed from: itself when
   nothing else is proved. */
static void find_leaders(const Lower *L, const Value *v, Regs in, const int *order, int *leader)
{
    const AxisFact *fact = axis_of(L->facts, v);
    const bool narrow = type_bits(v->type) < 32, bounded = is_bounded(fact) && !narrow;
    for (int k = 0, first = 0; k < in.n; k++) {
        int r = order[k];
        if (k == 0 || in.r[r].v != in.r[order[k - 1]].v) first = k;
        leader[r] = r;
        for (int j = first; j < k && leader[r] == r; j++) {
            int s = order[j];
            int64_t apart = in.r[r].imm - in.r[s].imm;
            if (leader[s] != s || apart > INT32_MAX) continue;
            if (!apart || bounded ||
                (!narrow && in_one_run(fact, v->type, (uint32_t)r, (uint32_t)s)))
                leader[r] = s;
        }
    }
}

Regs lower_widen_int(Lower *L, const Value *v)
{
    Regs in = lower_get(L, v);
    if (type_bits(v->type) == 64) return in;
    Regs out = lower_regs_new(L, in.n);
    int *order = arena_array(L->arena, int, in.n), *leader = arena_array(L->arena, int, in.n);
    sort_registers(in, order);
    find_leaders(L, v, in, order, leader);
    MemoTable memo = memo_new(L, in.n);
    for (int r = 0; r < in.n; r++) {
        int s = leader[r];
        LLVMValueRef narrow = out.r[s].v ? NULL : lower_element(L, v->type, in.r[s]);
        if (narrow) {
            Memo *m = memo_find(&memo, 1, &narrow);
            if (!m->result) *m = (Memo){{narrow}, extend(L, v->type, narrow)};
            out.r[s] = (Reg){.v = m->result};
        }
        out.r[r] = (Reg){.v = out.r[s].v, .imm = in.r[r].imm - in.r[s].imm};
    }
    return out;
}

/* ---- pointers ---- */

typedef struct Moves {
    Lower *L;
    MemoTable memo;
    int64_t size; /* bytes an element */
    bool shifts;
} Moves;

/* In bytes. Of a product that it sees ptxas makes one of 32 by 64 bits for each pointer that moves
   so, and these wait for products of warp groups, under which they stand. */
static LLVMValueRef in_bytes(const Moves *m, LLVMValueRef by)
{
    if (m->size == 1) return by;
    if (!m->shifts)
        return LLVMBuildMul(m->L->b, by, LLVMConstInt(m->L->i64, (uint64_t)m->size, false), "");
    Memo *known = memo_find(&m->memo, 1, &by);
    if (!known->result)
        *known = (Memo){{by}, lower_instr(m->L, INSTR_SHL_64, by,
                                          lower_i32(m->L, log2_floor(m->size)))};
    return known->result;
}

/* Where a turn of a loop copies from, all of it as far from a place as only the turn knows. */
static bool is_of_copy(const Lower *L, const Op *op)
{
    const Value *offset = op_arg(op, 1);
    if (!L->by_groups || !op->region->parent || ir_is_defined_outside(offset, op->region) ||
        !ir_is_uniform(offset) || type_bits(offset->type) != 32)
        return false;
    const Use *u = op_result(op, 0)->uses;
    while (u && u->user->kind != OP_COPY_ASYNC) u = u->next;
    return u;
}

/* So many elements further. */
static LLVMValueRef moved(const Moves *m, LLVMValueRef ptr, LLVMValueRef by)
{
    Memo *known = memo_find(&m->memo, 2, (LLVMValueRef[]){ptr, by});
    uint64_t zero;
    if (known->result) return known->result;
    *known = (Memo){.args = {ptr, by}, .result = ptr};
    if (lower_is_const(by, &zero) && !zero) return ptr;
    by = in_bytes(m, by);
    return known->result = LLVMBuildGEP2(m->L->b, m->L->i8, ptr, &by, 1, "");
}

void lower_addptr(Lower *L, const Op *op)
{
    const Value *offset = op_arg(op, 1), *result = op_result(op, 0);
    const int64_t size = type_bytes(tkc_type_element(result->type)->elem);
    Regs wide = lower_widen_int(L, offset);
    Regs out = lower_regs_new(L, lower_nregs(result->type));
    const Moves m = {.L = L,
                     .memo = memo_new(L, 4 * out.n),
                     .size = size,
                     .shifts = out.n > 1 && is_of_copy(L, op)};
    for (int r = 0; r < out.n; r++) {
        Reg ptr = operand(L, op, 0, r), by = wide.r[wide.n == 1 ? 0 : r];
        LLVMValueRef to = moved(&m, ptr.v, by.v);
        if (by.step) to = moved(&m, to, by.step);
        out.r[r] =
            (Reg){.v = to, .imm = (int64_t)((uint64_t)ptr.imm + (uint64_t)by.imm * (uint64_t)size)};
    }
    lower_set(L, result, out);
}
