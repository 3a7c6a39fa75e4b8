/* Elements of tensor core matrices from and to their codes.

   A number comes out exact. Products of two elements are exact in a double (f64 aside), so a sum of
   them is off by the double's own rounding alone, and the result is rounded once when it is
   encoded. Tensor cores do less: they line the products of a step up with the largest one and cut
   off what lies below some 24 bits (fewer for fp8), a few products a step, in an order nobody
   states. Results agree where nothing is cut off, else to within those bits. Integers agree always. */
#include <math.h>
#include <string.h>

#include "tkc/vector.h"
#include "simt/lanes.h"
#include "simt/matrix.h"

typedef enum Kind { KIND_FLOAT, KIND_SIGNED, KIND_UNSIGNED } Kind;

typedef struct TypeInfo {
    const char *name;
    int bits;
    Kind kind;
} TypeInfo;

static const TypeInfo types[MATRIX_TYPE_COUNT] = {
    [MATRIX_NONE] = {.name = ""},
#define MATRIX_TYPE(NAME, TEXT, BITS, KIND) [MATRIX_##NAME] = {TEXT, BITS, KIND_##KIND},
#include "matrix_types.def"
#undef MATRIX_TYPE
};

MatrixType simt_matrix_type(const char *name, size_t len)
{
    for (int i = 1; i < MATRIX_TYPE_COUNT; i++)
        if (strlen(types[i].name) == len && !memcmp(types[i].name, name, len)) return (MatrixType)i;
    return MATRIX_NONE;
}

int simt_matrix_type_bits(MatrixType type)
{
    return types[type].bits;
}

VECTOR static void decode_signed(const uint32_t *restrict codes, double *restrict numbers, int n,
                                 int bits)
{
    for (int i = 0; i < n; i++) numbers[i] = (int32_t)(codes[i] << (32 - bits)) >> (32 - bits);
}

VECTOR static void decode_unsigned(const uint32_t *restrict codes, double *restrict numbers, int n,
                                   int bits)
{
    const uint32_t mask = (1u << bits) - 1;
    for (int i = 0; i < n; i++) numbers[i] = (int32_t)(codes[i] & mask);
}

static inline float f32_from_tf32(uint32_t code)
{
    return f32_of(code & ~0x1fffu);
}

#define DECODE(NAME, NUMBER)                                                                       \
    VECTOR static void decode_##NAME(const uint32_t *restrict codes, double *restrict numbers,     \
                                     int n)                                                        \
    {                                                                                              \
        for (int i = 0; i < n; i++) numbers[i] = NUMBER(codes[i]);                                 \
    }
DECODE(f16, f32_from_f16)
DECODE(bf16, f32_from_bf16)
DECODE(tf32, f32_from_tf32)
DECODE(e4m3, f32_from_e4m3)
DECODE(e5m2, f32_from_e5m2)
DECODE(f32, f32_of)
#undef DECODE

static void (*const decode_floats[MATRIX_TYPE_COUNT])(const uint32_t *restrict codes,
                                                      double *restrict numbers, int n) = {
    [MATRIX_F16] = decode_f16,   [MATRIX_BF16] = decode_bf16, [MATRIX_TF32] = decode_tf32,
    [MATRIX_E4M3] = decode_e4m3, [MATRIX_E5M2] = decode_e5m2, [MATRIX_F32] = decode_f32};

void simt_matrix_decode(MatrixType type, const uint32_t *codes, double *numbers, int n)
{
    const TypeInfo *t = &types[type];
    if (t->kind == KIND_SIGNED) decode_signed(codes, numbers, n, t->bits);
    else if (t->kind == KIND_UNSIGNED) decode_unsigned(codes, numbers, n, t->bits);
    else decode_floats[type](codes, numbers, n);
}

VECTOR static void encode_f32(const double *restrict numbers, uint32_t *restrict codes, int n)
{
    for (int i = 0; i < n; i++) codes[i] = bits32((float)numbers[i]);
}

VECTOR static void encode_f16(const double *restrict numbers, uint32_t *restrict codes, int n)
{
    for (int i = 0; i < n; i++) codes[i] = f16_from64(f64_bits(numbers[i]));
}

VECTOR static void encode_s32(const double *restrict numbers, uint32_t *restrict codes, int n,
                              bool satfinite)
{
    for (int i = 0; i < n; i++) {
        int64_t v = (int64_t)numbers[i];
        int64_t limited = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
        codes[i] = (uint32_t)(satfinite ? limited : v);
    }
}

void simt_matrix_encode(MatrixType type, bool satfinite, const double *numbers, uint32_t *codes,
                        int n)
{
    if (type == MATRIX_F16) encode_f16(numbers, codes, n);
    else if (type == MATRIX_S32) encode_s32(numbers, codes, n, satfinite);
    else encode_f32(numbers, codes, n);
}

void simt_matrix_multiply_f64(double *d, const double *a, const double *b, int m, int n, int k)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                d[i * n + j] = fma(a[i * k + l], b[l * n + j], d[i * n + j]);
}

/* a ^ b is a + (1 - 2 a) b. */
void simt_matrix_prepare_xor(double *d, double *a, int m, int n, int k)
{
    for (int i = 0; i < m; i++) {
        double ones = 0;
        for (int l = 0; l < k; l++) {
            ones += a[i * k + l];
            a[i * k + l] = 1 - 2 * a[i * k + l];
        }
        for (int j = 0; j < n; j++) d[i * n + j] += ones;
    }
}
