/* -print: which elements "[0:4,::2]" selects, and their text.

   A selection is a list in brackets, one item a dimension: an index, or start:stop:step with
   Python's defaults, negative numbers counted from the end, and "..." for the dimensions that
   the others leave; dimensions at the end that no item names are whole. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "tkc/edge.h"

/* ---- the selection ---- */

/* Of one dimension: the first element, the number of them, from one to the next. */
typedef struct Slice {
    int64_t start, count, step;
    bool is_index;
} Slice;

typedef struct Selection {
    const Array *array;
    const char *p;
    int dim;
    char *why;
    size_t size;
} Selection;

#define refuse(s, ...) array_refuse((s)->why, (s)->size, __VA_ARGS__)

/* A number or nothing. */
static bool read_bound(Selection *s, int64_t *out, bool *given)
{
    char *end;
    s->p += strspn(s->p, " ");
    *given = *s->p == '-' || *s->p == '+' || (*s->p >= '0' && *s->p <= '9');
    if (!*given) return true;
    *out = strtoll(s->p, &end, 10);
    if (end == s->p) return refuse(s, "expected a number after the sign");
    s->p = end + strspn(end, " ");
    return true;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* From the end when negative; kept where a walk by `step` may begin or end. */
static int64_t place(int64_t at, int64_t n, int64_t step)
{
    if (at < 0) at = at < -n ? -1 : at + n;
    else at = at > n ? n : at;
    return step > 0 ? clamp(at, 0, n) : clamp(at, -1, n - 1);
}

static bool read_slice(Selection *s, int64_t n, bool has_start, Slice *out)
{
    int64_t stop = 0, step = 1;
    bool has_stop, has_step = false;
    s->p++;
    if (!read_bound(s, &stop, &has_stop)) return false;
    if (*s->p == ':' && (s->p++, !read_bound(s, &step, &has_step))) return false;
    if (step == 0 || step == INT64_MIN) return refuse(s, "a step of 0 goes nowhere");
    int64_t first = has_start  ? place(out->start, n, step)
                    : step > 0 ? 0
                               : n - 1,
            last = has_stop   ? place(stop, n, step)
                   : step > 0 ? n
                              : -1,
            way = step > 0 ? last - first : first - last, stride = step > 0 ? step : -step;
    *out = (Slice){first, way > 0 ? (way - 1) / stride + 1 : 0, step, false};
    return true;
}

static bool read_item(Selection *s, Slice *out)
{
    const int64_t n = s->array->shape[s->dim];
    bool given;
    *out = (Slice){0};
    if (!read_bound(s, &out->start, &given)) return false;
    if (*s->p == ':') return read_slice(s, n, given, out);
    if (!given) return refuse(s, "expected an index, start:stop:step or ...");
    if (out->start < -n || out->start >= n)
        return refuse(s, "%lld is outside of dimension %d, which has %lld elements",
                      (long long)out->start, s->dim, (long long)n);
    *out = (Slice){out->start < 0 ? out->start + n : out->start, 1, 1, true};
    return true;
}

static int count_items(const char *p)
{
    int n = 1;
    for (; *p; p++) n += *p == ',';
    return n;
}

static bool read_items(Selection *s, Slice *slices)
{
    const Array *a = s->array;
    bool had_rest = false;
    for (s->p++; *s->p && *s->p != ']';) {
        const char *item = s->p + strspn(s->p, " ");
        if (!strncmp(item, "...", 3)) {
            if (had_rest) return refuse(s, "there is more than one ...");
            had_rest = true;
            s->p = item + 3 + strspn(item + 3, " ");
            int after = *s->p == ',' ? count_items(s->p + 1) : 0;
            s->dim = a->rank - after > s->dim ? a->rank - after : s->dim;
        } else if (s->dim == a->rank) {
            return refuse(s, "there are more indices than the array has dimensions");
        } else if (!read_item(s, &slices[s->dim])) {
            return false;
        } else {
            s->dim++;
        }
        if (*s->p == ',') s->p++;
        else if (*s->p != ']') return refuse(s, "expected ',' or ']'");
    }
    return !strcmp(s->p, "]") || refuse(s, "%s", *s->p ? "there is more after ']'" : "expected ']'");
}

bool array_view(const Array *a, const char *text, View *out, char *why, size_t size)
{
    Selection s = {a, text, 0, why, size};
    Slice slices[ARRAY_MAX_RANK];
    for (int d = 0; d < a->rank; d++) slices[d] = (Slice){0, a->shape[d], 1, false};
    *out = (View){0};
    if (*text && !read_items(&s, slices)) return false;
    bool is_empty =
        false; /* then the product of the extents may be no number, and nothing is read */
    for (int d = 0; d < a->rank; d++) is_empty |= !a->shape[d];
    int64_t stride = !is_empty;
    int64_t strides[ARRAY_MAX_RANK];
    for (int d = a->rank - 1; d >= 0; stride *= a->shape[d--]) strides[d] = stride;
    for (int d = 0; d < a->rank; d++) {
        out->offset += slices[d].start * strides[d];
        if (slices[d].is_index) continue;
        out->shape[out->rank] = slices[d].count;
        /* of a single element the step may be as large as it likes */
        out->stride[out->rank++] = slices[d].count > 1 ? slices[d].step * strides[d] : 0;
    }
    return true;
}

/* ---- text ---- */

static void print_element(FILE *out, const Array *a, int64_t i)
{
    if (a->unwritten && a->unwritten[i]) {
        fputs("--", out);
        return;
    }
    switch (tkc_dtype_info(a->dtype)->kind) {
    case DK_FLOAT: fprintf(out, a->dtype == DT_F64 ? "%.9g" : "%.6g", array_get(a, i)); break;
    case DK_UINT: fprintf(out, "%llu", (unsigned long long)array_bits(a, i)); break;
    case DK_BOOL: fputs(array_bits(a, i) ? "True" : "False", out); break;
    default: fprintf(out, "%lld", (long long)array_bits(a, i)); break;
    }
}

typedef struct Printer {
    FILE *out;
    const Array *array;
    const View *view;
    bool whole;
} Printer;

static void print_dim(const Printer *p, int dim, int64_t at)
{
    enum { EDGE = 3, WHOLE = 8 };
    const View *v = p->view;
    if (dim == v->rank) {
        print_element(p->out, p->array, at);
        return;
    }
    const int64_t n = v->shape[dim];
    fputc('[', p->out);
    for (int64_t i = 0; i < n; i++) {
        if (i) fputs(dim + 1 == v->rank ? " " : "\n", p->out);
        if (i == EDGE && n > WHOLE && !p->whole) {
            fputs("…", p->out);
            i = n - EDGE - 1;
            continue;
        }
        if (i && dim + 1 < v->rank)
            for (int k = 0; k <= dim; k++) fputc(' ', p->out);
        print_dim(p, dim + 1, at + i * v->stride[dim]);
    }
    fputc(']', p->out);
}

void array_print(FILE *out, const Array *a, const View *v, bool whole)
{
    bool is_empty = false; /* however many rows of nothing it has */
    for (int d = 0; d < v->rank; d++) is_empty |= v->shape[d] == 0;
    if (is_empty) fputs("[]", out);
    else print_dim(&(Printer){out, a, v, whole}, 0, v->offset);
    fputc('\n', out);
}
