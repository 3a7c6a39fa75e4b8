/* What a launch gives arguments for: the parameters of the source that the options do not define,
   with their annotations and what the options' signature adds.

   The signature is the compiler's (lib/spec/spec.h), which reads it again, with places, when it
   compiles; here it is read for what each launch checks and for what a caller asks. */
#include <stdlib.h>
#include <string.h>

#include "tkc/grow.h"
#include "launch.h"

static bool is_defined(const TkcJit *jit, const char *name)
{
    for (size_t i = 0; i < jit->options.ndefines; i++)
        if (!strcmp(jit->options.defines[i].name, name)) return true;
    return false;
}

OpenParam *open_param_find(const TkcJit *jit, const char *name, size_t len)
{
    for (int i = 0; i < jit->nopen; i++)
        if (strlen(jit->open[i].decl.name) == len && !memcmp(jit->open[i].decl.name, name, len))
            return &jit->open[i];
    return NULL;
}

/* ---- the signature ---- */

typedef struct Words { const char *begin, *end; } Words;

static Words trim(const char *begin, const char *end)
{
    while (begin < end && (*begin == ' ' || *begin == '\t')) begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t')) end--;
    return (Words){begin, end};
}

#define wrong(jit, item, fmt, ...)                                                                 \
    tkc_refuse((jit)->dev->cx, TKC_ERROR, "in the signature: %.*s: " fmt,                          \
               (int)((item).end - (item).begin), (item).begin, ##__VA_ARGS__)

static TkcStatus declare(TkcJit *jit, OpenParam *p, Words item, Words text)
{
    const char *type = jit_own(jit, text.begin, text.end);
    if (!type) return tkc_no_memory(jit->dev->cx);
    ParamType said;
    const char *fault = tkc_read_type(type, strlen(type), &said);
    if (fault) return wrong(jit, item, "'%s' %s", type, fault);
    const bool is_same = tkc_same_type(&p->type, &said);
    if (p->decl.type && (p->decl.is_fixed || p->is_said) && !is_same)
        return wrong(jit, item,
                     "its annotation, or the signature before, says %s; leave one of them out",
                     p->decl.type);
    if (!is_same || (p->type.rank && !p->type.padding)) /* the one that says a descriptor's padding wins */
        p->decl.type = type, p->type = said;
    p->decl.is_int = false;
    p->is_said = true;
    return TKC_OK;
}

static TkcStatus promise(TkcJit *jit, OpenParam *p, Words item, Words number)
{
    char *rest;
    long long n = strtoll(number.begin, &rest, 10);
    if (number.begin == number.end || rest != number.end || n < 1)
        return wrong(jit, item, "expected a divisibility of 1 or more after ':'");
    if (n > p->decl.divisibility) p->decl.divisibility = n;
    return TKC_OK;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

static Words unquote(Words w)
{
    const bool is_quoted = w.end - w.begin > 1 && is_quote(*w.begin) && w.end[-1] == *w.begin;
    return is_quoted ? trim(w.begin + 1, w.end - 1) : w;
}

/* The '=' of name=type, or the ':' behind a name in quotes; NULL: none. */
static const char *find_sign(Words item)
{
    const char *p = item.begin;
    if (!is_quote(*p)) return memchr(p, '=', (size_t)(item.end - p));
    for (p++; p < item.end && *p != *item.begin; p++) {}
    for (p++; p < item.end && *p == ' '; p++) {}
    return p < item.end && (*p == ':' || *p == '=') ? p : NULL;
}

static bool is_constexpr(Words type)
{
    return type.end - type.begin == 9 && !memcmp(type.begin, "constexpr", 9);
}

/* name=type[:divisibility] or, as in a dict, 'name': 'type': what is said of one parameter becomes
   part of its declaration. */
static TkcStatus read_item(TkcJit *jit, Words item)
{
    const char *sign = find_sign(item);
    if (!sign) return wrong(jit, item, "expected name=type, such as x=*fp32:16");
    const Words name = unquote(trim(item.begin, sign)), type = unquote(trim(sign + 1, item.end));
    const char *colon = memchr(type.begin, ':', (size_t)(type.end - type.begin));
    if (is_constexpr(type)) return TKC_OK; /* its value is told elsewhere */
    if (memchr(name.begin, '.', (size_t)(name.end - name.begin)))
        return wrong(jit, item, "a launch looks at its descriptors itself");
    OpenParam *p = open_param_find(jit, name.begin, (size_t)(name.end - name.begin));
    if (!p) return wrong(jit, item, "the kernel has no such parameter, or its value is given");
    if (p->decl.is_constexpr)
        return wrong(jit, item, "the parameter is a constexpr: it takes a value, not a type");
    TkcStatus status = declare(jit, p, item, trim(type.begin, colon ? colon : type.end));
    return status == TKC_OK && colon ? promise(jit, p, item, trim(colon + 1, type.end)) : status;
}

static TkcStatus read_signature(TkcJit *jit)
{
    TkcStatus status = TKC_OK;
    const char *p = jit->options.signature ? jit->options.signature : "";
    p += strspn(p, " ");
    p += *p == '{'; /* a dict of Python's */
    while (*p && status == TKC_OK) {
        size_t len = strcspn(p, ",<}");
        if (p[len] == '<') { /* commas inside are the descriptor's own */
            len += strcspn(p + len, ">");
            len += strcspn(p + len, ",}");
        }
        Words item = trim(p, p + len);
        if (item.begin < item.end) status = read_item(jit, item);
        p += len + (p[len] != 0);
    }
    return status;
}

/* ---- all of them ---- */

static TkcStatus read_source(TkcJit *jit)
{
    int count;
    TkcStatus status = tkc_source_param_count(jit->source, jit->options.kernel, &count);
    if (status != TKC_OK) return status;
    jit->open = owned_take(&jit->owned, ((size_t)count + 1) * sizeof *jit->open);
    if (!jit->open) return tkc_no_memory(jit->dev->cx);
    for (int i = 0; i < count; i++) {
        OpenParam p = {.decl = {.size = sizeof p.decl}};
        if ((status = tkc_source_param(jit->source, jit->options.kernel, i, &p.decl)) != TKC_OK)
            return status;
        if (p.decl.type) p.type = tkc_type_of(p.decl.type);
        if (!is_defined(jit, p.decl.name)) jit->open[jit->nopen++] = p;
    }
    return TKC_OK;
}

TkcStatus open_params_read(TkcJit *jit)
{
    TkcStatus status = read_source(jit);
    return status == TKC_OK ? read_signature(jit) : status;
}
