/* mma.sync against products of plain matrices. Where an element lives is written here once more,
   shape by shape, as the figures of PTX's manual have it. */
#include <fenv.h>
#include <stdlib.h>

#include "simt/matrix.h"
#include "tkc/edge.h"

#include "expect.h"

enum { MOST_REGISTERS = 8, MOST_K = 256 };

typedef struct Place {
    int row, column;
} Place;

/* ---- the manual's figures ---- */

static Place a_of_8_rows(int bits, int lane, int i)
{
    const int in_a_register = bits == 64 ? 1 : 32 / bits;
    return (Place){lane / 4, lane % 4 * in_a_register + i};
}

static Place a_of_16_rows(int bits, int lane, int i)
{
    const int group = lane / 4, thread = lane % 4;
    switch (bits) {
    case 1: return (Place){group + (i / 32 % 2 ? 8 : 0), thread * 32 + i % 32 + (i < 64 ? 0 : 128)};
    case 4: return (Place){group + (i / 8 % 2 ? 8 : 0), thread * 8 + i % 8 + (i < 16 ? 0 : 32)};
    case 8: return (Place){group + (i / 4 % 2 ? 8 : 0), thread * 4 + i % 4 + (i < 8 ? 0 : 16)};
    case 16:
        return (Place){group + (i == 2 || i == 3 || i >= 6 ? 8 : 0),
                       thread * 2 + i % 2 + (i < 4 ? 0 : 8)};
    case 32: return (Place){group + (i == 1 || i == 3 ? 8 : 0), thread + (i < 2 ? 0 : 4)};
    default: return (Place){group + (i % 2 ? 8 : 0), thread + i / 2 * 4};
    }
}

static Place b_of_8_columns(int bits, int lane, int i)
{
    const int group = lane / 4, thread = lane % 4;
    switch (bits) {
    case 1: return (Place){thread * 32 + i % 32 + (i < 32 ? 0 : 128), group};
    case 4: return (Place){thread * 8 + i % 8 + (i < 8 ? 0 : 32), group};
    case 8: return (Place){thread * 4 + i % 4 + (i < 4 ? 0 : 16), group};
    case 16: return (Place){thread * 2 + i % 2 + (i < 2 ? 0 : 8), group};
    default: return (Place){thread + i * 4, group};
    }
}

static Place c_of_8_columns(int lane, int i)
{
    return (Place){lane / 4 + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

static Place quad_place(const MmaSpec *s, char operand, MatrixType type, int lane, int i)
{
    const int high = lane < 16 ? 0 : 4;
    if (operand == 'a')
        return s->a_column ? (Place){i % 4 + high, lane % 4} : (Place){lane % 4 + high, i};
    if (operand == 'b') return s->b_row ? (Place){lane % 4, i + high} : (Place){i, lane % 4 + high};
    if (type == MATRIX_F16) return (Place){lane % 4 + high, i};
    return (Place){(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}

static bool is_quad(const MmaSpec *s)
{
    return s->m == 8 && s->k == 4 && s->a == MATRIX_F16;
}

static MatrixType type_of(const MmaSpec *s, char operand)
{
    return operand == 'a' ? s->a : operand == 'b' ? s->b : operand == 'c' ? s->c : s->d;
}

static Place place_of(const MmaSpec *s, char operand, int lane, int i)
{
    const int bits = simt_matrix_type_bits(type_of(s, operand));
    if (is_quad(s)) return quad_place(s, operand, type_of(s, operand), lane, i);
    if (operand == 'a') return s->m == 8 ? a_of_8_rows(bits, lane, i) : a_of_16_rows(bits, lane, i);
    return operand == 'b' ? b_of_8_columns(bits, lane, i) : c_of_8_columns(lane, i);
}

static int elements_of(const MmaSpec *s, char operand)
{
    const int products = is_quad(s) ? 4 : 1;
    const int size = operand == 'a' ? s->m * s->k : operand == 'b' ? s->k * s->n : s->m * s->n;
    return products * size / 32;
}

/* ---- small whole numbers in every type ---- */

static uint64_t code_of(MatrixType type, int v)
{
    static const DType dtypes[MATRIX_TYPE_COUNT] = {
        [MATRIX_F16] = DT_F16,  [MATRIX_BF16] = DT_BF16, [MATRIX_TF32] = DT_F32,
        [MATRIX_F32] = DT_F32,  [MATRIX_F64] = DT_F64,   [MATRIX_E4M3] = DT_F8E4,
        [MATRIX_E5M2] = DT_F8E5};
    const int bits = simt_matrix_type_bits(type);
    if (dtypes[type]) return tkc_bits_from_double(dtypes[type], v);
    return (uint64_t)(int64_t)v & ((UINT64_C(1) << bits) - 1);
}

static int number_of(MatrixType type, uint64_t code)
{
    if (type == MATRIX_F16) return (int)tkc_bits_to_double(DT_F16, code);
    if (type == MATRIX_F32) return (int)tkc_bits_to_double(DT_F32, code);
    return type == MATRIX_F64 ? (int)tkc_bits_to_double(DT_F64, code) : (int32_t)code;
}

static int random_of(MatrixType type)
{
    switch (type) {
    case MATRIX_B1: return rand() % 2;
    case MATRIX_U4: return rand() % 16;
    case MATRIX_U8: return rand() % 256;
    case MATRIX_S4: return rand() % 16 - 8;
    case MATRIX_S8: return rand() % 256 - 128;
    case MATRIX_S32: return rand() % 200001 - 100000;
    default: return rand() % 7 - 3;
    }
}

typedef union Registers {
    uint32_t words[MOST_REGISTERS][SIMT_LANES];
    uint64_t doubles[MOST_REGISTERS][SIMT_LANES];
} Registers;

static void put(Registers *r, MatrixType type, int lane, int i, uint64_t code)
{
    const int bits = simt_matrix_type_bits(type);
    if (bits == 64) r->doubles[i][lane] = code;
    else r->words[i * bits / 32][lane] |= (uint32_t)code << (i * bits % 32);
}

static uint64_t get(const Registers *r, MatrixType type, int lane, int i)
{
    const int bits = simt_matrix_type_bits(type);
    if (bits == 64) return r->doubles[i][lane];
    uint32_t code = r->words[i * bits / 32][lane] >> (i * bits % 32);
    return bits == 32 ? code : code & ((1u << bits) - 1);
}

typedef int Matrix[16][MOST_K];

static void fill(const MmaSpec *s, char operand, int product, Matrix matrix, Registers *r)
{
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (is_quad(s) && lane / 4 % 4 != product) continue;
        for (int i = 0; i < elements_of(s, operand); i++) {
            const Place at = place_of(s, operand, lane, i);
            const int v = random_of(type_of(s, operand));
            if (operand == 'b') matrix[at.column][at.row] = v;
            else matrix[at.row][at.column] = v;
            put(r, type_of(s, operand), lane, i, code_of(type_of(s, operand), v));
        }
    }
}

static int wanted(const MmaSpec *s, Matrix a, Matrix b, Matrix c, Place at)
{
    int sum = c[at.row][at.column];
    for (int l = 0; l < s->k; l++) {
        const int x = a[at.row][l], y = b[at.column][l];
        sum += s->bits == MATRIX_BITS_XOR ? (x ^ y) : x * y;
    }
    return sum;
}

static int wrong_elements(const MmaSpec *s, int product, const Registers *d, Matrix a, Matrix b,
                          Matrix c)
{
    int wrong = 0;
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (is_quad(s) && lane / 4 % 4 != product) continue;
        for (int i = 0; i < elements_of(s, 'd'); i++)
            wrong += number_of(s->d, get(d, s->d, lane, i)) !=
                     wanted(s, a, b, c, place_of(s, 'd', lane, i));
    }
    return wrong;
}

static bool has_registers(const MmaSpec *s, char operand, const Fragment *f)
{
    const int bits = simt_matrix_type_bits(type_of(s, operand));
    return simt_fragment_registers(f) == elements_of(s, operand) * bits / (bits == 64 ? 64 : 32);
}

static void multiplies(const MmaForm *form)
{
    static Matrix a[4], b[4], c[4];
    const MmaSpec *s = &form->spec;
    Registers ra = {0}, rb = {0}, rc = {0}, rd;
    EXPECT(has_registers(s, 'a', &form->a) && has_registers(s, 'b', &form->b));
    EXPECT(has_registers(s, 'c', &form->c) && has_registers(s, 'd', &form->d));
    for (int p = 0; p < form->products; p++) {
        fill(s, 'a', p, a[p], &ra);
        fill(s, 'b', p, b[p], &rb);
        fill(s, 'c', p, c[p], &rc);
    }
    memset(&rd, 0xff, sizeof rd);
    simt_mma(form, &rd, &ra, &rb, &rc);
    for (int p = 0; p < form->products; p++)
        if (wrong_elements(s, p, &rd, a[p], b[p], c[p])) {
            printf("m%dn%dk%d types %d %d %d %d\n", s->m, s->n, s->k, s->d, s->a, s->b, s->c);
            expect_int(__FILE__, __LINE__, "wrong elements",
                       wrong_elements(s, p, &rd, a[p], b[p], c[p]), 0);
        }
}

/* ---- every form there is ---- */

typedef struct Counts {
    int chip[128];
} Counts;

static void try_form(const MmaSpec *s, Counts *counts)
{
    MmaForm form;
    if (!simt_mma_form(&form, s)) return;
    counts->chip[form.least_chip]++;
    multiplies(&form);
}

static void try_options(MmaSpec s, Counts *counts)
{
    for (int options = 0; options < 96; options++) {
        s.a_column = options & 1;
        s.b_row = options >> 1 & 1;
        s.satfinite = options >> 2 & 1;
        s.round = (MmaRound)(options >> 3 & 3);
        s.bits = (MatrixBits)(options >> 5);
        try_form(&s, counts);
    }
}

static void try_types(MmaSpec s, Counts *counts)
{
    for (int d = 1; d < MATRIX_TYPE_COUNT; d++)
        for (int c = 1; c < MATRIX_TYPE_COUNT; c++)
            for (int a = 1; a < MATRIX_TYPE_COUNT; a++)
                for (int b = 1; b < MATRIX_TYPE_COUNT; b++) {
                    if (simt_matrix_type_bits((MatrixType)a) !=
                        simt_matrix_type_bits((MatrixType)b))
                        continue;
                    s.d = (MatrixType)d, s.c = (MatrixType)c;
                    s.a = (MatrixType)a, s.b = (MatrixType)b;
                    try_options(s, counts);
                }
}

/* As many as ptxas takes for each chip, and all of them right. */
static void every_form(void)
{
    Counts counts = {0};
    for (int m = 8; m <= 16; m += 8)
        for (int k = 2; k <= 512; k *= 2) try_types((MmaSpec){.m = m, .n = 8, .k = k}, &counts);
    EXPECT_INT(counts.chip[70] + counts.chip[75], 31);
    EXPECT_INT(counts.chip[80], 47);
    EXPECT_INT(counts.chip[89], 16);
    EXPECT_INT(counts.chip[90], 12);
}

static void refused(void)
{
    MmaForm form;
    MmaSpec s = {.m = 16, .n = 8, .k = 16, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_BF16};
    s.c = MATRIX_F32;
    EXPECT(!simt_mma_form(&form, &s));
    s.b = MATRIX_F16;
    EXPECT(simt_mma_form(&form, &s));
    s.n = 16;
    EXPECT(!simt_mma_form(&form, &s));
}

/* ---- numbers ---- */

/* One row of a and one column of b, all else zero: element (0, 0) of d, which lane 0 holds. */
static uint32_t first_of(const MmaSpec *s, const uint32_t *a, const uint32_t *b, int n, uint32_t c)
{
    MmaForm form;
    Registers ra = {0}, rb = {0}, rc = {0}, rd;
    EXPECT(simt_mma_form(&form, s));
    for (int l = 0; l < n; l++)
        for (int lane = 0; lane < SIMT_LANES; lane++) {
            for (int i = 0; i < elements_of(s, 'a'); i++) {
                const Place at = place_of(s, 'a', lane, i);
                if (at.row == 0 && at.column == l) put(&ra, s->a, lane, i, a[l]);
            }
            for (int i = 0; i < elements_of(s, 'b'); i++) {
                const Place at = place_of(s, 'b', lane, i);
                if (at.row == l && at.column == 0) put(&rb, s->b, lane, i, b[l]);
            }
        }
    put(&rc, s->c, 0, 0, c);
    simt_mma(&form, &rd, &ra, &rb, &rc);
    return (uint32_t)get(&rd, s->d, 0, 0);
}

static const MmaSpec f16_f32 = {
    .m = 16, .n = 8, .k = 16, .d = MATRIX_F32, .a = MATRIX_F16, .b = MATRIX_F16, .c = MATRIX_F32};

/* 1 + 2^-24 + 2^-24: rounded after each step, the halves would be lost. */
static void rounded_once(void)
{
    const uint32_t a[] = {0x3c00, 0x0c00, 0x0c00}, b[] = {0x3c00, 0x0c00, 0x0c00};
    EXPECT_INT(first_of(&f16_f32, a, b, 3, 0), 0x3f800001);
    MmaSpec half = f16_f32;
    half.d = half.c = MATRIX_F16;
    const uint32_t big[] = {0x7bff}, one[] = {0x3c00}, two[] = {0x4000};
    EXPECT_INT(first_of(&half, big, one, 1, 0), 0x7bff);
    EXPECT_INT(first_of(&half, big, two, 1, 0), 0x7c00);
}

static void not_finite(void)
{
    const uint32_t infinity[] = {0x7c00, 0xfc00}, one[] = {0x3c00, 0x3c00}, zero[] = {0, 0};
    EXPECT_INT(first_of(&f16_f32, infinity, one, 1, 0), 0x7f800000);
    EXPECT_INT(first_of(&f16_f32, infinity, one, 2, 0), 0x7fffffff);
    EXPECT_INT(first_of(&f16_f32, infinity, zero, 1, 0), 0x7fffffff);
    MmaSpec half = f16_f32;
    half.d = half.c = MATRIX_F16;
    EXPECT_INT(first_of(&half, infinity, zero, 1, 0), 0x7fff);
}

/* The least subnormal numbers of each type, times one; the greatest of e4m3, and its NaN. */
static void ends_of_types(void)
{
    const uint32_t least[] = {1}, one[] = {0x3c00};
    EXPECT_INT(first_of(&f16_f32, least, one, 1, 0), 0x33800000); /* 2^-24 */
    MmaSpec s = {.m = 16,
                 .n = 8,
                 .k = 32,
                 .d = MATRIX_F32,
                 .a = MATRIX_E4M3,
                 .b = MATRIX_E5M2,
                 .c = MATRIX_F32};
    const uint32_t e5m2_one[] = {0x3c}, e4m3_most[] = {0x7e}, e4m3_nan[] = {0xff};
    EXPECT_INT(first_of(&s, least, e5m2_one, 1, 0), 0x3b000000);     /* 2^-9 */
    EXPECT_INT(first_of(&s, e4m3_most, e5m2_one, 1, 0), 0x43e00000); /* 448 */
    EXPECT_INT(first_of(&s, e4m3_nan, e5m2_one, 1, 0), 0x7fffffff);
    const uint32_t e5m2_infinity[] = {0xfc}, e4m3_one[] = {0x38};
    EXPECT_INT(first_of(&s, e4m3_one, e5m2_infinity, 1, 0), 0xff800000);
}

static void tf32_drops_low_bits(void)
{
    MmaSpec s = {.m = 16,
                 .n = 8,
                 .k = 8,
                 .d = MATRIX_F32,
                 .a = MATRIX_TF32,
                 .b = MATRIX_TF32,
                 .c = MATRIX_F32};
    const uint32_t a[] = {0x3f803fff}, one[] = {0x3f801fff};
    EXPECT_INT(first_of(&s, a, one, 1, 0), 0x3f802000);
}

static void saturates_or_wraps(void)
{
    MmaSpec s = {
        .m = 16, .n = 8, .k = 32, .d = MATRIX_S32, .a = MATRIX_S8, .b = MATRIX_S8, .c = MATRIX_S32};
    const uint32_t one[] = {1}, minus_one[] = {0xff};
    EXPECT_INT(first_of(&s, one, one, 1, INT32_MAX), 0x80000000);
    EXPECT_INT(first_of(&s, one, minus_one, 1, 0x80000000), 0x7fffffff);
    s.satfinite = true;
    EXPECT_INT(first_of(&s, one, one, 1, INT32_MAX), 0x7fffffff);
    EXPECT_INT(first_of(&s, one, minus_one, 1, 0x80000000), 0x80000000);
}

/* 1 + 2^-60 and 1 - 2^-60, each way of rounding. */
static void f64_rounds_as_told(void)
{
    static const double up[] = {1, 1, 1, 1 + 0x1p-52}, down[] = {1, 1 - 0x1p-53, 1 - 0x1p-53, 1};
    MmaSpec s = {
        .m = 8, .n = 8, .k = 4, .d = MATRIX_F64, .a = MATRIX_F64, .b = MATRIX_F64, .c = MATRIX_F64};
    for (int mode = 0; mode < 4; mode++) {
        MmaForm form;
        double a[SIMT_LANES] = {0x1p-30}, b[SIMT_LANES] = {0x1p-30}, c[2][SIMT_LANES] = {{1}},
               d[2][SIMT_LANES];
        s.round = (MmaRound)mode;
        EXPECT(simt_mma_form(&form, &s));
        simt_mma(&form, d, a, b, c);
        EXPECT(d[0][0] == up[mode]);
        b[0] = -b[0];
        simt_mma(&form, d, a, b, c);
        EXPECT(d[0][0] == down[mode]);
        EXPECT(fegetround() == FE_TONEAREST);
    }
}

int main(void)
{
    RUN(every_form);
    RUN(refused);
    RUN(rounded_once);
    RUN(not_finite);
    RUN(ends_of_types);
    RUN(tf32_drops_low_bits);
    RUN(saturates_or_wraps);
    RUN(f64_rounds_as_told);
    return expect_done();
}
