/* A recursive descent over
     list = sum {"," sum}    sum = product {("+"|"-") product}    product = unary {("*"|"//"|"%") unary}
     unary = "-" unary | number | name | name "(" list ")" | "(" sum ")"
   with Python's floor division. Overflow and division by zero are errors. */
#include "expr.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Reader {
    const char *p;
    ExprLookup lookup;
    void *user;
    char *why;
    size_t size;
    int depth;
} Reader;

static bool sum(Reader *r, int64_t *out);

static bool fail(Reader *r, const char *text, const char *at, size_t len)
{
    snprintf(r->why, r->size, text, (int)len, at);
    return false;
}

static char peek(Reader *r)
{
    while (*r->p == ' ')
        r->p++;
    return *r->p;
}

static bool take(Reader *r, const char *word)
{
    peek(r);
    size_t n = strlen(word);
    if (strncmp(r->p, word, n))
        return false;
    r->p += n;
    return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static bool divide(Reader *r, int64_t a, int64_t b, bool remainder, int64_t *out)
{
    if (b == 0)
        return fail(r, "division by zero", "", 0);
    if (b == -1 && a == INT64_MIN)
        return fail(r, "the number is too large", "", 0);
    int64_t q = floor_div(a, b);
    *out = remainder ? a - q * b : q;
    return true;
}

static bool call(Reader *r, const char *name, size_t len, int64_t *out)
{
    int64_t a, b;
    if (!sum(r, &a))
        return false;
    if (!take(r, ",") || !sum(r, &b) || !take(r, ")"))
        return fail(r, "'%.*s' takes two arguments", name, len);
    if (len == 4 && !memcmp(name, "cdiv", 4)) {
        int64_t q;
        if (a == INT64_MIN)
            return fail(r, "the number is too large", "", 0);
        if (!divide(r, -a, b, false, &q))
            return false;
        *out = -q;
        return true;
    }
    if (len == 3 && (!memcmp(name, "min", 3) || !memcmp(name, "max", 3))) {
        *out = (name[1] == 'i') == (a < b) ? a : b;
        return true;
    }
    return fail(r, "there is no function '%.*s' here; there are cdiv, min and max", name, len);
}

static bool primary(Reader *r, int64_t *out)
{
    char c = peek(r);
    const char *start = r->p;
    if (isdigit((unsigned char)c)) {
        char *end;
        *out = strtoll(start, &end, 10);
        r->p = end;
        return true;
    }
    if (isalpha((unsigned char)c) || c == '_') {
        while (isalnum((unsigned char)*r->p) || *r->p == '_' || *r->p == '.')
            r->p++;
        size_t len = (size_t)(r->p - start);
        if (len > 7 && !memcmp(start, "triton.", 7))
            start += 7, len -= 7;
        if (take(r, "("))
            return call(r, start, len, out);
        return r->lookup(start, len, out, r->user) ||
               fail(r, "'%.*s' is not a number that is given with -D or as an argument", start, len);
    }
    if (take(r, "("))
        return sum(r, out) && (take(r, ")") || fail(r, "expected ')'", "", 0));
    return fail(r, c ? "cannot read '%.*s'" : "the expression ends too early", start, strlen(start));
}

static bool unary(Reader *r, int64_t *out)
{
    if (++r->depth > 100)
        return fail(r, "the expression is nested too deeply", "", 0);
    bool ok;
    if (take(r, "-")) {
        ok = unary(r, out);
        ok = ok && (!__builtin_sub_overflow(0, *out, out) || fail(r, "the number is too large", "", 0));
    } else {
        ok = primary(r, out);
    }
    r->depth--;
    return ok;
}

static bool product(Reader *r, int64_t *out)
{
    if (!unary(r, out))
        return false;
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
        if (!unary(r, &b))
            return false;
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
    if (!product(r, out))
        return false;
    for (;;) {
        int64_t b;
        bool minus = peek(r) == '-';
        if (!minus && peek(r) != '+')
            return true;
        r->p++;
        if (!product(r, &b))
            return false;
        if (minus ? __builtin_sub_overflow(*out, b, out) : __builtin_add_overflow(*out, b, out))
            return fail(r, "the number is too large", "", 0);
    }
}

int expr_list(const char *text, int max, int64_t *out, ExprLookup lookup, void *user, char *why, size_t size)
{
    Reader r = {.p = text, .lookup = lookup, .user = user, .why = why, .size = size};
    for (int n = 0; n < max;) {
        if (!sum(&r, &out[n++]))
            return -1;
        if (!peek(&r))
            return n;
        if (!take(&r, ",")) {
            fail(&r, "cannot read '%.*s'", r.p, strlen(r.p));
            return -1;
        }
    }
    snprintf(why, size, "there are at most %d numbers", max);
    return -1;
}
