#include "bench.h"

#include <string.h>

#include "array.h"
#include "command.h"
#include "tkc/expr.h"
#include "tkc/text.h"

/* ---- the range ---- */

/* 1024, 2^10 */
static bool read_power(const char **p, int64_t *out)
{
    uint64_t base, exponent = 1;
    int64_t n = 1;
    if (number_read_digits(*p, p, &base) != NUMBER_FITS) return false;
    if (**p == '^' && number_read_digits(*p + 1, p, &exponent) != NUMBER_FITS) return false;
    for (uint64_t i = 0; i < exponent && base > 1; i++)
        if (__builtin_mul_overflow(n, (int64_t)base, &n)) return false;
    *out = base > 1 ? n : (int64_t)base;
    return true;
}

static bool add_value(Sweep *s, int64_t value)
{
    if (s->n == SWEEP_MOST) return false;
    s->values[s->n++] = value;
    return true;
}

/* a, a..b, a..b*c, a..b+c: twice the last one unless said. */
static bool read_item(Sweep *s, const char **p)
{
    int64_t at, end, step = 2;
    if (!read_power(p, &at)) return false;
    if (strncmp(*p, "..", 2)) return add_value(s, at);
    *p += 2;
    if (!read_power(p, &end) || end < at) return false;
    const char by = **p == '+' ? '+' : '*';
    if (**p == by) {
        ++*p;
        if (!read_power(p, &step)) return false;
    }
    if (step < 1 || (by == '*' && (step < 2 || at < 1))) return false;
    while (at <= end) {
        if (!add_value(s, at)) return false;
        if (by == '+' ? __builtin_add_overflow(at, step, &at)
                      : __builtin_mul_overflow(at, step, &at))
            break;
    }
    return true;
}

static bool read_range(Sweep *s, const char *text)
{
    const char *eq = strchr(text, '='), *p = eq + 1;
    if (!eq || eq == text || (size_t)(eq - text) >= sizeof s->name) return false;
    for (const char *c = text; c < eq; c++)
        if (!char_is_word(*c)) return false;
    memcpy(s->name, text, (size_t)(eq - text));
    for (;; p++) {
        if (!read_item(s, &p)) return false;
        if (*p != ',') return !*p;
    }
}

bool sweep_read(Sweep *s, const char *text)
{
    memset(s, 0, sizeof *s);
    return read_range(s, text) ||
           command_refuse("-sweep takes NAME=RANGE with at most %d values, such as N=2^10..2^20, "
                          "N=128..4096+128 or N=1,5,9, not '%s'",
                          SWEEP_MOST, text);
}

/* ---- its values in texts ---- */

typedef struct Point {
    const Sweep *sweep;
    int64_t value;
    Options *o;
} Point;

static ExprFound find_value(void *user, const char *name, size_t len, const int64_t *index, int n,
                            ExprNumber *out, char *why, size_t size)
{
    const Point *p = user;
    (void)index, (void)n;
    *out = (ExprNumber){.i = p->value};
    if (strlen(p->sweep->name) == len && !memcmp(name, p->sweep->name, len)) return EXPR_FOUND;
    snprintf(why, size, "there is no '%.*s' here; there is %s", (int)len, name, p->sweep->name);
    return EXPR_WRONG;
}

/* What a text between commas, of at most *n, comes to; false: said why not. */
static bool evaluate(Point *p, const char *name, const char *whole, const char *text, int *n, int64_t *out)
{
    char why[256];
    const ExprNames names = {find_value, p, true};
    return expr_list(text, n, out, &names, why, sizeof why) == EXPR_FOUND ||
           command_refuse("%s: '%s': %s", name, whole, why);
}

/* "rand:f32[N,2*N]": the extents as numbers, put in the place of the brackets. */
static bool expand_shape(Point *p, const char *name, const char **text)
{
    const char *open = strchr(*text, '[');
    const size_t len = strlen(*text);
    int64_t extents[ARRAY_MAX_RANK];
    int n = ARRAY_MAX_RANK;
    char inside[512], out[1024];
    if (!open || (*text)[len - 1] != ']' || len >= sizeof inside)
        return true; /* array_generate says what is wrong with it */
    snprintf(inside, sizeof inside, "%.*s", (int)(*text + len - 2 - open), open + 1);
    if (!evaluate(p, name, *text, inside, &n, extents)) return false;
    Text t = {out, sizeof out, 0};
    text_put(&t, "%.*s", (int)(open - *text), *text);
    for (int i = 0; i < n; i++) text_put(&t, "%c%lld", i ? ',' : '[', (long long)extents[i]);
    text_put(&t, "]");
    *text = options_keep(p->o, out);
    return true;
}

static bool expand(Point *p, const char *name, const char **text)
{
    char number[32];
    int64_t value;
    int n = 1;
    if (!text_has_word(*text, p->sweep->name)) return true;
    if (array_is_generator(*text)) return expand_shape(p, name, text);
    if (!evaluate(p, name, *text, *text, &n, &value)) return false;
    snprintf(number, sizeof number, "%lld", (long long)value);
    *text = options_keep(p->o, number);
    return true;
}

bool sweep_apply(const Sweep *s, int i, Options *o)
{
    Point p = {s, s->values[i], o};
    for (int k = 0; k < o->args.len; k++)
        if (!expand(&p, o->args.data[k].name, &o->args.data[k].value)) return false;
    for (int k = 0; k < o->ndefines; k++)
        if (!expand(&p, o->defines[k].name, &o->defines[k].value)) return false;
    return true;
}
