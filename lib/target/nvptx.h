/* NVIDIA GPUs, through PTX. */
#ifndef TKC_TARGET_NVPTX_H
#define TKC_TARGET_NVPTX_H

#include "base/arena.h"
#include "lower/target.h"

/* Inline PTX: one value, or a struct of them, of registers by LLVM's constraints. */
LLVMValueRef nvptx_asm(Lower *L, LLVMTypeRef result, const char *text, const char *constraints,
                       bool has_effects, int nargs, const LLVMValueRef *args);
/* The same without a value, for what it does. */
void nvptx_effect(Lower *L, const char *text, const char *constraints, int n,
                  const LLVMValueRef *args);

#endif
