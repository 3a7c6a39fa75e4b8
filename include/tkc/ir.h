/* The block IR, to read: what the compiler produces and the interpreter runs. Not installed; promises source only.
   Changes go through lib/ir/ir.h.

   A function holds one region; a region is a straight list of ops that ends in a terminator; control flow is ops with
   regions. Every value is defined once: by an op, or as an argument of a region. Everything is const after it is built
   except through lib/ir. */
#ifndef TKC_IR_H
#define TKC_IR_H

#include <stdbool.h>
#include <stdint.h>

#define TKC_MAX_RANK 8

/* ---- element types ---- */
typedef enum DType {
    DT_NONE,
#define DTYPE(ID, name, short_, other, bits, bytes, kind, exp, man) DT_##ID,
#include "tkc/dtypes.def"
#undef DTYPE
    DT_COUNT
} DType;

typedef enum DTypeKind { DK_NONE, DK_BOOL, DK_INT, DK_UINT, DK_FLOAT } DTypeKind;

typedef struct DTypeInfo {
    const char *name, *short_name, *other_name;
    uint8_t bits, bytes;
    DTypeKind kind;
    uint8_t exp_bits, man_bits;
} DTypeInfo;
/* Row of the table; DT_NONE gives a row of zeros. */
const DTypeInfo *tkc_dtype_info(DType dt);

/* ---- types ---- */
typedef struct Layout Layout; /* lib/linear; of a block NULL until layouts are assigned */

typedef enum TypeKind { TY_NONE, TY_ERROR, TY_SCALAR, TY_POINTER, TY_BLOCK, TY_SMEM } TypeKind;

typedef struct Type Type;
struct Type {
    TypeKind kind;
    DType dtype;                 /* SCALAR; for a BLOCK of scalars its element's; DT_NONE where pointers are meant */
    const Type *elem;            /* POINTER: pointee. BLOCK, SMEM: element (SCALAR or POINTER). Else NULL */
    int rank;                    /* BLOCK, SMEM: 1…TKC_MAX_RANK. Else 0 */
    int32_t shape[TKC_MAX_RANK]; /* logical extents, each >= 1 */
    const Layout *layout;        /* BLOCK: who holds what. SMEM: what lies where, never NULL */
    uint32_t id;
};

/* ---- ops ---- */
typedef enum OpKind {
    OP_NONE,
#define OP(ID, ...) OP_##ID,
#include "tkc/ops.def"
#undef OP
    OP_COUNT
} OpKind;

typedef enum OpTrait {
    OT_EW = 1, OT_COMMUTE = 2, OT_PURE = 4, OT_READ = 8, OT_WRITE = 16, OT_SIDE = 32, OT_TERM = 64, OT_SHAPE = 128, OT_CONST = 256,
    OT_MEM = 512, OT_TEN = 1024, OT_ATOMIC = 2048, OT_ARITH = 4096, OT_COMPARE = 8192, OT_SPECIAL = 16384, OT_LONG = 32768,
    OT_DESC = 65536
} OpTrait;
typedef enum OpDomain { DOM_ANY, DOM_NUM, DOM_INT, DOM_FLOAT, DOM_PTR } OpDomain;

typedef struct OpInfo {
    const char *name;
    int8_t min_args, max_args, nresults, nregions;
    unsigned traits;
    OpDomain domain;
} OpInfo;
const OpInfo *tkc_op_info(OpKind kind);

typedef enum AttrKey {
    ATTR_NONE,
#define ATTR(ID, name, kind) ATTR_##ID,
#include "tkc/attrs.def"
#undef ATTR
    ATTR_COUNT
} AttrKey;
typedef enum AttrKind { AK_NONE, AK_INT, AK_STR, AK_INTS } AttrKind;

typedef struct Attr {
    AttrKey key;
    int count;           /* INTS */
    union {
        int64_t i;
        const char *s;   /* interned */
        const int64_t *v;
    };
} Attr;
const char *tkc_attr_name(AttrKey key);
AttrKind tkc_attr_kind(AttrKey key);

typedef struct Op Op;
typedef struct Value Value;
typedef struct Region Region;
typedef struct Func Func;
typedef struct Use Use;
typedef struct Loc Loc;

/* Where an op comes from; `caller` is the call that inlined it, or NULL. */
struct Loc {
    const char *file;
    int line, col;
    const void *source;       /* base/source.h Source, or NULL */
    uint32_t begin, end;      /* byte range in it */
    const char *function;     /* the function this line is in */
    const Loc *caller;
};

struct Use {
    Value *value;
    Op *user;
    Use *next, *prev; /* the value's other uses */
};

struct Value {
    const Type *type;
    Op *def;          /* the op, or NULL for a region's argument */
    Region *region;   /* the region, for an argument; else NULL */
    int index;        /* which result or argument */
    uint32_t id;      /* dense in its function: [0, func->nvalues) */
    const char *name; /* the source's name for it, or NULL */
    Use *uses;
};

struct Op {
    OpKind kind;
    int nargs, nresults, nregions, nattrs;
    Use *args;        /* args[i].value */
    Value **results;
    Region **regions;
    Attr *attrs;
    Op *prev, *next;  /* in its region */
    Region *region;
    const Loc *loc;
};

struct Region {
    Op *parent;       /* NULL for the function's body */
    Func *func;
    int nargs;
    Value **args;
    Op *first, *last; /* last is the terminator once complete */
};

/* One run-time parameter. constexpr parameters are not here: they are gone. */
typedef struct Param {
    const char *name;
    const Type *type;
    bool is_const;         /* a pointer that nothing is stored through */
    int64_t divisibility;  /* known: pointers in bytes, integers by value; 1 when nothing is known */
    int rank;              /* declared extents; 0 when none */
    int64_t extent[TKC_MAX_RANK];       /* constant extent, or -1: then extent_param */
    int extent_param[TKC_MAX_RANK];     /* index of the parameter that holds it, or -1 */
    int64_t stride[TKC_MAX_RANK];       /* elements; -1: stride_param */
    int stride_param[TKC_MAX_RANK];     /* -1 too: row-major, the product of the extents after it */
} Param;

static inline bool tkc_is_box(const Op *op)
{
    return op->kind == OP_COPY_BOX || op->kind == OP_STORE_BOX;
}
/* The last operands of copy_box, counted from its end; store_box has the buffer alone. */
enum { BOX_BARRIERS = 1, BOX_NUMBER, BOX_BUFFER };
/* The buffer among the operands of an op that accesses one. */
static inline int tkc_buffer_operand(const Op *op)
{
    if (tkc_is_box(op)) return op->nargs - (op->kind == OP_COPY_BOX ? BOX_BUFFER : 1);
    return op->kind == OP_COPY_ASYNC;
}

/* What ops work on: blocks alone, or buffers in shared memory as well. At the memory level an
   atomic gives its result to the canonical holders only. */
typedef enum Level { LEVEL_TENSOR, LEVEL_MEMORY } Level;

struct Func {
    const char *name;
    int nparams;
    Param *params;        /* params[i] belongs to body->args[i] */
    Region *body;
    uint32_t nvalues;     /* ids are below this */
    int num_warps, num_stages;
    int max_registers;    /* of a thread; 0: lib/lower chooses */
    Level level;
    const struct Machine *machine; /* lib/ir/machine.h; the target */
    bool fp_contract;     /* products may fuse into sums on a GPU */
    bool debug;           /* -g: asserts act on a GPU */
    const Loc *loc;
    void *ir;             /* lib/ir: the tables this function's memory comes from */
};

static inline Value *op_arg(const Op *op, int i) { return op->args[i].value; }
static inline Value *op_result(const Op *op, int i) { return op->results[i]; }

/* NULL when the op does not have it. */
const Attr *tkc_op_attr(const Op *op, AttrKey key);
int64_t tkc_op_int(const Op *op, AttrKey key, int64_t otherwise);
const char *tkc_op_str(const Op *op, AttrKey key, const char *otherwise);

/* The dim of the operand that dim `dim` of a result was, of expand_dims, broadcast (which repeats the dims
   that have grown), trans, join, split and cat (along dim 0); -1: of none, it is new. */
int tkc_moved_dim(const Op *op, int dim);

/* Ops of a region and of the regions in it. */
int tkc_region_ops(const Region *r);

/* Number of elements of a block, 1 for a scalar. */
int64_t tkc_type_count(const Type *t);
/* The scalar or pointer type of a value's elements. */
const Type *tkc_type_element(const Type *t);
/* Elements that a buffer has room for; and where element `index` (row-major in the padded shape) lies
   while it holds the piece, -1 when it is not in it. */
int64_t tkc_smem_count(const Type *smem);
int64_t tkc_smem_offset(const Type *smem, int64_t piece, int64_t index);

#endif
