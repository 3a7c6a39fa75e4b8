/* wgmma.mma_async. Eight columns of b at a time: they are one group of the matrix in shared memory,
   and a warp's part of d for them is the fragment that mma.sync has for c of m16n8, in the next
   registers. When results appear, and what must not be touched until then, is the caller's matter;
   how they are rounded, matrix.c's. */

#include "simt/wgmma.h"

#include "interp/product.h"

/* The last two are of whole numbers. */
typedef enum Feature { PLAIN, TRANSPOSED, WHOLE, COUNTED } Feature;

typedef struct Row {
    unsigned inputs, results;
    Feature feature;
} Row;

#define SET(TYPE) (1u << MATRIX_##TYPE)
static const Row rows[] = {
    {SET(F16), SET(F16) | SET(F32), TRANSPOSED},
    {SET(BF16), SET(F32), TRANSPOSED},
    {SET(TF32), SET(F32), PLAIN},
    {SET(E4M3) | SET(E5M2), SET(F16) | SET(F32), PLAIN},
    {SET(S8) | SET(U8), SET(S32), WHOLE},
    {SET(B1), SET(S32), COUNTED},
};

enum { K_BITS = 256, BLOCK = 8, ROWS = 16, MOST_N = 256, MOST_K = 256 };

/* Beyond 32, whole numbers come in steps of 16 columns. */
static bool has_width(const Row *row, int n)
{
    return n >= BLOCK && n <= MOST_N && n % BLOCK == 0 &&
           !(row->feature >= WHOLE && n > 32 && n % ROWS);
}

static bool has_options(const Row *row, const WgmmaSpec *s)
{
    const bool whole = row->feature >= WHOLE, transposed = s->a_transposed || s->b_transposed;
    return (row->feature == TRANSPOSED || !transposed) && !(s->a_in_registers && s->a_transposed) &&
           !(whole && (s->a_negated || s->b_negated)) && (row->feature == WHOLE || !s->satfinite) &&
           s->bits == (row->feature == COUNTED ? MATRIX_BITS_AND : MATRIX_BITS_NONE);
}

static bool fits(const Row *row, const WgmmaSpec *s)
{
    return row->inputs >> s->a & row->inputs >> s->b & row->results >> s->d & 1 &&
           s->k * simt_matrix_type_bits(s->a) == K_BITS && has_width(row, s->n) &&
           has_options(row, s);
}

bool simt_wgmma_form(WgmmaForm *form, const WgmmaSpec *spec)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], spec)) {
            *form = (WgmmaForm){.spec = *spec,
                                .a = simt_fragment_a(spec->a, ROWS, spec->k),
                                .d = simt_fragment_c(spec->d, ROWS, BLOCK)};
            form->d_registers = spec->n / BLOCK * simt_fragment_registers(&form->d);
            return true;
        }
    return false;
}

static bool load_a(const WgmmaForm *form, const WgmmaCall *call, double *a, WgmmaFault *fault)
{
    const WgmmaSpec *s = &form->spec;
    const SharedMatrix m = simt_shared_matrix(call->a, s->a_transposed);
    fault->operand = 'a';
    if (s->a_in_registers) simt_fragment_load(&form->a, call->a_registers, a);
    for (int half = 0; half < 2 && !s->a_in_registers; half++)
        if (!simt_shared_matrix_load(&m, &call->shared, s->a, 2 * call->warp + half,
                                     a + half * 8 * s->k, s->k, 1, &fault->address))
            return false;
    if (s->a_negated != s->b_negated)
        for (int i = 0; i < ROWS * s->k; i++) a[i] = -a[i];
    return true;
}

static void multiply_block(const WgmmaForm *form, const WgmmaCall *call, const double *a,
                           const double *b, uint32_t *d)
{
    double sum[ROWS * BLOCK] = {0};
    if (call->accumulate) simt_fragment_load(&form->d, d, sum);
    product_f64(sum, a, b, ROWS, BLOCK, form->spec.k);
    simt_fragment_store(&form->d, form->spec.satfinite, sum, d);
}

bool simt_wgmma(const WgmmaForm *form, const WgmmaCall *call, WgmmaFault *fault)
{
    const WgmmaSpec *s = &form->spec;
    const SharedMatrix m = simt_shared_matrix(call->b, s->b_transposed);
    const int step = simt_fragment_registers(&form->d) * SIMT_LANES;
    double a[ROWS * MOST_K], b[MOST_K * BLOCK];
    if (!load_a(form, call, a, fault)) return false;
    fault->operand = 'b';
    for (int block = 0; block < s->n / BLOCK; block++) {
        if (!simt_shared_matrix_load(&m, &call->shared, s->b, block, b, 1, BLOCK, &fault->address))
            return false;
        multiply_block(form, call, a, b, call->d + block * step);
    }
    return true;
}
