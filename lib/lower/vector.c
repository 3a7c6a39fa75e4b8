/* Words and elements. A word of at least 32 bits that holds one element has that element's type, so
   that nothing is converted; several elements become a word as a vector of them, an instruction for
   two; bytes leave it by shifts. Accesses below 32 bits travel in 16-bit
   registers, the least that the target's assembly has. */
#include "lower/vector.h"

#include "base/unwind.h"

static int memory_bits(const Lower *L, LLVMTypeRef elem)
{
    if (elem == L->i1 || elem == L->i8) return 8;
    if (elem == L->i16 || elem == L->f16) return 16;
    return elem == L->i32 || elem == L->f32 ? 32 : 64;
}

Packing packing_of(const Lower *L, LLVMTypeRef elem, int count)
{
    Packing p = {.elem = elem, .elem_bits = memory_bits(L, elem), .count = count};
    const int total = p.elem_bits * count;
    check(count >= 1 && count <= VECTOR_MAX && total <= 128, "an access of %d bits", total);
    p.word_bits = p.elem_bits >= 32 ? p.elem_bits : total < 32 ? total : 32;
    p.words = total / p.word_bits;
    p.per_word = p.word_bits / p.elem_bits;
    if (p.word_bits == 64) p.word = elem == L->f64 ? L->f64 : L->i64;
    else if (p.word_bits == 32) p.word = elem == L->f32 ? L->f32 : L->i32;
    else p.word = L->i16;
    return p;
}

/* The element's memory pattern as an integer of its memory width. */
static LLVMValueRef to_pattern(Lower *L, const Packing *p, LLVMValueRef x)
{
    if (p->elem == L->i1) return LLVMBuildZExt(L->b, x, L->i8, "");
    if (p->elem == L->f16) return LLVMBuildBitCast(L->b, x, L->i16, "");
    return x;
}

static LLVMValueRef from_pattern(Lower *L, const Packing *p, LLVMValueRef bits)
{
    if (p->elem == L->i1) return LLVMBuildICmp(L->b, LLVMIntNE, bits, LLVMConstNull(L->i8), "");
    if (p->elem == L->f16) return LLVMBuildBitCast(L->b, bits, L->f16, "");
    return bits;
}

static LLVMValueRef whole_to_word(Lower *L, const Packing *p, LLVMValueRef x)
{
    if (LLVMTypeOf(x) == p->word) return x;
    if (LLVMGetTypeKind(p->elem) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(L->b, x, L->i64, "");
    x = to_pattern(L, p, x);
    return LLVMTypeOf(x) == p->word ? x : LLVMBuildZExt(L->b, x, p->word, "");
}

static LLVMValueRef whole_from_word(Lower *L, const Packing *p, LLVMValueRef w)
{
    if (p->elem == p->word) return w;
    if (LLVMGetTypeKind(p->elem) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(L->b, w, p->elem, "");
    if (p->elem_bits == 8) w = LLVMBuildTrunc(L->b, w, L->i8, "");
    return from_pattern(L, p, w);
}

static LLVMValueRef pack_vector(Lower *L, const Packing *p, LLVMTypeRef elem,
                                const LLVMValueRef *elems)
{
    LLVMValueRef v = LLVMConstNull(LLVMVectorType(elem, (unsigned)p->per_word));
    for (int i = 0; i < p->per_word; i++)
        v = LLVMBuildInsertElement(L->b, v, to_pattern(L, p, elems[i]), lower_i32(L, i), "");
    return LLVMBuildBitCast(L->b, v, p->word, "");
}

/* Two bytes: a vector of them is no type of the target. */
static LLVMValueRef pack_two_bytes(Lower *L, const Packing *p, const LLVMValueRef *elems)
{
    LLVMValueRef low = LLVMBuildZExt(L->b, to_pattern(L, p, elems[0]), p->word, ""),
                 high = LLVMBuildZExt(L->b, to_pattern(L, p, elems[1]), p->word, "");
    high = LLVMBuildShl(L->b, high, LLVMConstInt(p->word, 8, false), "");
    return LLVMBuildOr(L->b, low, high, "");
}

static LLVMValueRef pack_word(Lower *L, const Packing *p, const LLVMValueRef *elems)
{
    if (p->word_bits == 16) return pack_two_bytes(L, p, elems);
    return pack_vector(L, p, p->elem_bits == 16 ? L->i16 : L->i8, elems);
}

static void unpack_word(Lower *L, const Packing *p, LLVMValueRef word, LLVMValueRef *elems)
{
    if (p->elem_bits == 16) {
        LLVMValueRef v = LLVMBuildBitCast(L->b, word, LLVMVectorType(L->i16, 2), "");
        for (int i = 0; i < 2; i++)
            elems[i] = from_pattern(L, p, LLVMBuildExtractElement(L->b, v, lower_i32(L, i), ""));
        return;
    }
    for (int i = 0; i < p->per_word; i++) {
        LLVMValueRef x = word;
        if (i)
            x = LLVMBuildLShr(L->b, x, LLVMConstInt(p->word, (unsigned)(i * p->elem_bits), false),
                              "");
        elems[i] = from_pattern(L, p, LLVMBuildTrunc(L->b, x, L->i8, ""));
    }
}

void pack_words(Lower *L, const Packing *p, const LLVMValueRef *elems, LLVMValueRef *words)
{
    for (int w = 0; w < p->words; w++)
        words[w] = p->per_word == 1 ? whole_to_word(L, p, elems[w])
                                    : pack_word(L, p, elems + w * p->per_word);
}

void unpack_words(Lower *L, const Packing *p, const LLVMValueRef *words, LLVMValueRef *elems)
{
    for (int w = 0; w < p->words; w++) {
        if (p->per_word == 1) elems[w] = whole_from_word(L, p, words[w]);
        else unpack_word(L, p, words[w], elems + w * p->per_word);
    }
}
