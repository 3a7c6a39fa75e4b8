/* Instructions in the order of what needs them. The lowering emits an op for all the elements of a
   thread, then the next op, so the values of a whole block are alive between two ops; ptxas, which
   schedules what it gets, keeps much of that order and so of those registers. Here the instructions
   of a block of code that touch neither memory nor other threads are reordered between those that
   do: each follows what it needs, one chain of uses after the other. What touches memory stays where
   it is and nothing moves across it, so no value lives over more of those than before. */
#include "target/nvptx.h"

#include <string.h>

#include "base/map.h"
#include "base/vec.h"

enum {
    LONG = 32,       /* instructions a chain: shorter ones are better off side by side */
    LONGEST = 20000, /* of a stretch: chains are followed by recursion */
};

typedef struct Order {
    LLVMBuilderRef builder;
    unsigned memory, convergent; /* LLVM's numbers of these attributes */
    Map open;                    /* instructions of the stretch that have no place yet */
    VEC(LLVMValueRef) stretch;   /* in their first order */
    Arena *arena;
} Order;

/* Of a function: it neither reads nor writes memory, nor works with other threads. */
static bool is_pure_function(const Order *o, LLVMValueRef fn)
{
    const LLVMAttributeIndex whole = LLVMAttributeFunctionIndex;
    LLVMAttributeRef memory = LLVMGetEnumAttributeAtIndex(fn, whole, o->memory);
    return memory && LLVMGetEnumAttributeValue(memory) == 0 &&
           !LLVMGetEnumAttributeAtIndex(fn, whole, o->convergent);
}

/* Matrix instructions, which give several values, are boundaries: their order was chosen. */
static bool is_pure_call(const Order *o, LLVMValueRef call)
{
    if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMStructTypeKind) return false;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee)) return !LLVMGetInlineAsmHasSideEffects(callee);
    return LLVMIsAFunction(callee) && is_pure_function(o, callee);
}

static bool is_pure(const Order *o, LLVMValueRef v)
{
    if (LLVMIsABinaryOperator(v) || LLVMIsACastInst(v) || LLVMIsACmpInst(v)) return true;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMCall: return is_pure_call(o, v);
    case LLVMSelect:
    case LLVMGetElementPtr:
    case LLVMFNeg:
    case LLVMFreeze:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
    case LLVMExtractValue:
    case LLVMInsertValue: return true;
    default: return false;
    }
}

/* Puts an instruction, after what it needs of the stretch, before `at`. */
static void place(Order *o, LLVMValueRef v, LLVMValueRef at)
{
    if (!map_get_ptr(&o->open, v)) return;
    map_set_ptr(&o->open, v, NULL);
    const int n = LLVMGetNumOperands(v);
    for (int i = 0; i < n; i++) place(o, LLVMGetOperand(v, (unsigned)i), at);
    LLVMInstructionRemoveFromParent(v);
    LLVMPositionBuilderBefore(o->builder, at);
    LLVMInsertIntoBuilder(o->builder, v);
}

static bool is_used_in_stretch(const Order *o, LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u))
        if (map_get_ptr(&o->open, LLVMGetUser(u))) return true;
    return false;
}

/* What nothing in the stretch uses ends a chain; the chains come in the order of their ends. */
static void order_stretch(Order *o, LLVMValueRef at)
{
    VEC(LLVMValueRef) ends = {0};
    for (int i = 0; i < o->stretch.len; i++)
        if (!is_used_in_stretch(o, o->stretch.data[i]))
            vec_push(o->arena, &ends, o->stretch.data[i]);
    if (o->stretch.len >= LONG * ends.len)
        for (int i = 0; i < ends.len; i++) place(o, ends.data[i], at);
    for (int i = 0; i < o->stretch.len; i++) map_set_ptr(&o->open, o->stretch.data[i], NULL);
    o->stretch.len = 0;
}

static void order_block(Order *o, LLVMBasicBlockRef block)
{
    for (LLVMValueRef v = LLVMGetFirstInstruction(block), next; v; v = next) {
        next = LLVMGetNextInstruction(v);
        const bool moves = is_pure(o, v);
        if (!(moves && o->stretch.len < LONGEST) && !LLVMIsAPHINode(v)) order_stretch(o, v);
        if (!moves) continue;
        vec_push(o->arena, &o->stretch, v);
        map_set_ptr(&o->open, v, v);
    }
}

static unsigned attribute(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

void order_instructions(LLVMModuleRef module, LLVMBuilderRef builder, Arena *arena)
{
    Order o = {.builder = builder,
               .memory = attribute("memory"),
               .convergent = attribute("convergent"),
               .arena = arena};
    map_init(&o.open, arena);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(fn); b; b = LLVMGetNextBasicBlock(b))
            order_block(&o, b);
}
