/* What an expression is worth during specialization: a compile-time value of Python's, or a
   run-time value in the IR. */
#ifndef TKC_SPEC_VALUE_H
#define TKC_SPEC_VALUE_H

#include <stdbool.h>
#include "base/intern.h"
#include "ir/ir.h"
#include "ir/type.h"
#include "syntax/ast.h"

typedef enum SvKind {
    SV_ERROR,  /* poison: an error was reported where it arose; whatever touches it stays silent */
    SV_ABSENT, /* an argument that was not given and has no default */
    /* compile time */
    SV_NONE,
    SV_BOOL,
    SV_INT,
    SV_FLOAT,
    SV_STR,
    SV_TYPE, /* tl.float32, tl.pointer_type(tl.int8): also the value of x.dtype, x.type */
    SV_TUPLE,
    SV_LIST,
    SV_RECORD,  /* named tuple, or another object with named fields */
    SV_FUNC,    /* a jit function or lambda of the user's or of lib/std */
    SV_BUILTIN, /* a row of builtins.def */
    SV_METHOD,  /* a builtin bound to its first argument: x.to */
    SV_MODULE,  /* tl, tl.math, an imported file */
    SV_CLASS, /* tl.constexpr, tl.tensor, int, float, a user's class: to call, or for isinstance */
    SV_RECORD_CLASS, /* a user's class: to call, or for isinstance */
    SV_SLICE,
    SV_ELLIPSIS,
    SV_RANGE, /* range(…), tl.range(…), tl.static_range(…) */
    /* run time */
    SV_VALUE,     /* a scalar, pointer or block in the IR */
    SV_BLOCK_PTR, /* make_block_ptr */
    SV_DESC,      /* tensor descriptor */
    SV_COUNT
} SvKind;

typedef struct SpecValue SpecValue;
typedef struct SpecFunc SpecFunc;       /* spec.h */
typedef struct SpecModule SpecModule;   /* spec.h */
typedef struct Builtin Builtin;         /* builtin.h */

typedef struct RecordClass RecordClass; /* record.h */

typedef struct SpecTuple {
    SpecValue *data;
    int len;
    Str *names;                      /* RECORD: field names; else NULL */
    Str type_name;
    const RecordClass *record_class; /* of a user's class; else NULL */
    long size;                       /* constant_size; 0: not counted yet */
    int nesting;                     /* of sequences in sequences, counted with size */
} SpecTuple;
typedef struct SpecMethod { const Builtin *builtin; SpecValue *self; } SpecMethod;
typedef struct SpecSlice { SpecValue *lo, *hi, *step; } SpecSlice;
typedef struct SpecRange SpecRange;     /* spec.h */
typedef struct SpecBlockPtr
    SpecBlockPtr; /* builtin_memory.c: base, shape, strides, offsets, block shape, order */

struct SpecValue {
    SvKind kind;
    union {
        bool b;
        __int128 i;             /* Python's integers; arithmetic that leaves 128 bits is an error */
        double f;
        Str s;
        const Type *type;
        SpecTuple *tuple;       /* TUPLE, LIST, RECORD: never changed after it is made */
        SpecFunc *fn;
        const Builtin *builtin;
        SpecMethod *method;
        SpecModule *module;
        Str class_name;         /* "constexpr", "tensor", "int", … */
        const RecordClass *record_class;
        SpecSlice *slice;
        SpecRange *range;
        Value *v;
        SpecBlockPtr *block_ptr;
    };
};

static inline SpecValue sv_error(void) { return (SpecValue){.kind = SV_ERROR}; }
static inline SpecValue sv_none(void) { return (SpecValue){.kind = SV_NONE}; }
static inline SpecValue sv_bool(bool b) { return (SpecValue){.kind = SV_BOOL, .b = b}; }
static inline SpecValue sv_int(__int128 i) { return (SpecValue){.kind = SV_INT, .i = i}; }
static inline SpecValue sv_float(double f) { return (SpecValue){.kind = SV_FLOAT, .f = f}; }
/* What arithmetic gives: the sign of its NaN is the processor's, so it is left out. */
static inline SpecValue sv_computed(double f) { return sv_float(f == f ? f : __builtin_nan("")); }
static inline SpecValue sv_str(Str s) { return (SpecValue){.kind = SV_STR, .s = s}; }
static inline SpecValue sv_type(const Type *t) { return (SpecValue){.kind = SV_TYPE, .type = t}; }
static inline SpecValue sv_value(Value *v) { return (SpecValue){.kind = SV_VALUE, .v = v}; }
static inline SpecValue sv_tuple(SvKind kind, SpecTuple *t)
{
    return (SpecValue){.kind = kind, .tuple = t};
}
static inline SpecValue sv_module(SpecModule *m)
{
    return (SpecValue){.kind = SV_MODULE, .module = m};
}
static inline SpecValue sv_func(SpecFunc *fn) { return (SpecValue){.kind = SV_FUNC, .fn = fn}; }
/* A BOOL's or INT's number. */
static inline __int128 sv_integer(SpecValue v) { return v.kind == SV_BOOL ? v.b : v.i; }
static inline bool sv_is_error(SpecValue v) { return v.kind == SV_ERROR; }
/* TUPLE, LIST or RECORD. */
static inline bool sv_is_sequence(SpecValue v)
{
    return v.kind == SV_TUPLE || v.kind == SV_LIST || v.kind == SV_RECORD;
}
static inline bool sv_is_pointer(SpecValue v)
{
    return v.kind == SV_VALUE && type_is_pointer(v.v->type);
}
/* A sequence's items, or v as the only one; how many. */
static inline int sv_items(SpecValue *v, SpecValue **items)
{
    bool are_many = sv_is_sequence(*v);
    *items = are_many ? v->tuple->data : v;
    return are_many ? v->tuple->len : 1;
}
/* BOOL, INT or FLOAT. */
static inline bool sv_is_number(SpecValue v) { return v.kind >= SV_BOOL && v.kind <= SV_FLOAT; }
/* Known while compiling, all the way down (a tuple of constants is; one that holds a run-time value
   is not). */
bool sv_is_constant(SpecValue v);
/* Such a value, and neither poison nor of the host. */
static inline bool sv_is_known(SpecValue v)
{
    return sv_is_constant(v) && v.kind != SV_ERROR && v.kind != SV_MODULE;
}

#endif
