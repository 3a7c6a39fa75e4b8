/* A string annotation is ours when it begins like a type; any other string, and any expression that
   is not a type, is left alone, so that `x: torch.Tensor` and `x: "Tensor"` mean what they mean to
   Triton: nothing. */
#include "spec/annotation.h"

#include <stdlib.h>
#include <string.h>

#include "spec/eval.h"
#include "spec/kernel.h"

typedef struct Reader {
    Spec *sp;
    const char *p;
    Span at;
} Reader;

static void skip_blanks(Reader *t)
{
    while (*t->p == ' ') t->p++;
}

static bool refuse(Reader *t, const char *expected)
{
    if (*t->p)
        spec_error(t->sp, t->at, "expected %s in this annotation, found '%s'", expected, t->p);
    else spec_error(t->sp, t->at, "expected %s in this annotation, found its end", expected);
    return false;
}

/* "*fp23" */
static bool refuse_type(Reader *t)
{
    const char *begin = t->p, *all[DT_COUNT];
    int n = 0;
    refuse(t, "a type such as *fp32");
    while (*begin == '*') begin++;
    for (int i = DT_NONE + 1; i < DT_COUNT; i++) all[n++] = dtype_info((DType)i)->short_name;
    const char *word =
        arena_strndup(t->sp->arena, begin, strspn(begin, "abcdefghijklmnopqrstuvwxyz0123456789_"));
    spec_suggest(t->sp, t->at, word, nearest_word(word, all, n));
    return false;
}

static bool accept(Reader *t, char c)
{
    skip_blanks(t);
    if (*t->p != c) return false;
    t->p++;
    return true;
}

static bool read_number(Reader *t, AnnotationNumber *out)
{
    skip_blanks(t);
    const char *begin = t->p;
    while (char_is_word(*t->p)) t->p++;
    if (t->p == begin) return refuse(t, "a number or the name of a parameter");
    if (*begin < '0' || *begin > '9') {
        out->name = intern(t->sp->names, begin, (size_t)(t->p - begin));
        return true;
    }
    char *end;
    out->value = strtoll(begin, &end, 10);
    if (end == t->p && out->value >= 0 && out->value <= INT32_MAX) return true;
    t->p = begin;
    return refuse(t, "a number of at most 2147483647");
}

/* [M:s0, N:1] */
static bool read_extents(Reader *t, Annotation *out)
{
    do {
        if (out->rank == TKC_MAX_RANK) return refuse(t, "at most 8 extents");
        out->stride[out->rank] = (AnnotationNumber){.value = -1};
        if (!read_number(t, &out->extent[out->rank])) return false;
        if (accept(t, ':') && !read_number(t, &out->stride[out->rank])) return false;
        out->rank++;
    } while (accept(t, ','));
    return accept(t, ']') || refuse(t, "']'");
}

static bool read_descriptor(Reader *t, Annotation *out)
{
    const char *wrong = tkc_read_type(t->p, strlen(t->p), &out->type);
    if (wrong) return spec_fail(t->sp, t->at, "'%s' %s", t->p, wrong);
    out->is_text = true;
    return true;
}

static bool read_text(Spec *sp, const Ast *e, Annotation *out)
{
    Reader t = {.sp = sp, .p = kernel_type_text(e->string.value), .at = e->span};
    const char *begin = t.p;
    if (tkc_is_descriptor_type(begin)) return read_descriptor(&t, out);
    while (*t.p == '*' || char_is_word(*t.p)) t.p++;
    const Type *type = type_parse(sp->ir->types, begin, (size_t)(t.p - begin));
    if (!type && *begin != '*') return true; /* not ours */
    t.p = type ? t.p : begin;
    if (!type) return refuse_type(&t);
    out->type = param_type_of(type);
    out->is_text = true;
    if (accept(&t, ':')) {
        AnnotationNumber n = {0};
        if (!read_number(&t, &n)) return false;
        if (n.name || n.value < 1) return refuse(&t, "a divisibility");
        out->divisibility = n.value;
    }
    if (accept(&t, '[')) {
        if (type->kind != TY_POINTER) return refuse(&t, "a pointer before its extents");
        if (!read_extents(&t, out)) return false;
    }
    skip_blanks(&t);
    return *t.p == 0 || refuse(&t, "nothing more");
}

/* tl.anything */
static bool is_of_language(Spec *sp, SpecModule *m, const Ast *e)
{
    if (e->kind != AST_ATTRIBUTE) return false;
    SpecValue base = module_try(sp, m, e->attribute.value);
    return base.kind == SV_MODULE && base.module->kind == MODULE_NAMES &&
           (base.module->where & NS_TL);
}

/* Evaluates an expression that may well be host code. False after an error. */
static bool read_expression(Spec *sp, SpecModule *m, const Ast *e, Annotation *out)
{
    if (e->kind != AST_NAME && e->kind != AST_ATTRIBUTE && e->kind != AST_CALL) return true;
    SpecValue v = module_try(sp, m, e);
    if (sv_is_error(v) && is_of_language(sp, m, e)) {
        module_eval(sp, m, e); /* again, to be heard: tl.constexp is no constexpr */
        return false;
    }
    out->is_const = is_of_language(sp, m, e) && !strcmp(kernel_last_name(e), "const");
    if (v.kind == SV_TYPE && (v.type->kind == TY_SCALAR || v.type->kind == TY_POINTER))
        out->type = param_type_of(v.type);
    return true;
}

bool annotation_read(Spec *sp, SpecModule *m, const Ast *e, Annotation *out)
{
    *out = (Annotation){.is_constexpr = kernel_is_constexpr(m->file, e)};
    if (!e || out->is_constexpr) return true;
    if (e->kind == AST_STRING) return read_text(sp, e, out);
    return read_expression(sp, m, e, out);
}
