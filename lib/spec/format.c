/* str(), repr() and format() of compile-time values, as f-strings and static_print need them. The
   mini-language is Python's: [[fill]align][sign][#][0][width][,|_][.precision][type]. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec/builtin.h"
#include "spec/constant.h"
#include "spec/module.h"
#include "spec/operator.h"

static void print_int(Buf *out, unsigned __int128 v, unsigned base, bool upper, char separator)
{
    char digits[192];
    int n = 0, count = 0, group = base == 10 ? 3 : 4;
    do {
        if (separator && count && count % group == 0) digits[n++] = separator;
        unsigned d = (unsigned)(v % base);
        digits[n++] = (char)(d < 10 ? '0' + d : (upper ? 'A' : 'a') + d - 10);
        count++;
        v /= base;
    } while (v);
    while (n) buf_putc(out, digits[--n]);
}

static unsigned __int128 magnitude(__int128 v)
{
    return v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
}

/* The shortest decimal text that reads back as v, as Python's repr. */
static void print_float(Buf *out, double v)
{
    if (isnan(v) || isinf(v)) {
        buf_puts(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    char text[40];
    int precision = 1;
    do snprintf(text, sizeof text, "%.*e", precision - 1, v);
    while (strtod(text, NULL) != v && ++precision <= 17);
    int exponent = atoi(strchr(text, 'e') + 1);
    if (exponent >= -4 && exponent < 16) {
        int decimals = precision - 1 - exponent;
        snprintf(text, sizeof text, "%.*f", decimals > 1 ? decimals : 1, v);
    } else {
        snprintf(text, sizeof text, "%.*e", precision - 1, v);
    }
    buf_puts(out, text);
}

static void print_items(Spec *sp, Buf *out, SpecValue v)
{
    bool list = v.kind == SV_LIST;
    if (v.kind == SV_RECORD) buf_puts(out, v.tuple->type_name);
    buf_putc(out, list ? '[' : '(');
    for (int i = 0; i < v.tuple->len; i++) {
        if (i) buf_puts(out, ", ");
        if (v.kind == SV_RECORD) buf_printf(out, "%s=", constant_key_text(v.tuple->names[i]));
        constant_print(sp, out, v.tuple->data[i], true);
    }
    if (v.kind == SV_TUPLE && v.tuple->len == 1) buf_putc(out, ',');
    buf_putc(out, list ? ']' : ')');
}

void constant_print(Spec *sp, Buf *out, SpecValue v, bool quoted)
{
    switch (v.kind) {
    case SV_NONE: buf_puts(out, "None"); break;
    case SV_BOOL: buf_puts(out, v.b ? "True" : "False"); break;
    case SV_INT:
        if (v.i < 0) buf_putc(out, '-');
        print_int(out, magnitude(v.i), 10, false, 0);
        break;
    case SV_FLOAT: print_float(out, v.f); break;
    case SV_STR:
        if (quoted) buf_putc(out, '\'');
        buf_put(out, v.s, str_len(v.s));
        if (quoted) buf_putc(out, '\'');
        break;
    case SV_TYPE: buf_puts(out, type_text(sp->arena, v.type)); break;
    case SV_TUPLE:
    case SV_LIST:
    case SV_RECORD: print_items(sp, out, v); break;
    case SV_FUNC: buf_puts(out, v.fn->name ? v.fn->name : "<lambda>"); break;
    case SV_BUILTIN: buf_puts(out, v.builtin->name); break;
    case SV_CLASS: buf_puts(out, v.class_name); break;
    case SV_VALUE: buf_puts(out, type_text(sp->arena, v.v->type)); break;
    default: buf_puts(out, spec_describe(sp, v)); break;
    }
}

typedef struct FormatSpec {
    char fill, align, sign, separator, type;
    bool alternate;
    int width, precision; /* precision -1: not given */
} FormatSpec;

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '^' || c == '=';
}

static const char *parse_number(const char *p, int *out)
{
    int n = 0;
    while (isdigit((unsigned char)*p) && n < 10000) n = n * 10 + (*p++ - '0');
    *out = n;
    return p;
}

/* False when the text is not of the mini-language. */
static bool parse_spec(const char *p, FormatSpec *f)
{
    *f = (FormatSpec){.fill = ' ', .precision = -1};
    if (p[0] && is_align(p[1])) {
        f->fill = *p++;
        f->align = *p++;
    } else if (is_align(*p)) {
        f->align = *p++;
    }
    if (*p == '+' || *p == '-' || *p == ' ') f->sign = *p++;
    if (*p == '#') f->alternate = *p++;
    if (*p == '0') {
        p++;
        if (!f->align) f->fill = '0', f->align = '=';
    }
    p = parse_number(p, &f->width);
    if (*p == ',' || *p == '_') f->separator = *p++;
    if (*p == '.') {
        if (!isdigit((unsigned char)p[1])) return false;
        p = parse_number(p + 1, &f->precision);
    }
    if (*p) f->type = *p++;
    return *p == 0 && f->width < 10000 && f->precision < 200;
}

static void pad(Buf *out, const FormatSpec *f, bool is_negative, const char *body, size_t len,
                char align)
{
    const char *sign = is_negative ? "-" : f->sign == '+' ? "+" : f->sign == ' ' ? " " : "";
    int total = (int)(strlen(sign) + len), space = f->width > total ? f->width - total : 0;
    if (f->align) align = f->align;
    int before = align == '>' ? space : align == '^' ? space / 2 : 0;
    for (int i = 0; i < before; i++) buf_putc(out, f->fill);
    buf_puts(out, sign);
    for (int i = 0; align == '=' && i < space; i++) buf_putc(out, f->fill);
    buf_put(out, body, len);
    for (int i = before; align != '=' && i < space; i++) buf_putc(out, f->fill);
}

static bool format_int(Spec *sp, Buf *out, const FormatSpec *f, __int128 v)
{
    static const struct {
        char type;
        unsigned base;
        const char *prefix;
    } bases[] = {
        {0, 10, ""},     {'d', 10, ""},  {'n', 10, ""},  {'x', 16, "0x"},
        {'X', 16, "0X"}, {'o', 8, "0o"}, {'b', 2, "0b"},
    };
    if (f->precision >= 0) return false;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (bases[i].type != f->type) continue;
        Buf body = buf_make(sp->arena);
        if (f->alternate) buf_puts(&body, bases[i].prefix);
        print_int(&body, magnitude(v), bases[i].base, f->type == 'X', f->separator);
        pad(out, f, v < 0, buf_text(&body), body.len, '>');
        return true;
    }
    return false;
}

static bool format_float(Spec *sp, Buf *out, const FormatSpec *f, double v)
{
    if (f->type && !strchr("eEfFgG%", f->type)) return false;
    char text[512];
    double x = fabs(f->type == '%' ? v * 100 : v);
    if (!f->type && f->precision < 0) {
        Buf shortest = buf_make(sp->arena);
        print_float(&shortest, x);
        snprintf(text, sizeof text, "%s", buf_text(&shortest));
    } else {
        char style = f->type == '%' ? 'f' : f->type ? f->type : 'g';
        char pattern[8] = {'%', '.', '*', style, 0};
        int precision = f->precision < 0 ? 6 : f->precision;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, pattern, precision, x);
#pragma GCC diagnostic pop
    }
    if (f->type == '%') strncat(text, "%", sizeof text - strlen(text) - 1);
    pad(out, f, signbit(v), text, strlen(text), '>');
    return true;
}

static bool format_text(Spec *sp, Buf *out, const FormatSpec *f, SpecValue v)
{
    if ((f->type && f->type != 's') || f->sign || f->alternate || f->separator || f->align == '=')
        return false;
    Buf body = buf_make(sp->arena);
    constant_print(sp, &body, v, false);
    size_t len =
        f->precision >= 0 && (size_t)f->precision < body.len ? (size_t)f->precision : body.len;
    pad(out, f, false, buf_text(&body), len, '<');
    return true;
}

static bool format_with(Spec *sp, Buf *out, const FormatSpec *f, SpecValue v)
{
    bool as_float = f->type && strchr("eEfFgG%", f->type);
    if (v.kind == SV_FLOAT || (as_float && sv_is_number(v)))
        return format_float(sp, out, f, constant_to_double(v));
    if (v.kind == SV_INT || (v.kind == SV_BOOL && f->type))
        return format_int(sp, out, f, sv_integer(v));
    return format_text(sp, out, f, v);
}

Str op_format(Spec *sp, SpecValue v, char conversion, const char *spec, Span at)
{
    if (sv_is_error(v)) return NULL;
    if (!sv_is_constant(v)) {
        spec_error(sp, at, "%s is known at run time only and cannot be formatted",
                   spec_describe(sp, v));
        spec_note(sp, SPAN_NONE,
                  "what is printed at run time stands behind a plain text: "
                  "tl.device_print(\"x\", x)");
        return NULL;
    }
    if (v.kind == SV_ARRAY)
        return spec_null(sp, at, "the text of an array is not known when compiling");
    Buf out = buf_make(sp->arena);
    if (v.is_torch) {
        v = sv_str(host_type_text(sp, v.type->dtype));
    } else if (conversion) {
        constant_print(sp, &out, v, conversion != 's');
        v = sv_str(intern(sp->names, buf_text(&out), out.len));
        out = buf_make(sp->arena);
    }
    FormatSpec f;
    if (!spec || !*spec) {
        constant_print(sp, &out, v, false);
    } else if (!parse_spec(spec, &f) || !format_with(sp, &out, &f, v))
        return spec_null(sp, at, "'%s' is not a format for %s", spec, spec_describe(sp, v));
    return intern(sp->names, buf_text(&out), out.len);
}

/* ---- text % values ---- */

/* A conversion of printf's kind: what stands between '%' and its letter, as a format
   specification. */
static const char *read_conversion(const char *p, Buf *out)
{
    const char *flags = p;
    size_t n = strspn(p, "-+ #0"), width = strspn(p + n, ".0123456789");
    bool left = memchr(flags, '-', n), zeros = !left && memchr(flags, '0', n);
    if (!zeros) buf_putc(out, left ? '<' : '>');
    if (memchr(flags, '+', n)) buf_putc(out, '+');
    else if (memchr(flags, ' ', n)) buf_putc(out, ' ');
    if (memchr(flags, '#', n)) buf_putc(out, '#');
    if (zeros) buf_putc(out, '0');
    buf_put(out, p + n, width);
    return p + n + width;
}

static Str format_percent(Spec *sp, SpecValue v, Buf *spec, char letter, Span at)
{
    bool is_text = letter == 's' || letter == 'r';
    if (letter == 'i' || letter == 'u') letter = 'd';
    if (v.kind == SV_FLOAT && letter == 'd' && fabs(v.f) < 0x1p126) v = sv_int((__int128)v.f);
    buf_putc(spec, is_text ? 's' : letter);
    return op_format(sp, v, is_text ? letter : 0, buf_text(spec), at);
}

SpecValue format_values(Spec *sp, Str text, SpecValue values, Span at)
{
    bool is_tuple =
        values.kind == SV_TUPLE || (values.kind == SV_RECORD && values.tuple->record_class);
    SpecValue *items = is_tuple ? values.tuple->data : &values;
    int n = is_tuple ? values.tuple->len : 1, next = 0;
    Buf out = buf_make(sp->arena);
    for (const char *p = text; *p; p++) {
        if (*p != '%' || p[1] == '%') {
            buf_putc(&out, *p);
            p += *p == '%';
            continue;
        }
        Buf spec = buf_make(sp->arena);
        p = read_conversion(p + 1, &spec);
        if (!*p || !strchr("diusrfFeEgGxXo", *p))
            return spec_error(sp, at, "a '%%' of this string says no format that is known here");
        if (next == n)
            return spec_error(sp, at, "this string formats more than %d value%s", n,
                              n == 1 ? "" : "s");
        Str one = format_percent(sp, items[next++], &spec, *p, at);
        if (!one) return sv_error();
        buf_put(&out, one, str_len(one));
    }
    if (next < n)
        return spec_error(sp, at, "this string formats %d value%s, but %d are given", next,
                          next == 1 ? "" : "s", n);
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}
