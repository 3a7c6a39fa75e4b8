/* The order of instructions that the back end is given. */
#ifndef TKC_TARGET_ORDER_H
#define TKC_TARGET_ORDER_H

#include <llvm-c/Core.h>

#include "base/arena.h"

/* Reorders what touches neither memory nor other threads, so that fewer values are alive at once.
   The builder is left anywhere. */
void order_instructions(LLVMModuleRef module, LLVMBuilderRef builder, Arena *arena);

#endif
