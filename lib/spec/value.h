/* What an expression is worth during specialization: a compile-time value of Python's, or a
   run-time value in the IR. */
#pragma once

#include <stdbool.h>
#include "ir/ir.h"
#include "syntax/ast.h"
#include "tkc/edge.h"

typedef enum SvKind {
#define KIND(ID, class, description) SV_##ID,
#include "spec/values.def"
#undef KIND
} SvKind;

typedef struct SpecValue SpecValue;
typedef struct SpecFunc SpecFunc;
typedef struct SpecModule SpecModule;   /* module.h */
typedef struct Builtin Builtin;         /* builtin.h */

typedef struct RecordClass RecordClass; /* record.h */

typedef struct SpecTuple {
    SpecValue *data;
    int len;
    Str *names;                      /* RECORD: field names; else NULL */
    SpecValue *keys;                 /* RECORD that is a dict: what its keys are; else NULL */
    Str type_name;                   /* RECORD; else NULL */
    const RecordClass *record_class; /* of a user's class; else NULL */
    long size;                       /* constant_size; 0: not counted yet */
    int nesting;                     /* of sequences in sequences, counted with size */
} SpecTuple;
typedef struct SpecMethod { const Builtin *builtin; SpecValue *self; } SpecMethod;
typedef struct SpecSlice SpecSlice;
typedef struct SpecRange SpecRange;
typedef struct SpecBlockPtr SpecBlockPtr;

struct SpecValue {
    SvKind kind;
    bool is_torch;              /* a TYPE that PyTorch has, by whose name it is then printed */
    union {
        bool b;
        __int128 i;             /* Python's integers; arithmetic that leaves 128 bits is an error */
        double f;
        Str s;
        const Type *type;       /* of an ARRAY: the pointer's; a descriptor's is to a block */
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

struct SpecFunc {
    Str name;
    const Ast *def;          /* DEF or LAMBDA */
    SpecModule *module;      /* where its free names are looked up */
    struct Scope *closure;   /* the names around a lambda or a function in a function; else NULL */
    const SpecValue *self;   /* of a bound method: its first argument; else NULL */
    uint32_t made;           /* of one with a closure: its module's `now` then */
    const SpecValue *defaults; /* of one with a closure, where it was made; NULL: none of these */
    bool is_wrapped;         /* made a kernel's by a call: triton.jit(f) */
};

struct SpecRange {
    bool is_static;
    SpecValue lower, upper, step;
    int64_t stages; /* 0: as the kernel */
    int64_t unroll; /* below 2: not asked for */
    bool no_licm;
};

struct SpecSlice { SpecValue lo, hi, step; }; /* NONE: not given */

typedef struct Shape {
    int rank;
    int32_t dims[TKC_MAX_RANK];
} Shape; /* rank 0: a scalar */

enum { BLOCK_PTR_PARTS = 1 + 3 * TKC_MAX_RANK };
struct SpecBlockPtr {
    union {
        struct {
            Value *base;                  /* scalar pointer */
            Value *shape[TKC_MAX_RANK];   /* int64 scalars */
            Value *strides[TKC_MAX_RANK]; /* int64 scalars */
            Value *offsets[TKC_MAX_RANK]; /* int64 scalars; of descriptors NULL */
        };
        Value *parts[BLOCK_PTR_PARTS]; /* the same, for control flow that carries them; NULL: none */
    };
    Shape block;     /* extents of the block; its rank is that of all above */
    Padding padding; /* of descriptors: never PAD_NONE */
};

static inline SpecValue sv_error(void) { return (SpecValue){.kind = SV_ERROR}; }
/* An argument that is not given, a name that stands for nothing. */
static inline SpecValue sv_absent(void) { return (SpecValue){.kind = SV_ABSENT}; }
static inline bool sv_is_absent(SpecValue v) { return v.kind == SV_ABSENT; }
/* Its number is 0, its text NULL, its truth false. */
static inline SpecValue sv_none(void) { return (SpecValue){.kind = SV_NONE, .i = 0}; }
static inline SpecValue sv_bool(bool b) { return (SpecValue){.kind = SV_BOOL, .b = b}; }
static inline SpecValue sv_int(__int128 i) { return (SpecValue){.kind = SV_INT, .i = i}; }
static inline SpecValue sv_float(double f) { return (SpecValue){.kind = SV_FLOAT, .f = f}; }
/* What arithmetic gives: the sign of its NaN is the processor's, so it is left out. */
static inline SpecValue sv_computed(double f) { return sv_float(f == f ? f : __builtin_nan("")); }
static inline SpecValue sv_str(Str s) { return (SpecValue){.kind = SV_STR, .s = s}; }
static inline SpecValue sv_type(const Type *t) { return (SpecValue){.kind = SV_TYPE, .type = t}; }
/* NULL, which an error leaves, is poison. */
static inline SpecValue sv_value(Value *v)
{
    return (SpecValue){.kind = v ? SV_VALUE : SV_ERROR, .v = v};
}
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
/* A block pointer or descriptor. */
static inline bool sv_is_address(SpecValue v)
{
    return v.kind == SV_BLOCK_PTR || v.kind == SV_DESC;
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
/* type(v).__name__ */
const char *sv_class(SpecValue v);
/* What messages call every value of its kind, or NULL. */
const char *sv_description(SpecValue v);
/* A number, known or of the IR, or a block. */
static inline bool sv_is_operand(SpecValue v) { return v.kind == SV_VALUE || sv_is_number(v); }
/* True when nothing distinguishes them: the same IR value, or equal compile-time values. */
bool sv_is_same(SpecValue a, SpecValue b);
/* One value of the IR, or equal constants. */
bool sv_same_value(const Value *a, const Value *b);
/* One type for values that control flow may merge: same element, block extents and padding. */
bool sv_is_alike(const SpecBlockPtr *a, const SpecBlockPtr *b);
/* Records of one class, or with the same fields; tuples of one length. */
bool sv_is_same_class(const SpecTuple *a, const SpecTuple *b);
/* As many items, and it holds for each of the one and that of the other in its place. */
bool sv_all_pairs(const SpecTuple *a, const SpecTuple *b, bool (*is)(SpecValue a, SpecValue b));
/* Whether b may take a's place in the next turn of a loop, if its run-time leaves have their types. */
bool sv_is_same_form(SpecValue a, SpecValue b);
/* One of that type that is of no user's class: "dict". */
bool sv_is_record(SpecValue v, const char *type);
/* Where a record has a field of that name, or -1. */
int sv_find_field(const SpecTuple *t, Str name);
/* True when v has run-time parts that are not constants. */
bool sv_is_runtime(SpecValue v);
/* v with each leaf replaced: what is neither a sequence nor an address, and the parts of addresses;
   not what a class declares tl.constexpr. */
typedef SpecValue (*LeafFn)(void *ctx, SpecValue leaf);
SpecValue sv_map(Arena *a, SpecValue v, LeafFn fn, void *ctx);
/* Known while compiling, all the way down (a tuple of constants is; one that holds a run-time value
   is not). */
bool sv_is_constant(SpecValue v);
/* Such a value, and neither poison nor of the host alone. */
static inline bool sv_is_known(SpecValue v)
{
    return sv_is_constant(v) && v.kind != SV_ERROR && v.kind != SV_MODULE && v.kind != SV_ARRAY;
}
