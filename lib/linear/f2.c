/* Everything rests on one structure: a set of vectors in echelon form, each with a distinct
   highest bit, which remembers of which original vectors each is the sum. Putting the columns of
   a matrix in one after another marks those that depend on earlier ones as free; solving then
   never uses a free column, so its bit stays 0. */
#include "linear/f2.h"

uint32_t f2_sum(const uint32_t *vec, uint64_t x)
{
    uint32_t y = 0;
    for (; x; x &= x - 1) y ^= vec[__builtin_ctzll(x)];
    return y;
}

/* What is left of v after taking out every echelon vector whose highest bit it has; *combo
   collects the originals. */
static uint32_t reduce(const F2Space *s, uint32_t v, uint32_t *combo)
{
    for (int i = 0; i < s->dim; i++) {
        if ((v ^ s->echelon[i]) < v) {
            v ^= s->echelon[i];
            *combo ^= s->combo[i];
        }
    }
    return v;
}

bool f2_space_add(F2Space *s, uint32_t v)
{
    uint32_t combo = 0;
    uint32_t rest = reduce(s, v, &combo);
    if (!rest) return false;
    int at = s->dim;
    combo ^= UINT32_C(1) << s->dim;
    s->vec[s->dim++] = v;
    for (; at > 0 && s->echelon[at - 1] < rest; at--) {
        s->echelon[at] = s->echelon[at - 1];
        s->combo[at] = s->combo[at - 1];
    }
    s->echelon[at] = rest;
    s->combo[at] = combo;
    return true;
}

int f2_space_add_all(F2Space *s, int n, const uint32_t *v)
{
    int added = 0;
    for (int i = 0; i < n; i++) added += f2_space_add(s, v[i]);
    return added;
}

bool f2_space_solve(const F2Space *s, uint32_t v, uint32_t *combo)
{
    *combo = 0;
    return reduce(s, v, combo) == 0;
}

bool f2_space_has(const F2Space *s, uint32_t v)
{
    uint32_t combo;
    return f2_space_solve(s, v, &combo);
}

void f2_space_intersect(F2Space *out, const F2Space *a, const F2Space *b)
{
    F2Matrix both = {.cols = a->dim + b->dim};
    uint64_t kernel[F2_MAX];
    for (int i = 0; i < a->dim; i++) both.col[i] = a->vec[i];
    for (int i = 0; i < b->dim; i++) both.col[a->dim + i] = b->vec[i];
    int n = f2_kernel(&both, kernel);
    F2Space r = {0};
    for (int i = 0; i < n; i++)
        f2_space_add(&r, f2_apply(&both, kernel[i] & ((UINT64_C(1) << a->dim) - 1)));
    *out = r;
}

/* The columns of m in order; source[i] is the column that became vec[i]. */
static F2Space column_space(const F2Matrix *m, int *source)
{
    F2Space s = {0};
    for (int i = 0; i < m->cols; i++) {
        int at = s.dim;
        if (f2_space_add(&s, m->col[i])) source[at] = i;
    }
    return s;
}

static uint64_t columns_of(uint32_t combo, const int *source)
{
    uint64_t x = 0;
    for (; combo; combo &= combo - 1) x |= UINT64_C(1) << source[__builtin_ctz(combo)];
    return x;
}

int f2_rank(const F2Matrix *m)
{
    int source[32];
    return column_space(m, source).dim;
}

bool f2_solve(const F2Matrix *m, uint32_t y, uint64_t *x)
{
    int source[32];
    uint32_t combo;
    F2Space s = column_space(m, source);
    if (!f2_space_solve(&s, y, &combo)) return false;
    *x = columns_of(combo, source);
    return true;
}

int f2_kernel(const F2Matrix *m, uint64_t *out)
{
    F2Space s = {0};
    int source[32], n = 0;
    for (int i = 0; i < m->cols; i++) {
        uint32_t combo;
        if (f2_space_solve(&s, m->col[i], &combo)) {
            out[n++] = columns_of(combo, source) | UINT64_C(1) << i;
        } else {
            source[s.dim] = i;
            f2_space_add(&s, m->col[i]);
        }
    }
    return n;
}
