/* One function a level of precedence. Everything is evaluated, both sides of `and` and `or` too:
   what is wrong is found at once. Integers divide as Python's do; what does not fit 64 bits is wrong. */
#include "tkc/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tkc/text.h"

enum { MOST_DEPTH = 100, MOST_INDEX = 8, MOST_SHOWN = 30 };

typedef struct Reader {
    const char *p;
    const ExprNames *names;
    ExprFound found; /* of what was read so far */
    int depth;
    char *why;
    size_t size;
} Reader;

static const ExprNumber zero = {0};

/* The first that is told stays. */
static ExprNumber refuse(Reader *r, ExprFound how, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static ExprNumber refuse(Reader *r, ExprFound how, const char *fmt, ...)
{
    va_list ap;
    if (r->found >= EXPR_WRONG) return zero;
    va_start(ap, fmt);
    vsnprintf(r->why, r->size, fmt, ap);
    va_end(ap);
    r->found = how;
    return zero;
}
#define wrong(r, ...) refuse(r, EXPR_WRONG, __VA_ARGS__)
#define malformed(r, ...) refuse(r, EXPR_MALFORMED, __VA_ARGS__)

static ExprNumber too_large(Reader *r)
{
    return wrong(r, "the number is too large");
}

static ExprNumber from_int(int64_t i)
{
    return (ExprNumber){.i = i};
}

static ExprNumber from_float(double f)
{
    return (ExprNumber){.is_float = true, .f = f};
}

static double as_float(ExprNumber n)
{
    return n.is_float ? n.f : (double)n.i;
}

/* ---- words ---- */

static void skip_blanks(Reader *r)
{
    while (isspace((unsigned char)*r->p)) r->p++;
}

static bool take(Reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    if (strncmp(r->p, word, n) || (char_is_word(word[0]) && char_is_word(r->p[n]))) return false;
    r->p += n;
    return true;
}

static ExprNumber expected(Reader *r, const char *what)
{
    skip_blanks(r);
    return *r->p ? malformed(r, "expected %s, found '%.*s'", what, MOST_SHOWN, r->p)
                 : malformed(r, "expected %s, found the end", what);
}

/* ---- operators ---- */

static ExprNumber divide(Reader *r, char op, ExprNumber a, ExprNumber b)
{
    bool is_float = a.is_float || b.is_float;
    double x = as_float(a), y = as_float(b);
    if (op == '/') return from_float(x / y);
    if (is_float) return from_float(op == 'q' ? floor(x / y) : x - floor(x / y) * y);
    if (b.i == 0) return r->found == EXPR_FOUND ? wrong(r, "a division by zero") : zero;
    if (b.i == -1 && a.i == INT64_MIN) return too_large(r);
    int64_t q = a.i / b.i, m = a.i % b.i;
    bool down = m && (m < 0) != (b.i < 0);
    return from_int(op == 'q' ? q - down : down ? m + b.i : m);
}

static ExprNumber arithmetic(Reader *r, char op, ExprNumber a, ExprNumber b)
{
    int64_t n;
    if (a.is_float || b.is_float) {
        double u = as_float(a), v = as_float(b);
        return from_float(op == '+' ? u + v : op == '-' ? u - v : u * v);
    }
    const bool fits = op == '+'   ? !__builtin_add_overflow(a.i, b.i, &n)
                      : op == '-' ? !__builtin_sub_overflow(a.i, b.i, &n)
                                  : !__builtin_mul_overflow(a.i, b.i, &n);
    return fits ? from_int(n) : too_large(r);
}

static int order(ExprNumber a, ExprNumber b)
{
    if (!a.is_float && !b.is_float) return (a.i > b.i) - (a.i < b.i);
    double x = as_float(a), y = as_float(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; /* 2: a NaN */
}

/* ---- functions ---- */

static ExprNumber read_any(Reader *r);

/* Rounded up: the negative of the other number's quotient, which rounds down. */
static ExprNumber cdiv(Reader *r, ExprNumber a, ExprNumber b)
{
    return arithmetic(r, '-', zero, divide(r, 'q', arithmetic(r, '-', zero, a), b));
}

static ExprNumber next_power(Reader *r, ExprNumber n)
{
    int64_t power = 1;
    for (; power < n.i; power *= 2)
        if (power > INT64_MAX / 2) return too_large(r);
    return from_int(power);
}

/* Behind its '('. */
static ExprNumber call(Reader *r, const char *name, size_t len)
{
    enum { CDIV, MIN, MAX, POWER, FUNCTIONS };
    static const char *const names[] = {"cdiv", "min", "max", "next_power_of_2"};
    int f = 0, n = 0;
    ExprNumber a[2] = {zero, zero};
    while (f < FUNCTIONS && (strlen(names[f]) != len || memcmp(names[f], name, len))) f++;
    if (f == FUNCTIONS)
        return wrong(r, "there is no function '%.*s' here; there are cdiv, min, max and next_power_of_2",
                     (int)len, name);
    do {
        const ExprNumber x = read_any(r);
        if (n < 2) a[n] = x;
        n++;
    } while (r->found < EXPR_WRONG && take(r, ","));
    if (!take(r, ")")) return expected(r, "')'");
    if (n != (f == POWER ? 1 : 2))
        return wrong(r, "'%s' takes %s", names[f], f == POWER ? "one argument" : "two arguments");
    if (f == MIN || f == MAX) return (order(a[0], a[1]) < 0) == (f == MIN) ? a[0] : a[1];
    if (a[0].is_float || a[1].is_float) return wrong(r, "'%s' takes integers", names[f]);
    return f == CDIV ? cdiv(r, a[0], a[1]) : next_power(r, a[0]);
}

/* triton.cdiv and tl.cdiv are cdiv. */
static void skip_module(const char **name, size_t *len)
{
    static const char *const modules[] = {"triton.language.", "triton.", "tl."};
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(modules[i]);
        if (*len <= n || memcmp(*name, modules[i], n)) continue;
        *name += n;
        *len -= n;
        return;
    }
}

/* ---- levels ---- */

static ExprNumber read_number(Reader *r)
{
    const char *begin = r->p, *digits;
    char *end;
    uint64_t i;
    const NumberRead read = number_read_digits(begin, &digits, &i);
    const double f = strtod(begin, &end);
    const bool is_float = end > digits;
    while (char_is_word(*r->p) || *r->p == '.') r->p++;
    const int len = (int)(r->p - begin);
    if (is_float ? end < r->p : digits < r->p || read == NUMBER_NONE)
        return malformed(r, "'%.*s' is no number", len, begin);
    if (is_float && r->names->counts) return malformed(r, "'%.*s' is not an integer", len, begin);
    if (!is_float && read != NUMBER_FITS) return wrong(r, "%.*s is too large", len, begin);
    if (is_float) r->p = end;
    return is_float ? from_float(f) : from_int((int64_t)i);
}

/* x[3], m[0, i]: the numbers in the brackets. */
static int read_index(Reader *r, int64_t index[MOST_INDEX])
{
    int n = 0;
    do {
        ExprNumber k = read_any(r);
        if (k.is_float) wrong(r, "an index is a whole number, not %g", k.f);
        if (n == MOST_INDEX) wrong(r, "there are at most %d indices", n);
        if (r->found >= EXPR_WRONG) return n;
        index[n++] = k.i;
    } while (take(r, ","));
    if (!take(r, "]")) expected(r, "']'");
    return n;
}

static ExprNumber read_name(Reader *r)
{
    const char *name = r->p;
    int64_t index[MOST_INDEX];
    int n = 0;
    ExprNumber out = zero;
    while (char_is_word(*r->p) || *r->p == '.') r->p++;
    size_t len = (size_t)(r->p - name);
    if (take(r, "(")) {
        skip_module(&name, &len);
        return call(r, name, len);
    }
    if (!r->names->counts && take(r, "[")) n = read_index(r, index);
    if (r->found >= EXPR_WRONG || (n && r->found != EXPR_FOUND)) return zero;
    char why[400];
    ExprFound found = r->names->find(r->names->user, name, len, index, n, &out, why, sizeof why);
    if (found == EXPR_WRONG) return wrong(r, "%s", why);
    if (found == EXPR_NO_VALUE) r->found = EXPR_NO_VALUE;
    return out;
}

static ExprNumber read_primary(Reader *r)
{
    if (take(r, "(")) {
        ExprNumber n = read_any(r);
        return take(r, ")") ? n : expected(r, "')'");
    }
    if (take(r, "True")) return from_int(1);
    if (take(r, "False")) return from_int(0);
    if (isdigit((unsigned char)*r->p) || *r->p == '.') return read_number(r);
    if (char_is_word(*r->p)) return read_name(r);
    return expected(r, "a number or a name");
}

static ExprNumber read_unary(Reader *r)
{
    if (++r->depth > MOST_DEPTH) return wrong(r, "the expression is nested too deeply");
    ExprNumber n = take(r, "-") ? arithmetic(r, '-', zero, read_unary(r)) : read_primary(r);
    r->depth--;
    return n;
}

static ExprNumber read_product(Reader *r)
{
    ExprNumber n = read_unary(r);
    for (;;) {
        if (take(r, "*")) n = arithmetic(r, '*', n, read_unary(r));
        else if (take(r, "//")) n = divide(r, 'q', n, read_unary(r));
        else if (take(r, "/"))
            n = r->names->counts ? malformed(r, "'/' gives no integer; // divides integers")
                                 : divide(r, '/', n, read_unary(r));
        else if (take(r, "%")) n = divide(r, '%', n, read_unary(r));
        else return n;
    }
}

static ExprNumber read_sum(Reader *r)
{
    ExprNumber n = read_product(r);
    for (;;) {
        if (take(r, "+")) n = arithmetic(r, '+', n, read_product(r));
        else if (take(r, "-")) n = arithmetic(r, '-', n, read_product(r));
        else return n;
    }
}

/* a < b < c is a < b and b < c. */
static ExprNumber read_comparison(Reader *r)
{
    ExprNumber a = read_sum(r), result = a;
    bool holds = true;
    for (;;) {
        int o;
        ExprNumber b;
        if (take(r, "==")) holds &= (o = order(a, b = read_sum(r))) == 0;
        else if (take(r, "!=")) holds &= (o = order(a, b = read_sum(r))) != 0;
        else if (take(r, "<=")) holds &= (o = order(a, b = read_sum(r))) <= 0;
        else if (take(r, ">=")) holds &= (o = order(a, b = read_sum(r))) == 0 || o == 1;
        else if (take(r, "<")) holds &= (o = order(a, b = read_sum(r))) < 0;
        else if (take(r, ">")) holds &= (o = order(a, b = read_sum(r))) == 1;
        else return result;
        a = b;
        result = from_int(holds);
    }
}

static ExprNumber read_not(Reader *r)
{
    if (!take(r, "not")) return read_comparison(r);
    if (++r->depth > MOST_DEPTH) return wrong(r, "the expression is nested too deeply");
    ExprNumber n = read_not(r);
    r->depth--;
    return from_int(!expr_is_true(&n));
}

static ExprNumber read_and(Reader *r)
{
    ExprNumber n = read_not(r);
    while (take(r, "and")) {
        ExprNumber m = read_not(r);
        n = expr_is_true(&n) ? m : n;
    }
    return n;
}

static ExprNumber read_any(Reader *r)
{
    ExprNumber n = r->names->counts ? read_sum(r) : read_and(r);
    while (!r->names->counts && take(r, "or")) {
        ExprNumber m = read_and(r);
        n = expr_is_true(&n) ? n : m;
    }
    return n;
}

/* ---- the whole text ---- */

static Reader reader_of(const char *text, const ExprNames *names, char *why, size_t size)
{
    return (Reader){.p = text, .names = names, .found = EXPR_FOUND, .why = why, .size = size};
}

static ExprFound finish(Reader *r)
{
    skip_blanks(r);
    if (*r->p) expected(r, "an operator");
    return r->found;
}

ExprFound expr_evaluate(const char *text, const ExprNames *names, ExprNumber *out, char *why,
                        size_t size)
{
    Reader r = reader_of(text, names, why, size);
    *out = read_any(&r);
    return finish(&r);
}

ExprFound expr_list(const char *text, int *n, int64_t *out, const ExprNames *names, char *why,
                    size_t size)
{
    Reader r = reader_of(text, names, why, size);
    const int most = *n;
    *n = 0;
    do {
        if (*n == most) wrong(&r, "there are at most %d numbers", most);
        else out[(*n)++] = read_any(&r).i;
    } while (r.found == EXPR_FOUND && take(&r, ","));
    return finish(&r);
}
