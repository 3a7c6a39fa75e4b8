/* What the files of the API edge share: the context, and how a call runs. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/own_stack.h"
#include "ir/ir.h"
#include "syntax/ast.h"
#include "tkc/edge.h"

/* What tkc_last_error gives the thread. */
typedef struct LastError LastError;
struct LastError {
    pthread_t thread;
    char *text; /* malloc'ed */
    LastError *next;
};

struct TkcContext {
    TkcDiagnosticFn handler;
    void *user;
    pthread_mutex_t lock;     /* recursive: of everything below */
    LastError *last_errors;   /* one a thread */
    const char **include;     /* malloc'ed strings */
    int ninclude;
    bool has_import_hook;     /* `import` decides about imports; NULL: there are none */
    TkcImportFn import;
    void *import_user;
    int muted;                /* > 0: nothing is delivered */
    OwnStacks stacks;         /* what calls run on */
    bool color;               /* of what a handler is given rendered */
    atomic_bool cancelled;    /* from any thread */
    /* tkc_report: open while report_depth > 0 */
    int report_depth;
    Arena report_arena;
    Diags reports;
    DiagId report_id;         /* of the next; DIAG_NONE: its place tells */
};

struct TkcSource {
    TkcContext *cx;           /* kept */
    Arena arena;
    Interner *names;
    TkcLanguage language;
    bool has_folder;          /* it was read from a file: names are looked for around that */
    Source *source;
    AstFile *file;            /* TK */
    int nkernels;
    Str *kernels;             /* names, filled on first demand */
    bool kernels_known;
    const char *params_of;    /* the kernel whose parameters are these, "": the only one */
    const TkcParam *params;   /* NULL: none was asked for */
    int nparams;
};

/* Alive, and its context too. */
bool api_is_source(const TkcSource *source);

/* The work of one call: false after error diagnostics. */
typedef bool (*ApiWork)(Diags *dx, void *arg);

/* Runs work on a stack of our own with diagnostics collected in `arena`, catches what is raised,
   delivers everything to the handler and gives the status. */
TkcStatus api_run(TkcContext *cx, Arena *arena, const TkcOptions *options, ApiWork work, void *arg);
/* One error without place, delivered at once; gives TKC_MISUSE. cx NULL: nobody to tell. */
TkcStatus api_misuse(TkcContext *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For the handler, with what `rendered` says of it and its notes. */
const TkcDiagnostic *api_diagnostic(Arena *a, const Diag *d, const char *rendered);
/* Reads a whole file into the arena; NULL when it cannot be read, with *why its reason. */
char *api_read_file(Arena *a, const char *path, size_t *len, const char **why);
/* The same for an import of a source, when it may be read. *is_shown: diagnostics may quote its
   lines. */
const char *api_read_import(const TkcSource *source, Arena *a, const char *path, size_t *len, bool *is_shown);

/* ---- warning.c ---- */
/* Does what the options say of warnings and remarks; false after an error. */
bool api_switch_kinds(Diags *dx, const TkcOptions *options);
