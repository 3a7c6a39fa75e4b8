/* One function a level of precedence. Everything is evaluated, both sides of `and` and `or` too:
   what is wrong is found at once. */
#include "expr.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 100, MOST_INDEX = 8 };

typedef struct Reader {
    const char *p;
    const ExprNames *names;
    ExprFound found; /* of what was read so far */
    int depth;
    char *why;
    size_t size;
} Reader;

static const ExprNumber zero = {0};

static ExprNumber wrong(Reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static ExprNumber wrong(Reader *r, const char *fmt, ...)
{
    va_list ap;
    if (r->found == EXPR_WRONG) return zero;
    va_start(ap, fmt);
    vsnprintf(r->why, r->size, fmt, ap);
    va_end(ap);
    r->found = EXPR_WRONG;
    return zero;
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

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool take(Reader *r, const char *word)
{
    size_t n = strlen(word);
    while (isspace((unsigned char)*r->p)) r->p++;
    if (strncmp(r->p, word, n) || (is_word(word[0]) && is_word(r->p[n]))) return false;
    r->p += n;
    return true;
}

static ExprNumber expected(Reader *r, const char *what)
{
    return *r->p ? wrong(r, "expected %s, found '%.30s'", what, r->p)
                 : wrong(r, "expected %s, found the end", what);
}

/* ---- operators ---- */

static ExprNumber divide(Reader *r, char op, ExprNumber a, ExprNumber b)
{
    bool is_float = a.is_float || b.is_float;
    double x = as_float(a), y = as_float(b);
    if (op == '/') return from_float(x / y);
    if (is_float) return from_float(op == 'q' ? floor(x / y) : x - floor(x / y) * y);
    if (b.i == 0) return r->found == EXPR_FOUND ? wrong(r, "a division by zero") : zero;
    if (b.i == -1) return from_int(op == 'q' ? (int64_t)(0 - (uint64_t)a.i) : 0);
    int64_t q = a.i / b.i, m = a.i % b.i;
    bool down = m && (m < 0) != (b.i < 0);
    return from_int(op == 'q' ? q - down : down ? m + b.i : m);
}

static ExprNumber arithmetic(char op, ExprNumber a, ExprNumber b)
{
    uint64_t x = (uint64_t)a.i, y = (uint64_t)b.i;
    if (a.is_float || b.is_float) {
        double u = as_float(a), v = as_float(b);
        return from_float(op == '+' ? u + v : op == '-' ? u - v : u * v);
    }
    return from_int((int64_t)(op == '+' ? x + y : op == '-' ? x - y : x * y));
}

static int order(ExprNumber a, ExprNumber b)
{
    if (!a.is_float && !b.is_float) return (a.i > b.i) - (a.i < b.i);
    double x = as_float(a), y = as_float(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2; /* 2: a NaN */
}

/* ---- levels ---- */

static ExprNumber read_or(Reader *r);

static ExprNumber read_number(Reader *r)
{
    const char *begin = r->p;
    char *end, *end_float;
    long long i = strtoll(r->p, &end, 0);
    double f = strtod(r->p, &end_float);
    bool is_float = end_float > end;
    r->p = is_float ? end_float : end;
    if (is_word(*r->p)) {
        while (is_word(*r->p)) r->p++;
        return wrong(r, "'%.*s' is no number", (int)(r->p - begin), begin);
    }
    return is_float ? from_float(f) : from_int(i);
}

static ExprNumber read_name(Reader *r)
{
    const char *name = r->p;
    int64_t index[MOST_INDEX];
    int n = 0;
    ExprNumber out = zero;
    while (is_word(*r->p)) r->p++;
    size_t len = (size_t)(r->p - name);
    if (take(r, "[")) {
        do {
            ExprNumber k = read_or(r);
            if (k.is_float) return wrong(r, "an index is a whole number, not %g", k.f);
            if (n == MOST_INDEX) return wrong(r, "there are at most %d indices", n);
            index[n++] = k.i;
        } while (take(r, ","));
        if (!take(r, "]")) return expected(r, "']'");
    }
    if (r->found != EXPR_FOUND && n) return zero;
    char why[256];
    ExprFound found = r->names->find(r->names->user, name, len, index, n, &out, why, sizeof why);
    if (found == EXPR_WRONG) return wrong(r, "%s", why);
    if (found == EXPR_NO_VALUE && r->found == EXPR_FOUND) r->found = EXPR_NO_VALUE;
    return out;
}

static ExprNumber read_primary(Reader *r)
{
    if (take(r, "(")) {
        ExprNumber n = read_or(r);
        return take(r, ")") ? n : expected(r, "')'");
    }
    if (take(r, "True")) return from_int(1);
    if (take(r, "False")) return from_int(0);
    if (isdigit((unsigned char)*r->p) || *r->p == '.') return read_number(r);
    if (is_word(*r->p)) return read_name(r);
    return expected(r, "a number or a name");
}

static ExprNumber read_unary(Reader *r)
{
    if (++r->depth > MOST_DEPTH) return wrong(r, "the expression is nested too deeply");
    ExprNumber n = take(r, "-") ? arithmetic('-', zero, read_unary(r)) : read_primary(r);
    r->depth--;
    return n;
}

static ExprNumber read_product(Reader *r)
{
    ExprNumber n = read_unary(r);
    for (;;) {
        if (take(r, "*")) n = arithmetic('*', n, read_unary(r));
        else if (take(r, "//")) n = divide(r, 'q', n, read_unary(r));
        else if (take(r, "/")) n = divide(r, '/', n, read_unary(r));
        else if (take(r, "%")) n = divide(r, '%', n, read_unary(r));
        else return n;
    }
}

static ExprNumber read_sum(Reader *r)
{
    ExprNumber n = read_product(r);
    for (;;) {
        if (take(r, "+")) n = arithmetic('+', n, read_product(r));
        else if (take(r, "-")) n = arithmetic('-', n, read_product(r));
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

static ExprNumber read_or(Reader *r)
{
    ExprNumber n = read_and(r);
    while (take(r, "or")) {
        ExprNumber m = read_and(r);
        n = expr_is_true(&n) ? n : m;
    }
    return n;
}

ExprFound expr_evaluate(const char *text, const ExprNames *names, ExprNumber *out, char *why,
                        size_t size)
{
    Reader r = {.p = text, .names = names, .found = EXPR_FOUND, .why = why, .size = size};
    *out = read_or(&r);
    while (isspace((unsigned char)*r.p)) r.p++;
    if (*r.p && r.found != EXPR_WRONG) expected(&r, "an operator");
    return r.found;
}
