/* -check's comparison. In: two arrays and a tolerance. Out: how many elements differ, the first
   of them, and the largest difference.

   Runs of elements that are the same bytes, or within the tolerance, are passed over by loops
   that compilers vectorize; a run with an element outside it, with a NaN, an infinity or an
   element that nothing wrote is looked at element by element. Both ways agree on what differs:
   the second says it, the first only says that nothing does. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "array.h"
#include "tkc/edge.h"

static bool is_same_shape(const Array *a, const Array *b)
{
    if (a->count != b->count) return false;
    if (a->rank == 1 || b->rank == 1) return true;
    return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

static bool is_integer(DType d)
{
    return tkc_dtype_info(d)->kind != DK_FLOAT;
}

/* Twice the distance of two neighbours in the coarser of the types; of wide floats more, whose
   differences come of sums in another order rather than of one rounding. */
Tolerance array_tolerance(DType got, DType want)
{
    const DTypeInfo *g = tkc_dtype_info(got), *w = tkc_dtype_info(want);
    if (is_integer(got)) return (Tolerance){0, 0};
    int bits = is_integer(want) || g->man_bits < w->man_bits ? g->man_bits : w->man_bits;
    if (bits > 23) return (Tolerance){1e-7, 1e-9};
    if (bits > 10) return (Tolerance){1e-5, 1e-6};
    return (Tolerance){ldexp(1, 1 - bits), bits > 3 ? 1e-5 : ldexp(1, -9)};
}

/* ---- one by one ---- */

static bool is_negative(const Array *a, int64_t i)
{
    return tkc_dtype_info(a->dtype)->kind == DK_INT && array_bits(a, i) >> 63;
}

/* A double does not hold every integer: they are compared by their bits. */
static bool is_equal(const Array *got, const Array *want, int64_t i, double g, double w)
{
    if (is_integer(got->dtype) && is_integer(want->dtype))
        return array_bits(got, i) == array_bits(want, i) &&
               is_negative(got, i) == is_negative(want, i);
    return g == w || (isnan(g) && isnan(w));
}

static void note_worst(Difference *out, double d, int64_t i)
{
    if (d > out->worst || out->worst_at < 0) out->worst = d, out->worst_at = i;
}

static void compare_element(const Array *got, const Array *want, Tolerance t, int64_t i,
                            Difference *out)
{
    const bool is_unwritten = got->unwritten && got->unwritten[i];
    const double g = array_get(got, i), w = array_get(want, i);
    double d = fabs(g - w);
    if (!is_unwritten) {
        if (is_equal(got, want, i, g, w)) return;
        if (is_integer(got->dtype) && is_integer(want->dtype)) d = fmax(d, 1);
        if (!isnan(d)) note_worst(out, d, i);
        if (d <= t.atol + t.rtol * fabs(w) && !isinf(w)) /* false for NaN, too */
            return;
    }
    out->unwritten += is_unwritten;
    if (out->count++ == 0) {
        out->where = i;
        out->is_unwritten = is_unwritten;
        out->got = g;
        out->want = w;
    }
}

/* ---- in runs ---- */

static bool is_same_bytes(const Array *a, const Array *b, int64_t from, int n)
{
    const size_t size = tkc_dtype_info(a->dtype)->bytes;
    return a->dtype == b->dtype &&
           !memcmp((const char *)a->data + (size_t)from * size,
                   (const char *)b->data + (size_t)from * size, (size_t)n * size);
}

enum { LANES = 8 };

/* Whether all are within the tolerance; *worst is then the largest difference. Infinities and NaNs
   are not. Both arrays have room up to a multiple of LANES. */
static bool is_near(int n, double *got, double *want, Tolerance t, double *worst)
{
    double most[LANES] = {0};
    int far = 0;
    for (int i = n; i % LANES; i++) got[i] = want[i] = 0;
    for (int i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double w = fabs(want[i + k]), d = fabs(got[i + k] - want[i + k]);
            far |= !(d <= t.atol + t.rtol * w) | !(w <= DBL_MAX);
            most[k] = d > most[k] ? d : most[k];
        }
    *worst = 0;
    for (int k = 0; k < LANES; k++) *worst = most[k] > *worst ? most[k] : *worst;
    return !far;
}

/* A run that needs no closer look: nothing in it differs, nor by more than seen before. */
static bool pass_over(const Array *got, const Array *want, Tolerance t, int64_t from, int n,
                      const Difference *out)
{
    double g[ARRAY_RUN], w[ARRAY_RUN], worst;
    if (got->unwritten && memchr(got->unwritten + from, 1, (size_t)n)) return false;
    if (is_same_bytes(got, want, from, n)) return true;
    if (is_integer(got->dtype) && is_integer(want->dtype)) return false;
    array_read(got, from, n, g);
    array_read(want, from, n, w);
    return is_near(n, g, w, t, &worst) && worst <= out->worst;
}

bool array_compare(const Array *got, const Array *want, Tolerance t, Difference *out)
{
    *out = (Difference){.where = -1, .worst_at = -1};
    if (!is_same_shape(got, want)) return false;
    for (int64_t from = 0; from < got->count; from += ARRAY_RUN) {
        int n = got->count - from < ARRAY_RUN ? (int)(got->count - from) : ARRAY_RUN;
        if (pass_over(got, want, t, from, n, out)) continue;
        for (int64_t i = from; i < from + n; i++) compare_element(got, want, t, i, out);
    }
    return true;
}
