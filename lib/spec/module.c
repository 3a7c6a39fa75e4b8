/* Binding the names of files. Reading a file only notes which statement binds which name; a name is
   evaluated when a kernel first needs it, so that host code which does not concern kernels is never
   looked at.

   A name bound twice keeps both bindings in a chain: the last one counts, except that while a
   binding is being evaluated its own name means the one before (`f = jit(f)`), and that code which
   leads to nothing known gives way to the one before
   (`try: from a import f` … `except: from b import f`). rebind.c says when. */
#include "spec/module.h"

#include <string.h>

#include "spec/advice.h"
#include "spec/record.h"
#include "spec/std_files.h"
#include "spec/walk.h"

/* ---- namespaces ---- */

/* `*` stands for one name: the vendor, which is all the same to us. */
static const struct { const char *path; unsigned where[3]; } namespaces[] = {
    {"triton", {NS_TRITON}},
    {"tkc", {NS_TRITON}},
    {"triton.language", {NS_TL}},
    {"triton.language.core", {NS_TL}},
    {"triton.language.standard", {NS_TL}},
    {"triton.language.semantic", {NS_TL}},
    {"triton.language.semantic.builder", {NS_TRITON}},
    {"triton.language.random", {NS_TL}},
    {"triton.language.math", {NS_MATH, NS_LIBDEVICE, NS_TL}},
    {"triton.language.libdevice", {NS_LIBDEVICE, NS_MATH}},
    {"triton.language.target_info", {NS_TARGET}},
    {"triton.language.extra", {NS_EXTRA}},
    {"triton.language.extra.libdevice", {NS_LIBDEVICE, NS_MATH}},
    {"triton.language.extra.*", {NS_EXTRA}},
    {"triton.language.extra.*.gdc", {NS_EXTRA}},
    {"triton.language.extra.*.utils", {NS_EXTRA}},
    {"triton.language.extra.*.libdevice", {NS_LIBDEVICE, NS_MATH}},
    {"triton.profiler.language", {NS_PROFILE}},
    {"torch._inductor.runtime.triton_helpers", {NS_INDUCTOR}},
    {"torch._inductor.runtime.triton_helpers.libdevice", {NS_LIBDEVICE, NS_MATH}},
    {"torch._inductor.runtime.triton_helpers.math", {NS_MATH, NS_LIBDEVICE, NS_TL}},
};
enum { NNAMESPACES = sizeof namespaces / sizeof *namespaces };

/* Classes a kernel may name; the last floats are types of other chips: to compare with. */
static const char *const tl_classes[] = {
    "constexpr", "tensor", "dtype", "pointer_type", "block_type", "tuple", "void",
    "tensor_descriptor", "tensor_descriptor_base", "constexpr_type", "const", "slice",
    "function_type", "tuple_type", "tensor_descriptor_type", "float8e4b15", "float8e4b8",
    "float8e5b16", NULL};
enum { NCLASSES = sizeof tl_classes / sizeof *tl_classes - 1 };
static const char *const python_classes[] = {"int",  "float", "bool", "str",    "tuple",
                                             "list", "dict",  "type", "object", NULL};

static bool is_match(const char *pattern, const char *dotted)
{
    for (; *pattern; pattern++) {
        if (*pattern == '*') {
            if (!*dotted) return false;
            dotted += strcspn(dotted, ".");
        } else if (*pattern != *dotted++) {
            return false;
        }
    }
    return *dotted == 0;
}

static int namespace_of(const char *dotted)
{
    for (int i = 0; i < NNAMESPACES; i++)
        if (is_match(namespaces[i].path, dotted)) return i;
    return -1;
}

SpecModule *module_new(Program *p, ModuleKind kind, Str path)
{
    SpecModule *m = arena_new(p->arena, SpecModule);
    m->kind = kind;
    m->program = p;
    m->path = path;
    m->now = MODULE_END;
    map_init(&m->globals, p->arena);
    return m;
}

SpecModule *module_named(Program *p, const char *dotted)
{
    if (strncmp(dotted, "tkc.", 4) == 0) dotted = arena_printf(p->arena, "triton.%s", dotted + 4);
    Str name = intern_cstr(p->ir->names, dotted);
    SpecModule *m = map_get_ptr(&p->namespaces, name);
    if (m) return m;
    int row = namespace_of(name);
    m = module_new(p, row >= 0 ? MODULE_NAMES : MODULE_HOST, name);
    for (int i = 0; row >= 0 && i < 3; i++) m->where |= namespaces[row].where[i];
    map_set_ptr(&p->namespaces, name, m);
    return m;
}

static SpecValue class_value(Str name)
{
    return (SpecValue){.kind = SV_CLASS, .class_name = name};
}

/* A type under its full name only: tl.float32, not tl.fp32. */
static const Type *named_type(Program *p, Str name)
{
    if (strcmp(name, "pi32_t") == 0)
        return type_pointer(p->ir->types, type_scalar(p->ir->types, DT_I32));
    DType dt = dtype_find(name, str_len(name));
    return dt != DT_NONE && strcmp(dtype_info(dt)->name, name) == 0 ? type_scalar(p->ir->types, dt)
                                                                    : NULL;
}

static SpecValue tl_number(Str name)
{
    if (strcmp(name, "CONSTEXPR_0") == 0) return sv_int(0);
    return strcmp(name, "TRITON_MAX_TENSOR_NUMEL") == 0 ? sv_int(1 << 20) : sv_absent();
}

/* What is known of that value of the host's, or else the name alone. */
static SpecValue host_member(Spec *sp, const char *dotted)
{
    SpecModule *host = module_named(sp->program, dotted);
    SpecValue v = host_value(sp, host);
    return sv_is_absent(v) ? sv_module(host) : v;
}

static SpecValue find_in_namespace(SpecModule *m, Str name)
{
    Program *p = m->program;
    const char *dotted = arena_printf(p->arena, "%s.%s", m->path, name);
    int row = namespace_of(m->path);
    for (int i = 0; row >= 0 && i < 3 && namespaces[row].where[i]; i++) {
        const Builtin *b = builtin_find(namespaces[row].where[i], name);
        if (b) return (SpecValue){.kind = SV_BUILTIN, .builtin = b};
    }
    if (namespace_of(dotted) >= 0) return sv_module(module_named(p, dotted));
    const Type *type = m->where & NS_TL ? named_type(p, name) : NULL;
    if (type) return sv_type(type);
    if (m->where & NS_TL && str_among(name, tl_classes)) return class_value(name);
    if (m->where & NS_TL) return tl_number(name);
    if (!(m->where & NS_TRITON)) return sv_absent();
    Spec sp = spec_state(p, NULL);
    return host_member(&sp, dotted); /* triton.runtime and the like */
}

/* Remembers what it found: kernels ask for the same few names again and again. */
static SpecValue names_attribute(SpecModule *m, Str name)
{
    Global *g = map_get_ptr(&m->globals, name);
    if (g) return g->result;
    SpecValue v = find_in_namespace(m, name);
    if (sv_is_absent(v)) return v;
    g = arena_new(m->program->arena, Global);
    *g = (Global){.name = name, .state = GLOBAL_DONE, .result = v};
    map_set_ptr(&m->globals, name, g);
    return v;
}

/* ---- what statements bind ---- */

typedef struct BindJob {
    SpecModule *m;
    bool is_doubtful, is_tried;
    const Ast *unreached;
} BindJob;

static void bind_statements(BindJob j, const AstList *body);

static Global *bind(BindJob j, Str name, GlobalKind kind, const Ast *node, Span at)
{
    Arena *a = j.m->program->arena;
    Global *g = arena_new(a, Global);
    *g = (Global){.name = name, .kind = kind, .node = node, .at = at};
    g->is_doubtful = j.is_doubtful;
    g->is_tried = j.is_tried;
    g->unreached = j.unreached;
    g->previous = map_get_ptr(&j.m->globals, name);
    if (!g->previous) vec_push(a, &j.m->names, name);
    map_set_ptr(&j.m->globals, name, g);
    return g;
}

static void bind_targets(BindJob j, const Ast *node, const Ast *target, const Ast *value)
{
    AstNames names = {0};
    walk_target(j.m->program->arena, target, &names);
    for (int i = 0; i < names.len; i++) {
        Global *g = bind(j, names.data[i], GLOBAL_EXPR, node, target->span);
        g->target = target;
        g->value = value;
    }
}

/* `import a.b` binds a. */
static void bind_import(BindJob j, const Ast *n)
{
    const GlobalKind kind = n->kind == AST_FROM ? GLOBAL_FROM : GLOBAL_MODULE;
    for (int i = 0; i < n->import.names.len; i++) {
        const Ast *x = n->import.names.data[i];
        Str name = x->alias.name, as = x->alias.as;
        if (kind == GLOBAL_FROM && strcmp(name, "*") == 0) {
            if (!j.unreached) vec_push(j.m->program->arena, &j.m->stars, n);
            continue;
        }
        if (kind == GLOBAL_MODULE && !as) name = intern(j.m->program->ir->names, name, strcspn(name, "."));
        Global *g = bind(j, as ? as : name, kind, n, x->span);
        g->module = kind == GLOBAL_FROM ? n->import.module : name;
        g->member = name;
    }
}

/* 1 or 0, or -1 for a condition that is not known. */
static int truth_of(SpecModule *m, const Ast *cond)
{
    Spec sp = spec_state(m->program, NULL);
    const SpecValue v = module_try(&sp, m, cond);
    return sv_is_known(v) ? constant_is_true(v) : -1;
}

/* The arm that is executed; of a condition that is not known, both. Where evaluating it has to
   warn, as of a module that is not found, the other arm too, as what is not reached. */
static void bind_if(BindJob j, const Ast *n)
{
    const int unheard = j.m->program->dx->unheard, truth = truth_of(j.m, n->branch.cond);
    const AstList *body = &n->branch.body, *orelse = &n->branch.orelse;
    j.is_doubtful |= truth < 0;
    bind_statements(j, truth ? body : orelse);
    if (truth >= 0 && j.m->program->dx->unheard == unheard) return;
    if (truth >= 0) j.unreached = n;
    bind_statements(j, truth ? orelse : body);
}

/* The module that is not found because of which an import raises, or NULL. */
static SpecModule *missing_of(SpecModule *m, const Ast *n)
{
    if (n->kind == AST_FROM)
        return import_missing(import_module(m, n->import.level, n->import.module, n->span));
    SpecModule *missing = NULL;
    for (int i = 0; n->kind == AST_IMPORT && i < n->import.names.len && !missing; i++)
        missing = import_missing(import_module(m, 0, n->import.names.data[i]->alias.name, n->span));
    return missing;
}

/* An import that raises: of a module that is not found, or of what Triton does not have. */
static bool import_fails(SpecModule *m, const Ast *n)
{
    if (n->kind != AST_FROM || missing_of(m, n)) return missing_of(m, n);
    SpecModule *from = import_module(m, n->import.level, n->import.module, n->span);
    for (int i = 0; from->kind == MODULE_NAMES && i < n->import.names.len; i++) {
        Str name = n->import.names.data[i]->alias.name;
        if (strcmp(name, "*") != 0 && sv_is_absent(names_attribute(from, name))) return true;
    }
    return false;
}

static const Ast *failing_import(SpecModule *m, const AstList *body, int *at);

/* The import that ends a statement by raising. A `try` that fails goes on with its handler. */
static const Ast *failing_in(SpecModule *m, const Ast *n)
{
    const Ast *found;
    int at, truth;
    switch (n->kind) {
    case AST_FROM: case AST_IMPORT: return import_fails(m, n) ? n : NULL;
    case AST_WITH: return failing_import(m, &n->with.body, &at);
    case AST_IF:
        truth = truth_of(m, n->branch.cond);
        if (truth < 0) return NULL;
        return failing_import(m, truth ? &n->branch.body : &n->branch.orelse, &at);
    case AST_TRY:
        found = failing_import(m, &n->try_.body, &at);
        if (!found) return failing_import(m, &n->try_.orelse, &at);
        if (!n->try_.handlers.len) return found;
        return failing_import(m, &n->try_.handlers.data[0]->handler.body, &at);
    default: return NULL;
    }
}

/* The same of statements, in number *at of them; NULL, and *at their number, when none does. */
static const Ast *failing_import(SpecModule *m, const AstList *body, int *at)
{
    const Ast *found = NULL;
    for (*at = 0; *at < body->len; ++*at)
        if ((found = failing_in(m, body->data[*at]))) break;
    return found;
}

/* The last binding counts: that of the body, behind those of the handlers, to which it may give
   way. From an import that fails on nothing of it is reached. */
static void bind_try(BindJob j, const Ast *n)
{
    const Ast *outer = j.unreached;
    AstList before = n->try_.body, rest = n->try_.body;
    const Ast *failing = failing_import(j.m, &rest, &before.len);
    if (!failing) before.len = 0;
    rest.data += before.len;
    rest.len -= before.len;
    j.is_tried = true;
    bind_statements(j, &before);
    for (int i = 0; i < n->try_.handlers.len; i++)
        bind_statements(j, &n->try_.handlers.data[i]->handler.body);
    if (failing) j.unreached = failing;
    bind_statements(j, &rest);
    bind_statements(j, &n->try_.orelse);
    j.unreached = outer;
    bind_statements(j, &n->try_.finalbody);
}

static void bind_statement(BindJob j, const Ast *n)
{
    switch (n->kind) {
    case AST_ASSIGN:
        for (int i = 0; i < n->assign.targets.len; i++)
            bind_targets(j, n, n->assign.targets.data[i], n->assign.value);
        break;
    case AST_ANNASSIGN:
        if (n->annassign.value) bind_targets(j, n, n->annassign.target, n->annassign.value);
        break;
    case AST_AUGASSIGN:
        if (n->binary.left->kind == AST_NAME)
            bind(j, n->binary.left->name.id, GLOBAL_AUGMENT, n, n->span);
        break;
    case AST_IF: bind_if(j, n); break;
    case AST_TRY: bind_try(j, n); break;
    case AST_WITH: bind_statements(j, &n->with.body); break;
    case AST_FOR: case AST_WHILE: {
        AstNames names = {0};
        walk_assigned(j.m->program->arena, &(AstList){(Ast *[]){(Ast *)n}, 1, 1}, &names);
        for (int i = 0; i < names.len; i++) bind(j, names.data[i], GLOBAL_NODE, n, n->span);
        break;
    }
    case AST_DEF:
        /* What the file gives the name of a function within one is another thing. */
        if (n->def.is_method || (n->def.inside && map_get_ptr(&j.m->globals, n->def.name)))
            vec_push(j.m->program->arena, &j.m->methods, n);
        else bind(j, n->def.name, GLOBAL_NODE, n, n->def.name_span);
        break;
    case AST_CLASS: bind(j, n->class_.name, GLOBAL_NODE, n, n->class_.name_span); break;
    case AST_SKIPPED:
        for (int i = 0; i < n->skipped.names.len; i++)
            bind(j, n->skipped.names.data[i], GLOBAL_NODE, n, n->span);
        break;
    case AST_IMPORT: case AST_FROM: bind_import(j, n); break;
    default: break;
    }
}

static void bind_statements(BindJob j, const AstList *body)
{
    for (int i = 0; i < body->len; i++) bind_statement(j, body->data[i]);
}

SpecModule *module_for_file(Program *p, AstFile *file, bool is_std)
{
    Str path = intern_cstr(p->ir->names, file->source->name);
    SpecModule *m = module_new(p, MODULE_FILE, path);
    m->file = file;
    m->is_std = is_std;
    if (!is_std) map_set_ptr(&p->files, path, m);
    bind_statements((BindJob){.m = m}, &file->body);
    return m;
}

/* ---- evaluation ---- */

static SpecValue resolve(Spec *sp, SpecModule *m, Global *g, Span at);

/* A module's values are known while compiling, all the way down. */
static SpecValue settle(Spec *sp, SpecValue v, Span at)
{
    v = weaken(v);
    if (v.kind == SV_VALUE)
        return spec_error(sp, at, "a value at module level must be known at compile time, found %s",
                          spec_describe(sp, v));
    if (!sv_is_sequence(v)) return v;
    for (int i = 0; i < v.tuple->len; i++) v.tuple->data[i] = settle(sp, v.tuple->data[i], at);
    return v;
}

/* Evaluates what stands at the file's place `when`. */
static SpecValue eval_around(Spec *sp, SpecModule *m, Scope *around, uint32_t when, const Ast *e)
{
    const uint32_t now = m->now;
    Spec inner = spec_state(m->program, NULL);
    m->now = when;
    inner.stack_base = sp->stack_base;
    inner.steps = sp->steps;
    inner.depth = sp->depth + 1;
    Frame f;
    frame_push_module(&inner, &f, m, around);
    SpecValue v = settle(&inner, spec_eval(&inner, e), e->span);
    frame_pop(&inner, &f);
    sp->steps = inner.steps;
    m->now = now;
    return v;
}

/* What is not of the file, as a -D value, is evaluated when all of it is executed. */
SpecValue module_eval(Spec *sp, SpecModule *m, const Ast *e)
{
    const bool is_own = m->file && m->file->source == e->span.source;
    return eval_around(sp, m, NULL, is_own ? e->span.begin : m->now, e);
}

SpecValue module_eval_of(Spec *sp, const SpecFunc *fn, const Ast *e)
{
    return fn->closure ? eval_around(sp, fn->module, fn->closure, fn->made, e)
                       : module_eval(sp, fn->module, e);
}

SpecValue module_try_of(Spec *sp, const SpecFunc *fn, const Ast *e)
{
    SpecValue v;
    diag_quietly(sp->dx, v = module_eval_of(sp, fn, e));
    return v;
}

SpecValue module_try(Spec *sp, SpecModule *m, const Ast *e)
{
    return module_try_of(sp, &(SpecFunc){.module = m}, e);
}

/* The part of v that `name` gets when v is assigned to `target`. */
static SpecValue pick(Spec *sp, const Ast *target, Str name, SpecValue v, Span at)
{
    if (target->kind == AST_NAME) return v;
    SpecValue *items;
    int n = op_items(sp, v, &items, at);
    if (n < 0) return sv_error();
    if (n != target->list.len)
        return spec_error(sp, at, "cannot unpack %d values into %d names", n, target->list.len);
    for (int i = 0; i < n; i++) {
        AstNames names = {0};
        walk_target(sp->arena, target->list.data[i], &names);
        if (walk_has(&names, name)) return pick(sp, target->list.data[i], name, items[i], at);
    }
    return sv_error();
}

static bool is_skipped(const Ast *n, const char *what)
{
    return n->kind == AST_SKIPPED && strcmp(n->skipped.what, what) == 0;
}

/* A class that does not parse is known by its name alone. */
static SpecValue resolve_node(Spec *sp, SpecModule *m, Global *g, Span at)
{
    const Ast *n = g->node;
    const bool is_class = is_skipped(n, "class");
    if (is_class || is_skipped(n, "function")) {
        sp->dx->muted += is_class;
        n = syntax_parse_skipped(sp->arena, sp->names, sp->dx, m->file, n);
        sp->dx->muted -= is_class;
    }
    if (n && n->kind == AST_DEF) return sv_func(func_new(sp, g->name, n, m, NULL));
    if (n && n->kind == AST_CLASS) return record_class_of(sp, m, n);
    if (is_class) return class_value(g->name);
    if (!n) return sv_error();
    spec_error(sp, at, "'%s' is set by host code that is not run", g->name);
    return spec_note(sp, g->at, "this statement");
}

/* Every binding of the name waits for this one: the file imports it from itself, or in a circle. */
static bool is_circular(SpecModule *m, Str name)
{
    const Global *g = m->kind == MODULE_FILE ? map_get_ptr(&m->globals, name) : NULL;
    if (!g) return false;
    while (g && g->state == GLOBAL_BUSY) g = g->previous;
    return !g;
}

static SpecValue resolve_from(Spec *sp, SpecModule *m, Global *g, Span at)
{
    SpecModule *from = import_module(m, g->node->import.level, g->module, g->node->span);
    SpecModule *below = is_circular(from, g->member) ? import_submodule(from, g->member) : NULL;
    return below ? sv_module(below) : module_member(sp, from, g->member, at, g->at);
}

/* A function that host code made goes by the name that the file gives it: others of its definition
   are other functions. */
static SpecValue named_made(Spec *sp, SpecValue v, Str name)
{
    if (v.kind != SV_FUNC || !v.fn->closure || v.fn->def->kind != AST_DEF) return v;
    v.fn = arena_copy(sp->arena, v.fn, sizeof *v.fn);
    v.fn->name = name;
    return v;
}

static SpecValue compute(Spec *sp, SpecModule *m, Global *g, Span at)
{
    switch (g->kind) {
    case GLOBAL_EXPR:
        return named_made(
            sp, pick(sp, g->target, g->name, module_eval(sp, m, g->value), g->at), g->name);
    case GLOBAL_AUGMENT: {
        if (!g->previous) return sv_error();
        SpecValue old = resolve(sp, m, g->previous, at);
        return op_binary(sp, g->node->binary.op, old, module_eval(sp, m, g->node->binary.right),
                         g->at);
    }
    case GLOBAL_NODE: return resolve_node(sp, m, g, at);
    case GLOBAL_MODULE: return sv_module(import_module(m, 0, g->module, g->node->span));
    case GLOBAL_FROM: return resolve_from(sp, m, g, at);
    }
    return sv_error();
}

void module_import(Spec *sp, SpecModule *m, const Ast *import)
{
    SpecModule own = {.program = m->program};
    map_init(&own.globals, sp->arena);
    bind_statement((BindJob){.m = &own}, import);
    for (int i = 0; i < own.names.len; i++) {
        Global *g = map_get_ptr(&own.globals, own.names.data[i]);
        scope_set(sp->frame->scope, g->name, compute(sp, m, g, g->at), g->at);
    }
}

/* The value of one binding, whose failure is reported: as that of the name where it is due to a host
   value in its expression. */
static SpecValue compute_aloud(Spec *sp, SpecModule *m, Global *g, Span at)
{
    const Ast *e = g->kind == GLOBAL_EXPR      ? g->value
                   : g->kind == GLOBAL_AUGMENT ? g->node->binary.right
                                               : NULL;
    SpecModule *host = e && !sp->dx->muted ? rebind_host_part(sp, m, e) : NULL;
    if (!host || import_missing(host)) return compute(sp, m, g, at);
    SpecValue v;
    diag_quietly(sp->dx, v = compute(sp, m, g, at));
    return v.kind == SV_ERROR ? rebind_refuse_host(sp, g, host, at) : compute(sp, m, g, at);
}

/* The warnings of why a binding is not reached: n is what says so. */
static void tell_unreached(Spec *sp, SpecModule *m, const Ast *n)
{
    SpecModule *missing = missing_of(m, n);
    if (missing) import_warn(sp, missing, n->span);
    if (n->kind == AST_IF) module_eval(sp, m, n->branch.cond);
}

/* The value of one binding, or of an earlier one that leads somewhere. */
static SpecValue compute_or_earlier(Spec *sp, SpecModule *m, Global *g, Span at)
{
    if (!g->previous) return compute_aloud(sp, m, g, at);
    const int unheard = sp->dx->unheard;
    sp->dx->muted++;
    SpecValue v = compute(sp, m, g, at), earlier = sv_error();
    if (module_is_unknown(v) || g->is_doubtful || g->unreached)
        earlier = resolve(sp, m, g->previous, at);
    sp->dx->muted--;
    if (g->unreached && rebind_is_replaced(v, earlier)) {
        if (rebind_matters(v, earlier)) tell_unreached(sp, m, g->unreached);
        return sp->dx->muted ? earlier : resolve(sp, m, g->previous, at); /* once where all is */
    }
    if (module_is_unknown(v) && !module_is_unknown(earlier) && rebind_gives_way(g, earlier))
        return earlier;
    bool has_more_to_say = v.kind == SV_ERROR || sp->dx->unheard != unheard;
    if (has_more_to_say && !sp->dx->muted) v = compute_aloud(sp, m, g, at);
    return module_is_unknown(v) ? v : rebind_choose(sp, g, v, earlier, at);
}

static SpecValue resolve(Spec *sp, SpecModule *m, Global *g, Span at)
{
    Str name = g ? g->name : NULL;
    while (g && g->state == GLOBAL_BUSY) g = g->previous;
    if (!g) return spec_error(sp, at, "'%s' is defined through itself", name);
    if (g->state == GLOBAL_NEW) {
        if (!enter_nested(sp, at)) return sv_error();
        g->state = GLOBAL_BUSY;
        int unheard = sp->dx->unheard;
        SpecValue v = compute_or_earlier(sp, m, g, at);
        leave_nested(sp);
        g->result = v;
        /* What a muted attempt could not say is said when it is needed. */
        bool has_more_to_say = v.kind == SV_ERROR || sp->dx->unheard != unheard;
        g->state = has_more_to_say && sp->dx->muted ? GLOBAL_NEW : GLOBAL_DONE;
    }
    return g->result;
}

/* ---- lookup ---- */

/* The last binding of a name before what is evaluated now. */
static Global *binding_now(const SpecModule *m, Str name)
{
    Global *last = map_get_ptr(&m->globals, name), *g = last;
    if (!last || !last->previous) return last;
    while (g && g->node->span.end > m->now) g = g->previous;
    return g ? g : last;
}

static SpecValue lookup_own(Spec *sp, SpecModule *m, Str name, Span at)
{
    Global *g = binding_now(m, name);
    if (g) return rebind_changed(sp, m, g, resolve(sp, m, g, at), at);
    Str outer = m->star_name;
    SpecValue found = sv_absent();
    if (outer == name) return found; /* files that import all of each other */
    m->star_name = name;
    for (int i = m->stars.len - 1; i >= 0 && sv_is_absent(found); i--) {
        const Ast *n = m->stars.data[i];
        SpecModule *from = import_module(m, n->import.level, n->import.module, n->span);
        if (from->kind == MODULE_HOST || from == m) continue;
        if (!enter_nested(sp, at)) found = sv_error();
        else found = module_attribute(sp, from, name, at), leave_nested(sp);
    }
    m->star_name = outer;
    return found;
}

static SpecValue lookup_python(Spec *sp, SpecModule *m, Str name)
{
    static const char *const others[] = {
        "Exception", "ValueError", "TypeError", "RuntimeError", "AssertionError", "ImportError",
        "NotImplementedError", "KeyError", "IndexError", "OSError", "set", "frozenset", "iter",
        "next", "callable", "open", NULL};
    if (str_among(name, python_classes)) return class_value(name);
    const Builtin *b = builtin_find(NS_PYTHON, name);
    if (b) return (SpecValue){.kind = SV_BUILTIN, .builtin = b};
    if (strcmp(name, "__name__") == 0 || strcmp(name, "__file__") == 0) return sv_str(m->path);
    if (!str_among(name, others)) return sv_absent();
    return sv_module(module_named(sp->program, arena_printf(sp->arena, "builtins.%s", name)));
}

SpecValue module_lookup(Spec *sp, SpecModule *m, Str name, Span at)
{
    SpecValue v = lookup_own(sp, m, name, at);
    if (!sv_is_absent(v)) return v;
    if (m->is_std && strcmp(name, "tl") == 0)
        return sv_module(module_named(sp->program, "triton.language"));
    if (m->is_std) v = spec_std(sp, name);
    return v.kind == SV_FUNC ? v : lookup_python(sp, m, name);
}

SpecValue module_attribute(Spec *sp, SpecModule *m, Str name, Span at)
{
    SpecValue v = sv_absent();
    if (m->kind == MODULE_NAMES) return names_attribute(m, name);
    if (m->kind != MODULE_HOST) {
        v = lookup_own(sp, m, name, at);
        SpecModule *below = sv_is_absent(v) ? import_submodule(m, name) : NULL;
        return below ? sv_module(below) : v;
    }
    if (strcmp(m->path, "builtins") == 0) v = lookup_python(sp, m, name);
    if (!sv_is_absent(v)) return v;
    return host_member(sp, arena_printf(sp->arena, "%s.%s", m->path, name));
}

/* The full name of a type that is spelled in short, or nearly right: float32 of fp32. */
static const char *suggest_type(Str name)
{
    const char *all[DT_COUNT];
    int n = 0;
    DType dt = strcmp(name, "char") == 0   ? DT_I8
               : strcmp(name, "byte") == 0 ? DT_U8
               : strcmp(name, "uint") == 0 ? DT_U32
                                           : host_dtype(name, str_len(name));
    if (dt == DT_NONE) dt = dtype_find(name, str_len(name));
    if (dt != DT_NONE) return dtype_info(dt)->name;
    for (int i = DT_NONE + 1; i < DT_COUNT; i++) all[n++] = dtype_info((DType)i)->name;
    return nearest_word(name, all, n);
}

static const char *suggest_name(const SpecModule *m, Str name)
{
    if (m->kind == MODULE_NAMES) {
        const char *type = m->where & NS_TL ? suggest_type(name) : NULL;
        if (type) return type;
        const char *class = nearest_word(name, tl_classes, NCLASSES);
        const char *near = builtin_nearest(m->where, name);
        return near || !(m->where & NS_TL) ? near : class;
    }
    return nearest_word(name, m->names.data, m->names.len);
}

SpecValue module_member(Spec *sp, SpecModule *m, Str name, Span at, Span name_at)
{
    SpecValue v = module_attribute(sp, m, name, at);
    return sv_is_absent(v) ? module_refuse_name(sp, m, name, name_at) : v;
}

SpecValue module_refuse_name(Spec *sp, SpecModule *m, Str name, Span at)
{
    const char *near = suggest_name(m, name);
    const bool is_type = near && dtype_find(near, strlen(near)) != DT_NONE;
    const bool is_triton = m->kind == MODULE_NAMES && strncmp(m->path, "triton", 6) == 0;
    spec_error_as(sp, DIAG_UNKNOWN_ATTRIBUTE, at, "module '%s' has no '%s'", m->path, name);
    const bool is_advised = m->kind == MODULE_NAMES && !is_type && advise_name(sp, name);
    spec_suggest(sp, at, name, near);
    if (is_triton && !near && !is_advised)
        spec_note(sp, SPAN_NONE, "the names of Triton are known up to version 3.9; it may be newer");
    return sv_error();
}

bool module_evaluate(SpecModule *m, Diags *dx, const Ast *e, SpecValue *out)
{
    Diags *saved = m->program->dx;
    m->program->dx = dx;
    Spec sp = spec_state(m->program, NULL);
    *out = module_eval(&sp, m, e);
    m->program->dx = saved;
    return out->kind != SV_ERROR;
}

/* ---- the library ---- */

/* The library's file whose text defines the function, at the start of a line; NULL when none
   does. */
static const StdFile *std_file_of(Program *p, const char *name)
{
    const char *text = arena_printf(p->arena, "\ndef %s(", name);
    for (int i = 0; i < std_file_count; i++)
        if (strstr(std_files[i].text, text)) return &std_files[i];
    return NULL;
}

/* Texts of the library, files or made of rows of builtins.def, are parsed one by one, as their
   functions are called. NULL: none defines that one. */
static SpecModule *std_module_of(Program *p, Str name)
{
    const Builtin *b = builtin_expression(name);
    const StdFile *f = b ? NULL : std_file_of(p, name);
    const void *row = b ? (const void *)b : f;
    SpecModule *m = row ? map_get_ptr(&p->std, row) : NULL;
    if (!row || m) return m;
    const char *path = arena_printf(p->arena, "<tkc>/%s", b ? name : f->name);
    const char *text = b ? arena_printf(p->arena, "@jit\ndef %s(%s):\n    return %s\n", name,
                                        b->params, b->value)
                         : f->text;
    const Source *source = source_of_static(p->arena, path, text, b ? strlen(text) : f->len);
    m = module_for_file(p, syntax_parse(p->arena, p->ir->names, p->dx, source), true);
    map_set_ptr(&p->std, row, m);
    return m;
}

SpecValue spec_std(Spec *sp, const char *name)
{
    Str key = intern_cstr(sp->names, name);
    SpecModule *m = std_module_of(sp->program, key);
    return m ? lookup_own(sp, m, key, SPAN_NONE) : sv_error();
}
