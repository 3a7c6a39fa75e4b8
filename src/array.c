/* Arrays in host memory: made, read and written by element or by runs of them. Generators:
   generate.c; comparing: compare.c; printing: print.c; files: npy.c.

   Runs go through doubles: exact for every type but integers of 64 bits, and one loop a type, which
   compilers make as fast as memory. */
#include "array.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tkc/edge.h"
#include "tkc/float_narrow.h"
#include "tkc/text.h"
#include "tkc/vector.h"

DType array_dtype(const char *name, size_t len)
{
    ParamType t;
    tkc_read_type(name, len, &t);
    return t.stars || t.rank ? DT_NONE : t.dtype;
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

#define READ(T, VALUE)                                                                             \
    do {                                                                                           \
        const T *p = (const T *)a->data + from;                                                    \
        for (int i = 0; i < n; i++) out[i] = (double)(VALUE);                                      \
        return;                                                                                    \
    } while (0)

VECTOR void array_read(const Array *a, int64_t from, int n, double *out)
{
    switch (a->dtype) {
    case DT_I1:
    case DT_U8: READ(uint8_t, p[i]);
    case DT_I8: READ(int8_t, p[i]);
    case DT_I16: READ(int16_t, p[i]);
    case DT_I32: READ(int32_t, p[i]);
    case DT_I64: READ(int64_t, p[i]);
    case DT_U16: READ(uint16_t, p[i]);
    case DT_U32: READ(uint32_t, p[i]);
    case DT_U64: READ(uint64_t, p[i]);
    case DT_F8E4: READ(uint8_t, f32_from_e4m3(p[i]));
    case DT_F8E5: READ(uint8_t, f32_from_e5m2(p[i]));
    case DT_F16: READ(uint16_t, f32_from_f16(p[i]));
    case DT_BF16: READ(uint16_t, f32_from_bf16(p[i]));
    case DT_F32: READ(float, p[i]);
    case DT_F64: READ(double, p[i]);
    case DT_NONE:
    case DT_COUNT: break;
    }
}

static void write_cast(Array *a, int64_t from, int n, const double *in)
{
    const size_t size = tkc_dtype_info(a->dtype)->bytes;
    char *p = (char *)a->data + (size_t)from * size;
    for (int i = 0; i < n; i++, p += size) {
        uint64_t bits = tkc_bits_from_double(a->dtype, in[i]);
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
    case DT_F8E4: WRITE(uint8_t, e4m3_from64(f64_bits(in[i])));
    case DT_F8E5: WRITE(uint8_t, e5m2_from64(f64_bits(in[i])));
    case DT_F16: WRITE(uint16_t, f16_from64(f64_bits(in[i])));
    case DT_BF16: WRITE(uint16_t, bf16_from64(f64_bits(in[i])));
    case DT_F32: WRITE(float, in[i]);
    case DT_F64: WRITE(double, in[i]);
    case DT_I1:
    case DT_I64:
    case DT_U64: write_cast(a, from, n, in); return;
    case DT_NONE:
    case DT_COUNT: break;
    }
}

/* "[4096,781]" */
static void list_text(const int64_t *v, int n, char *text, size_t size)
{
    Text t = {text, size, 0};
    text_put(&t, "[");
    for (int i = 0; i < n; i++) text_put(&t, "%s%lld", i ? "," : "", (long long)v[i]);
    text_put(&t, "]");
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
