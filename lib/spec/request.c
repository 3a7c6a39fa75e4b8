/* In: the texts of -sig and -D. Out: rows of a SpecRequest. A value is parsed as the language's own
   expression, so that errors carry a caret into the option's text. */
#include "spec/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "spec/descriptor_type.h"
#include "spec/module.h"

/* ---- signatures ---- */

typedef struct SigReader {
    SpecRequest *rq;
    Ir *ir;
    Diags *dx;
    const Source *source;
    const char *p; /* into source->text */
} SigReader;

static Span span_here(const SigReader *r, const char *begin, const char *end)
{
    const char *text = r->source->text;
    return (Span){r->source, (uint32_t)(begin - text), (uint32_t)(end - text)};
}

static void skip_blanks(SigReader *r)
{
    while (*r->p == ' ' || *r->p == '\t')
        r->p++;
}

static void add_sig(SpecRequest *rq, Arena *a, SpecSig sig)
{
    const size_t n = (size_t)rq->nsigs;
    if ((n & (n - 1)) == 0) { /* 0, 1, 2, 4, …: full */
        SpecSig *all = arena_array(a, SpecSig, 2 * n + 1);
        if (n)
            memcpy(all, rq->sigs, sizeof *all * n);
        rq->sigs = all;
    }
    ((SpecSig *)rq->sigs)[rq->nsigs++] = sig;
}

/* A parameter may be told twice, as the launcher does, who adds what it knows; not differently. */
static bool agrees(SigReader *r, const SpecSig *sig, const char *begin)
{
    for (int i = 0; i < r->rq->nsigs; i++) {
        const SpecSig *s = &r->rq->sigs[i];
        if (s->name != sig->name || s->part != sig->part ||
            (s->type == sig->type && tkc_same_descriptor_type(&s->desc, &sig->desc)))
            continue;
        diag_error(r->dx, span_here(r, begin, r->p), "'%s' has two types: %s and %s", sig->name,
                   descriptor_or_type_text(r->ir->arena, &s->desc, s->type),
                   descriptor_or_type_text(r->ir->arena, &sig->desc, sig->type));
        return false;
    }
    return true;
}

static Str read_word(SigReader *r)
{
    const char *begin = r->p;
    while (isalnum((unsigned char)*r->p) || *r->p == '_')
        r->p++;
    return r->p == begin ? NULL : intern(r->ir->names, begin, (size_t)(r->p - begin));
}

/* name= or, of a descriptor, name.part= */
static bool read_sig_name(SigReader *r, SpecSig *sig)
{
    skip_blanks(r);
    const char *begin = r->p;
    bool ok = (sig->name = read_word(r)) != NULL;
    if (ok && *r->p == '.') {
        r->p++;
        ok = (sig->part = read_word(r)) != NULL;
    }
    skip_blanks(r);
    if (ok && *r->p == '=') {
        r->p++;
        skip_blanks(r);
        return true;
    }
    diag_error(r->dx, span_here(r, begin, r->p + (*r->p != 0)),
               "expected 'name=type' in a signature, such as x=*fp32:16");
    return false;
}

static bool read_sig_type(SigReader *r, SpecSig *sig)
{
    TypeTable *types = r->ir->types;
    const char *type = r->p, *wrong = NULL;
    bool is_descriptor = tkc_is_descriptor_type(type) && !sig->part;
    if (is_descriptor)
        r->p += strcspn(r->p, ">");
    while (*r->p && *r->p != ',' && *r->p != ':')
        r->p++;
    const char *end = r->p;
    while (end > type && end[-1] == ' ')
        end--;
    const int n = (int)(end - type);
    if (is_descriptor)
        wrong = tkc_read_descriptor_type(type, (size_t)n, &sig->desc);
    sig->type = wrong           ? NULL
                : is_descriptor ? type_pointer(types, type_scalar(types, sig->desc.dtype))
                                : type_parse(types, type, (size_t)n);
    if (sig->type)
        return true;
    Span at = span_here(r, type, n ? end : end + 1);
    if (wrong)
        diag_error(r->dx, at, "'%.*s' is no descriptor's type: %s", n, type, wrong);
    else
        diag_error(r->dx, at, "'%.*s' is not a type; types are *fp32, i32, u8, bf16, …", n, type);
    return false;
}

static bool read_sig_divisibility(SigReader *r, SpecSig *sig)
{
    if (*r->p != ':')
        return true;
    const char *number = ++r->p;
    char *rest;
    long long n = strtoll(number, &rest, 10);
    r->p = rest;
    skip_blanks(r);
    if (rest == number || n < 1 || n > (1 << 30) || (*r->p && *r->p != ',')) {
        diag_error(r->dx, span_here(r, number, number + strcspn(number, ",")),
                   "expected a divisibility of 1 or more after ':'");
        return false;
    }
    sig->equal_one = n == 1 && sig->type->kind == TY_SCALAR;
    sig->divisibility = n;
    return true;
}

/* name=type[:divisibility] */
static bool read_sig(SigReader *r)
{
    SpecSig sig = {0};
    const char *begin = r->p;
    if (!read_sig_name(r, &sig) || !read_sig_type(r, &sig) || !read_sig_divisibility(r, &sig) ||
        !agrees(r, &sig, begin))
        return false;
    add_sig(r->rq, r->ir->arena, sig);
    return true;
}

bool request_add_signature(SpecRequest *rq, Ir *ir, Diags *dx, const char *text)
{
    SigReader r = {
        .rq = rq, .ir = ir, .dx = dx, .source = source_new(ir->arena, "-sig", text, strlen(text))};
    r.p = r.source->text;
    for (skip_blanks(&r); *r.p;) {
        if (!read_sig(&r))
            return false;
        skip_blanks(&r);
        if (*r.p == ',')
            r.p++;
    }
    return true;
}

/* ---- defines ---- */

bool request_add_define(SpecRequest *rq, SpecModule *m, Ir *ir, Diags *dx, const char *name,
                        const char *value)
{
    Arena *a = ir->arena;
    SpecDefine *all = arena_array(a, SpecDefine, rq->ndefines + 1);
    if (rq->ndefines)
        memcpy(all, rq->defines, sizeof *all * (size_t)rq->ndefines);
    SpecDefine *d = &all[rq->ndefines];
    d->name = intern_cstr(ir->names, name);
    for (int i = 0; i < rq->ndefines; i++)
        if (all[i].name == d->name) {
            diag_error(dx, SPAN_NONE, "'%s' is given twice with -D", name);
            return false;
        }
    const Source *source = source_new(a, arena_printf(a, "-D%s", name), value, strlen(value));
    const Type *type = type_parse(ir->types, value, strlen(value));
    if (type) {
        d->value = sv_type(type);
    } else {
        const Ast *e = syntax_parse_expr(a, ir->names, dx, source);
        if (!e || !module_evaluate(m, dx, e, &d->value))
            return false;
    }
    rq->ndefines++;
    rq->defines = all;
    return true;
}
