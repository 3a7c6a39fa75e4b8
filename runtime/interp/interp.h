/* The interpreter of the block IR: the reference semantics, and the cpu device's engine.

   A function is prepared once: every op becomes an instruction, every value a slot in a frame. Each
   thread has a frame and runs whole programs in it, one instruction after the other, each one loop
   over the elements of its block.

   Slots. A value's elements lie one after the other, row-major, without padding, in the element's
   memory format (int1: a byte 0 or 1; pointers: 8 bytes). A `uniform` value stores one element that
   stands for all. Views (expand_dims, reshape, hint, splat) share their operand's slot. Slots whose
   lives do not overlap share memory.

   Vectors. Inside the region of a reduce or scan, scalars are vectors: the region runs once for
   many pairs of elements. An instruction therefore takes the number of elements from its result's
   slot, or, there, from the frame.

   Programs run on all cores. Where they can see each other (atomics, volatile loads) or print, they
   run one at a time instead, in an order fixed by the seed: turn.c.

   Invariants. Instructions that depend on constants and arguments only run once per frame, before
   its first program. */
#pragma once

#include <stdatomic.h>
#include "device/device.h"
#include "device/memory.h"
#include "shadow.h"

typedef struct Interp Interp;
typedef struct Insn Insn;
typedef struct Frame Frame;
typedef struct DebugInfo DebugInfo; /* debug.h */
typedef struct DebugFrame DebugFrame;

/* Where a value is. */
typedef struct Slot {
    uint32_t offset; /* into the frame's memory */
    int64_t count;   /* elements it stands for */
    bool uniform;    /* one stored */
    uint8_t size;    /* bytes of an element */
    DType dtype;     /* DT_NONE: pointers, stored as uint64 */
    uint32_t offset_id; /* of a value that leads to addresses, and its views: overflow.c; 0:
                           it does not */
} Slot;

typedef struct Body {
    Insn *insns;
    int n;
} Body;

typedef void (*InsnFn)(Frame *f, const Insn *in);

/* Elementwise loops; `u` says which operands are uniform: bit i for operand i. */
typedef void (*LoopFn)(void *out, const void *const *args, int64_t n, unsigned u);

enum { INSN_ARGS = 6 };
struct Insn {
    InsnFn run;
    LoopFn loop; /* elementwise; atomics: of one lane */
    const Op *op;
    int nargs, nresults;
    const Slot **args; /* nargs */
    const Slot **results;
    Body *bodies;            /* of its regions */
    const Slot ***body_args; /* slots of each region's arguments */
    const Body *body;        /* the list it is in */
    bool in_vector;          /* inside the region of a reduce or scan */
    InsnFn plain;            /* overflow.c: what run was */
    InsnFn inner;            /* debug.c: what run was */
    /* op-specific */
    int64_t n[4];
    const Slot *base, *offsets; /* load, store: pointers that are a scalar plus offsets */
    const Slot *rows; /* load, store: pointers that are one for each row plus `offsets`, one for
                         each column and in order; with base, offsets from it are such a sum: */
    const Op *sum;
    bool in_order; /* each offset (of an access) or lane (of a sum) is one more than the one before,
                      int32's wrapping aside */
    int param;     /* load, store, atomics: the parameter all its pointers come from, or -1 */
    const void *extra;
    uint32_t number; /* load, store, atomics: which of them */
};

struct Interp {
    const Func *fn;
    Slot *slots;         /* by value id */
    Body prologue, body; /* invariants; one program */
    size_t frame_bytes;
    uint32_t noffsets; /* Slot.offset_id is at most this */
    bool in_turn;   /* one program at a time: they may wait for each other */
    bool has_print; /* one program at a time, in the order of their numbers */
    DebugInfo *debug; /* NULL: not for debugging */
    struct Owned *memory; /* what the above is made of: grow.h */
};

/* NULL after a report, with *status; frees with interp_free. debugger NULL: not to be debugged. */
Interp *interp_prepare(TkcContext *cx, const Func *fn, const Debugger *debugger, TkcStatus *status);
void interp_free(Interp *in);

/* ---- one launch ---- */
typedef struct Turns Turns;
typedef struct Launch {
    const Interp *in;
    TkcDevice *dev;
    const MemMap *memory;
    int64_t grid[3];
    const LaunchArg *args;
    const MemRange *ranges; /* by parameter: what may be reached through it; empty when nothing */
    atomic_int stop;        /* programs end at the next loop iteration or op that can fail */
    atomic_llong next;      /* next program to be taken */
    Turns *turns;           /* NULL: programs run in parallel */
    uint8_t *synced;        /* by program, when they may wait for each other: check.c */
    Race race;              /* the least found */
    double deadline;        /* seconds of CLOCK_MONOTONIC; 0: none */
    /* the error of the lowest program, so that it does not depend on threads */
    void *mutex;
    int64_t error_program;
    const Loc *error_loc, *note_loc;
    char error_text[512], note_text[256]; /* no note: empty */
} Launch;

/* Memory that grows. */
typedef struct FrameBuffer {
    char *data;
    size_t cap;
} FrameBuffer;

typedef struct Runner Runner;
typedef struct Overflow Overflow;
struct Frame {
    Launch *launch;
    Runner *runner; /* whose turn it is while the frame runs; NULL without turns */
    char *memory;
    int64_t pid[3];
    int64_t program; /* linear number of the program, for the order of errors */
    int64_t vector;  /* elements of a vector in a reduce's region */
    uint64_t steps;
    uint64_t readings; /* of clocks by inline assembly, in this program */
    const MemRange *last; /* the range the newest access was in */
    bool failed;
    Overflow *overflow; /* NULL: arithmetic may wrap */
    FrameBuffer scratch, moves;
    Race race; /* the least it found */
    DebugFrame *debug;
};

TkcStatus interp_launch(TkcDevice *dev, const Interp *in, const MemMap *memory,
                        const int64_t grid[3], const LaunchArg *args);

/* ---- programs: interp.c ---- */
bool frame_open(Frame *f, Launch *l); /* false: no memory */
void frame_close(Frame *f);
/* Runs programs until there are none left or one has failed. */
void launch_work(Frame *f);
/* Programs that no thread has taken yet. */
bool launch_has_more(Launch *l);

/* ---- taking turns: turn.c ---- */
/* Runs all programs of a launch one at a time. False: no memory. */
bool turns_run(Launch *l);
/* After a round of a `while` loop or a poll: lets other programs run. `stuck`: the next round will do exactly
   what this one did unless the memory changes; then it does not return before that, and if no
   program can change it, the frame has failed. */
void turns_yield(Frame *f, const Insn *in, bool stuck);
/* Lets others run until memory changes. False: nobody can change it. */
bool turns_wait(Frame *f);
/* Changes of memory so far. */
uint64_t turns_changes(const Frame *f);
void turns_note_change(Frame *f);

/* ---- what the instruction files share ---- */
void interp_run(Frame *f, const Body *body);
/* Of an element: a scalar or a pointer. */
static inline int element_bytes(const Type *t)
{
    return t->kind == TY_POINTER ? 8 : tkc_dtype_info(t->dtype)->bytes;
}
/* Ends the program (and the launch) with an error at the instruction. */
void interp_fail(Frame *f, const Insn *in, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void interp_no_memory(Frame *f, const Insn *in);
enum { PLACE_TEXT = 200 };
/* "element 3 of 'y' (8 elements)", or what it is called where the parameter is not known (-1). */
const char *interp_place(const Launch *l, int param, uint64_t address, int64_t size,
                         char text[PLACE_TEXT]);
/* To the error that the frame has just failed with. loc may be NULL. */
void interp_note(Frame *f, const Loc *loc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* True when another program has failed: then the frame is failed. */
bool interp_stopped(Frame *f);
/* Valid until the instruction ends or calls it again; NULL: the frame has failed. */
void *interp_scratch(Frame *f, size_t bytes);

static inline void *slot_data(const Frame *f, const Slot *s) { return f->memory + s->offset; }
/* Of an element. */
static inline char *slot_at(const Frame *f, const Slot *s, int64_t i)
{
    return f->memory + s->offset + (s->uniform ? 0 : i * s->size);
}
/* Elements to compute for a slot: 1 when uniform. */
static inline int64_t slot_len(const Frame *f, const Insn *in, const Slot *s)
{
    return s->uniform ? 1 : in->in_vector && s->count == 1 ? f->vector : s->count;
}
/* n elements of a size, each a step further on; a step of 0 repeats one. */
void move_elements(void *out, const void *in, int64_t n, int64_t step_out, int64_t step_in, int size);
/* Writes count elements of `s` to out, uniform ones repeated. */
void slot_expand(const Frame *f, const Slot *s, void *out, int64_t count);
/* The elements one after the other: where they are, or, of a uniform slot, in the room. */
const char *slot_elements(const Frame *f, const Slot *s, char *room);
/* A copy of a ring by its number; NULL after a failure: there is none. */
char *slot_ring(Frame *f, const Insn *in, const Slot *ring, const Slot *which);
/* The result is its operand, elsewhere. */
void slot_copy(Frame *f, const Insn *in);
/* Operand 0 seen as [outer][length][inner] around the axis of the op. */
typedef struct Axis {
    int64_t outer, length, inner;
} Axis;
Axis insn_axis(const Insn *in);
/* Of a gather with `count` results: the element that is number k along the axis beside result i. */
int64_t gathered_element(Axis a, int64_t count, int64_t i, int64_t k);
/* Element i of an integer slot, extended by its sign; of any other its bits. */
int64_t slot_int(const Frame *f, const Slot *s, int64_t i);

/* ---- arithmetic that wraps on the way to an address: overflow.c ---- */
/* Which values of a function (by id) lead to addresses; room for as many. */
void overflow_mark(const Func *fn, bool *leads, const Value **room);
/* Makes an instruction keep account of its results, if they lead to addresses. */
void overflow_follow(Insn *in);
Overflow *overflow_new(const Interp *in); /* NULL: no memory */
void overflow_free(Overflow *o);
/* After the instructions that run once; and before each program. */
void overflow_invariants_done(Overflow *o);
void overflow_begin(Overflow *o);
/* A loop or branch sets `to` from `from`, all at once. */
void overflow_move(Frame *f, const Insn *in, int n, const Slot *const *from, const Slot *const *to);
/* Something has wrapped in this program. */
bool overflow_found(const Frame *f);
/* What a lane has lost: it was meant to be its value + by (pointers: bytes). Where that is not 0:
   the op that wrapped first, and its operands. */
typedef struct Excess {
    int64_t by;
    int64_t x, y;
    const Op *op;
} Excess;
/* Only when arithmetic is checked. */
const Excess *overflow_at(const Frame *f, const Slot *s, int64_t lane);
/* The note that shows where. */
void overflow_tell(Frame *f, const Excess *e);

/* ---- unwritten memory and races: check.c ---- */
/* Readies a launch's memory to be watched. False: no memory. */
bool check_begin(Launch *l, MemMap *all, MemRange *ranges);
/* Tells of the least race; TKC_OK when there is none. */
TkcStatus check_report(const Launch *l);
void check_end(Launch *l, MemMap *all);
/* n elements from address on, all in the range, are about to be loaded, or changed by an atomic.
   False: the frame has failed. */
bool check_touch(Frame *f, const Insn *in, const MemRange *r, uint64_t address, int64_t n,
                 int64_t size);
/* Stores them, each its own of data or, with `same`, the first. False: the frame has failed. */
bool check_store(Frame *f, const Insn *in, const MemRange *r, uint64_t address, int64_t n,
                 int64_t size, const void *data, bool same);
/* The program has done something that others can wait for, or has waited. */
void check_sync(Frame *f, const Insn *in);

/* ---- what executes instructions ---- */
#define INSN(OP, fn) void fn(Frame *f, const Insn *in);
#define INSN_MAKER(OP, fn) InsnFn fn(Insn *in);
#include "insns.def"
InsnFn interp_elementwise_fn(Insn *in); /* sets loop */
bool interp_can_evaluate(OpKind kind, DType dt, DType result, int n); /* by tkc_evaluate */
/* What a read-modify-write computes, n[0], and in which type, n[1]: umax and umin compare without sign
   whatever the elements are. OP_NONE: the element becomes the operand. Sets loop. */
OpKind interp_rmw(Insn *in);

/* ---- inline assembly: asm.c ---- */
typedef struct PtxMemory PtxMemory; /* ptx.h */
/* The op's text as a program, for Insn.extra. NULL after a report, or without memory. */
const void *asm_prepare(TkcContext *cx, const Op *op, PtxMemory memory);

/* What an argument of a loop's region, or a result of a loop or branch, is set from: at most two
   values; 0: it is something else (interp.c). A loop's variable counts from its first value. */
int flow_sources(const Value *v, const Value *from[2]);

/* ---- loops: loops.c. NULL: there is none ---- */
/* By the operands' type; `to`: of a cast, DT_NONE of all others. Not for selects. */
LoopFn interp_loop(OpKind kind, DType from, DType to);
LoopFn interp_select_loop(int size); /* by an element's bytes */

/* A float below fp32: n elements to fp32 and back. NULL of all others. */
typedef struct NarrowFloat {
    void (*up)(float *restrict out, const void *restrict from, int64_t n);
    void (*down)(void *restrict to, const float *restrict in, int64_t n);
} NarrowFloat;
extern const NarrowFloat narrow_floats[DT_COUNT];
static inline bool dtype_is_narrow(DType dt) { return narrow_floats[dt].up; }
