/* In: the texts of -sig and -D. Out: rows of a SpecRequest. A value is parsed as the language's own
   expression, so that errors carry a caret into the option's text. */

#include <stdlib.h>
#include <string.h>

#include "spec/annotation.h"
#include "spec/module.h"

/* ---- signatures ---- */

typedef struct SigReader {
    SpecRequest *rq;
    Ir *ir;
    Diags *dx;
    const Source *source;
    const char *p;     /* into source->text */
    bool is_constexpr; /* the last type was none: x=constexpr */
} SigReader;

/* Reports, and gives false. */
#define refuse(r, at, ...) (diag_error((r)->dx, at, __VA_ARGS__), false)

static Span span_here(const SigReader *r, const char *begin, const char *end)
{
    const char *text = r->source->text;
    return (Span){r->source, (uint32_t)(begin - text), (uint32_t)(end - text)};
}

static void skip_blanks(SigReader *r)
{
    while (*r->p == ' ' || *r->p == '\t') r->p++;
}

/* A parameter may be told twice, as the launcher does, who adds what it knows; not differently. */
static bool agrees(SigReader *r, const SpecSig *sig, const char *begin)
{
    for (int i = 0; i < r->rq->sigs.len; i++) {
        const SpecSig *s = &r->rq->sigs.data[i];
        if (s->name != sig->name || s->part != sig->part || tkc_same_type(&s->type, &sig->type))
            continue;
        return refuse(r, span_here(r, begin, r->p), "'%s' has two types: %s and %s", sig->name,
                      param_type_text(r->ir->arena, r->ir->types, &s->type),
                      param_type_text(r->ir->arena, r->ir->types, &sig->type));
    }
    return true;
}

static Str read_word(SigReader *r)
{
    const char *begin = r->p;
    while (char_is_word(*r->p)) r->p++;
    return r->p == begin ? NULL : intern(r->ir->names, begin, (size_t)(r->p - begin));
}

/* Skips a quote, which stands around names and types in a dict of Python's; gives it, or 0. */
static char read_quote(SigReader *r)
{
    skip_blanks(r);
    return *r->p == '\'' || *r->p == '"' ? *r->p++ : 0;
}

static bool accept(SigReader *r, char c)
{
    skip_blanks(r);
    const bool is_there = *r->p == c;
    r->p += is_there;
    return is_there;
}

/* name= or, of a descriptor, name.part= or, as in a dict, 'name': */
static bool read_sig_name(SigReader *r, SpecSig *sig)
{
    skip_blanks(r);
    const char *begin = r->p;
    char quote = read_quote(r);
    bool ok = (sig->name = read_word(r)) != NULL;
    if (ok && quote && *r->p == quote) {
        r->p++;
        ok = accept(r, ':') || accept(r, '=');
    } else {
        if (ok && accept(r, '.')) ok = (sig->part = read_word(r)) != NULL;
        ok = ok && accept(r, '=');
    }
    skip_blanks(r);
    if (!ok)
        diag_error(r->dx, span_here(r, begin, r->p + (*r->p != 0)),
                   "expected 'name=type' in a signature, such as x=*fp32:16");
    return ok;
}

static bool read_sig_type(SigReader *r, SpecSig *sig)
{
    const char *type = r->p, *wrong;
    bool is_descriptor = tkc_is_descriptor_type(type) && !sig->part;
    if (is_descriptor) r->p += strcspn(r->p, ">");
    while (*r->p && !strchr(",:'\"})", *r->p)) r->p++;
    const char *end = r->p;
    while (end > type && end[-1] == ' ') end--;
    const int n = (int)(end - type);
    wrong = tkc_read_type(type, (size_t)n, &sig->type);
    r->is_constexpr = wrong && n == 9 && !memcmp(type, "constexpr", 9);
    if (!wrong || r->is_constexpr) return true;
    Span at = span_here(r, type, n ? end : end + 1);
    return refuse(r, at, "'%.*s' %s", n, type, wrong);
}

static bool read_sig_divisibility(SigReader *r, SpecSig *sig)
{
    if (*r->p != ':' || r->is_constexpr) return true;
    const char *number = ++r->p;
    char *rest;
    long long n = strtoll(number, &rest, 10);
    r->p = rest;
    skip_blanks(r);
    if (rest == number || n < 1 || n > (1 << 30) || (*r->p && !strchr(",'\"})", *r->p))) {
        return refuse(r, span_here(r, number, number + strcspn(number, ",")),
                      "expected a divisibility of 1 or more after ':'");
    }
    sig->equal_one = n == 1 && !sig->type.stars && !sig->type.rank;
    sig->divisibility = n;
    return true;
}

/* What a tuple may hold beside types: a whole number, None, True, False. */
static bool read_item_value(SigReader *r, SpecSig *item)
{
    static const struct { const char *text; SpecValue value; } words[] = {
        {"None", {.kind = SV_NONE}},
        {"True", {.kind = SV_BOOL, .b = true}},
        {"False", {.kind = SV_BOOL, .b = false}},
    };
    char *end;
    size_t n = strcspn(r->p, ",) ");
    long long number = strtoll(r->p, &end, 0);
    bool found = n && end == r->p + n;
    item->value = sv_int(number);
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++) {
        found = strlen(words[i].text) == n && !strncmp(words[i].text, r->p, n);
        item->value = words[i].value;
    }
    r->p += found ? n : 0;
    return found;
}

static bool read_sig_tuple(SigReader *r, SpecSig *sig, int depth);

static bool read_item(SigReader *r, SpecSig *item, int depth)
{
    skip_blanks(r);
    if (*r->p == '(') return read_sig_tuple(r, item, depth + 1);
    if (read_item_value(r, item)) return true;
    char quote = read_quote(r);
    if (!read_sig_type(r, item) || !read_sig_divisibility(r, item) || item->type.rank ||
        r->is_constexpr)
        return false;
    r->p += quote && *r->p == quote;
    return true;
}

/* (type, (type, 4), None) */
static bool read_sig_tuple(SigReader *r, SpecSig *sig, int depth)
{
    enum { MAX_DEPTH = 16 };
    SpecSigs items = {0};
    const char *begin = r->p++;
    bool ok = depth < MAX_DEPTH, is_end = ok && accept(r, ')');
    while (ok && !is_end) {
        SpecSig item = {0};
        int errors = r->dx->nerrors;
        ok = read_item(r, &item, depth);
        if (r->dx->nerrors > errors) return false;
        if (!ok) break;
        vec_push(r->ir->arena, &items, item);
        bool has_comma = accept(r, ',');
        is_end = accept(r, ')');
        ok = has_comma || is_end;
    }
    if (ok) {
        sig->is_tuple = true;
        sig->nitems = items.len;
        sig->items = items.data;
        return true;
    }
    return refuse(r, span_here(r, begin, r->p + (*r->p != 0)),
                  "expected types, numbers and None in a tuple's type, such as (*fp32, i32, 4)");
}

/* name=type[:divisibility] */
static bool read_sig(SigReader *r)
{
    SpecSig sig = {0};
    const char *begin = r->p;
    if (!read_sig_name(r, &sig)) return false;
    r->is_constexpr = false;
    char quote = read_quote(r);
    skip_blanks(r);
    bool ok = *r->p == '(' ? read_sig_tuple(r, &sig, 0)
                           : read_sig_type(r, &sig) && read_sig_divisibility(r, &sig);
    if (!ok) return false;
    if (quote && *r->p++ != quote) {
        r->p--;
        return refuse(r, span_here(r, begin, r->p), "expected %c behind this type", quote);
    }
    if (r->is_constexpr) return true; /* its value is told by -D */
    if (!agrees(r, &sig, begin)) return false;
    vec_push(r->ir->arena, &r->rq->sigs, sig);
    return true;
}

bool request_add_signature(SpecRequest *rq, Ir *ir, Diags *dx, const char *text)
{
    SigReader r = {.rq = rq,
                   .ir = ir,
                   .dx = dx,
                   .source = source_new(ir->arena, "<signature>", text, strlen(text))};
    r.p = r.source->text;
    accept(&r, '{'); /* as in a dict of Python's */
    while (skip_blanks(&r), *r.p) {
        if (!read_sig(&r)) return false;
        accept(&r, ',');
        accept(&r, '}');
    }
    return true;
}

/* ---- defines ---- */

/* A word that is nothing in the file: most likely text whose quotes the shell took. */
static bool is_unknown_word(SpecModule *m, Diags *dx, const Ast *e)
{
    SpecValue v;
    bool is_known;
    diag_quietly(dx, is_known = e->kind != AST_NAME || module_evaluate(m, dx, e, &v));
    return !is_known;
}

static bool read_value(SpecModule *m, Ir *ir, Diags *dx, const char *name, const char *value,
                       SpecValue *out)
{
    const Source *source =
        source_new(ir->arena, arena_printf(ir->arena, "<%s>", name), value, strlen(value));
    const Ast *e = syntax_parse_expr(ir->arena, ir->names, dx, source);
    if (!e) return false;
    if (!is_unknown_word(m, dx, e)) return module_evaluate(m, dx, e, out);
    static const char *const words[] = {"True", "False", "None"};
    const char *near = nearest_word(value, words, 3);
    const bool is_float = !strcmp(value, "inf") || !strcmp(value, "nan");
    const char *meant = near ? near : arena_printf(ir->arena, is_float ? "float('%s')" : "'%s'", value);
    Diag *d = diag_error(dx, e->span, "'%s' is no name of this file; %s", value,
                         near       ? arena_printf(ir->arena, "did you mean %s?", near)
                         : is_float ? "a number is made of it by float"
                                    : "a text needs quotes");
    diag_fixit(dx, d, e->span, "%s", meant);
    diag_setting(dx, d, "defines", "%s=%s", name, meant);
    return false;
}

static const Type *type_of_value(TypeTable *types, const char *value)
{
    ParamType t;
    if (strncmp(value, "torch.", 6) && strncmp(value, "tl.", 3))
        return type_parse(types, value, strlen(value));
    return tkc_read_type(value, strlen(value), &t) ? NULL : param_type(types, &t);
}

static bool add_value(SpecDefines *all, SpecModule *m, Ir *ir, Diags *dx, const TkcDefine *given)
{
    const char *value = given->value;
    SpecDefine d = {.name = intern_cstr(ir->names, given->name)};
    for (int i = 0; i < all->len; i++)
        if (all->data[i].name == d.name)
            return diag_fail(dx, SPAN_NONE, "'%s' is given two values", d.name);
    const Type *type = type_of_value(ir->types, value);
    if (type) d.value = sv_type(type);
    else if (!strcmp(value, "true") || !strcmp(value, "false")) d.value = sv_bool(*value == 't');
    else if (!strcmp(value, "null") || !strcmp(value, "none")) d.value = sv_none();
    else if (!read_value(m, ir, dx, d.name, value, &d.value)) return false;
    vec_push(ir->arena, all, d);
    return true;
}

bool request_add_values(SpecDefines *all, SpecModule *m, Ir *ir, Diags *dx, size_t n,
                        const TkcDefine *given)
{
    for (size_t i = 0; i < n; i++)
        if (!add_value(all, m, ir, dx, &given[i])) return false;
    return true;
}
