/* Values while they are lowered: a block is one Reg per register of its layout, made and read
   through here.

   The constant half of a Reg is never lost by what can carry it (integer sums, pointer sums,
   shapes) and is added to the base by lower_element where a plain LLVM value is needed; equal sums
   are left to LLVM's common-subexpression elimination. */
#include "lower/lower.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "base/unwind.h"

LLVMTypeRef lower_dtype(const Lower *L, DType dt)
{
    switch (dt) {
    case DT_I1: return L->i1;
    case DT_I8:
    case DT_U8:
    case DT_F8E4:
    case DT_F8E5: return L->i8;
    case DT_I16:
    case DT_U16:
    case DT_BF16: return L->i16;
    case DT_I32:
    case DT_U32: return L->i32;
    case DT_I64:
    case DT_U64: return L->i64;
    case DT_F16: return L->f16;
    case DT_F32: return L->f32;
    case DT_F64: return L->f64;
    case DT_NONE:
    case DT_COUNT: break;
    }
    unwind_raise("a value without an element type reached the lowering");
}

LLVMTypeRef lower_type(const Lower *L, const Type *ty)
{
    return type_is_pointer(ty) ? L->global_ptr : lower_dtype(L, type_dtype(ty));
}

int lower_nregs(const Type *ty)
{
    if (!type_is_block(ty)) return 1;
    check(ty->layout, "a block without a layout reached the lowering");
    return layout_registers(ty->layout);
}

LLVMValueRef lower_bits(const Lower *L, const Type *ty, uint64_t bits)
{
    LLVMTypeRef type = lower_type(L, ty);
    if (type == L->global_ptr) return LLVMConstIntToPtr(LLVMConstInt(L->i64, bits, false), type);
    if (type == L->f16 || type == L->f32 || type == L->f64) {
        LLVMTypeRef as_int = type == L->f16 ? L->i16 : type == L->f32 ? L->i32 : L->i64;
        return LLVMConstBitCast(LLVMConstInt(as_int, bits, false), type);
    }
    int width = (int)LLVMGetIntTypeWidth(type);
    return LLVMConstInt(type, width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits, false);
}

Regs lower_regs_new(Lower *L, int n)
{
    return (Regs){arena_array(L->arena, Reg, n), n};
}

Regs lower_get(const Lower *L, const Value *v)
{
    check(L->values[v->id].r, "a value was used before it was lowered");
    return L->values[v->id];
}

void lower_set(Lower *L, const Value *v, Regs regs)
{
    check(regs.n == lower_nregs(v->type),
          "a value was lowered to %d registers where its layout has %d", regs.n,
          lower_nregs(v->type));
    L->values[v->id] = regs;
}

void lower_set_all(Lower *L, const Value *v, LLVMValueRef x)
{
    Regs regs = lower_regs_new(L, lower_nregs(v->type));
    for (int i = 0; i < regs.n; i++) regs.r[i].v = x;
    lower_set(L, v, regs);
}

LLVMValueRef lower_element(Lower *L, const Type *ty, Reg reg)
{
    if (reg.step) reg.v = LLVMBuildAdd(L->b, reg.v, reg.step, "");
    if (!reg.imm) return reg.v;
    if (type_is_pointer(ty)) {
        LLVMValueRef offset = LLVMConstInt(L->i64, (uint64_t)reg.imm, true);
        return LLVMBuildGEP2(L->b, L->i8, reg.v, &offset, 1, "");
    }
    return LLVMBuildAdd(L->b, reg.v, lower_bits(L, ty, (uint64_t)reg.imm), "");
}

LLVMValueRef lower_reg(Lower *L, const Value *v, int r)
{
    const Regs regs = lower_get(L, v);
    return lower_element(L, v->type, regs.r[regs.n == 1 ? 0 : r]);
}

LLVMValueRef lower_scalar(Lower *L, const Value *v)
{
    check(!type_is_block(v->type), "a block was lowered as a scalar");
    return lower_reg(L, v, 0);
}

LLVMValueRef lower_i32(const Lower *L, int64_t x)
{
    return LLVMConstInt(L->i32, (uint64_t)x & UINT32_MAX, false);
}

bool lower_is_const(LLVMValueRef v, uint64_t *bits)
{
    if (!LLVMIsAConstantInt(v)) return false;
    *bits = LLVMConstIntGetZExtValue(v);
    return true;
}

bool lower_is_false(LLVMValueRef pred)
{
    uint64_t bits;
    return pred && lower_is_const(pred, &bits) && !bits;
}

LLVMValueRef lower_and(Lower *L, LLVMValueRef a, LLVMValueRef b)
{
    uint64_t bits;
    if (!a || (lower_is_const(a, &bits) && bits)) return b;
    if (!b || (lower_is_const(b, &bits) && bits)) return a;
    if (lower_is_false(a) || a == b) return a;
    return LLVMBuildAnd(L->b, a, b, "");
}

LLVMValueRef lower_intrinsic(Lower *L, const char *name, LLVMTypeRef over, int nargs,
                             const LLVMValueRef *args)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    check(id, "LLVM has no intrinsic '%s'", name);
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(L->module, id, &over, over ? 1 : 0);
    LLVMTypeRef type = LLVMIntrinsicGetType(L->cx, id, &over, over ? 1 : 0);
    return LLVMBuildCall2(L->b, type, fn, (LLVMValueRef *)args, (unsigned)nargs, "");
}

LLVMAttributeRef lower_attribute(Lower *L, const char *name, uint64_t value)
{
    return LLVMCreateEnumAttribute(L->cx, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   value);
}

void lower_need_ptx(Lower *L, int version)
{
    if (version > L->min_ptx) L->min_ptx = version;
}

void lower_place(Lower *L, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(L->b, block);
}

LLVMBasicBlockRef lower_block(Lower *L, const char *name)
{
    return LLVMAppendBasicBlockInContext(L->cx, L->kernel, name);
}
