/* Kernels by their definitions alone: decorators, names called, annotations. */
#include "spec/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "ir/type.h"
#include "spec/walk.h"
#include "tkc/edge.h"

const char *kernel_last_name(const Ast *d)
{
    if (d->kind == AST_CALL) d = d->call.callee;
    return d->kind == AST_NAME ? d->name.id : d->kind == AST_ATTRIBUTE ? d->attribute.name : "";
}

const Ast *kernel_next_decorator(const AstList *decorators, const char *name, int *i)
{
    while (*i < decorators->len && strcmp(kernel_last_name(decorators->data[*i]), name)) ++*i;
    return *i < decorators->len ? decorators->data[(*i)++] : NULL;
}

const Ast *kernel_decorator(const AstList *decorators, const char *name)
{
    int first = 0;
    return kernel_next_decorator(decorators, name, &first);
}

bool kernel_is_jit(const Ast *def)
{
    return def->kind == AST_DEF && kernel_decorator(&def->def.decorators, "jit");
}

/* ---- which jit functions are kernels ---- */

typedef struct Defs {
    Arena *arena;
    const Ast **data;
    int len, cap;
    VEC(const Ast *) methods;
} Defs;

static void collect_block(void *context, AstList *body)
{
    Defs *out = context;
    for (int i = 0; i < body->len; i++) {
        Ast *s = body->data[i];
        if (s->kind == AST_DEF && s->def.is_method) vec_push(out->arena, &out->methods, s);
        else if (kernel_is_jit(s)) vec_push(out->arena, out, s);
        if (ast_is_entered(s)) ast_each_block(s, collect_block, out);
    }
}

/* jit functions at the top and inside module-level if, try and with, in order. */
static Defs collect(Arena *a, const AstFile *file)
{
    Defs out = {.arena = a};
    collect_block(&out, (AstList *)&file->body);
    return out;
}

typedef struct Calls {
    Map *mentioned; /* names that a function mentions, other than itself and its variables */
    const Ast *self;
    AstNames assigned;
    const Ast *returns; /* the first that gives a value */
} Calls;

static bool is_own(const Calls *c, Str name)
{
    return name == c->self->def.name || walk_has(&c->assigned, name) ||
           walk_param(&c->self->def.params, name);
}

/* A function passed as a value is a helper, too. */
static bool note_names(const Ast *n, void *user)
{
    Calls *c = user;
    if (n->kind == AST_NAME && !is_own(c, n->name.id))
        map_set_ptr(c->mentioned, n->name.id, (void *)n);
    if (n->kind == AST_RETURN && n->unary.operand && n->unary.operand->kind != AST_NONE &&
        !c->returns)
        c->returns = n;
    return n->kind != AST_LAMBDA && n->kind != AST_DEF;
}

/* Where it returns a value, or NULL. */
static const Ast *read_body(Arena *a, const Ast *def, Map *mentioned)
{
    Calls c = {.mentioned = mentioned, .self = def};
    walk_assigned(a, &def->def.body, &c.assigned);
    walk_list(&def->def.body, note_names, &c);
    return c.returns;
}

/* The same of each function; which names another one mentions. */
static const Ast **read_bodies(Arena *a, const Defs *defs, Map *mentioned)
{
    const Ast **returns = arena_array(a, const Ast *, defs->len + 1);
    map_init(mentioned, a);
    for (int i = 0; i < defs->len; i++) returns[i] = read_body(a, defs->data[i], mentioned);
    for (int i = 0; i < defs->methods.len; i++) read_body(a, defs->methods.data[i], mentioned);
    return returns;
}

int kernel_list(Arena *a, const AstFile *file, Str **names)
{
    const Defs defs = collect(a, file);
    Map mentioned, listed; /* a name is listed once */
    map_init(&listed, a);
    const Ast **returns = read_bodies(a, &defs, &mentioned);
    *names = arena_array(a, Str, defs.len + 1);
    int n = 0;
    for (int i = 0; i < defs.len; i++) {
        Str name = defs.data[i]->def.name;
        const AstList *decorators = &defs.data[i]->def.decorators;
        bool is_launched = kernel_decorator(decorators, "autotune") ||
                           kernel_decorator(decorators, "heuristics"),
             is_helper = !is_launched && (returns[i] || map_get_ptr(&mentioned, name));
        if (is_helper || map_get_ptr(&listed, name)) continue;
        map_set_ptr(&listed, name, (void *)defs.data[i]);
        (*names)[n++] = name;
    }
    return n;
}

static const Ast *last_named(const Defs *defs, const char *name)
{
    for (int i = defs->len - 1; i >= 0; i--)
        if (!strcmp(defs->data[i]->def.name, name)) return defs->data[i];
    return NULL;
}

const char *kernel_names_text(Arena *a, int n, const Str *names)
{
    enum { SHOWN = 20 };
    Buf list = buf_make(a);
    for (int i = 0; i < n && i < SHOWN; i++) buf_printf(&list, "%s'%s'", i ? ", " : "", names[i]);
    if (n > SHOWN) buf_printf(&list, " and %d more", n - SHOWN);
    return buf_text(&list);
}

/* "jit" of "@triton.jit(…)" */
static Span decorator_name(Span function)
{
    Span at = function;
    const char *s = function.source->text;
    for (at.end = at.begin + 1;
         at.end < function.end && (s[at.end] == '.' || char_is_word(s[at.end])); at.end++)
        if (s[at.end] == '.') at.begin = at.end;
    at.begin++;
    return at;
}

/* The first function of a file without kernels: its decorator may be misspelt, or forgotten. */
static void note_function(Diags *dx, Diag *d, const AstFile *file)
{
    static const char *const jit = "jit";
    const Ast *f = NULL;
    for (int i = 0; i < file->body.len && !f; i++)
        if (file->body.data[i]->kind == AST_SKIPPED &&
            !strcmp(file->body.data[i]->skipped.what, "function"))
            f = file->body.data[i];
    if (!f) return;
    if (f->span.source->text[f->span.begin] != '@') {
        Span at = {f->span.source, f->span.begin, f->span.begin + 3};
        diag_note(dx, d, at, "put '@triton.jit' above a function that is one");
        return;
    }
    Span at = decorator_name(f->span);
    const char *word = span_text(dx->arena, at);
    diag_suggest(dx, d, at, word, nearest_word(word, &jit, 1));
}

/* Where the only function that no other calls returns a value; NULL: there are more such. */
static const Ast *returned_value(Arena *a, const Defs *defs, Str *name)
{
    Map mentioned;
    const Ast *found = NULL, **returns = read_bodies(a, defs, &mentioned);
    for (int i = 0; i < defs->len; i++) {
        if (map_get_ptr(&mentioned, defs->data[i]->def.name)) continue;
        if (found || !returns[i]) return NULL;
        found = returns[i];
        *name = defs->data[i]->def.name;
    }
    return found;
}

static void no_kernel_but(Diags *dx, const AstFile *file, const Defs *helpers)
{
    Str last = helpers->data[helpers->len - 1]->def.name, name = NULL;
    const Ast *at = returned_value(dx->arena, helpers, &name);
    if (at) {
        Diag *d = diag_error_as(dx, DIAG_UNKNOWN_KERNEL, at->span,
                                "'%s' returns a value, which only a helper does, and there is no "
                                "other kernel in '%s'",
                                name, file->source->name);
        diag_note(dx, d, SPAN_NONE, "a kernel returns nothing: write 'return' alone");
        return;
    }
    Diag *d = diag_error_as(dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
                            "the functions under @triton.jit of '%s' are helpers: they return a "
                            "value, or another one calls them; choose one by name",
                            file->source->name);
    diag_setting(dx, d, "kernel", "%s", last);
}

static const Ast *no_kernel(Diags *dx, const AstFile *file, const char *name, int n,
                            const Str *names, const Defs *helpers)
{
    const char *list = kernel_names_text(dx->arena, n, names), *where = file->source->name;
    if (!n && helpers->len) {
        no_kernel_but(dx, file, helpers);
    } else if (!n) {
        Diag *d = diag_error_as(
            dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
            "there is no kernel in '%s': a kernel is a function under @triton.jit", where);
        note_function(dx, d, file);
    } else if (!name) {
        Diag *d = diag_error_as(dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
                                "which kernel of '%s'? there are %s", where, list);
        diag_setting(dx, d, "kernel", "%s", names[0]);
    } else {
        Diag *d = diag_error_as(dx, DIAG_UNKNOWN_KERNEL, SPAN_NONE,
                                "there is no kernel '%s' in '%s'; there %s %s", name, where,
                                n == 1 ? "is" : "are", list);
        const char *near = nearest_word(name, names, n);
        diag_suggest(dx, d, SPAN_NONE, name, near);
        if (near) diag_setting(dx, d, "kernel", "%s", near);
    }
    return NULL;
}

const Ast *kernel_find(Diags *dx, const AstFile *file, const char *name)
{
    const Defs defs = collect(dx->arena, file);
    Str *names;
    const Ast *def = name ? last_named(&defs, name) : NULL;
    if (def) return def;
    int n = kernel_list(dx->arena, file, &names);
    if (!name && n == 1) return last_named(&defs, names[0]);
    return no_kernel(dx, file, name, n, names, &defs);
}

/* ---- parameters ---- */

typedef struct Alias {
    Str name;
    bool is_constexpr;
} Alias;

static bool is_named_constexpr(const Ast *e)
{
    return (e->kind == AST_NAME || e->kind == AST_ATTRIBUTE) &&
           !strcmp(kernel_last_name(e), "constexpr");
}

/* from triton.language import constexpr as NAME; NAME = tl.constexpr */
static bool visit_alias(const Ast *n, void *user)
{
    Alias *a = user;
    for (int i = 0; n->kind == AST_FROM && i < n->import.names.len; i++) {
        const Ast *x = n->import.names.data[i];
        a->is_constexpr |= x->alias.as == a->name && !strcmp(x->alias.name, "constexpr");
    }
    for (int i = 0; n->kind == AST_ASSIGN && i < n->assign.targets.len; i++) {
        const Ast *t = n->assign.targets.data[i];
        a->is_constexpr |= t->kind == AST_NAME && t->name.id == a->name &&
                           is_named_constexpr(n->assign.value);
    }
    return n->kind != AST_DEF && n->kind != AST_CLASS;
}

/* By what the word is alone, or in the file; in a string it need only stand. */
static bool says_constexpr(const Ast *n, void *user)
{
    const AstFile *file = user;
    if (n->kind == AST_STRING) return strstr(n->string.value, "constexpr") != NULL;
    if (is_named_constexpr(n)) return true;
    if (n->kind != AST_NAME || !file) return false;
    Alias a = {.name = n->name.id};
    walk_list(&file->body, visit_alias, &a);
    return a.is_constexpr;
}

bool kernel_is_constexpr(const AstFile *file, const Ast *a)
{
    return walk_any(a, says_constexpr, (void *)file);
}

const char *kernel_type_text(const char *string)
{
    string += strspn(string, " ");
    return string + (strncmp(string, "tl.", 3) == 0 ? 3 : 0);
}

/* "*fp32", "*fp32:16", "*fp16:16[M, N]": the type, and the number that follows it. */
static void read_string(Arena *a, const char *text, TkcParam *out)
{
    text = kernel_type_text(text);
    ParamType type;
    if (tkc_is_descriptor_type(text)) {
        if (!tkc_read_type(text, strlen(text), &type))
            out->type = arena_strndup(a, text, strcspn(text, ">") + 1);
        return;
    }
    size_t stars = strspn(text, "*"), n = stars;
    while (char_is_word(text[n])) n++;
    if (dtype_find(text + stars, n - stars) == DT_NONE) return;
    out->type = arena_strndup(a, text, n);
    const char *after = text + n + strspn(text + n, " ");
    if (*after == ':') out->divisibility = strtoll(after + 1, NULL, 10);
}

/* The name itself, as Python has it or as it is imported. */
static bool is_type_name(const Ast *annotation, const char *name)
{
    return annotation->kind == AST_NAME && !strcmp(annotation->name.id, name);
}

void kernel_param(Arena *a, const AstFile *file, const Ast *def, int i, TkcParam *out)
{
    const Ast *p = def->def.params.data[i], *says = p->param.annotation;
    *out = (TkcParam){.size = sizeof *out, .name = p->param.name};
    if (says) {
        out->is_constexpr = kernel_is_constexpr(file, says);
        const char *name = kernel_last_name(says);
        DType dt = dtype_find(name, strlen(name));
        if (says->kind == AST_STRING) read_string(a, says->string.value, out);
        else if (dt != DT_NONE &&
                 (says->kind == AST_ATTRIBUTE || is_type_name(says, dtype_info(dt)->name)))
            out->type = dtype_info(dt)->short_name;
        out->is_fixed = out->type && says->kind == AST_STRING;
        out->is_int = is_type_name(says, "int");
    }
    if (p->param.default_) out->default_ = span_text(a, p->param.default_->span);
}
