/* NumPy's .npy files. Format: magic "\x93NUMPY", version, header length, a Python dict literal, the
   elements. Source: the format's description in NumPy's documentation (numpy.lib.format). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "output.h"
#include "tkc/text.h"

enum { DESCR = 8 };

/* "<f2". Of a type that numpy has none of, its bits as an unsigned integer. */
static void put_descr(DType d, char text[DESCR])
{
    static const char sorts[] = {[DK_BOOL] = 'b', [DK_INT] = 'i', [DK_UINT] = 'u', [DK_FLOAT] = 'f'};
    const DTypeInfo *info = tkc_dtype_info(d);
    snprintf(text, DESCR, "%c%c%d", info->bytes == 1 ? '|' : '<',
             array_is_foreign(d) ? 'u' : sorts[info->kind], info->bytes);
}

/* The value of a key of the header's dict, either kind of quotes. */
static const char *dict_find(const char *header, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = header; (p = strstr(p, key)); p += n) {
        bool quoted = p > header && (p[-1] == '\'' || p[-1] == '"') && p[n] == p[-1];
        if (quoted) return p + n + 1 + strspn(p + n + 1, " :");
    }
    return NULL;
}

/* The type that a descr names; bits without a name ('|V2', as numpy writes types of others) are
   what `as` says. */
static DType read_descr(const char *p, DType as)
{
    char quote = *p++;
    if (quote != '\'' && quote != '"') return DT_NONE;
    if (as != DT_NONE && p[0] == '|' && p[1] == 'V' &&
        strtol(p + 2, NULL, 10) == tkc_dtype_info(as)->bytes)
        return as;
    for (DType d = DT_NONE + 1; d < DT_COUNT; d++) {
        char descr[DESCR];
        put_descr(d, descr);
        const size_t n = strlen(descr);
        bool order = *p == '<' || *p == '=' || *p == '|' || (*p == '>' && *descr == '|');
        if (order && !array_is_foreign(d) && !strncmp(p + 1, descr + 1, n - 1) && p[n] == quote) return d;
    }
    return DT_NONE;
}

static bool refuse_descr(const char *descr, char *why, size_t size)
{
    int n = (int)strcspn(descr, *descr == '[' ? "]" : ",}");
    if (!strchr("'\"[", descr[0])) return array_refuse(why, size, "its header is damaged");
    if (descr[0] == '[')
        snprintf(why, size, "its elements are records, %.*s]: save one field of them", n, descr);
    else if (descr[1] == '>')
        snprintf(why, size,
                 "its elements are big-endian, %.*s: save it with "
                 "x.astype(x.dtype.newbyteorder('<'))",
                 n, descr);
    else if (descr[1] && descr[2] == 'O')
        snprintf(why, size, "its elements are Python objects, %.*s: save it as numbers", n, descr);
    else if (descr[1] && descr[2] == 'V')
        snprintf(why, size,
                 "its elements are %.*s, bits without a type: say which with FILE.npy:bf16", n,
                 descr);
    else
        snprintf(why, size, "its elements are %.*s, which is not a type of the language", n, descr);
    return false;
}

static bool read_dims(const char *p, int *rank, int64_t *shape)
{
    *rank = 0;
    if (*p++ != '(') return false;
    for (p += strspn(p, " "); *p != ')'; p += strspn(p, " ")) {
        char *end;
        long long n = strtoll(p, &end, 10);
        if (end == p || n < 0 || *rank == ARRAY_MAX_RANK) return false;
        shape[(*rank)++] = n;
        p = *end == 'L' ? end + 1 : end;
        p += strspn(p, " ");
        if (*p == ',') p++;
        else if (*p != ')') return false;
    }
    return true;
}

static bool read_header(Array *a, const char *header, DType as, char *why, size_t size)
{
    const char *descr = dict_find(header, "descr"), *order = dict_find(header, "fortran_order"),
               *dims = dict_find(header, "shape");
    int rank;
    int64_t shape[ARRAY_MAX_RANK];
    bool fortran = order && !strncmp(order, "True", 4);
    if (!descr || !*descr || !order || !dims || (!fortran && strncmp(order, "False", 5)))
        return array_refuse(why, size, "its header is damaged");
    if (!read_dims(dims, &rank, shape))
        return array_refuse(why, size, "its header is damaged, or its shape has more than 8 extents");
    if (fortran && rank > 1)
        return array_refuse(why, size, "it is in Fortran order; save it with numpy.ascontiguousarray");
    DType dtype = read_descr(descr, as);
    if (dtype == DT_NONE) return refuse_descr(descr, why, size);
    if (as != DT_NONE && tkc_dtype_info(as)->bytes != tkc_dtype_info(dtype)->bytes)
        return array_refuse(why, size, "its elements are %s, which is not as wide as %s",
                            tkc_dtype_info(dtype)->name, tkc_dtype_info(as)->name);
    return array_make(a, as != DT_NONE ? as : dtype, rank, shape, why, size);
}

/* int1 elements other than 0 and 1 would not be booleans. */
static void normalize_bools(Array *a)
{
    unsigned char *p = a->data;
    for (int64_t i = 0; a->dtype == DT_I1 && i < a->count; i++) p[i] = p[i] != 0;
}

static bool cut_short(FILE *f, char *why, size_t size)
{
    return array_refuse(why, size, "%s", ferror(f) ? strerror(errno) : "it is truncated");
}

/* The header as a string, malloc'ed; NULL with why. */
static char *read_preamble(FILE *f, char *why, size_t size)
{
    unsigned char head[12];
    size_t got = fread(head, 1, 10, f);
    if (ferror(f)) return cut_short(f, why, size), NULL;
    const bool begins = got && !memcmp(head, "\x93NUMPY", got < 6 ? got : 6);
    if (!begins || got < 10)
        return snprintf(why, size, "%s",
                        begins ? "it is truncated" : got ? "it is not a .npy file" : "it is empty"),
               NULL;
    size_t len = head[8] | (size_t)head[9] << 8;
    if (head[6] >= 2) {
        if (fread(head + 10, 1, 2, f) != 2) return cut_short(f, why, size), NULL;
        len |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (head[6] < 1 || head[6] > 3 || len > 1 << 20)
        return snprintf(why, size, "its header is damaged, or of a version after 3"), NULL;
    char *header = calloc(len + 1, 1);
    if (header && fread(header, 1, len, f) == len) return header;
    if (header) cut_short(f, why, size);
    else snprintf(why, size, "no memory");
    free(header);
    return NULL;
}

static bool load_file(Array *a, FILE *f, DType as, char *why, size_t size)
{
    char *header = read_preamble(f, why, size);
    bool ok = header && read_header(a, header, as, why, size);
    free(header);
    if (!ok) return false;
    size_t got = fread(a->data, 1, a->bytes, f);
    if (got != a->bytes) {
        cut_short(f, why, size);
        if (!ferror(f))
            snprintf(why, size, "it is truncated: %zu bytes of elements instead of %zu", got,
                     a->bytes);
        array_free(a);
        return false;
    }
    normalize_bools(a);
    return true;
}

bool array_load(Array *a, const char *path, DType as, char *why, size_t size)
{
    errno = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return array_refuse(why, size, "%s", strerror(errno));
    bool ok = load_file(a, f, as, why, size);
    fclose(f);
    return ok;
}

/* "(4096, 781)", "(3,)", "()" */
static void put_dims(const Array *a, char *text, size_t size)
{
    Text t = {text, size, 0};
    text[0] = 0;
    for (int i = 0; i < a->rank; i++)
        text_put(&t, "%s%lld%s", i ? " " : "", (long long)a->shape[i],
                 i + 1 < a->rank || a->rank == 1 ? "," : "");
}

bool array_save(const Array *a, const char *path, char *why, size_t size)
{
    char descr[DESCR], dims[ARRAY_MAX_RANK * 22 + 4], header[512];
    put_descr(a->dtype, descr);
    put_dims(a, dims, sizeof dims);
    int len = snprintf(header, sizeof header,
                       "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims);
    int padded = (10 + len + 1 + 63) / 64 * 64 - 10; /* the elements start at a multiple of 64 */
    unsigned char head[10] = "\x93NUMPY\1";
    head[8] = (unsigned char)(padded & 255);
    head[9] = (unsigned char)(padded >> 8);
    const char *reason = NULL;
    Output out;
    if (!output_open(&out, path, &reason)) return array_refuse(why, size, "%s", reason);
    bool ok = fwrite(head, 1, 10, out.f) == 10 &&
              fprintf(out.f, "%s%*s\n", header, padded - 1 - len, "") == padded &&
              fwrite(a->data, 1, a->bytes, out.f) == a->bytes;
    return output_close(&out, ok, &reason) || array_refuse(why, size, "%s", reason);
}
