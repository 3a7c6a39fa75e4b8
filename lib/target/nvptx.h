/* NVIDIA GPUs, through PTX. */
#ifndef TKC_TARGET_NVPTX_H
#define TKC_TARGET_NVPTX_H

#include "base/arena.h"
#include "lower/target.h"

extern const Target nvptx_target;

/* Inline PTX: one value, or a struct of them, of registers by LLVM's constraints. */
LLVMValueRef nvptx_asm(Lower *L, LLVMTypeRef result, const char *text, const char *constraints,
                       bool has_effects, int nargs, const LLVMValueRef *args);

/* ---- nvptx_tma.c, for the table: see lower/target.h ---- */
void nvptx_fetch_map(Lower *L, int map, LLVMValueRef acts);
void nvptx_copy_box(Lower *L, const BoxCopy *c);
void nvptx_store_box(Lower *L, const BoxCopy *c);
void nvptx_store_wait(Lower *L, LLVMValueRef acts);
void nvptx_box_barrier(Lower *L, LLVMValueRef barrier, int copies, LLVMValueRef acts);
void nvptx_box_fence(Lower *L, LLVMValueRef acts);
void nvptx_box_free(Lower *L, LLVMValueRef barrier);
void nvptx_box_wait(Lower *L, LLVMValueRef barrier, LLVMValueRef turn, LLVMValueRef acts);

/* ---- nvptx_kernel.c, for the table: see lower/target.h ---- */
const char *nvptx_symbol(Arena *a, const char *name);
bool nvptx_kernel(Lower *L, LLVMValueRef fn);
void nvptx_limit_registers(Lower *L, LLVMValueRef fn, int most);

/* ---- nvptx_say.c, for the table: see lower/target.h ---- */
void nvptx_print(Lower *L, const char *format, int n, const LLVMValueRef *args);
void nvptx_fail(Lower *L, const char *message, const Loc *loc);

#endif
