/* mma.sync. A form is looked up once, when the instruction is decoded, with the maps of its four
   fragments; executing it is: fragments to matrices, the product, the matrix to d's fragment.

   m8n8k4 of f16 is four products, each of the eight lanes 4q … 4q + 3 and 16 + 4q … 16 + 4q + 3,
   in layouts of its own. Its matrices are stacked, and bits 2 and 3 of the lane choose among them.

   How results are rounded: matrix.c. f64 adds product by product in order of k, each step rounded
   once; the manual leaves the order open. */
#include <fenv.h>
#include <string.h>

#include "interp/product.h"
#include "simt/mma.h"

typedef enum Feature { PLAIN, ANY_LAYOUT, ROUNDED, SATURATED, XOR, AND } Feature;

#define SET(TYPE) (1u << MATRIX_##TYPE)
enum {
    SET_F16 = SET(F16),
    SET_BF16 = SET(BF16),
    SET_TF32 = SET(TF32),
    SET_FP8 = SET(E4M3) | SET(E5M2),
    SET_F64 = SET(F64),
    SET_INT8 = SET(S8) | SET(U8),
    SET_INT4 = SET(S4) | SET(U4),
    SET_BITS = SET(B1)
};

typedef struct Row {
    int m, n, k;
    unsigned inputs;
    MatrixType d, c;
    Feature feature;
    int least_chip;
} Row;

static const Row rows[] = {
#define MMA(M, N, K, INPUTS, D, C, FEATURE, CHIP)                                                  \
    {M, N, K, SET_##INPUTS, MATRIX_##D, MATRIX_##C, FEATURE, CHIP},
#include "mma_forms.def"
#undef MMA
};

/* Fragments of m8n8k4 of f16 as steps of lanes and elements; a is 4 x [8][4], b 4 x [4][8], c and d
   4 x [8][8]. */
typedef struct Quad {
    uint16_t lane[5], element[3];
} Quad;
static const Quad quad_a_row = {{4, 8, 32, 64, 16}, {1, 2}},
                  quad_a_column = {{1, 2, 32, 64, 16}, {4, 8}},
                  quad_b_row = {{8, 16, 32, 64, 4}, {1, 2}},
                  quad_b_column = {{1, 2, 32, 64, 4}, {8, 16}},
                  quad_c_f16 = {{8, 16, 64, 128, 32}, {1, 2, 4}},
                  quad_c_f32 = {{8, 2, 64, 128, 32}, {1, 16, 4}};

static Fragment quad_fragment(const Quad *quad, MatrixType type, int count)
{
    Fragment f = {.type = type, .count = count};
    simt_fragment_set_lanes(&f, quad->lane);
    memcpy(f.element, quad->element, sizeof quad->element);
    return f;
}

static Fragment quad_sum(MatrixType type)
{
    return quad_fragment(type == MATRIX_F16 ? &quad_c_f16 : &quad_c_f32, type, 8);
}

static bool fits(const Row *row, const MmaSpec *s)
{
    const Feature f = row->feature;
    return row->m == s->m && row->n == s->n && row->k == s->k && row->d == s->d && row->c == s->c &&
           row->inputs >> s->a & row->inputs >> s->b & 1 &&
           (f == ANY_LAYOUT || !(s->a_column || s->b_row)) && (f == SATURATED || !s->satfinite) &&
           (f == ROUNDED || s->round == MMA_NEAREST) &&
           (f == XOR) == (s->bits == MATRIX_BITS_XOR) && (f == AND) == (s->bits == MATRIX_BITS_AND);
}

static void set_quads(MmaForm *form, const MmaSpec *s)
{
    form->products = 4;
    form->a = quad_fragment(s->a_column ? &quad_a_column : &quad_a_row, s->a, 4);
    form->b = quad_fragment(s->b_row ? &quad_b_row : &quad_b_column, s->b, 4);
    form->c = quad_sum(s->c);
    form->d = quad_sum(s->d);
}

static void set_single(MmaForm *form, const MmaSpec *s)
{
    form->products = 1;
    form->a = simt_fragment_a(s->a, s->m, s->k);
    form->b = simt_fragment_b(s->b, s->k, s->n);
    form->c = simt_fragment_c(s->c, s->m, s->n);
    form->d = simt_fragment_c(s->d, s->m, s->n);
}

bool simt_mma_form(MmaForm *form, const MmaSpec *spec)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], spec)) {
            *form = (MmaForm){.spec = *spec, .least_chip = rows[i].least_chip};
            if (rows[i].feature == ANY_LAYOUT) set_quads(form, spec);
            else set_single(form, spec);
            return true;
        }
    return false;
}

static void multiply_rounded(const MmaSpec *s, double *d, const double *a, const double *b)
{
    static const int modes[] = {[MMA_NEAREST] = FE_TONEAREST,
                                [MMA_TO_ZERO] = FE_TOWARDZERO,
                                [MMA_DOWN] = FE_DOWNWARD,
                                [MMA_UP] = FE_UPWARD};
    const int before = fegetround();
    fesetround(modes[s->round]);
    simt_matrix_multiply_f64(d, a, b, s->m, s->n, s->k);
    fesetround(before);
}

static void multiply(const MmaSpec *s, double *d, double *a, const double *b)
{
    if (s->a == MATRIX_F64) {
        multiply_rounded(s, d, a, b);
        return;
    }
    if (s->bits == MATRIX_BITS_XOR) simt_matrix_prepare_xor(d, a, s->m, s->n, s->k);
    product_f64(d, a, b, s->m, s->n, s->k);
}

enum { MOST_A = 16 * 256, MOST_B = 256 * 8, MOST_D = 4 * 8 * 8 };

void simt_mma(const MmaForm *form, void *d, const void *a, const void *b, const void *c)
{
    const MmaSpec *s = &form->spec;
    double left[MOST_A], right[MOST_B], sum[MOST_D];
    simt_fragment_load(&form->a, a, left);
    simt_fragment_load(&form->b, b, right);
    simt_fragment_load(&form->c, c, sum);
    for (int i = 0; i < form->products; i++)
        multiply(s, sum + i * s->m * s->n, left + i * s->m * s->k, right + i * s->k * s->n);
    simt_fragment_store(&form->d, s->satfinite, sum, d);
}
