/* Elements packed into the words of one memory access. */
#pragma once

#include "lower/lower.h"

#define VECTOR_MAX 16 /* elements of one access: sixteen bytes */

/* How `count` elements of a type lie in memory: words of `word_bits` with `per_word` elements each.
 */
typedef struct Packing {
    LLVMTypeRef elem; /* of a register */
    int elem_bits;    /* in memory: 8 for int1 */
    int count, words, word_bits, per_word;
    LLVMTypeRef word;
} Packing;

/* Bits of an element in a register. */
int lower_width(const Lower *L, LLVMTypeRef elem);
Packing packing_of(const Lower *L, LLVMTypeRef elem, int count);
void pack_words(Lower *L, const Packing *p, const LLVMValueRef *elems, LLVMValueRef *words);
void unpack_words(Lower *L, const Packing *p, const LLVMValueRef *words, LLVMValueRef *elems);
