/* Signs of 16-bit floats are turned and dropped as bits. ptxas (12.8, 13.0) takes `neg` and `abs` of
   such a number into the operands of what uses it; where a word has it as one of its halves and is
   both operands of an instruction of two halves, as of a square or of twice that, ptxas may forget
   the sign in one of them:

     neg.f16 y, x;  mov.b32 p, {y, x};  add.f16x2 s, p, p;    has 0 in place of -2x

   LLVM would make `neg` again of a visible xor, so it is text to it. */
#include "target/nvptx.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

/* How one such number, or two of them in a word, are changed. */
typedef struct Way {
    unsigned bits;
    const char *registers, *turn, *drop;
} Way;

/* NULL: it is neither. */
static const Way *way_of(LLVMTypeRef ty)
{
    static const Way one = {16, "=h,h", "xor.b16 $0, $1, 0x8000;", "and.b16 $0, $1, 0x7fff;"},
                     two = {32, "=r,r", "xor.b32 $0, $1, 0x80008000;",
                            "and.b32 $0, $1, 0x7fff7fff;"};
    const bool many = LLVMGetTypeKind(ty) == LLVMVectorTypeKind;
    const LLVMTypeKind kind = LLVMGetTypeKind(many ? LLVMGetElementType(ty) : ty);
    if (kind != LLVMHalfTypeKind && kind != LLVMBFloatTypeKind) return NULL;
    return !many ? &one : LLVMGetVectorSize(ty) == 2 ? &two : NULL;
}

static bool is_abs(LLVMValueRef v)
{
    static const char name[] = "llvm.fabs";
    LLVMValueRef callee = LLVMIsACallInst(v) ? LLVMGetCalledValue(v) : NULL;
    return callee && LLVMIsAFunction(callee) &&
           LLVMGetIntrinsicID(callee) == LLVMLookupIntrinsicID(name, sizeof name - 1);
}

static void mend(LLVMBuilderRef b, LLVMValueRef v)
{
    LLVMTypeRef ty = LLVMTypeOf(v);
    const bool turns = LLVMGetInstructionOpcode(v) == LLVMFNeg;
    const Way *way = turns || is_abs(v) ? way_of(ty) : NULL;
    if (!way) return;
    const char *text = turns ? way->turn : way->drop;
    LLVMPositionBuilderBefore(b, v);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(v));
    LLVMTypeRef word = LLVMIntTypeInContext(LLVMGetTypeContext(ty), way->bits),
                fn = LLVMFunctionType(word, &word, 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(fn, text, strlen(text), way->registers,
                                         strlen(way->registers), false, false,
                                         LLVMInlineAsmDialectATT, false),
                 x = LLVMBuildBitCast(b, LLVMGetOperand(v, 0), word, "");
    x = LLVMBuildCall2(b, fn, code, &x, 1, "");
    LLVMReplaceAllUsesWith(v, LLVMBuildBitCast(b, x, ty, ""));
    LLVMInstructionEraseFromParent(v);
}

void signs_as_bits(LLVMModuleRef module, LLVMBuilderRef b)
{
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(fn); bb; bb = LLVMGetNextBasicBlock(bb))
            for (LLVMValueRef v = LLVMGetFirstInstruction(bb), next; v; v = next) {
                next = LLVMGetNextInstruction(v);
                mend(b, v);
            }
}
