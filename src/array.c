/* Arrays in host memory: made, read and written by element or by runs of them. Generators:
   generate.c; comparing: compare.c; printing: print.c; files: npy.c.

   Runs go through doubles: exact for every type but integers of 64 bits, and one loop a type, which
   compilers make as fast as memory. Floats of 8 and 16 bits are read from a table of all there
   are. */
#include "array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tkc/edge.h"
#include "tkc/float_bits.h"

DType array_dtype(const char *name, size_t len)
{
    for (DType d = DT_NONE + 1; d < DT_COUNT; d++) {
        const DTypeInfo *info = tkc_dtype_info(d);
        const char *names[] = {info->name, info->short_name, info->other_name};
        for (int i = 0; i < 3; i++)
            if (strlen(names[i]) == len && !memcmp(names[i], name, len)) return d;
    }
    return DT_NONE;
}

bool array_is_foreign(DType d)
{
    return d == DT_BF16 || d == DT_F8E4 || d == DT_F8E5;
}

/* Systems promise more memory than there is, and end the process that believes them. */
static bool is_memory_there(size_t bytes)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages <= 0 || size <= 0 || bytes / 2 <= (size_t)pages / 4 * (size_t)size;
}

/* Zeros. Large ones in large pages, whose first touches cost less. */
static void *take_memory(size_t bytes)
{
    enum { LARGE = 1 << 22, PAGE = 1 << 12 };
    void *p = is_memory_there(bytes) ? calloc(bytes ? bytes : 1, 1) : NULL;
    if (p && bytes >= LARGE) {
        uintptr_t at = ((uintptr_t)p + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
        madvise((void *)at, bytes - PAGE, MADV_HUGEPAGE); /* advice: it may not be taken */
    }
    return p;
}

bool array_make(Array *a, DType dtype, int rank, const int64_t *shape, char *why, size_t size)
{
    *a = (Array){.dtype = dtype, .rank = rank, .count = 1};
    for (int i = 0; i < rank; i++) {
        a->shape[i] = shape[i];
        if (shape[i] < 0 || __builtin_mul_overflow(a->count, shape[i], &a->count) ||
            a->count > INT64_MAX / 16)
            return array_refuse(why, size, "the shape is too large");
    }
    a->bytes = (size_t)a->count * tkc_dtype_info(dtype)->bytes;
    a->data = take_memory(a->bytes);
    return a->data || array_refuse(why, size, "no memory for %zu bytes", a->bytes);
}

void array_free(Array *a)
{
    free(a->data);
    a->data = NULL;
}

/* ---- elements ---- */

uint64_t array_bits(const Array *a, int64_t i)
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
    return tkc_bits_to_double(a->dtype, array_bits(a, i));
}

/* ---- runs of elements ---- */

bool array_reader(ArrayReader *r, const Array *a)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    *r = (ArrayReader){a, NULL};
    if (info->kind != DK_FLOAT || info->bits > 16) return true;
    size_t n = (size_t)1 << info->bits;
    r->table = malloc(n * sizeof *r->table);
    for (size_t i = 0; r->table && i < n; i++) r->table[i] = tkc_bits_to_double(a->dtype, i);
    return r->table != NULL;
}

void array_reader_free(ArrayReader *r)
{
    free(r->table);
    r->table = NULL;
}

#define READ(T, VALUE)                                                                             \
    do {                                                                                           \
        const T *p = (const T *)r->array->data + from;                                             \
        for (int i = 0; i < n; i++) out[i] = (double)(VALUE);                                      \
        return;                                                                                    \
    } while (0)

void array_read(const ArrayReader *r, int64_t from, int n, double *out)
{
    const double *table = r->table;
    switch (r->array->dtype) {
    case DT_I1:
    case DT_U8: READ(uint8_t, p[i]);
    case DT_I8: READ(int8_t, p[i]);
    case DT_I16: READ(int16_t, p[i]);
    case DT_I32: READ(int32_t, p[i]);
    case DT_I64: READ(int64_t, p[i]);
    case DT_U16: READ(uint16_t, p[i]);
    case DT_U32: READ(uint32_t, p[i]);
    case DT_U64: READ(uint64_t, p[i]);
    case DT_F8E4:
    case DT_F8E5: READ(uint8_t, table[p[i]]);
    case DT_F16:
    case DT_BF16: READ(uint16_t, table[p[i]]);
    case DT_F32: READ(float, p[i]);
    case DT_F64: READ(double, p[i]);
    case DT_NONE:
    case DT_COUNT: break;
    }
}

/* What is well inside the range of a narrow float rounds here, to nearest even; the rest, and other
   types, as the language casts. */
static uint64_t round_bits(DType dtype, const DTypeInfo *info, double v)
{
    if (info->kind != DK_FLOAT) return tkc_bits_from_double(dtype, v);
    const int drop = 52 - info->man_bits, bias = (1 << (info->exp_bits - 1)) - 1;
    const uint64_t bits = f64_bits(v);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent < 1 - bias || exponent >= bias) return tkc_bits_from_double(dtype, v);
    uint64_t magnitude = bits << 1 >> 1, odd = magnitude >> drop & 1;
    magnitude = (magnitude + (UINT64_C(1) << (drop - 1)) - 1 + odd) >> drop;
    return (magnitude - ((uint64_t)(1023 - bias) << info->man_bits)) |
           bits >> 63 << (info->bits - 1);
}

static void write_rounded(Array *a, int64_t from, int n, const double *in)
{
    const DTypeInfo *info = tkc_dtype_info(a->dtype);
    const size_t size = info->bytes;
    char *p = (char *)a->data + (size_t)from * size;
    for (int i = 0; i < n; i++, p += size) {
        uint64_t bits = round_bits(a->dtype, info, in[i]);
        memcpy(p, &bits, size);
    }
}

#define WRITE(T, VALUE)                                                                            \
    do {                                                                                           \
        T *p = (T *)a->data + from;                                                                \
        for (int i = 0; i < n; i++) p[i] = (T)(VALUE);                                             \
        return;                                                                                    \
    } while (0)

/* What an integer type cannot hold becomes its nearest, as a cast makes it. */
static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

void array_write(Array *a, int64_t from, int n, const double *in)
{
    switch (a->dtype) {
    case DT_I8: WRITE(int8_t, clamp(in[i], INT8_MIN, INT8_MAX));
    case DT_I16: WRITE(int16_t, clamp(in[i], INT16_MIN, INT16_MAX));
    case DT_I32: WRITE(int32_t, clamp(in[i], INT32_MIN, INT32_MAX));
    case DT_U8: WRITE(uint8_t, clamp(in[i], 0, UINT8_MAX));
    case DT_U16: WRITE(uint16_t, clamp(in[i], 0, UINT16_MAX));
    case DT_U32: WRITE(uint32_t, clamp(in[i], 0, UINT32_MAX));
    case DT_F32: WRITE(float, in[i]);
    case DT_F64: WRITE(double, in[i]);
    case DT_I1:
    case DT_I64:
    case DT_U64:
    case DT_F8E4:
    case DT_F8E5:
    case DT_F16:
    case DT_BF16: write_rounded(a, from, n, in); return;
    case DT_NONE:
    case DT_COUNT: break;
    }
}

/* "[4096,781]" */
static void list_text(const int64_t *v, int n, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "[");
    for (int i = 0; i < n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%lld", i ? "," : "", (long long)v[i]);
    if (len < size) snprintf(text + len, size - len, "]");
}

void array_shape_text(const Array *a, char *text, size_t size)
{
    list_text(a->shape, a->rank, text, size);
}

void array_index_text(const Array *a, int64_t i, char *text, size_t size)
{
    int64_t at[ARRAY_MAX_RANK];
    for (int d = a->rank - 1; d >= 0; d--) {
        at[d] = i % a->shape[d];
        i /= a->shape[d];
    }
    list_text(at, a->rank, text, size);
}
