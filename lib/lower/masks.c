/* A thread has seven predicates. Masks that no turn of a loop changes are in some of them in all
   its turns, and where those that a turn makes need the others ptxas lets each element's loads wait
   for the results of the one before. Where a turn loads from what the turn before loaded, nothing
   else hides that. Such masks are compared again in each turn, with a number of which LLVM does not
   know that it is the same: a search by halves in two arrays, four elements a thread, has its eight
   loads on the way at once then.

   In other loops ptxas brings loads of later turns to the front, and what is compared again only
   adds to the instructions. */
#include "lower/masks.h"

#include "base/bitset.h"
#include "base/vec.h"
#include "tkc/carry.h"

typedef struct Kept {
    const Value *mask;
    Regs outside;
} Kept;

struct Masks {
    VEC(Kept) all;
};

/* ---- which ---- */

typedef struct Search {
    Lower *L;
    const Region *loop;
    Bitset seen, chain;
    Masks *found;
    int outside, inside; /* registers of masks: of those found, and most of a load's in the loop */
    bool is_plain, chases; /* has no products or loops; loads from where turns before loaded */
} Search;

static bool is_block_mask(const Value *v)
{
    return type_is_block(v->type) && type_is_bool(v->type);
}

static void add_mask(Search *s, const Value *v)
{
    if (!bitset_add(&s->seen, (int)v->id)) return;
    vec_push(s->L->arena, &s->found->all, ((Kept){v, lower_get(s->L, v)}));
    s->outside += lower_distinct_registers(v->type);
}

/* v is made of what a turn before this one loaded; earlier: it is one's of such a turn itself. */
static bool is_of_load(Search *s, const Value *v, bool earlier)
{
    if (ir_is_defined_outside(v, s->loop) || !bitset_add(&s->chain, 2 * (int)v->id + earlier))
        return false;
    const Value *from[2];
    const int n = tkc_carry_sources(v, from);
    for (int i = 0; i < n; i++)
        if (is_of_load(s, from[i], earlier || !v->def)) return true;
    if (!v->def) return false;
    if (v->def->kind == OP_LOAD && earlier) return true;
    for (int i = 0; i < v->def->nargs; i++)
        if (is_of_load(s, op_arg(v->def, i), earlier)) return true;
    return false;
}

static void search_op(Op *op, void *user)
{
    Search *s = user;
    s->is_plain &= !ir_is_loop(op) && op->kind != OP_DOT && op->kind != OP_COPY_ASYNC;
    s->chases |= op->kind == OP_LOAD && is_of_load(s, op_arg(op, 0), false);
    for (int i = 0; i < op->nargs; i++) {
        const Value *v = op_arg(op, i);
        if (!is_block_mask(v)) continue;
        const int registers = lower_distinct_registers(v->type);
        if (ir_is_defined_outside(v, s->loop)) add_mask(s, v);
        else if (op->kind == OP_LOAD && registers > s->inside) s->inside = registers;
    }
}

/* ---- again ---- */

typedef struct Again {
    Lower *L;
    VEC(LLVMValueRef) from, to;
} Again;

static LLVMValueRef known(const Again *a, LLVMValueRef v)
{
    for (int i = 0; i < a->from.len; i++)
        if (a->from.data[i] == v) return a->to.data[i];
    return NULL;
}

static LLVMValueRef note(Again *a, LLVMValueRef from, LLVMValueRef to)
{
    vec_push(a->L->arena, &a->from, from);
    vec_push(a->L->arena, &a->to, to);
    return to;
}

/* The same number, as nobody knows. */
static LLVMValueRef hidden(Again *a, LLVMValueRef number)
{
    LLVMValueRef there = known(a, number);
    return there ? there : note(a, number, lower_instr(a->L, INSTR_HIDE, number));
}

/* One of the two is as a rule the same for all elements. */
static LLVMValueRef compared(Again *a, LLVMValueRef compare)
{
    LLVMValueRef x = LLVMGetOperand(compare, 0), y = LLVMGetOperand(compare, 1);
    if (LLVMTypeOf(x) != a->L->i32) return compare;
    if (LLVMIsAInstruction(y) && !LLVMIsAInstruction(x)) x = hidden(a, x);
    else y = hidden(a, y);
    return LLVMBuildICmp(a->L->b, LLVMGetICmpPredicate(compare), x, y, "");
}

static LLVMValueRef again(Again *a, LLVMValueRef v)
{
    LLVMValueRef there = known(a, v);
    if (there) return there;
    if (LLVMIsAICmpInst(v)) return note(a, v, compared(a, v));
    if (!LLVMIsABinaryOperator(v)) return v;
    LLVMValueRef x = again(a, LLVMGetOperand(v, 0)), y = again(a, LLVMGetOperand(v, 1));
    return note(a, v, LLVMBuildBinOp(a->L->b, LLVMGetInstructionOpcode(v), x, y, ""));
}

Masks *lower_masks_again(Lower *L, Region *loop)
{
    enum { PREDICATES = 7, BESIDE = 1 };
    Masks *m = arena_new(L->arena, Masks);
    Search s = {.L = L, .loop = loop, .found = m, .is_plain = true};
    s.seen = bitset_make(L->arena, (int)L->fn->nvalues);
    s.chain = bitset_make(L->arena, 2 * (int)L->fn->nvalues);
    ir_walk(loop, search_op, &s);
    const bool is_tight = s.inside && s.outside + s.inside + BESIDE > PREDICATES;
    if (!s.is_plain || !s.chases || !is_tight) m->all.len = 0;
    Again a = {.L = L};
    for (int i = 0; i < m->all.len; i++) {
        const Kept *k = &m->all.data[i];
        Regs regs = lower_regs_new(L, k->outside.n);
        for (int r = 0; r < regs.n; r++) regs.r[r].v = again(&a, k->outside.r[r].v);
        lower_set(L, k->mask, regs);
    }
    return m;
}

void lower_masks_restore(Lower *L, const Masks *m)
{
    for (int i = 0; i < m->all.len; i++) lower_set(L, m->all.data[i].mask, m->all.data[i].outside);
}
