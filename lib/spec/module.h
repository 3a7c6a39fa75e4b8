/* Files and namespaces: what a name outside of any function stands for. */
#pragma once

#include "spec/spec.h"

typedef enum ModuleKind {
    MODULE_FILE,    /* a parsed file */
    MODULE_PACKAGE, /* a folder with files */
    MODULE_NAMES,   /* triton, triton.language, libdevice, … */
    MODULE_HOST     /* torch, math, and whatever else lives outside; also their attributes and the
                       results of calling them */
} ModuleKind;

typedef enum GlobalKind {
    GLOBAL_EXPR,    /* name = expression, or an element of it when it is unpacked */
    GLOBAL_AUGMENT, /* name += expression */
    GLOBAL_NODE,    /* a function, a class, or a statement that was not parsed */
    GLOBAL_MODULE,  /* import a.b as name */
    GLOBAL_FROM     /* from a.b import c as name */
} GlobalKind;

typedef struct Global Global;
struct Global {
    Str name;
    GlobalKind kind;
    const Ast *node;      /* the statement; NODE: itself; MODULE, FROM: the import */
    const Ast *target;    /* EXPR: of the targets, the one that binds the name */
    const Ast *value;
    Str module, member;   /* MODULE, FROM: dotted names */
    Span at;
    bool is_doubtful;     /* under a condition that is not known */
    bool is_tried;        /* in a try or its handlers */
    const Ast *unreached; /* not executed, because of this: an import that fails, or an `if` that
                             asks about one; or NULL */
    enum { GLOBAL_NEW, GLOBAL_BUSY, GLOBAL_DONE } state;
    SpecValue result;
    Global *previous;     /* an earlier binding of the name */
};

/* Where a kernel reads names: behind all statements. */
#define MODULE_END UINT32_MAX

/* A statement at a file's top that changes what a name stands for in place. */
typedef struct HostChange {
    Str name;
    Span at;
} HostChange;

struct SpecModule {
    ModuleKind kind;
    struct Program *program;
    Str path;             /* FILE, PACKAGE: path. NAMES, HOST: dotted name */
    AstFile *file;
    unsigned where;       /* NAMES: Namespace bits, in which its functions are looked up */
    bool is_std;
    uint32_t now;         /* FILE: what is evaluated stands here; or MODULE_END */
    Map globals;          /* name -> Global */
    VEC(Str) names;       /* in order of first sight */
    VEC(const Ast *) stars; /* from x import * */
    VEC(HostChange) changes; /* once has_changes */
    bool has_changes;
    VEC(const Ast *) methods; /* of its classes */
    Str star_name;        /* being looked for through them */
    const char *missing;  /* HOST: where its file was looked for; NULL: it is known to be outside */
    bool is_relative;     /* a missing one: looked for at one place only */
    bool is_refused;      /* a missing one: an error says so */
    bool is_told;         /* a missing one: a warning says what that decides */
    Span imported;        /* a missing one: by this */
};

/* What a global name stands for: in the file, among Python's own names. ABSENT when nothing is
   known. */
SpecValue module_lookup(Spec *sp, SpecModule *m, Str name, Span at);
/* m.name. ABSENT when there is no such thing; host modules have everything. */
SpecValue module_attribute(Spec *sp, SpecModule *m, Str name, Span at);
/* The same, or an error at name_at. */
SpecValue module_member(Spec *sp, SpecModule *m, Str name, Span at, Span name_at);
/* Reports that the module has no such name, with what was meant or why that may be. */
SpecValue module_refuse_name(Spec *sp, SpecModule *m, Str name, Span at);
/* An import in a function of the module that runs now. */
void module_import(Spec *sp, SpecModule *m, const Ast *import);
/* The namespace or host module of a dotted name. */
SpecModule *module_named(struct Program *p, const char *dotted);
/* With no names yet, and not known by any. */
SpecModule *module_new(struct Program *p, ModuleKind kind, Str path);
SpecModule *module_for_file(struct Program *p, AstFile *file, bool is_std);
/* Evaluates an expression of the module itself, such as a default; module_try reports nothing. */
SpecValue module_eval(Spec *sp, SpecModule *m, const Ast *e);
SpecValue module_try(Spec *sp, SpecModule *m, const Ast *e);
/* A decorator's expression, with the names around the function; `try` reports nothing. */
SpecValue module_eval_of(Spec *sp, const SpecFunc *fn, const Ast *e);
SpecValue module_try_of(Spec *sp, const SpecFunc *fn, const Ast *e);
/* The value of a compile-time expression in the file's names, such as a -D value. False after an
   error. */
bool module_evaluate(SpecModule *m, Diags *dx, const Ast *e, SpecValue *out);

/* Calling a host function, when its result is known; else ABSENT. */
SpecValue host_call(Spec *sp, SpecModule *callee, int n, const SpecValue *args, Span at);
/* A host value that kernels may read: math.pi, torch.float16, triton.__version__. ABSENT:
   unknown. */
SpecValue host_value(Spec *sp, SpecModule *m);
/* A type by PyTorch's name: half, float16, float8_e5m2. */
DType host_dtype(const char *name, size_t n);
/* PyTorch's type of those elements, and how it is printed: "torch.bool". */
SpecValue host_type(Spec *sp, DType dt);
Str host_type_text(Spec *sp, DType dt);

static inline bool module_is_host(SpecValue v)
{
    return v.kind == SV_MODULE && v.module->kind == MODULE_HOST;
}

/* Neither a value nor code: it is of the host's, or an error. */
static inline bool module_is_unknown(SpecValue v)
{
    return v.kind == SV_ERROR || module_is_host(v);
}

/* ---- import.c: which module an import means ---- */
/* Of `level` dots and a dotted name, never NULL: one that is not known is a host module. */
SpecModule *import_module(SpecModule *m, int level, const char *dotted, Span at);
/* A file in a package's folder, or NULL. */
SpecModule *import_submodule(SpecModule *m, Str name);
/* The module that was not found and that a host value is of, mylib of mylib.sub.f(), or NULL. */
SpecModule *import_missing(const SpecModule *m);
/* Warns, once, of an import that fails, or of a question whether one would, where the answer
   decides something. */
void import_warn(Spec *sp, SpecModule *missing, Span at);
/* Reports a host value that a kernel needs: `what` says of it why it cannot be used, unless it is of
   a module that was not found, which is said instead, once. */
void module_refuse(Spec *sp, const SpecModule *m, Span at, const char *what);
/* importlib.util.find_spec(dotted) in that module: None where an import of it fails. */
SpecValue module_find(Spec *sp, SpecModule *m, Str dotted, Span at);

/* ---- rebind.c: a name that is bound more than once ---- */
/* The last binding leads nowhere that is known: `earlier`, a known value, may stand for it. */
bool rebind_gives_way(const Global *g, SpecValue earlier);
/* v is what the last binding gives, a known value, and `earlier` what the one before does. The same
   v, after a warning where a condition decides between them; an error for data. */
SpecValue rebind_choose(Spec *sp, const Global *g, SpecValue v, SpecValue earlier, Span at);
/* v, which that binding of the name gave, or an error where a statement behind it, and before what is
   evaluated now, changes it in place. */
SpecValue rebind_changed(Spec *sp, SpecModule *m, const Global *g, SpecValue v, Span at);
/* v is what a binding that is not reached would give: True where `earlier` counts instead. */
bool rebind_is_replaced(SpecValue v, SpecValue earlier);
/* And whether that makes a difference, which a warning is to tell. */
bool rebind_matters(SpecValue v, SpecValue earlier);
/* The host value in the expression that an operator or an argument needs, or NULL. */
SpecModule *rebind_host_part(Spec *sp, SpecModule *m, const Ast *e);
/* Reports the use of a name whose value is computed from that host value. */
SpecValue rebind_refuse_host(Spec *sp, const Global *g, const SpecModule *host, Span at);
