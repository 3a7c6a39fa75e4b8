/* Methods of compile-time strings, byte by byte. */
#include <stdlib.h>
#include <string.h>

#include "spec/argument.h"

SpecValue builtin_string_case(Spec *sp, const Call *c)
{
    bool up = strcmp(c->builtin->name, "upper") == 0;
    Str s = c->args[0].s;
    Buf out = buf_make(sp->arena);
    for (size_t i = 0; i < str_len(s); i++) {
        bool change = up ? s[i] >= 'a' && s[i] <= 'z' : s[i] >= 'A' && s[i] <= 'Z';
        buf_putc(&out, change ? (char)(s[i] ^ 0x20) : s[i]);
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}

SpecValue builtin_string_affix(Spec *sp, const Call *c)
{
    (void)sp;
    Str s = c->args[0].s, affix = c->args[1].s;
    size_t n = str_len(s), m = str_len(affix);
    if (m > n) return sv_bool(false);
    bool start = strcmp(c->builtin->name, "startswith") == 0;
    return sv_bool(memcmp(start ? s : s + n - m, affix, m) == 0);
}

static SpecValue substring(Spec *sp, const char *begin, const char *end)
{
    return sv_str(intern(sp->names, begin, (size_t)(end - begin)));
}

SpecValue builtin_string_split(Spec *sp, const Call *c)
{
    Str s = c->args[0].s, by = c->args[1].s;
    if (str_len(by) == 0) return arg_refuse(sp, c, 1, "a string that is not empty");
    SpecTuple *t = tuple_new(sp, (int)(str_len(s) / str_len(by) + 1));
    const char *begin = s;
    t->len = 0;
    for (const char *p; (p = strstr(begin, by)); begin = p + str_len(by))
        t->data[t->len++] = substring(sp, begin, p);
    t->data[t->len++] = substring(sp, begin, s + str_len(s));
    return sv_tuple(SV_LIST, t);
}

/* The strings, with another one between them. */
static SpecValue joined(Spec *sp, Str by, int n, const SpecValue *parts, Span at)
{
    Buf out = buf_make(sp->arena);
    for (int i = 0; i < n; i++) {
        const size_t len = str_len(parts[i].s), between = i ? str_len(by) : 0;
        if (!spec_fits(sp, (__int128)out.len + between + len, "a string", "bytes", at))
            return sv_error();
        buf_put(&out, by, between);
        buf_put(&out, parts[i].s, len);
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}

SpecValue builtin_string_join(Spec *sp, const Call *c)
{
    SpecValue *items;
    const int n = op_items(sp, c->args[1], &items, c->spans[1]);
    for (int i = 0; i < n; i++)
        if (items[i].kind != SV_STR)
            return spec_error(sp, c->spans[1], "%s joins strings, found %s", arg_operation(sp, c),
                              spec_describe(sp, items[i]));
    return n < 0 ? sv_error() : joined(sp, c->args[0].s, n, items, c->at);
}

SpecValue builtin_string_replace(Spec *sp, const Call *c)
{
    SpecValue parts = builtin_string_split(sp, c);
    if (sv_is_error(parts)) return parts;
    return joined(sp, c->args[2].s, parts.tuple->len, parts.tuple->data, c->at);
}

/* strip, lstrip and rstrip. */
SpecValue builtin_string_strip(Spec *sp, const Call *c)
{
    const char *begin = c->args[0].s, *end = begin + str_len(begin);
    const char *chars = arg_is_given(c, 1) ? c->args[1].s : " \t\n\v\f\r";
    const char side = c->builtin->name[0];
    if (side != 'r') begin += strspn(begin, chars);
    while (side != 'l' && end > begin && strchr(chars, end[-1])) end--;
    return substring(sp, begin, end);
}

/* "{} of {1}": the values in order or by number, without format specifications. */
SpecValue builtin_string_format(Spec *sp, const Call *c)
{
    Buf out = buf_make(sp->arena);
    long next = 0;
    for (const char *p = c->args[0].s; *p; p++) {
        if ((*p == '{' || *p == '}') && p[1] == *p) {
            buf_putc(&out, *p++);
            continue;
        }
        if (*p != '{') {
            buf_putc(&out, *p);
            continue;
        }
        char *end;
        long n = strtol(p + 1, &end, 10);
        if (end == p + 1) n = next++;
        if (*end != '}' || n < 0 || n >= c->nrest)
            return spec_error(
                sp, c->at,
                "'{' of this string has no value, or says how to format it; use an f-string");
        Str text = op_format(sp, c->rest[n], 0, NULL, c->at);
        if (!text) return sv_error();
        buf_put(&out, text, str_len(text));
        p = end;
    }
    return sv_str(intern(sp->names, buf_text(&out), out.len));
}
