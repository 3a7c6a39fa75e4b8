/* Specialization: executes everything compile-time of a kernel and builds the block IR of what remains.
   The evaluator (eval.h) calls what values do through operator.h and builtin.h, which call back through this header. */
#pragma once

#include "ir/build.h"
#include "spec/value.h"

/* ---- what the caller asks for ---- */
typedef struct SpecDefine { Str name; SpecValue value; } SpecDefine;   /* -D */
typedef VEC(SpecDefine) SpecDefines;
typedef struct SpecSig SpecSig;
struct SpecSig {
    Str name, part;
    ParamType type;
    int64_t divisibility;
    bool equal_one;
    bool is_tuple;  /* x=(*fp32, (i32, 4)); `type` says nothing */
    int nitems;
    SpecSig *items; /* without names; without a type where the value is known */
    SpecValue value;
};
/* -sig; part: "shape0" of a descriptor, or NULL; divisibility 0: not said */
typedef VEC(SpecSig) SpecSigs;

typedef struct SpecLimits { long steps, ops, length; int nesting, depth; } SpecLimits; /* budgets, DESIGN D4 */

/* What was found for a kernel: the parameters with a value known now, in order, as texts, and which
   configuration of @autotune, of how many, gave some of them. */
typedef struct SpecTaken {
    int nvalues;
    TkcDefine *values;
    int config, nconfigs; /* -1, 0: none */
} SpecTaken;

typedef struct SpecRequest {
    const char *kernel;         /* or NULL: the only one */
    SpecDefines defines;
    SpecDefines arguments;      /* known to @heuristics alone */
    SpecSigs sigs;
    bool is_for_all;            /* for several kernels, each of which has parameters of its own */
    const struct Machine *machine;
    int num_warps, num_stages;  /* 0: from the config or the defaults 4, 3 */
    bool fp_contract, debug, no_asserts, sanitize_overflow;
    SpecLimits limits;          /* zeros: the defaults */
    int ninclude; const char *const *include; /* -I directories, for imports */
    /* Reads a file for an import; NULL text when there is none. The caller owns nothing: text is in the arena. *is_shown: diagnostics
       may quote its lines. */
    const char *(*read_file)(void *user, Arena *a, const char *path, size_t *len, bool *is_shown);
    void *read_user;
    SpecTaken *taken; /* filled when a kernel is bound; may be NULL */
} SpecRequest;

/* ---- request.c: the same from text ---- */
/* "x=*fp32:16,n=i32,k=i32:1" appended to rq->sigs: `:N` is a divisibility (pointers in bytes), `:1`
   on an integer means it equals 1. "d=tensordesc<fp16[64, 128]>" is a tensor descriptor, and
   "d.shape1=i32:16" says what its extents or strides are divisible by. False after an error
   diagnostic. */
bool request_add_signature(SpecRequest *rq, Ir *ir, Diags *dx, const char *text);
/* Appends defines or arguments, each NAME and VALUE: a number, True, False, None, a quoted string, a
   dtype (tl.float16, fp16), a pointer type, a tuple of these, or the name of a function or constant
   of the file. False after an error diagnostic. */
bool request_add_values(SpecDefines *all, SpecModule *m, Ir *ir, Diags *dx, size_t n,
                        const TkcDefine *given);

/* ---- a file being specialized ---- */
SpecModule *spec_module(Ir *ir, Diags *dx, AstFile *file, const SpecRequest *rq); /* binds top-level names */
/* NULL after error diagnostics. Everything missing (types, constexprs) is asked for in one diagnostic that ends with the flags to add. */
Func *spec_kernel(SpecModule *m, const SpecRequest *rq);
/* The definition of that kernel and the file it is in. NULL after error diagnostics. */
const Ast *spec_definition(SpecModule *m, const SpecRequest *rq, const AstFile **file);
/* True when everything needed is known, so that spec_kernel can be tried (for -fsyntax-only). */
bool spec_is_complete(SpecModule *m, const SpecRequest *rq);
/* The same, and says what it needs if it is not: an error, or a warning that it was not checked. */
bool spec_ask(SpecModule *m, const SpecRequest *rq, bool is_error);
/* The configurations of a kernel's @autotune as texts, "BLOCK=64 num_warps=4"; their number. Those
   that are not known are left out. tuning: what it says beside them, but for the size. */
int spec_configs(SpecModule *m, const SpecRequest *rq, const char *const **texts,
                 TkcTuning *tuning);
/* Reports, once each, the names in jit functions that stand for nothing, without specializing. */
void spec_check_names(SpecModule *m);

/* ---- the state of one specialization ---- */
typedef struct Scope Scope;
typedef struct Frame Frame;  /* one call on the stack */
typedef struct Spec {
    Arena *arena;
    Ir *ir;
    Interner *names;
    Diags *dx;
    Func *fn;
    Builder b;               /* where ops go now; b.loc is kept by spec_at */
    Frame *frame;
    const SpecRequest *rq;
    SpecLimits limits;
    long steps;              /* spent */
    int depth, nesting;
    int elementwise;         /* calls open that tl.map_elementwise made */
    bool may_wrap;           /* tl.add(…, sanitize_overflow=False) is being made */
    /* of the evaluator alone */
    struct Program *program;
    const Ast *endless;      /* the function of the newest error about recursion */
    const Op *told_float;    /* what made a float of integers, in the newest error about that */
    Str told_word;           /* what no argument may be, in the newest error about that */
    Diag *last_error;        /* what spec_note adds to; NULL when it was dropped */
    const char *stack_base;  /* bounds recursion, whatever the input */
    bool out_of_budget;
} Spec;

/* ---- services of the evaluator, for builtins ---- */
/* Whether what is evaluated stands in a function of lib/std. */
bool spec_in_library(const Spec *sp);
/* Reports at `at` with a note for each inlined call that led there; gives poison. NULL-source spans fall back to the current statement. */
#define spec_error(sp, at, ...) spec_error_as(sp, (sp)->dx->id, at, __VA_ARGS__)
/* The same, giving false, NULL, or -1 for a number of things. */
#define spec_fail(sp, at, ...) (spec_error(sp, at, __VA_ARGS__), false)
#define spec_null(sp, at, ...) (spec_error(sp, at, __VA_ARGS__), NULL)
#define spec_count(sp, at, ...) (spec_error(sp, at, __VA_ARGS__), -1)
/* The same for what has a row of its own in base/diag_ids.def. */
SpecValue spec_report(Spec *sp, DiagId id, Span at, const char *text);
#define spec_error_as(sp, id, at, ...) spec_report(sp, id, at, arena_printf((sp)->arena, __VA_ARGS__))
/* The same for a budget that is spent: `option` of TkcOptions raises it. */
#define spec_limit(sp, option, at, ...)                                                            \
    (spec_error_as(sp, DIAG_LIMIT, at, __VA_ARGS__), diag_larger((sp)->dx, (sp)->last_error, option), sv_error())
/* The same, and ends all: nothing is evaluated any more. Gives false. */
#define spec_end(sp, ...) ((sp)->out_of_budget = true, spec_limit(sp, __VA_ARGS__), false)
/* These add to the error just reported; see base/diag.h. A note gives poison, as the error. */
#define spec_note(sp, at, ...)                                                                     \
    (diag_note((sp)->dx, (sp)->last_error, at, __VA_ARGS__), sv_error())
#define spec_fixit(sp, at, ...) diag_fixit((sp)->dx, (sp)->last_error, at, __VA_ARGS__)
#define spec_suggest(sp, at, word, near) diag_suggest((sp)->dx, (sp)->last_error, at, word, near)
void spec_warn(Spec *sp, DiagId id, Span at, const char *text);
#define spec_warning(sp, id, at, ...) spec_warn(sp, id, at, arena_printf((sp)->arena, __VA_ARGS__))
/* Makes ops built from now on come from `at`. */
void spec_at(Spec *sp, Span at);
SpecValue spec_eval(Spec *sp, const Ast *e);
/* v.name; the expression is at `at`, the name in it at name_at. */
SpecValue spec_member(Spec *sp, SpecValue v, Str name, Span at, Span name_at);
/* Calls any callable value with positional arguments (a reduce's combine function, a lambda). */
SpecValue spec_call(Spec *sp, SpecValue callee, int n, const SpecValue *args, Span at);
/* The file's function by name in lib/std, for builtins written in the language. */
SpecValue spec_std(Spec *sp, const char *name);
/* Spends one step of the budget; false (after a diagnostic, once) when it is gone. */
bool spec_step(Spec *sp, Span at);
/* What is made may have so many items; false after an error: "a string of more than 9 bytes". */
bool spec_fits(Spec *sp, __int128 n, const char *what, const char *items, Span at);
/* Spends what looking at `items` items of a string or sequence costs. */
bool spec_step_items(Spec *sp, long items, Span at);
/* Describes a value for a message: "block<128xfp16>", "the string 'abc'", "None", "int 5", "function 'f'". In the arena. */
const char *spec_describe(Spec *sp, SpecValue v);
