/* NVIDIA GPUs, through PTX: what the files of this folder give each other. */
#pragma once

#include "base/buf.h"
#include "lower/target.h"

/* ---- nvptx.c ---- */
/* Inline PTX without a value, for what it does: registers by LLVM's constraints. */
void nvptx_effect(Lower *L, const char *text, const char *constraints, int n,
                  const LLVMValueRef *args);

/* ---- order.c ---- */
/* Reorders what touches neither memory nor other threads, so that fewer values are alive at once.
   The builder is left anywhere. */
void order_instructions(LLVMModuleRef module, LLVMBuilderRef builder, Arena *arena);

/* ---- sign.c ---- */
/* 16-bit floats are negated, and their magnitude is taken, as bits. The builder is left anywhere. */
void signs_as_bits(LLVMModuleRef module, LLVMBuilderRef builder);

/* ---- ptx_head.c ---- */
/* What a launch needs, in comments: name, threads, shared memory and parameters of the kernel that
   fn becomes, `symbol` in PTX. */
void ptx_head(Buf *out, const Func *fn, const char *symbol, uint32_t shared_bytes);

/* ---- inlined_at.c ---- */
/* The text with the calls on each .loc of a place that was inlined, and of a version that has them;
   *len is its length, before and after. locs: the places that the code is marked with. */
const char *inlined_at_add(Arena *a, const char *ptx, size_t *len, int n, const Loc *const *locs);
