/* mma.sync. A form is looked up once, when the instruction is decoded, with the maps of its four
   fragments; executing it is: fragments to matrices, the product, the matrix to d's fragment.

   m8n8k4 of f16 is four products, each of the eight lanes 4q … 4q + 3 and 16 + 4q … 16 + 4q + 3,
   in layouts of its own. Its matrices are stacked, and bits 2 and 3 of the lane choose among them.

   How results are rounded: matrix.c. f64 adds product by product in order of k, each step rounded
   once; the manual leaves the order open. */
#include <fenv.h>
#include <string.h>

#include "decode.h"
#include "interp/product.h"
#include "warp.h"

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

/* ---- the instruction ---- */

enum { MOST_REGISTERS = 8 }; /* of a lane, of one operand */

static SimtStep whole_mma(Warp *w, const SimtInsn *in)
{
    const MmaForm *form = in->form;
    uint64_t a[MOST_REGISTERS * SIMT_LANES], b[MOST_REGISTERS * SIMT_LANES],
        c[MOST_REGISTERS * SIMT_LANES], d[MOST_REGISTERS * SIMT_LANES];
    const SimtOperand *s = in->s;
    const int bits = s->bits;
    whole_warp_read(w, s, in->a, bits, a);
    whole_warp_read(w, s + in->a, in->b, bits, b);
    whole_warp_read(w, s + in->a + in->b, in->c, bits, c);
    simt_mma(form, d, a, b, c);
    whole_warp_write(w, in->d, in->nd, bits, d);
    return STEP_NEXT;
}

/* ---- decoding ---- */

/* The next part that is one of the two, in the order of the text: true for the second. */
static bool is_second(Decoder *dc, const char *first, const char *second)
{
    PtxParts *parts = &dc->ps.parts;
    for (int i = 1; i < parts->n; i++) {
        const bool yes = ptx_part_is(parts, i, second, strlen(second));
        if (parts->taken[i] || !(yes || ptx_part_is(parts, i, first, strlen(first)))) continue;
        parts->taken[i] = true;
        return yes;
    }
    op_refuse(dc);
    return false;
}

static void read_spec(Decoder *dc, MmaSpec *s)
{
    dc_aligned(dc);
    dc_matrix_shape(dc, &s->m, &s->n, &s->k);
    s->a_column = is_second(dc, "row", "col");
    s->b_row = is_second(dc, "col", "row");
    s->satfinite = op_take(dc, "satfinite");
    s->round = (MmaRound)(op_choose(dc, "rz rm rp") + 1);
    const bool nearest = s->round == MMA_NEAREST && op_take(dc, "rn");
    s->bits = (MatrixBits)(op_choose(dc, "xor and") + 1);
    if (s->bits != MATRIX_BITS_NONE && !op_take(dc, "popc")) op_refuse(dc);
    s->d = dc_matrix_type(dc);
    s->a = dc_matrix_type(dc);
    s->b = dc_matrix_type(dc);
    s->c = dc_matrix_type(dc);
    if (nearest && s->a != MATRIX_F64) op_refuse(dc);
    op_done(dc);
}

void decode_mma(Decoder *dc, SimtInsn *in)
{
    MmaSpec spec = {0};
    MmaForm *form = dc_take(dc, sizeof *form);
    read_spec(dc, &spec);
    if (dc->ps.failed) return;
    if (!simt_mma_form(form, &spec)) {
        op_refuse(dc);
        return;
    }
    dc_needs_chip(dc, form->least_chip);
    in->form = form;
    in->count = (uint8_t)simt_fragment_registers(&form->d);
    in->a = (uint8_t)simt_fragment_registers(&form->a);
    in->b = (uint8_t)simt_fragment_registers(&form->b);
    in->c = (uint8_t)simt_fragment_registers(&form->c);
    in->whole = whole_mma;
    dc_form(dc, in, exec_whole, ">{*} <a{*} <b{*} <c{*}",
            ptx_type(spec.a == MATRIX_F64 ? "b64" : "b32"));
}
