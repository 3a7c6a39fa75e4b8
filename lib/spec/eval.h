/* What the evaluator's files share: the program, frames, and how control leaves a statement.

     spec.c     the public edge: a file, a kernel, diagnostics, budgets
     module.c   names of files, imports, namespaces; host.c: the few host values that kernels read
     bind.c     a kernel's parameters; annotation.c, config.c: what annotations and decorators say; names.c: -fsyntax-only
     arguments.c  what decorators' functions are given
     value.c    what holds for values of every kind
     expr.c     expressions          call.c   calls, inlining           record.c   classes
     stmt.c     statements           branch.c   if             loop.c   for, while
     merge.c    values at joins      scope.c  names         walk.c  searching trees
     place.c    parts of sequences */
#pragma once

#include "spec/builtin.h"
#include "spec/constant.h"
#include "spec/module.h"
#include "spec/operator.h"
#include "spec/scope.h"

/* ---- all files of one compilation ---- */
typedef struct Program {
    Arena *arena;
    Ir *ir;
    Diags *dx;
    const SpecRequest *rq;
    Map files;          /* path -> SpecModule */
    Map namespaces;     /* dotted name -> SpecModule */
    Map std;            /* StdFile -> SpecModule */
    Map signatures;     /* Builtin -> its parsed parameters (call.c) */
    Func *scratch;      /* where module-level expressions build what they should not */
    Map loops;          /* a loop's name, on one path of calls -> what it needs (loop.c) */
    Map entered;        /* DEF -> the user's own function that was called */
    VEC(const SpecFunc *) functions; /* the same, in the order of their first calls: the kernel first */
    SpecLimits limits;
    long work, next_look; /* steps of everything, and at how many the clock is looked at again */
} Program;

/* ---- control flow ---- */
typedef enum Flow {
    FLOW_NEXT,      /* on to the next statement */
    FLOW_BREAK,
    FLOW_CONTINUE,
    FLOW_RETURN,    /* the function has returned: frame->out */
    FLOW_MAYBE,     /* it has where frame->out.flag holds, at run time */
    FLOW_STOP       /* after an error, or where execution cannot get */
} Flow;

/* What a function returns, so far. */
typedef struct Outcome {
    SpecValue value;
    Span at;        /* the return statement */
    bool is_end;    /* the function's end was reached; `at` is the last statement */
    Value *flag;    /* MAYBE: int1 */
} Outcome;

/* Statements still to be done, innermost block first; ends at a loop or at a run-time branch. */
typedef struct Rest Rest;
struct Rest {
    const AstList *list; /* NULL: what follows cannot be reached from here (rest_cut) */
    int next;
    const Rest *outer;   /* NULL: the function's end */
};
extern const Rest rest_cut;

typedef enum LoopKind { LOOP_NONE, LOOP_UNROLLED, LOOP_RUNTIME } LoopKind;

struct Frame {
    const SpecFunc *fn;
    Scope *scope;
    SpecModule *module;
    Frame *caller;
    Span at;              /* the call that made it */
    const Loc *call_loc;  /* the same for ops */
    Span stmt;            /* being executed */
    const Loc *loc;       /* the last one made by spec_at */
    Outcome out;
    LoopKind loop;        /* the innermost */
    int branches;         /* run-time branches open inside that loop */
    int runtime_loops;    /* open in this call */
    bool is_host;         /* Python run at compile time: numbers stay untyped, loops run */
    bool raised;          /* a static assertion of this statement failed: none follows it */
    bool failed;          /* an error or poison was met, whether it was heard or not */
    uint64_t path;        /* identifies the chain of calls */
};

/* ---- stmt.c ---- */
Flow exec_block(Spec *sp, const AstList *body, const Rest *outer);
/* Executes what is left, up to the function's end: RETURN or STOP. */
Flow exec_rest(Spec *sp, void *rest);
/* A list of statements behind which this path ends for now. */
Flow exec_cut(Spec *sp, void *body);
/* The function's end is reached on the paths that have not returned: they return None. MAYBE becomes RETURN. */
Flow exec_fall_off(Spec *sp);
/* Reports that a function returns a value here and none where its end is reached; gives poison. */
SpecValue exec_lacks_value(Spec *sp, const Outcome *out);
/* Binds v to an assignment target. `weak` leaves numbers untyped. */
void assign(Spec *sp, const Ast *target, SpecValue v, bool weak, Span at);

/* ---- branch.c, loop.c ---- */
/* Gives every name that the statements assign an erroneous value. */
void poison_assigned(Spec *sp, const AstList *body);
Flow exec_if(Spec *sp, const Ast *s, const Rest *rest);
Flow exec_for(Spec *sp, const Ast *s);
Flow exec_while(Spec *sp, const Ast *s);
/* Runs `go` where frame->out.flag, the returned flag, does not hold. */
typedef Flow (*ArmFn)(Spec *sp, void *ctx);
Flow exec_unless_returned(Spec *sp, ArmFn go, void *ctx);
/* `a if c else b` under a run-time condition. */
SpecValue eval_branches(Spec *sp, Value *cond, const Ast *then, const Ast *orelse, Span at);
/* A block is a condition for each element, in the function of tl.map_elementwise. */
bool branch_is_by_element(const Spec *sp, SpecValue v);
/* A run-time scalar (or such a block) as an int1; NULL after an error. */
Value *branch_condition(Spec *sp, SpecValue v, Span at);

/* ---- expr.c ---- */
/* Evaluates without reporting anything. */
SpecValue spec_try(Spec *sp, const Ast *e);
/* strengthen, of numbers in tuples, too; what an aggregate holds stays. */
SpecValue strengthen_all(Spec *sp, SpecValue v, Span at);
/* The value a name is given, which then carries the name, for people to read and for the debugger. */
SpecValue name_value(Spec *sp, SpecValue v, Str name, Span at);
/* Evaluates, wanting a compile-time value; poison after an error that says what it was for. */
SpecValue eval_constant(Spec *sp, const Ast *e, const char *what);
/* 1, 0, -1 for what is known at run time only, -2 after an error. */
int condition_truth(Spec *sp, SpecValue v, Span at);
/* Reports a name that stands for nothing, with a suggestion. */
SpecValue eval_unknown_name(Spec *sp, Str name, Span at);
/* False, with a diagnostic, when the input is nested too deeply; each true is paired with leave_nested. */
bool enter_nested(Spec *sp, Span at);
void leave_nested(Spec *sp);

/* ---- call.c ---- */
SpecValue eval_call(Spec *sp, const Ast *e);
/* False after an error. */
bool bind_args(Spec *sp, Call *c);
/* Runs a class's __init__ and gives what `self` has become; poison after an error. */
SpecValue call_constructor(Spec *sp, const SpecFunc *init, SpecValue self, const Args *args, Span at);
/* A frame for evaluating a module's own expressions, or those of a function in it that has names
   `around` it; or NULL. */
void frame_push_module(Spec *sp, Frame *f, SpecModule *m, Scope *around);
void frame_pop(Spec *sp, Frame *f);
/* Calls a jit function with these values for its parameters, in order. */
SpecValue call_entry(Spec *sp, SpecFunc *fn, const SpecValue *values);
SpecFunc *func_new(Spec *sp, Str name, const Ast *def, SpecModule *m, Scope *closure);
const AstList *func_params(const SpecFunc *fn);

/* ---- spec.c ---- */
Spec spec_state(Program *p, Func *fn);

/* ---- names.c ---- */
/* Where a function that stands in one of host code's, which nobody called, reads a name of that
   one; or NULL. */
const Ast *spec_name_of_maker(Spec *sp, const SpecFunc *fn);

/* ---- place.c: assignment to a part of a tuple, list or record ---- */
/* x[index] = v for a sequence x; the whole target is at `at`. */
void place_set_item(Spec *sp, SpecValue x, SpecValue index, SpecValue v, Span at);
/* x.name = v for a record x. */
void place_set_field(Spec *sp, SpecValue x, Str name, SpecValue v, Span at);
/* l.append(v), l.extend(items), l.insert(i, v) as a statement. False when the call is none of these
   on a list. */
bool place_call(Spec *sp, const Ast *call);

/* ---- bind.c: a kernel's parameters ---- */
/* The function with its parameters and without a body, and a value for each parameter of the
   definition. NULL after error diagnostics; everything missing is asked for in one of them. */
Func *bind_kernel(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, SpecValue **values);
/* True when bind_kernel would have all it needs. What it lacks is said in one diagnostic: an error,
   or a warning that the kernel was not checked. */
bool bind_is_complete(Spec *sp, const SpecFunc *kernel, const SpecRequest *rq, bool is_error);
