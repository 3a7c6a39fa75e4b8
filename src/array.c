/* Arrays in host memory: made, read element by element, compared, printed. Reading and writing
   files: npy.c. */
#include "array.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tkc/edge.h"

DType array_dtype(const char *name, size_t len)
{
    for (DType d = DT_NONE + 1; d < DT_COUNT; d++) {
        const DTypeInfo *info = tkc_dtype_info(d);
        const char *names[] = {info->name, info->short_name, info->other_name};
        for (int i = 0; i < 3; i++)
            if (strlen(names[i]) == len && !memcmp(names[i], name, len))
                return d;
    }
    return DT_NONE;
}

/* Systems promise more memory than there is, and end the process that believes them. */
static bool is_memory_there(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages <= 0 || size <= 0 || bytes / 2 <= (size_t)pages / 4 * (size_t)size;
}

bool array_make(Array *a, DType dtype, int rank, const int64_t *shape, char *why, size_t size)
{
    *a = (Array){.dtype = dtype, .rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        if (shape[i] < 0 || __builtin_mul_overflow(a->count, shape[i], &a->count) ||
            a->count > INT64_MAX / 16) {
            snprintf(why, size, "the shape is too large");
            return false;
        }
    }
    a->bytes = (size_t)a->count * tkc_dtype_info(dtype)->bytes;
    a->data = is_memory_there(a->bytes) ? calloc(a->bytes ? a->bytes : 1, 1) : NULL;
    if (!a->data)
        snprintf(why, size, "no memory for %zu bytes", a->bytes);
    return a->data != NULL;
}

void array_free(Array *a)
{
    free(a->data);
    a->data = NULL;
}

/* ---- elements ---- */

static uint64_t get_bits(const Array *a, int64_t i)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    const char *p = (const char *)a->data + i * info->bytes;
    uint64_t bits = 0;
    memcpy(&bits, p, info->bytes);
    if (info->kind == DK_INT && info->bytes < 8 && (bits >> (info->bytes * 8 - 1) & 1))
        bits |= ~0ull << (info->bytes * 8);
    return bits;
}

double array_get(const Array *a, int64_t i)
{
    return tkc_bits_to_double(a->dtype, get_bits(a, i));
}

static void set_double(Array *a, int64_t i, double v)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    uint64_t bits = tkc_bits_from_double(a->dtype, v);
    memcpy((char *)a->data + i * info->bytes, &bits, info->bytes);
}

/* ---- generators ---- */

/* splitmix64: a stream by seed, any element by itself. */
static uint64_t random_bits(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + (i + 1) * 0xD1342543DE82EF95u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static double random_unit(uint64_t seed, uint64_t i)
{
    return (double)(random_bits(seed, i) >> 11) * 0x1p-53;
}

static double make_rand(const Array *a, uint64_t seed, int64_t i)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    double u = random_unit(seed, (uint64_t)i);
    if (info->kind == DK_FLOAT)
        return u;
    int below = info->kind == DK_BOOL ? 2 : info->bits == 8 ? 128 : 1000; /* every type has them */
    return floor(u * below);
}

static double make_randn(const Array *a, uint64_t seed, int64_t i)
{
    (void)a;
    double u = random_unit(seed, 2 * (uint64_t)i), v = random_unit(seed, 2 * (uint64_t)i + 1);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v); /* Box and Muller */
}

static double make_arange(const Array *a, uint64_t seed, int64_t i)
{
    (void)a, (void)seed;
    return (double)i;
}

static double make_ones(const Array *a, uint64_t seed, int64_t i)
{
    (void)a, (void)seed, (void)i;
    return 1;
}

typedef double (*Maker)(const Array *a, uint64_t seed, int64_t i);
static const struct { const char *name; Maker make; } makers[] = {
    {"rand", make_rand}, {"randn", make_randn}, {"arange", make_arange},
    {"ones", make_ones}, {"zeros", NULL},       {"empty", NULL},
};
enum { MAKERS = sizeof makers / sizeof *makers };

static int find_maker(const char *text)
{
    for (int i = 0; i < MAKERS; i++) {
        size_t n = strlen(makers[i].name);
        if (!strncmp(text, makers[i].name, n) && text[n] == ':')
            return i;
    }
    return -1;
}

bool array_is_generator(const char *text)
{
    return find_maker(text) >= 0;
}

/* "[4096,781]" or nothing (one element). */
static bool read_shape(const char *p, int *rank, int64_t *shape)
{
    *rank = 0;
    if (!*p)
        return true;
    if (*p++ != '[')
        return false;
    while (*rank < ARRAY_MAX_RANK) {
        char *end;
        long long n = strtoll(p, &end, 10);
        if (end == p || n < 0 || isspace((unsigned char)*p))
            return false;
        shape[(*rank)++] = n;
        p = end;
        if (*p == ']')
            return p[1] == 0;
        if (*p++ != ',')
            return false;
    }
    return false;
}

bool array_generate(Array *a, const char *text, uint64_t seed, char *why, size_t size)
{
    int m = find_maker(text);
    const char *type = text + strlen(makers[m].name) + 1;
    size_t n = strcspn(type, "[");
    DType dtype = array_dtype(type, n);
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    if (dtype == DT_NONE) {
        snprintf(why, size, "'%.*s' is not an element type such as f32, bf16, i64, u8 or i1",
                 (int)n, type);
        return false;
    }
    if (!read_shape(type + n, &rank, shape)) {
        snprintf(why, size, "expected a shape such as [4096,781], of at most %d extents, not '%s'",
                 ARRAY_MAX_RANK, type + n);
        return false;
    }
    if (!array_make(a, dtype, rank, shape, why, size))
        return false;
    if (!strcmp(makers[m].name, "empty"))
        memset(a->data, dtype == DT_I1 ? 1 : 0xA5, a->bytes);
    if (makers[m].make)
        for (int64_t i = 0; i < a->count; i++)
            set_double(a, i, makers[m].make(a, seed, i));
    return true;
}

/* ---- comparing ---- */

static bool is_same_shape(const Array *a, const Array *b)
{
    if (a->count != b->count)
        return false;
    if (a->rank == 1 || b->rank == 1)
        return true;
    return a->rank == b->rank && !memcmp(a->shape, b->shape, sizeof *a->shape * (size_t)a->rank);
}

bool array_compare(const Array *got, const Array *want, double rtol, double atol, Difference *out)
{
    /* A double does not hold every integer: those of one type are compared by their bits. */
    bool exact = got->dtype == want->dtype && tkc_dtype_info(got->dtype)->kind != DK_FLOAT;
    *out = (Difference){.where = -1};
    if (!is_same_shape(got, want))
        return false;
    for (int64_t i = 0; i < got->count; i++) {
        double g = array_get(got, i), w = array_get(want, i);
        if (exact ? get_bits(got, i) == get_bits(want, i) : g == w || (isnan(g) && isnan(w)))
            continue;
        double d = exact ? fmax(fabs(g - w), 1) : fabs(g - w);
        if (d > out->worst)
            out->worst = d;
        if (d <= atol + rtol * fabs(w) && !isinf(w)) /* false for NaN, too */
            continue;
        if (out->count++ == 0)
            out->where = i, out->got = g, out->want = w;
    }
    return true;
}

void array_shape_text(const Array *a, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < a->rank && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%lld", i ? "," : "", (long long)a->shape[i]);
    if (n < size)
        snprintf(text + n, size - n, "]");
}

/* ---- printing ---- */

static void print_element(FILE *out, const Array *a, int64_t i)
{
    switch (tkc_dtype_info(a->dtype)->kind) {
    case DK_FLOAT: fprintf(out, a->dtype == DT_F64 ? "%.9g" : "%.6g", array_get(a, i)); break;
    case DK_UINT: fprintf(out, "%llu", (unsigned long long)get_bits(a, i)); break;
    case DK_BOOL: fputs(get_bits(a, i) ? "True" : "False", out); break;
    default: fprintf(out, "%lld", (long long)get_bits(a, i)); break;
    }
}

static void print_dim(FILE *out, const Array *a, int dim, int64_t base, int64_t stride)
{
    enum { EDGE = 3, WHOLE = 8 };
    if (dim == a->rank) {
        print_element(out, a, base);
        return;
    }
    int64_t n = a->shape[dim], inner = n ? stride / n : 0;
    fputc('[', out);
    for (int64_t i = 0; i < n; i++) {
        if (i)
            fputs(dim + 1 == a->rank ? " " : "\n", out);
        if (i == EDGE && n > WHOLE) {
            fputs("…", out);
            i = n - EDGE - 1;
            continue;
        }
        if (i && dim + 1 < a->rank)
            for (int k = 0; k <= dim; k++)
                fputc(' ', out);
        print_dim(out, a, dim + 1, base + i * inner, inner);
    }
    fputc(']', out);
}

void array_print(FILE *out, const Array *a)
{
    print_dim(out, a, 0, 0, a->count);
    fputc('\n', out);
}
