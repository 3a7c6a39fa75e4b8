/* Elements on their way between threads: as 32-bit words through shuffles, packed through shared
   memory. */
#include "lower/vector.h"

static int int_bits(const Lower *L, LLVMTypeRef ty)
{
    if (ty == L->f16) return 16;
    if (ty == L->f32) return 32;
    if (ty == L->f64 || LLVMGetTypeKind(ty) == LLVMPointerTypeKind) return 64;
    return (int)LLVMGetIntTypeWidth(ty);
}

static LLVMValueRef to_int(Lower *L, LLVMValueRef x)
{
    LLVMTypeRef ty = LLVMTypeOf(x);
    LLVMTypeRef as_int = LLVMIntTypeInContext(L->cx, (unsigned)int_bits(L, ty));
    if (LLVMGetTypeKind(ty) == LLVMPointerTypeKind) return LLVMBuildPtrToInt(L->b, x, as_int, "");
    return LLVMBuildBitCast(L->b, x, as_int, "");
}

static LLVMValueRef from_int(Lower *L, LLVMTypeRef ty, LLVMValueRef x)
{
    if (LLVMGetTypeKind(ty) == LLVMPointerTypeKind) return LLVMBuildIntToPtr(L->b, x, ty, "");
    return LLVMBuildBitCast(L->b, x, ty, "");
}

/* Any element as 32-bit words, and back. Returns how many (1 or 2). */
static int to_words(Lower *L, LLVMValueRef x, LLVMValueRef words[2])
{
    const int bits = int_bits(L, LLVMTypeOf(x));
    LLVMValueRef v = to_int(L, x);
    words[0] = bits == 32  ? v
               : bits < 32 ? LLVMBuildZExt(L->b, v, L->i32, "")
                           : LLVMBuildTrunc(L->b, v, L->i32, "");
    if (bits <= 32) return 1;
    words[1] = LLVMBuildTrunc(L->b, LLVMBuildLShr(L->b, v, LLVMConstInt(L->i64, 32, false), ""),
                              L->i32, "");
    return 2;
}

static LLVMValueRef from_words(Lower *L, LLVMTypeRef ty, const LLVMValueRef *words)
{
    const int bits = int_bits(L, ty);
    LLVMTypeRef as_int = LLVMIntTypeInContext(L->cx, (unsigned)bits);
    if (bits == 32) return from_int(L, ty, words[0]);
    if (bits < 32) return from_int(L, ty, LLVMBuildTrunc(L->b, words[0], as_int, ""));
    LLVMValueRef low = LLVMBuildZExt(L->b, words[0], L->i64, ""),
                 high = LLVMBuildZExt(L->b, words[1], L->i64, "");
    high = LLVMBuildShl(L->b, high, LLVMConstInt(L->i64, 32, false), "");
    return from_int(L, ty, LLVMBuildOr(L->b, low, high, ""));
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
