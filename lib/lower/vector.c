/* Words and elements. A word of at least 32 bits that holds one element has that element's type, so
   that nothing is converted; several elements become a word as a vector of them, an instruction for
   two; bytes leave it by shifts. Accesses below 32 bits travel in 16-bit
   registers, the least that the target's assembly has. */
#include "lower/vector.h"

#include "base/unwind.h"

int lower_width(const Lower *L, LLVMTypeRef elem)
{
    if (elem == L->f16) return 16;
    if (elem == L->f32) return 32;
    if (elem == L->f64 || LLVMGetTypeKind(elem) == LLVMPointerTypeKind) return 64;
    return (int)LLVMGetIntTypeWidth(elem);
}

LLVMValueRef lower_recast(Lower *L, LLVMValueRef x, LLVMTypeRef to)
{
    LLVMTypeRef from = LLVMTypeOf(x);
    if (from == to) return x;
    LLVMTypeRef as_from = LLVMIntTypeInContext(L->cx, (unsigned)lower_width(L, from)),
                as_to = LLVMIntTypeInContext(L->cx, (unsigned)lower_width(L, to));
    x = LLVMGetTypeKind(from) == LLVMPointerTypeKind ? LLVMBuildPtrToInt(L->b, x, as_from, "")
                                                     : LLVMBuildBitCast(L->b, x, as_from, "");
    x = LLVMBuildIntCast2(L->b, x, as_to, false, "");
    return LLVMGetTypeKind(to) == LLVMPointerTypeKind ? LLVMBuildIntToPtr(L->b, x, to, "")
                                                      : LLVMBuildBitCast(L->b, x, to, "");
}

Packing packing_of(const Lower *L, LLVMTypeRef elem, int count)
{
    Packing p = {.elem = elem, .elem_bits = elem == L->i1 ? 8 : lower_width(L, elem), .count = count};
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

/* The element whose memory pattern a word has in its low bits. */
static LLVMValueRef from_pattern(Lower *L, const Packing *p, LLVMValueRef word)
{
    if (p->elem != L->i1) return lower_recast(L, word, p->elem);
    return LLVMBuildICmp(L->b, LLVMIntNE, lower_recast(L, word, L->i8), LLVMConstNull(L->i8), "");
}

static LLVMValueRef pack_vector(Lower *L, const Packing *p, LLVMTypeRef elem,
                                const LLVMValueRef *elems)
{
    LLVMValueRef v = LLVMConstNull(LLVMVectorType(elem, (unsigned)p->per_word));
    for (int i = 0; i < p->per_word; i++)
        v = LLVMBuildInsertElement(L->b, v, lower_recast(L, elems[i], elem), lower_i32(L, i), "");
    return LLVMBuildBitCast(L->b, v, p->word, "");
}

/* Two bytes: a vector of them is no type of the target. */
static LLVMValueRef pack_two_bytes(Lower *L, const Packing *p, const LLVMValueRef *elems)
{
    LLVMValueRef low = lower_recast(L, elems[0], p->word),
                 high = lower_recast(L, elems[1], p->word);
    high = LLVMBuildShl(L->b, high, LLVMConstInt(p->word, 8, false), "");
    return LLVMBuildOr(L->b, low, high, "");
}

/* What unpack_word made byte i of; NULL: it is no such byte. */
static LLVMValueRef word_of_byte(LLVMValueRef byte, int i)
{
    if (!LLVMIsATruncInst(byte)) return NULL;
    LLVMValueRef word = LLVMGetOperand(byte, 0);
    if (!i) return word;
    if (!LLVMIsABinaryOperator(word) || LLVMGetInstructionOpcode(word) != LLVMLShr) return NULL;
    uint64_t by;
    return lower_is_const(LLVMGetOperand(word, 1), &by) && by == 8 * (uint64_t)i
               ? LLVMGetOperand(word, 0)
               : NULL;
}

/* The word whose bytes these are, as they were loaded; NULL: there is none. */
static LLVMValueRef whole_word(const Packing *p, const LLVMValueRef *elems)
{
    LLVMValueRef word = word_of_byte(elems[0], 0);
    for (int i = 1; word && i < p->per_word; i++)
        if (word_of_byte(elems[i], i) != word) return NULL;
    return word && LLVMTypeOf(word) == p->word ? word : NULL;
}

static LLVMValueRef pack_word(Lower *L, const Packing *p, const LLVMValueRef *elems)
{
    if (p->word_bits == 16) return pack_two_bytes(L, p, elems);
    LLVMValueRef word = p->elem == L->i8 ? whole_word(p, elems) : NULL;
    if (word) return word;
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
        elems[i] = from_pattern(L, p, x);
    }
}

void pack_words(Lower *L, const Packing *p, const LLVMValueRef *elems, LLVMValueRef *words)
{
    for (int w = 0; w < p->words; w++)
        words[w] = p->per_word == 1 ? lower_recast(L, elems[w], p->word)
                                    : pack_word(L, p, elems + w * p->per_word);
}

void unpack_words(Lower *L, const Packing *p, const LLVMValueRef *words, LLVMValueRef *elems)
{
    for (int w = 0; w < p->words; w++) {
        if (p->per_word == 1) elems[w] = from_pattern(L, p, words[w]);
        else unpack_word(L, p, words[w], elems + w * p->per_word);
    }
}
