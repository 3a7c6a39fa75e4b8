/* From the block IR to per-thread LLVM IR: the context, and what the files of this folder give each
   other.

   A block is held by a program's threads as its layout says. In LLVM IR it is one value per
   register of the layout; a value is a base plus a constant (Reg), so that the addresses of one
   access after another share one base register and differ in the immediate of the instruction. A
   scalar is one value, the same in all threads. */
#pragma once

#include <llvm-c/Core.h>
#include "analysis/axis.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/machine.h"
#include "lower/estimate.h"
#include "lower/target.h"

/* The element v + imm + step: wrapping in its integer type; for a pointer imm counts bytes; 0 for
   anything else. step, of 64 bits, is the same in all threads; NULL for 0, as in all pointers. */
typedef struct Reg {
    LLVMValueRef v;
    int64_t imm;
    LLVMValueRef step;
} Reg;
/* n is the number of registers of the value's layout, 1 for a scalar. */
typedef struct Regs {
    Reg *r;
    int n;
} Regs;

/* A thread's number in its program and what follows from it alone. */
typedef struct Threads {
    LLVMValueRef number; /* i32 */
    LLVMValueRef before; /* where that is computed: before this instruction; NULL: in the entry block */
    Map *parts;          /* layout id and dim to ThreadPart, below */
} Threads;

struct Lower {
    const Func *fn;
    const Machine *machine;
    Arena *arena;
    Diags *dx;
    AxisFacts *facts;
    LLVMContextRef cx;
    LLVMModuleRef module;
    LLVMBuilderRef b;     /* where code goes */
    LLVMBuilderRef entry; /* end of the block that comes before all: thread ids, coordinates */
    LLVMBuilderRef aside; /* where coordinates are computed behind a loop */
    Threads threads;
    LLVMBuilderRef before; /* the innermost loop, out of which LLVM moves nothing by itself */
    Threads around;        /* as they are known there */
    LLVMValueRef kernel;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, global_ptr;
    LLVMValueRef first_warp; /* i1, likewise: it is of that one; of kernels with tensor maps */
    bool pass_by;            /* the other warps, in those, have a branch around what it asks for */
    Regs *values;        /* by value id */
    bool by_groups;      /* some product is a warp group's */
    bool streams;        /* it reads more than it computes: stream.c */
    Bitset early;        /* value ids of what is lowered first of its region */
    LLVMValueRef combines; /* i1, in a combine: both sides are real elements; NULL: always */
    uint32_t shared_bytes, shared_align;
    LLVMValueRef print_room; /* the target's, for what it prints; NULL until then */
    struct Product *begun; /* group.c: what is summed apart, and waited for next; NULL: nothing is */
    VEC(LLVMValueRef) held; /* what stands for registers of sums, by their numbers: the target's */
    Map scans; /* scan.c: of segments, by op to Scan */
    struct Turned *turned; /* turn.c: angles of this region whose sine or cosine is known */
    struct Lines *lines; /* lines.h; NULL: code is not marked with its place */
    bool too_large; /* a block that does not fit a thread's registers was reported */
    int64_t registers, next_look; /* of results so far; at how many the size is looked at again */
    int min_ptx; /* lowest version of the target's assembly that has all instructions used, or 0 */
};

/* ---- module.c ---- */
typedef struct LowerJob {
    LLVMContextRef cx;
    const Func *fn;
    const char *triple, *data_layout;
    bool line_info; /* mark each instruction with its place in the source */
} LowerJob;
typedef struct Lowered {
    LLVMModuleRef module;  /* of the context; the caller frees */
    LLVMValueRef kernel;
    const char *symbol;    /* the kernel's name in it */
    uint32_t shared_bytes; /* of a program */
    int min_ptx;           /* as in Lower */
    const Loc *const *locs; /* nlocs places that instructions are marked with */
    int nlocs;
} Lowered;
/* False after an error diagnostic. Raises when the call's limits are reached; a diagnostic says more
   then. */
bool lower_func(Lowered *out, const LowerJob *job, Arena *a, Diags *dx);
/* Of the code made so far. */
Size lower_size(LLVMValueRef fn);
/* Lowers the ops of a region up to its terminator, which it returns. */
const Op *lower_region(Lower *L, const Region *r);
/* Reports at the op; its results become zero, so that the rest can be looked at. */
void lower_refuse(Lower *L, const Op *op, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- value.c ---- */
/* Of a register of that element type: bfloat16 as i16, 8-bit floats as i8. */
LLVMTypeRef lower_dtype(const Lower *L, DType dt);
LLVMTypeRef lower_type(const Lower *L, const Type *ty);
int lower_nregs(const Type *ty);
LLVMValueRef lower_bits(const Lower *L, const Type *ty, uint64_t bits); /* a constant element */
Regs lower_regs_new(Lower *L, int n);
Regs lower_get(const Lower *L, const Value *v);
void lower_set(Lower *L, const Value *v, Regs regs);
void lower_set_all(Lower *L, const Value *v, LLVMValueRef x); /* in each of its registers */
/* v + imm + step as one value. */
LLVMValueRef lower_element(Lower *L, const Type *ty, Reg reg);
LLVMValueRef lower_reg(Lower *L, const Value *v, int r); /* of a scalar its only one */
LLVMValueRef lower_scalar(Lower *L, const Value *v);
LLVMValueRef lower_i32(const Lower *L, int64_t x);
bool lower_is_const(LLVMValueRef v, uint64_t *bits);
/* A pure call of an LLVM intrinsic overloaded on `over` (NULL: not overloaded). */
LLVMValueRef lower_intrinsic(Lower *L, const char *name, LLVMTypeRef over, int nargs,
                             const LLVMValueRef *args);
/* The same, and target_instr, of operands that are named one by one. */
#define lower_call(L, name, over, ...)                                                             \
    lower_intrinsic((L), (name), (over), LOWER_COUNT(__VA_ARGS__), (LLVMValueRef[]){__VA_ARGS__})
#define lower_instr(L, instr, ...)                                                                 \
    target_instr((L), (instr), LOWER_COUNT(__VA_ARGS__), (LLVMValueRef[]){__VA_ARGS__})
#define LOWER_COUNT(...) ((int)(sizeof((LLVMValueRef[]){__VA_ARGS__}) / sizeof(LLVMValueRef)))
LLVMAttributeRef lower_attribute(Lower *L, const char *name, uint64_t value);
/* An instruction in use needs this version of the target's assembly. */
void lower_need_ptx(Lower *L, int version);
/* AND of predicates where NULL is true. */
LLVMValueRef lower_and(Lower *L, LLVMValueRef a, LLVMValueRef b);
bool lower_is_false(LLVMValueRef pred);
void lower_place(Lower *L, LLVMBasicBlockRef block); /* code goes at the end of block from now on */
LLVMBasicBlockRef lower_block(Lower *L, const char *name); /* appended to the kernel */

/* ---- coord.c: which thread holds what ---- */
/* The part of a linear function of the thread that varies, as a value of a block before the code;
   mask: bits it may set. */
typedef struct ThreadPart {
    LLVMValueRef v;
    uint32_t mask;
} ThreadPart;
/* Where what follows from the number of a thread is computed. */
LLVMBuilderRef lower_aside(const Lower *L);
/* The number of a thread is read, in the entry block. */
void lower_threads(Lower *L);
/* The code that comes in this region reads the number of a thread anew, and what follows from it. */
void lower_threads_anew(Lower *L);
/* XOR of lane[i] and warp[i] over the set bits of the thread's lane and warp. Room for every bit of both. */
ThreadPart lower_thread_linear(Lower *L, const uint32_t *lane, const uint32_t *warp);
/* The part XOR a constant, as an i32. */
LLVMValueRef lower_thread_offset(Lower *L, ThreadPart part, uint32_t constant);
/* The same as an address: a value, and what is to be added to it as a constant goes to *imm. */
LLVMValueRef lower_thread_address(Lower *L, ThreadPart part, uint32_t constant, int64_t *imm);
/* Parity of the thread's bits in the masks, as an i1. */
LLVMValueRef lower_thread_parity(Lower *L, uint32_t lane_mask, uint32_t warp_mask);
/* True in threads that have none of these bits; NULL when the masks are empty. */
LLVMValueRef lower_thread_is_zero(Lower *L, uint32_t lane_mask, uint32_t warp_mask);
uint32_t lower_reg_coord(const Layout *l, int dim, uint32_t reg);
Reg lower_coord(Lower *L, const Layout *l, int dim, uint32_t reg);
/* Whether the register's element is inside the logical shape: NULL always, constant false never. */
LLVMValueRef lower_valid(Lower *L, const Type *ty, uint32_t reg);
/* Whether, besides, the mask (NULL: none), of a block or a scalar, allows it. */
LLVMValueRef lower_allowed(Lower *L, const Type *ty, const Value *mask, uint32_t reg);
/* Whether its coordinate along a dim is below the limit. */
LLVMValueRef lower_below(Lower *L, const Layout *l, int dim, uint32_t reg, uint32_t limit);
/* Whether it is inside the logical shape along one dim. */
LLVMValueRef lower_valid_along(Lower *L, const Type *ty, int dim, uint32_t reg);
/* True in the one thread that acts for all holders of an element (or for a scalar); NULL: every
   thread does. */
LLVMValueRef lower_canonical(Lower *L, const Type *ty);
/* Extra registers: r and r & ~mask hold one element. */
uint32_t lower_free_registers(const Type *ty);
/* How many registers hold different elements. */
int lower_distinct_registers(const Type *ty);

/* ---- pressure.c ---- */
/* The most registers a thread of the function, which has been lowered, should take, for the sake of
   programs that run beside; 0: as many as it likes. */
int pressure_limit(const Lower *L);

/* ---- stream.c ---- */
/* Of a kernel that reads more than it computes: what lets its loads overlap; of others 0. */
int stream_limit(const Lower *L);
/* Nothing that stands behind `load` is to be computed before it is asked for, and if it is_alone,
   nothing before it that no load needs, either. */
typedef struct Wall {
    Op *load; /* NULL: ptxas does as it likes */
    bool is_alone;
} Wall;
Wall stream_wall(const Lower *L, const Region *r);

/* ---- one function for each family of ops ---- */
typedef void LowerOp(Lower *L, const Op *op);
LowerOp lower_arith, lower_divide, lower_math, lower_sines, lower_cast, lower_bitcast, lower_addptr;
LowerOp lower_inline_asm;
LowerOp lower_hint, lower_splat, lower_shape, lower_convert;
LowerOp lower_load, lower_store, lower_atomic, lower_poll;
LowerOp lower_reduce, lower_scan, lower_carry, lower_sort, lower_dot, lower_dot_wait;
LowerOp lower_alloc, lower_sload, lower_sstore, lower_sload_at, lower_sstore_at, lower_satomic_at;
LowerOp lower_copy_async, lower_commit, lower_wait;
LowerOp lower_copy_box, lower_tma_begin, lower_tma_wait, lower_tma_free, lower_tma_end,
    lower_copy_arrive;
LowerOp lower_store_box, lower_store_commit, lower_store_wait;
/* The kernel's tensor maps come while it computes which boxes it wants. */
void lower_fetch_maps(Lower *L);
LowerOp lower_for, lower_while, lower_if, lower_print, lower_assert;
/* A block of a ring that only a matrix product reads, when it comes to that: it asks for elements one by
   one, and gets what one access moves. */
typedef struct RingReader RingReader;
bool lower_reads_late(const Op *op);
RingReader *lower_ring_open(Lower *L, const Op *op);
LLVMValueRef lower_ring_element(Lower *L, RingReader *r, int reg);

/* ---- elementwise.c ---- */
/* One result element from one element of each operand, operands in the order of the op. */
typedef LLVMValueRef (*LowerElement)(Lower *L, const Op *op, const LLVMValueRef *args);
/* Calls f once for each distinct combination of operand registers. */
void lower_elementwise(Lower *L, const Op *op, LowerElement f);
/* Two elements at a time, of each operand; the last may come alone, as both. */
typedef void (*LowerPair)(Lower *L, const Op *op, LLVMValueRef in[][2], LLVMValueRef out[2]);
/* Bits of a register's number without which it holds the same value; where they are 0 the element
   comes before the others. */
uint32_t lower_equal_registers(const Lower *L, const Value *v);
/* The same, once for two distinct combinations. */
void lower_elementwise_pairs(Lower *L, const Op *op, LowerPair f);
/* The offset of each register as a 64-bit value plus constant, where the facts prove that this does
   not change the sum. */
Regs lower_widen_int(Lower *L, const Value *v);

/* ---- arith.c, cast.c, math.c on single elements ---- */
/* An unsigned 32-bit product whose other half is taken, too. */
bool lower_is_half_product(const Op *op);
LLVMValueRef lower_arith_element(Lower *L, const Op *op, const LLVMValueRef *args);
LLVMValueRef lower_divide_element(Lower *L, const Op *op, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef lower_high_product(Lower *L, DType dt, LLVMValueRef x, LLVMValueRef y);
/* Of blocks of 16-bit floats, where the chip does two at a time. */
bool lower_is_pair_arith(const Lower *L, const Op *op);
void lower_arith_pair(Lower *L, const Op *op, LLVMValueRef in[][2], LLVMValueRef out[2]);
/* The bits of x as another type: of what is wider the low ones, above what is narrower zeros. */
LLVMValueRef lower_recast(Lower *L, LLVMValueRef x, LLVMTypeRef to);
LLVMValueRef lower_to_f32(Lower *L, DType dt, LLVMValueRef x);   /* exact; fp64 stays */
LLVMValueRef lower_from_f32(Lower *L, DType dt, LLVMValueRef x); /* to nearest even; fp64 stays */
LLVMValueRef lower_cast_element(Lower *L, DType from, DType to, bool toward_zero, LLVMValueRef x);
/* Of two that are in one word, or are to be, where that takes fewer instructions. */
void lower_cast_pair(Lower *L, DType from, DType to, bool toward_zero, const LLVMValueRef in[2],
                     LLVMValueRef out[2]);

/* ---- math64.c ---- */
LLVMValueRef lower_math64(Lower *L, OpKind kind, LLVMValueRef x);

/* ---- remainder.c ---- */
LLVMValueRef lower_float_remainder(Lower *L, LLVMValueRef x, LLVMValueRef y); /* fp32 or fp64 */

/* ---- shared.c: elements that travel between threads ---- */
LLVMValueRef lower_shuffle(Lower *L, LLVMValueRef x, Lane from);
/* `n` elements of one type at shared memory address (bytes, i32, aligned to all of them) + offset,
   as one access. */
void lower_shared_store(Lower *L, LLVMValueRef address, int64_t offset, int n,
                        const LLVMValueRef *xs, LLVMValueRef pred);
void lower_shared_load(Lower *L, LLVMValueRef address, int64_t offset, LLVMTypeRef ty, int n,
                       LLVMValueRef *xs);
/* The same of a warp's matrices (linear/shared_matrix.h): this thread gives the address of a row. */
void lower_shared_load_rows(Lower *L, LLVMValueRef address, int64_t offset, LLVMTypeRef ty, int n,
                            bool transposed, LLVMValueRef *xs);
/* pred: the same in all lanes. */
void lower_shared_store_rows(Lower *L, LLVMValueRef address, int64_t offset, int n, bool transposed,
                             const LLVMValueRef *xs, LLVMValueRef pred);
