/* NVIDIA GPUs, through PTX. */
#ifndef TKC_TARGET_NVPTX_H
#define TKC_TARGET_NVPTX_H

#include "base/arena.h"
#include "lower/target.h"

extern const Target nvptx_target;

/* ---- nvptx_kernel.c, for the table: see lower/target.h ---- */
const char *nvptx_symbol(Arena *a, const char *name);
bool nvptx_kernel(Lower *L, LLVMValueRef fn);
void nvptx_limit_registers(Lower *L, LLVMValueRef fn, int most);

/* ---- nvptx_say.c, for the table: see lower/target.h ---- */
void nvptx_print(Lower *L, const char *format, int n, const LLVMValueRef *args);
void nvptx_fail(Lower *L, const char *message, const Loc *loc);

#endif
