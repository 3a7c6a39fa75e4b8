/* What the lowering asks of a target: everything a GPU has and a CPU has not. The lowering declares it;
   lib/target has it. */
#pragma once

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "tkc/ir.h"
#include "tkc/tkc.h"

typedef struct Lower Lower;
struct AsmRegisters; /* tkc/inline_asm.h */
struct MmaRow;       /* ir/dot_unit.h */

/* Instructions without an LLVM spelling, by name: see instr.def for what each computes. */
typedef enum Instr {
#define INSTR(ID, ...) INSTR_##ID,
#include "lower/instr.def"
#undef INSTR
    INSTR_COUNT
} Instr;

typedef enum Space { SPACE_GLOBAL, SPACE_SHARED } Space;

/* One load or store of `count` words of `bits` bits each at ptr + offset, done where pred is true
   (NULL: always). */
typedef struct Access {
    Space space;
    LLVMValueRef ptr;
    int64_t offset; /* bytes */
    LLVMValueRef pred;
    int count;         /* 1, 2 or 4 */
    int bits;          /* 8, 16, 32 or 64; 8-bit words travel in 16-bit registers */
    LLVMTypeRef word;  /* of each word */
    const char *cache; /* "", or a modifier as in ATTR_CACHE */
    const char *evict; /* "", or as in ATTR_EVICT */
    bool is_volatile;
    const char *sem, *scope; /* of an atomic access, else NULL */
} Access;

/* `bytes` (4, 8 or 16) from global to shared memory, on their way while the thread goes on; zeros where
   pred is false (NULL: never). Done where `acts` is true (NULL: always). */
typedef struct Copy {
    LLVMValueRef to, from;
    int64_t to_offset, from_offset;
    int bytes;
    LLVMValueRef pred, acts;
    LLVMValueRef there; /* i32: how many of the bytes are read; NULL: all, where pred holds */
} Copy;

/* A box of a matrix, as boxes of `columns` elements and `bytes` bytes side by side, to or from shared
   memory (a byte offset, i32, as of the barrier, which is told of the bytes that came). One thread of
   the warp that `acts` is true in has it done; the others `pass_by` with a branch, or come along. */
typedef struct BoxCopy {
    int map, rank, boxes, columns, bytes;
    LLVMValueRef index[TKC_DESCRIPTOR_RANK]; /* i32, of its first element: column, row, and outer dims */
    LLVMValueRef at, barrier, acts;
    bool pass_by;
} BoxCopy;

/* A read-modify-write where pred is true, of one element; of float additions of up to 16 bytes side
   by side. value2 is the new value of a compare-and-swap. */
typedef struct Atomic {
    Space space;
    LLVMValueRef ptr;
    int64_t offset;
    LLVMValueRef pred;
    const char *rmw; /* as in ATTR_RMW, or "cas" */
    const char *sem, *scope;
    DType dtype;
    int count;
    bool pair; /* each is a word of two fp16 */
    LLVMValueRef value2;
    LLVMTypeRef word; /* of each element, or pair */
} Atomic;

/* Waits until one element is `expected`, at most `timeout` nanoseconds (NULL: for ever) after
   `start`; where pred is false it does not. */
typedef struct Poll {
    LLVMValueRef ptr;
    int64_t offset;
    LLVMValueRef pred;
    const char *sem, *scope;
    LLVMValueRef expected, start, timeout;
} Poll;

enum { GROUP_A_WORDS = 4 /* of a's fragment, a step */ };

/* Of `tiles` times 64 rows by `columns`, over `steps` of k. Tile by tile: columns / 2 words of
   sums; of a, for each step the four words of its fragment or, in memory, a descriptor (64 bits),
   as always of b. *_across: memory has k along columns of 16 bytes, not along rows. fresh: sums
   begin at 0, whatever is in the words. */
typedef struct GroupMma {
    const struct MmaRow *row;
    int tiles, columns, steps;
    int each; /* words of a tile's sums that a thread has */
    bool a_in_registers, a_across, b_across, fresh;
    LLVMValueRef *a, *b, *sums;
} GroupMma;

/* A kernel's name as the target's assembly can spell it; names that differ stay different. */
const char *target_symbol(Arena *a, const char *name);
/* Gives the function its calling convention and launch bounds. False after a diagnostic: its
   parameters do not fit. */
bool target_kernel(Lower *L, LLVMValueRef fn);
/* No thread of it takes more registers. */
void target_limit_registers(Lower *L, LLVMValueRef fn, int most);
LLVMValueRef target_thread_id(Lower *L);
/* The same, which nobody takes for what was read before. */
LLVMValueRef target_thread_id_anew(Lower *L);
LLVMValueRef target_program_id(Lower *L, int axis);
LLVMValueRef target_num_programs(Lower *L, int axis);
/* All threads of the program arrive; shared memory written before is seen after. */
void target_barrier(Lower *L);
/* Where byte `offset` (i32) of the program's shared memory is: what Access.ptr is for
   SPACE_SHARED. */
LLVMValueRef target_shared(Lower *L, LLVMValueRef offset);
/* A lane of the warp: by its number, or by the bits in which that is not the own one's. */
typedef struct Lane { LLVMValueRef number, apart; } Lane;
/* One 32-bit word from another lane; every lane takes part. */
LLVMValueRef target_shuffle(Lower *L, LLVMValueRef word, Lane from);
/* Over all lanes, in one instruction: NULL when there is none for this op and type. */
LLVMValueRef target_warp_reduce(Lower *L, OpKind op, DType dt, LLVMValueRef word);
/* One matrix instruction: sum += a b, in the words of its fragments (linear/fragment.h); every lane
   takes part. */
void target_mma(Lower *L, const struct MmaRow *row, const LLVMValueRef *a, const LLVMValueRef *b,
                LLVMValueRef *sum);
/* Products of a warp group, on their way; and until all but those of the latest `pending` calls are
   done. What sums are is not to be touched until then: waiting passes them on, n of them; none where
   they are under way still. From hold_sums on, words that begin as they are stand for registers, and
   are nothing but such products' sums until they have been waited for; release_sums comes last. */
void target_hold_sums(Lower *L, int n, LLVMValueRef *sums);
void target_release_sums(Lower *L);
void target_group_mma(Lower *L, const struct GroupMma *m);
void target_group_wait(Lower *L, int pending, int n, LLVMValueRef *sums);
/* 32-bit words of `count` (1, 2 or 4) matrices in shared memory; this thread gives the address of a
   row of 16 bytes (linear/shared_matrix.h); every lane takes part. */
void target_load_rows(Lower *L, LLVMValueRef ptr, int64_t offset, int count, bool transposed,
                      LLVMValueRef *words);
/* pred: the same in all lanes; NULL always. */
void target_store_rows(Lower *L, LLVMValueRef ptr, int64_t offset, int count, bool transposed,
                       const LLVMValueRef *words, LLVMValueRef pred);
/* words: in, what stays where pred is false (ignored when pred is NULL); out, what was read. */
void target_load(Lower *L, const Access *at, LLVMValueRef *words);
void target_store(Lower *L, const Access *at, const LLVMValueRef *words);
void target_copy_async(Lower *L, const Copy *c);
/* From the matrix; and to it, without a barrier. */
void target_copy_box(Lower *L, const BoxCopy *c);
void target_store_box(Lower *L, const BoxCopy *c);
/* words: in, what the elements change by; out, what they were before, 0 where pred is false. */
void target_atomic(Lower *L, const Atomic *at, LLVMValueRef *words);
bool target_has_atomic(const Lower *L, const char *rmw, DType dt);
/* int1: whether it came to be so; it has read at least once. */
LLVMValueRef target_poll(Lower *L, const Poll *at);
bool target_has(const Lower *L, Instr instr);
LLVMValueRef target_instr(Lower *L, Instr instr, int nargs, const LLVMValueRef *args);
/* Text in the target's own assembly: one value of the given type for each output register, from
   one for each input register. */
void target_assembly(Lower *L, const Op *op, const struct AsmRegisters *regs,
                     const LLVMTypeRef *types, const LLVMValueRef *in, LLVMValueRef *out);
/* Writes one line for people: C's format over numbers of 64 bits, as long long or double. */
void target_print(Lower *L, const char *format, int n, const LLVMValueRef *args);
/* The launch fails with this message, at this place (NULL: not known). */
void target_fail(Lower *L, const char *message, const Loc *loc);
