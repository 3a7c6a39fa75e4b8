/* A recursive descent over
     list = sum {"," sum}
     sum = product {("+"|"-") product}
     product = unary {("*"|"//"|"%") unary}
     unary = "-" unary | number | name | name "(" sum ["," sum] ")" | "(" sum ")"
   with Python's floor division. Overflow and division by zero are errors. */
#include "expr.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

typedef struct Reader {
    const char *p;
    ExprLookup lookup;
    void *user;
    char *why;
    size_t size;
    int depth;
    bool is_malformed;
} Reader;

static bool sum(Reader *r, int64_t *out);

static bool fail(Reader *r, const char *text, const char *at, size_t len)
{
    snprintf(r->why, r->size, text, (int)len, at);
    return false;
}

/* The text is none of the grammar. */
static bool malformed(Reader *r, const char *text, const char *at, size_t len)
{
    r->is_malformed = true;
    return fail(r, text, at, len);
}

static char peek(Reader *r)
{
    while (*r->p == ' ') r->p++;
    return *r->p;
}

static bool take(Reader *r, const char *word)
{
    peek(r);
    size_t n = strlen(word);
    if (strncmp(r->p, word, n)) return false;
    r->p += n;
    return true;
}

static bool divide(Reader *r, int64_t a, int64_t b, bool remainder, int64_t *out)
{
    if (b == 0) return fail(r, "division by zero", "", 0);
    if (b == -1 && a == INT64_MIN) return fail(r, "the number is too large", "", 0);
    int64_t q = a / b - (a % b != 0 && (a < 0) != (b < 0));
    *out = remainder ? a - q * b : q;
    return true;
}

typedef enum Function { FN_CDIV, FN_MIN, FN_MAX, FN_POWER, FN_NONE } Function;

static Function find_function(const char *name, size_t len)
{
    static const char *const names[] = {"cdiv", "min", "max", "next_power_of_2"};
    for (int i = 0; i < FN_NONE; i++)
        if (strlen(names[i]) == len && !memcmp(names[i], name, len)) return (Function)i;
    return FN_NONE;
}

static bool read_two(Reader *r, const char *name, size_t len, int64_t *a, int64_t *b)
{
    if (!sum(r, a)) return false;
    if (!take(r, ",")) return fail(r, "'%.*s' takes two arguments", name, len);
    return sum(r, b) &&
           (take(r, ")") || fail(r, "'%.*s' takes two arguments, and ')' after them", name, len));
}

static bool next_power(Reader *r, const char *name, size_t len, int64_t *out)
{
    int64_t n, power = 1;
    if (!sum(r, &n)) return false;
    if (!take(r, ")")) return fail(r, "'%.*s' takes one argument, and ')' after it", name, len);
    for (; power < n; power *= 2)
        if (power > INT64_MAX / 2) return fail(r, "the number is too large", "", 0);
    *out = power;
    return true;
}

static bool call(Reader *r, const char *name, size_t len, int64_t *out)
{
    int64_t a, b;
    Function f = find_function(name, len);
    if (f == FN_NONE)
        return fail(
            r, "there is no function '%.*s' here; there are cdiv, min, max and next_power_of_2",
            name, len);
    if (f == FN_POWER) return next_power(r, name, len, out);
    if (!read_two(r, name, len, &a, &b)) return false;
    if (f != FN_CDIV) {
        *out = (f == FN_MIN) == (a < b) ? a : b;
        return true;
    }
    if (a == INT64_MIN) return fail(r, "the number is too large", "", 0);
    if (!divide(r, -a, b, false, out)) return false;
    *out = -*out; /* cannot overflow: the quotient of -INT64_MAX and ±1 is the largest */
    return true;
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

static bool primary(Reader *r, int64_t *out)
{
    char c = peek(r);
    const char *start = r->p;
    if (isdigit((unsigned char)c)) {
        uint64_t n;
        NumberRead read = number_read_digits(start, &r->p, &n);
        *out = (int64_t)n;
        size_t len = strcspn(start, " ,+-*/%()");
        if (read == NUMBER_NONE) return malformed(r, "'%.*s' is not an integer", start, len);
        return read == NUMBER_FITS || fail(r, "%.*s is too large", start, len);
    }
    if (isalpha((unsigned char)c) || c == '_') {
        while (isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '.') r->p++;
        size_t len = (size_t)(r->p - start);
        skip_module(&start, &len);
        if (take(r, "(")) return call(r, start, len, out);
        return r->lookup(start, len, out, r->user, r->why, r->size);
    }
    if (take(r, "("))
        return sum(r, out) &&
               (take(r, ")") ||
                malformed(r, *r->p ? "expected ')', found '%.*s'" : "expected ')' at the end", r->p,
                          strlen(r->p)));
    return malformed(r, c ? "cannot read '%.*s'" : "the expression ends too early", start,
                     strlen(start));
}

static bool unary(Reader *r, int64_t *out)
{
    if (++r->depth > 100) return fail(r, "the expression is nested too deeply", "", 0);
    bool ok;
    if (take(r, "-")) {
        ok = unary(r, out);
        ok = ok &&
             (!__builtin_sub_overflow(0, *out, out) || fail(r, "the number is too large", "", 0));
    } else {
        ok = primary(r, out);
    }
    r->depth--;
    return ok;
}

static bool product(Reader *r, int64_t *out)
{
    if (!unary(r, out)) return false;
    for (;;) {
        int64_t b;
        bool times = false, remainder = false;
        if (take(r, "//")) {
        } else if (take(r, "*")) {
            times = true;
        } else if (take(r, "%")) {
            remainder = true;
        } else {
            return true;
        }
        if (!unary(r, &b)) return false;
        if (times) {
            if (__builtin_mul_overflow(*out, b, out))
                return fail(r, "the number is too large", "", 0);
        } else if (!divide(r, *out, b, remainder, out)) {
            return false;
        }
    }
}

static bool sum(Reader *r, int64_t *out)
{
    if (!product(r, out)) return false;
    for (;;) {
        int64_t b;
        bool minus = peek(r) == '-';
        if (!minus && peek(r) != '+') return true;
        r->p++;
        if (!product(r, &b)) return false;
        if (minus ? __builtin_sub_overflow(*out, b, out) : __builtin_add_overflow(*out, b, out))
            return fail(r, "the number is too large", "", 0);
    }
}

int expr_list(const char *text, int max, int64_t *out, ExprLookup lookup, void *user, char *why,
              size_t size)
{
    Reader r = {.p = text, .lookup = lookup, .user = user, .why = why, .size = size};
    for (int n = 0; n < max;) {
        if (!sum(&r, &out[n++])) return r.is_malformed ? EXPR_MALFORMED : EXPR_WRONG;
        if (!peek(&r)) return n;
        if (!take(&r, ",")) {
            fail(&r, *r.p == '/' ? "cannot read '%.*s'; // divides integers" : "cannot read '%.*s'",
                 r.p, strlen(r.p));
            return EXPR_MALFORMED;
        }
    }
    snprintf(why, size, "there are at most %d numbers", max);
    return EXPR_WRONG;
}
