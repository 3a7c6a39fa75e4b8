/* Elements on their way between threads: as 32-bit words through shuffles, packed through shared
   memory. */
#include "lower/vector.h"

/* Any element as 32-bit words, and back. Returns how many (1 or 2). */
static int to_words(Lower *L, LLVMValueRef x, LLVMValueRef words[2])
{
    const bool is_pair = lower_width(L, LLVMTypeOf(x)) > 32;
    LLVMValueRef v = lower_recast(L, x, is_pair ? L->i64 : L->i32);
    words[0] = lower_recast(L, v, L->i32);
    if (!is_pair) return 1;
    v = LLVMBuildLShr(L->b, v, LLVMConstInt(L->i64, 32, false), "");
    words[1] = lower_recast(L, v, L->i32);
    return 2;
}

static LLVMValueRef from_words(Lower *L, LLVMTypeRef ty, const LLVMValueRef *words)
{
    if (lower_width(L, ty) <= 32) return lower_recast(L, words[0], ty);
    LLVMValueRef low = LLVMBuildZExt(L->b, words[0], L->i64, ""),
                 high = LLVMBuildZExt(L->b, words[1], L->i64, "");
    high = LLVMBuildShl(L->b, high, LLVMConstInt(L->i64, 32, false), "");
    return lower_recast(L, LLVMBuildOr(L->b, low, high, ""), ty);
}

LLVMValueRef lower_shuffle(Lower *L, LLVMValueRef x, Lane from)
{
    LLVMValueRef words[2];
    int n = to_words(L, x, words);
    for (int i = 0; i < n; i++) words[i] = target_shuffle(L, words[i], from);
    return from_words(L, LLVMTypeOf(x), words);
}

static Access shared_access(Lower *L, LLVMValueRef address, int64_t offset, const Packing *p,
                            LLVMValueRef pred)
{
    return (Access){.space = SPACE_SHARED,
                    .ptr = target_shared(L, address),
                    .offset = offset,
                    .pred = pred,
                    .count = p->words,
                    .bits = p->word_bits,
                    .word = p->word,
                    .cache = "",
                    .evict = ""};
}

void lower_shared_store(Lower *L, LLVMValueRef address, int64_t offset, int n,
                        const LLVMValueRef *xs, LLVMValueRef pred)
{
    LLVMValueRef words[VECTOR_MAX];
    Packing p = packing_of(L, LLVMTypeOf(xs[0]), n);
    if (lower_is_false(pred)) return;
    pack_words(L, &p, xs, words);
    Access at = shared_access(L, address, offset, &p, pred);
    target_store(L, &at, words);
}

void lower_shared_store_rows(Lower *L, LLVMValueRef address, int64_t offset, int n, bool transposed,
                             const LLVMValueRef *xs, LLVMValueRef pred)
{
    LLVMValueRef words[VECTOR_MAX];
    Packing p = packing_of(L, LLVMTypeOf(xs[0]), n);
    if (lower_is_false(pred)) return;
    pack_words(L, &p, xs, words);
    for (int i = 0; i < p.words; i++) words[i] = LLVMBuildBitCast(L->b, words[i], L->i32, "");
    target_store_rows(L, target_shared(L, address), offset, p.words, transposed, words, pred);
}

void lower_shared_load(Lower *L, LLVMValueRef address, int64_t offset, LLVMTypeRef ty, int n,
                       LLVMValueRef *xs)
{
    LLVMValueRef words[VECTOR_MAX];
    Packing p = packing_of(L, ty, n);
    Access at = shared_access(L, address, offset, &p, NULL);
    target_load(L, &at, words);
    unpack_words(L, &p, words, xs);
}

void lower_shared_load_rows(Lower *L, LLVMValueRef address, int64_t offset, LLVMTypeRef ty, int n,
                            bool transposed, LLVMValueRef *xs)
{
    LLVMValueRef words[VECTOR_MAX];
    Packing p = packing_of(L, ty, n);
    target_load_rows(L, target_shared(L, address), offset, p.words, transposed, words);
    for (int i = 0; i < p.words; i++) words[i] = LLVMBuildBitCast(L->b, words[i], p.word, "");
    unpack_words(L, &p, words, xs);
}
