/* Functions of Python's math on compile-time numbers. Where Python raises, the result is an error.
 */
#include <math.h>
#include <string.h>

#include "spec/argument.h"

/* ---- of real numbers ---- */

/* A result that is finite, or that an operand which is not explains. */
static SpecValue checked(Spec *sp, const Call *c, double r)
{
    bool is_fine = isfinite(r);
    for (int i = 0; i < c->params->len; i++)
        is_fine |= c->args[i].kind == SV_FLOAT &&
                   (isnan(c->args[i].f) || (isinf(r) && isinf(c->args[i].f)));
    if (is_fine) return sv_computed(r);
    return spec_error(sp, c->at, "the result of %s is no finite number, but %s",
                      arg_operation(sp, c), spec_describe(sp, sv_float(r)));
}

static double degrees(double x)
{
    return x * (180 / M_PI);
}

static double radians(double x)
{
    return x * (M_PI / 180);
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
} reals[] = {
#define REAL(name) {#name, name, NULL},
#define REALS(name) {#name, NULL, name},
#include "spec/host_math.def"
#undef REAL
#undef REALS
};

SpecValue builtin_host_real(Spec *sp, const Call *c)
{
    const double x = c->args[0].f;
    int i = 0;
    while (strcmp(reals[i].name, c->builtin->name) != 0) i++;
    return checked(sp, c, reals[i].one ? reals[i].one(x) : reals[i].two(x, c->args[1].f));
}

SpecValue builtin_host_log(Spec *sp, const Call *c)
{
    const double x = c->args[0].f;
    return checked(sp, c, arg_is_given(c, 1) ? log(x) / log(c->args[1].f) : log(x));
}

/* isnan, isinf and isfinite. */
SpecValue builtin_host_is(Spec *sp, const Call *c)
{
    (void)sp;
    const double x = c->args[0].f;
    const char what = c->builtin->name[3];
    return sv_bool(what == 'a' ? isnan(x) : what == 'n' ? isinf(x) : isfinite(x));
}

/* ceil, floor and trunc. Integers as they are: a float would round them. */
SpecValue builtin_host_whole(Spec *sp, const Call *c)
{
    const SpecValue v = c->args[0];
    const char how = c->builtin->name[0];
    if (v.kind == SV_INT || v.kind == SV_BOOL) return sv_int(sv_integer(v));
    if (v.kind != SV_FLOAT) return arg_refuse(sp, c, 0, "a compile-time number");
    if (!(fabs(v.f) < 0x1p126))
        return spec_error(sp, c->at, "%s does not fit an integer", spec_describe(sp, v));
    return sv_int((__int128)(how == 'c' ? ceil(v.f) : how == 'f' ? floor(v.f) : trunc(v.f)));
}

/* ---- of integers ---- */

static SpecValue overflow(Spec *sp, const Call *c)
{
    return spec_error(sp, c->at, "the result of %s does not fit into 128 bits",
                      arg_operation(sp, c));
}

/* gcd and lcm. */
SpecValue builtin_host_gcd(Spec *sp, const Call *c)
{
    bool is_multiple = c->builtin->name[0] == 'l';
    __int128 r = is_multiple;
    for (int i = 0; i < c->nrest; i++) {
        int64_t n;
        if (!op_to_int(sp, c->rest[i], &n, c->at, arg_what(sp, c, 0))) return sv_error();
        const __int128 size = n < 0 ? -(__int128)n : n;
        __int128 common = r;
        for (__int128 b = size, rest; b; b = rest) rest = common % b, common = b;
        if (!is_multiple) r = common;
        else if (common && __builtin_mul_overflow(r / common, size, &r)) return overflow(sp, c);
    }
    return sv_int(r);
}

SpecValue builtin_host_isqrt(Spec *sp, const Call *c)
{
    const __int128 n = c->args[0].i;
    if (n < 0) return arg_refuse(sp, c, 0, "at least 0");
    __int128 r = (__int128)sqrt((double)n);
    while (r * r > n) r--;
    while ((r + 1) * (r + 1) <= n) r++;
    return sv_int(r);
}

/* n * (n - 1) * …: n factors for factorial, and for comb(n, k) the fewer of k and n - k, each
   divided by its number. */
SpecValue builtin_host_product(Spec *sp, const Call *c)
{
    bool is_comb = c->params->len > 1;
    const __int128 n = c->args[0].i, k = is_comb ? c->args[1].i : n;
    if (n < 0 || k < 0) return arg_refuse(sp, c, n >= 0, "at least 0");
    const __int128 factors = is_comb && n - k < k ? n - k : k;
    __int128 r = factors >= 0;
    for (__int128 i = 0; i < factors; i++) {
        if (__builtin_mul_overflow(r, n - i, &r)) return overflow(sp, c);
        if (is_comb) r /= i + 1;
    }
    return sv_int(r);
}
