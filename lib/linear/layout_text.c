/* Layouts as text, one line: the padded shape, then per hardware dim its basis vectors as
   coordinates.

     #l<16x64; register: (0,1) (0,2); lane: (0,4) (0,8) (0,16) (0,32) (1,0); warp: (2,0) (4,0)>

   A hardware dim without vectors is left out. The parser accepts what the printer writes, and
   any spacing. */
#include "linear/layout.h"

#include <ctype.h>
#include <string.h>

static const char *const dim_names[DIM_COUNT] = {"register", "lane", "warp", "offset"};

static void print_vector(Buf *out, const Layout *l, uint32_t v)
{
    for (int d = 0; d < l->rank; d++) buf_printf(out, "%s%d", d ? "," : "(", layout_coord(l, v, d));
    buf_putc(out, ')');
}

void layout_print(Buf *out, const Layout *l)
{
    buf_puts(out, "#l<");
    for (int d = 0; d < l->rank; d++) buf_printf(out, "%s%d", d ? "x" : "", 1 << l->dim_log2[d]);
    for (int h = 0; h < DIM_COUNT; h++) {
        if (!l->nbits[h]) continue;
        buf_printf(out, "; %s:", dim_names[h]);
        for (int i = 0; i < l->nbits[h]; i++) {
            buf_putc(out, ' ');
            print_vector(out, l, l->basis[h][i]);
        }
    }
    buf_putc(out, '>');
}

/* ---- parsing ---- */

typedef struct Reader {
    const char *p;
    const char *error;
} Reader;

static bool fail(Reader *r, const char *why)
{
    if (!r->error) r->error = why;
    return false;
}

static void skip_space(Reader *r)
{
    while (*r->p == ' ' || *r->p == '\t') r->p++;
}

static bool accept(Reader *r, char c)
{
    skip_space(r);
    if (*r->p != c) return false;
    r->p++;
    return true;
}

static bool read_number(Reader *r, uint32_t *n)
{
    skip_space(r);
    if (!isdigit((unsigned char)*r->p)) return fail(r, "expected a number in the layout");
    for (*n = 0; isdigit((unsigned char)*r->p); r->p++) {
        *n = *n * 10 + (uint32_t)(*r->p - '0');
        if (*n > UINT32_C(1) << LAYOUT_MAX_BITS)
            return fail(r, "number in the layout is too large");
    }
    return true;
}

static bool read_shape(Reader *r, LayoutSpec *s)
{
    int total = 0;
    do {
        uint32_t n;
        if (s->rank == LAYOUT_MAX_RANK) return fail(r, "layout has too many dims");
        if (!read_number(r, &n)) return false;
        if (n == 0 || n & (n - 1)) return fail(r, "extents in a layout are powers of two");
        s->dim_log2[s->rank] = (uint8_t)__builtin_ctz(n);
        total += s->dim_log2[s->rank++];
    } while (accept(r, 'x'));
    return total <= LAYOUT_MAX_BITS || fail(r, "layout has too many elements");
}

/* (c0,c1,…), after the parenthesis. */
static bool read_vector(Reader *r, const LayoutSpec *s, uint32_t *v)
{
    *v = 0;
    for (int d = 0; d < s->rank; d++) {
        uint32_t c;
        if (d && !accept(r, ',')) return fail(r, "expected ',' in a layout vector");
        if (!read_number(r, &c)) return false;
        if (c >> s->dim_log2[d]) return fail(r, "layout vector outside the shape");
        *v = *v << s->dim_log2[d] | c;
    }
    return accept(r, ')') || fail(r, "expected ')' in a layout vector");
}

static int read_dim_name(Reader *r)
{
    skip_space(r);
    for (int h = 0; h < DIM_COUNT; h++) {
        size_t n = strlen(dim_names[h]);
        if (!strncmp(r->p, dim_names[h], n) && !isalnum((unsigned char)r->p[n])) {
            r->p += n;
            return h;
        }
    }
    fail(r, "expected register, lane, warp or offset in the layout");
    return -1;
}

static bool read_vectors(Reader *r, LayoutSpec *s)
{
    int h = read_dim_name(r);
    if (h < 0) return false;
    if (s->nbits[h]) return fail(r, "the layout names a hardware dim twice");
    if (!accept(r, ':')) return fail(r, "expected ':' in the layout");
    while (accept(r, '(')) {
        if (s->nbits[h] == LAYOUT_MAX_BITS) return fail(r, "layout has too many vectors");
        if (!read_vector(r, s, &s->basis[h][s->nbits[h]])) return false;
        s->nbits[h]++;
    }
    return true;
}

static bool read_layout(Reader *r, LayoutSpec *s)
{
    if (strncmp(r->p, "#l<", 3)) return fail(r, "expected '#l<'");
    r->p += 3;
    if (!read_shape(r, s)) return false;
    while (accept(r, ';')) {
        if (!read_vectors(r, s)) return false;
    }
    return accept(r, '>') || fail(r, "expected '>' at the end of the layout");
}

const Layout *layout_parse(LayoutTable *t, const char **p, const char **error)
{
    Reader r = {.p = *p};
    LayoutSpec s = {0};
    skip_space(&r);
    bool ok = read_layout(&r, &s);
    *p = r.p;
    *error = r.error;
    return ok ? layout_make(t, &s) : NULL;
}
