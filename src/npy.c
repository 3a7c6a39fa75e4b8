/* NumPy's .npy files. Format: magic "\x93NUMPY", version, header length, a Python dict literal, the elements.
   Source: the format's description in NumPy's documentation (numpy.lib.format). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static const struct { const char *descr; DType dtype; } descrs[] = {
    {"|b1", DT_I1}, {"|i1", DT_I8}, {"<i2", DT_I16}, {"<i4", DT_I32}, {"<i8", DT_I64}, {"|u1", DT_U8}, {"<u2", DT_U16},
    {"<u4", DT_U32}, {"<u8", DT_U64}, {"<f2", DT_F16}, {"<f4", DT_F32}, {"<f8", DT_F64},
    /* written only: types that .npy has no name for */
    {"<u2", DT_BF16}, {"|u1", DT_F8E4}, {"|u1", DT_F8E5},
};
enum { DESCRS = sizeof descrs / sizeof *descrs };

static bool fail(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

/* The text after 'key': in the header, blanks skipped. */
static const char *dict_find(const char *header, const char *key)
{
    const char *p = strstr(header, key);
    if (!p)
        return NULL;
    p += strlen(key);
    while (*p == ' ' || *p == ':')
        p++;
    return p;
}

static DType read_descr(const char *p)
{
    char quote = *p++;
    for (int i = 0; i < DESCRS && (quote == '\'' || quote == '"'); i++) {
        size_t n = strlen(descrs[i].descr);
        bool any_order = *p == '|' || *p == '<' || *p == '=';
        if (any_order && !strncmp(p + 1, descrs[i].descr + 1, n - 1) && p[n] == quote)
            return descrs[i].dtype;
    }
    return DT_NONE;
}

static bool read_dims(const char *p, int *rank, int64_t *shape)
{
    *rank = 0;
    if (*p++ != '(')
        return false;
    for (;;) {
        while (*p == ' ' || *p == ',')
            p++;
        if (*p == ')')
            return true;
        char *end;
        long long n = strtoll(p, &end, 10);
        if (end == p || n < 0 || *rank == ARRAY_MAX_RANK)
            return false;
        shape[(*rank)++] = n;
        p = *end == 'L' ? end + 1 : end;
    }
}

static bool read_header(Array *a, const char *header, DType as, char *why, size_t size)
{
    const char *descr = dict_find(header, "'descr'"), *order = dict_find(header, "'fortran_order'");
    const char *dims = dict_find(header, "'shape'");
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    if (!descr || !order || !dims || !read_dims(dims, &rank, shape))
        return fail(why, size, "its header is damaged");
    if (!strncmp(order, "True", 4))
        return fail(why, size, "it is in Fortran order; save it with numpy.ascontiguousarray");
    DType dtype = read_descr(descr);
    if (dtype == DT_NONE) {
        snprintf(why, size, "its elements are %.*s, which is not a type of the language", (int)strcspn(descr, ",}"), descr);
        return false;
    }
    if (as != DT_NONE && tkc_dtype_info(as)->bytes != tkc_dtype_info(dtype)->bytes) {
        snprintf(why, size, "its elements are %s, which is not as wide as %s", tkc_dtype_info(dtype)->name, tkc_dtype_info(as)->name);
        return false;
    }
    return array_make(a, as != DT_NONE ? as : dtype, rank, shape, why, size);
}

/* int1 elements other than 0 and 1 would not be booleans. */
static void normalize_bools(Array *a)
{
    unsigned char *p = a->data;
    for (int64_t i = 0; a->dtype == DT_I1 && i < a->count; i++)
        p[i] = p[i] != 0;
}

static bool load_file(Array *a, FILE *f, DType as, char *why, size_t size)
{
    unsigned char head[12];
    if (fread(head, 1, 10, f) != 10 || memcmp(head, "\x93NUMPY", 6))
        return fail(why, size, "it is not a .npy file");
    size_t len = head[8] | (size_t)head[9] << 8;
    if (head[6] >= 2) {
        if (fread(head + 10, 1, 2, f) != 2)
            return fail(why, size, "it is truncated");
        len |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (head[6] < 1 || head[6] > 3 || len > 1 << 20)
        return fail(why, size, "its header is damaged");
    char *header = calloc(len + 1, 1);
    if (!header)
        return fail(why, size, "no memory");
    bool ok = fread(header, 1, len, f) == len || fail(why, size, "it is truncated");
    ok = ok && read_header(a, header, as, why, size);
    free(header);
    if (!ok)
        return false;
    if (fread(a->data, 1, a->bytes, f) != a->bytes) {
        array_free(a);
        return fail(why, size, "it is truncated");
    }
    normalize_bools(a);
    return true;
}

bool array_load(Array *a, const char *path, DType as, char *why, size_t size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return fail(why, size, strerror(errno));
    bool ok = load_file(a, f, as, why, size);
    fclose(f);
    return ok;
}

bool array_save(const Array *a, const char *path, char *why, size_t size)
{
    const char *descr = NULL;
    for (int i = 0; i < DESCRS && !descr; i++)
        if (descrs[i].dtype == a->dtype)
            descr = descrs[i].descr;
    char dims[ARRAY_MAX_RANK * 22 + 4] = "";
    size_t n = 0;
    for (int i = 0; i < a->rank; i++)
        n += (size_t)snprintf(dims + n, sizeof dims - n, "%lld,%s", (long long)a->shape[i], i + 1 < a->rank ? " " : "");
    char header[512];
    int len = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims);
    int padded = (10 + len + 1 + 63) / 64 * 64 - 10; /* the elements start at a multiple of 64 */
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(padded & 255), (unsigned char)(padded >> 8)};
    FILE *f = fopen(path, "wb");
    if (!f)
        return fail(why, size, strerror(errno));
    bool ok = fwrite(head, 1, 10, f) == 10 && fprintf(f, "%s%*s\n", header, padded - 1 - len, "") == padded &&
              fwrite(a->data, 1, a->bytes, f) == a->bytes;
    ok = fclose(f) == 0 && ok;
    return ok || fail(why, size, strerror(errno));
}
