/* The operations of the language: rows of builtins.def, found by namespace and name. */
#pragma once

#include "spec/spec.h"

/* Where a name is visible; a row may be in several. */
typedef enum Namespace {
    NS_TL = 1,          /* tl.load */
    NS_MATH = 2,        /* tl.math.exp */
    NS_LIBDEVICE = 4,   /* tl.extra.cuda.libdevice.pow */
    NS_METHOD = 8,      /* x.to: the first parameter is x */
    NS_TRITON = 16,     /* triton.cdiv */
    NS_PYTHON = 32,     /* min, len */
    NS_EXTRA = 64,      /* tl.extra.cuda.smid */
    NS_TARGET = 128,    /* tl.target_info */
    NS_DTYPE = 256,     /* x.dtype.is_fp16: the first parameter is the type */
    NS_DESC = 512,      /* methods of tensor descriptors: desc.load */
    NS_STR = 1024,      /* methods of compile-time strings */
    NS_PROFILE = 2048,  /* triton.profiler.language.scope */
    NS_INDUCTOR = 4096, /* torch's triton_helpers.welford */
    NS_INT = 8192,      /* methods of compile-time integers */
    NS_LIST = 16384,    /* of tuples and lists */
    NS_DICT = 32768,    /* of dicts */
    NS_HOST = 65536,    /* Python's math.gcd */
    NS_ITERTOOLS = 131072, /* and its itertools.product */
    NS_ARGUMENTS = 262144, /* methods of the arguments that @heuristics are given */
    NS_ARRAY = 524288      /* of arrays among them */
} Namespace;

typedef struct Arg { Str name; SpecValue value; Span span; } Arg; /* name NULL: positional */
typedef struct Args { Arg *data; int len, cap; bool has_error; } Args; /* positional ones first */

/* Arguments for parameters: a function's, an operation's, or the fields of a class. */
typedef struct Call {
    Str name;
    const Builtin *builtin;    /* or NULL */
    const char *method;        /* what messages call it when it is not `name`; or NULL */
    const AstList *params;
    const SpecValue *defaults; /* ABSENT: none; NULL: the parameters' own, in fn's file */
    const SpecFunc *fn;
    Span defined, at;          /* at: the whole call */
    const Args *given;
    SpecValue *args;           /* bound: one for each parameter, with its place */
    Span *spans;               /* of each argument; of the call where not given */
    int nrest; SpecValue *rest; /* of an operation: what *name takes */
    Args extra;                /* for **name */
} Call;

typedef SpecValue (*BuiltinFn)(Spec *sp, const Call *c);

struct Builtin {
    const char *name;
    unsigned where;       /* Namespace bits */
    BuiltinFn fn;         /* NULL: written in the language, in lib/std, under `std` */
    const char *std;      /* function in lib/std, which has the parameters; or NULL */
    const char *value;    /* instead of a text in lib/std: what the function returns; or NULL */
    const char *params;   /* "pointer, mask=None, other=None, boundary_check=(), …"; "*args" takes the rest */
    OpKind op;            /* which of them, of functions that several rows share */
};

const Builtin *builtin_find(unsigned where, const char *name);
/* The row that says what a function of the library returns, or NULL. */
const Builtin *builtin_expression(const char *function);
/* "tl.load": as messages call it. */
const char *builtin_title(Arena *a, const Builtin *b);
/* "libdevice.pow": how users reach an operation of that name, or NULL. */
const char *builtin_spelling(Arena *a, const char *name);
/* For suggestions: the nearest name in a namespace, or NULL. */
const char *builtin_nearest(unsigned where, const char *name);

/* The functions of builtins.def that are written in C. */
#define OPERATION(name, where, fn, op, params) SpecValue fn(Spec *sp, const Call *c);
#define STD_AS(name, where, function)
#define STD_IS(name, where, function, params, value)
#include "spec/builtins.def"
