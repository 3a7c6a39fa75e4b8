/* The machine that the emulator is: modules as they are executed, warps, programs (CTAs), launches.

   A warp is the unit. Its registers are arrays of 32 lanes in their natural width, uint16_t[32],
   uint32_t[32] or uint64_t[32]; a predicate is one mask of lanes. Numbers in the text are such
   arrays too, so an evaluator only ever sees lanes. Each lane has its own program counter: lanes at
   one address are a group, and of a warp's groups that can run the one with the lowest address
   runs; blocks lie in an order (converge.c) in which groups meet where they do on a chip.

   Addresses: global ones are host addresses of what the driver's cuMemAlloc gave; shared and local
   ones are offsets, and as generic addresses lie in windows that no host address falls into. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "device/memory.h"
#include "loops.h"
#include "matrix.h" /* SIMT_LANES */
#include "ptx/lex.h"
#include "race.h"

enum { SIMT_BARRIERS = 16 };
/* The cluster's barrier stands behind the program's own. */
enum { SIMT_CLUSTER_BARRIER = SIMT_BARRIERS };
typedef uint32_t LaneMask;
#define SIMT_ALL_LANES UINT32_MAX

typedef enum SimtSpace {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_PARAM,
    SPACE_CONST
} SimtSpace;
/* Where generic addresses of the other spaces begin. */
#define SIMT_WINDOW(space) ((uint64_t)(space) << 56)
/* Shared memory begins here, so that offset 0 is no address; a multiple of every swizzle's atom. */
enum { SIMT_SHARED_BASE = 1024 };

typedef struct Warp Warp;
typedef struct Block Block;
typedef struct BulkCopy BulkCopy;
typedef struct SimtInsn SimtInsn;
typedef struct SimtModule SimtModule;
typedef struct SimtLaunch SimtLaunch;

/* ---- code ---- */

typedef enum SimtStep {
    STEP_NEXT,
    STEP_YIELD,  /* as NEXT, but it is the turn of another warp */
    STEP_JUMPED, /* the group is at w->at */
    STEP_MOVED,  /* program counters of lanes, or which lanes run, are new */
    STEP_FAULT   /* the launch fails; simt_fault has been told why */
} SimtStep;
/* One instruction by the lanes of m, which is never empty. */
typedef SimtStep SimtExec(Warp *w, const SimtInsn *in, LaneMask m);
typedef SimtStep SimtWhole(Warp *w, const SimtInsn *in); /* for all 32 lanes */

typedef struct SimtOperand {
    uint32_t at;  /* of its 32 lanes in the warp's registers, or among the function's numbers */
    uint32_t reg; /* number of the register */
    uint8_t bits; /* of a lane: 1, 16, 32, 64; 0: there is none ('_') */
    uint8_t used; /* of them, that are read or written */
    bool number, negated;
} SimtOperand;

struct SimtInsn {
    SimtExec *exec;
    union {
        SimtWhole *whole;  /* what exec_whole executes */
        SimtExec *members; /* what exec_members does, with all members */
    };
    SimtLoop *loop[2];  /* of each destination, for all lanes at once */
    const PtxInsn *ptx; /* of instructions on registers only */
    SimtOperand *d, *s;
    const void *form; /* of the family */
    int64_t offset[3]; /* added to the addresses, in their order */
    uint32_t target;  /* of a branch: an index */
    uint16_t nd, ns;
    uint8_t space, bytes, count; /* an access: of an element, and how many */
    uint8_t a, b, c;             /* of the family */
    bool guarded, guard_not, is_signed;
    bool inner; /* reads registers of a block inside the kernel's */
    SimtOperand guard;
    uint32_t place; /* in the module's, 0: no line of the kernel is known */
    int line;       /* of the PTX text, from 1 */
    int name_len;
    const char *name; /* with all its dots, in the module's text */
};

/* A line of the kernel, by .loc; `caller`: the place of the call, 0 for none. */
typedef struct SimtPlace {
    int file, line;
    uint32_t caller;
} SimtPlace;

/* Registers that are set before a warp begins. */
typedef enum SimtSpecial {
#define SPECIAL(id, name, bits, i, value) SIMT_##id,
#include "specials.def"
    SIMT_SPECIALS
} SimtSpecial;

/* Something with an address: of a module, a function or a scope. */
typedef struct SimtVar {
    PtxWord name;
    int depth;
    SimtSpace space;
    uint64_t address; /* as its space has them; of a parameter, the offset */
    uint32_t bytes, align;
    bool dynamic;     /* shared memory whose size the launch gives */
    bool is_pointer;  /* a parameter */
} SimtVar;

/* An entry of a module. */
typedef struct SimtFunc {
    SimtModule *module;
    char *name;
    const char *body; /* its '{' in the module's text */
    SimtVar *params;
    int nparams;
    uint32_t param_bytes;
    SimtInsn *insns;
    uint32_t ninsns;
    uint8_t *numbers; /* 32 lanes each */
    uint32_t nregs, reg_bytes;
    uint32_t shared_bytes, local_bytes; /* static; local of one thread */
    uint32_t reqntid[3], maxntid, maxnreg; /* 0: not said */
    uint32_t cluster[3];                /* 0: not said */
    uint32_t max_dynamic_shared;        /* what the host has allowed */
} SimtFunc;

/* ---- running ---- */

struct Warp {
    Block *block;
    const SimtFunc *func;
    uint8_t *regs;
    LaneMask *written; /* of each register: the lanes that hold something */
    uint8_t *local;    /* local_bytes for each lane, one after the other */
    int index;
    uint32_t at;             /* of the group that runs */
    LaneMask active;         /* its lanes */
    uint32_t other;          /* lowest address of another group that can run; UINT32_MAX: none */
    uint32_t pc[SIMT_LANES]; /* of the lanes that do not run */
    LaneMask live;           /* have not ended */
    LaneMask began;          /* there are */
    LaneMask gathered;       /* wait at an instruction of the warp for lanes that it names */
    LaneMask barred;         /* wait at a barrier of the program */
    uint8_t barrier[SIMT_LANES]; /* which */
    LaneMask joined;             /* lanes of the group that came to it at this instruction */
    LaneMask carry;              /* of add.cc and its kin */
    uint64_t clock;              /* instructions so far */
    const SimtInsn *reads; /* the newest that read memory which other programs may write; or NULL */
    bool diverged;         /* not all live lanes are in the group */
    bool in_flight;        /* products own registers: `group` knows which */
    struct WarpGroup *group;          /* NULL: there has been no product */
    uint32_t bulk_groups[SIMT_LANES]; /* that each lane has committed */
    struct AsyncCopies *copies;       /* that cp.async has started */
};

typedef struct SimtBarrier {
    uint32_t arrived, expected;        /* threads; expected 0: all that live */
    uint32_t or_bits, and_bits, count; /* barrier.red */
    bool reduces;
} SimtBarrier;

struct Block {
    SimtLaunch *launch;
    const SimtFunc *func;
    uint32_t id[3];
    uint32_t threads, live; /* threads that have not ended */
    uint8_t *shared;        /* from SIMT_SHARED_BASE on */
    uint32_t shared_bytes, dynamic_base;
    SimtBarrier barriers[SIMT_BARRIERS + 1];
    struct SharedState *shared_state;
    BulkCopy *bulk; /* what has been started and is not done: async.h */
    int nbulk;
    uint64_t random;
    uint64_t waits;       /* at mbarriers, so far, that were not over */
    uint32_t idle_rounds; /* in which all that ran did was wait */
    bool progress;        /* something happened in this turn that others may wait for */
    uint64_t changes;     /* of memory, or of who waits, so far */
    uint64_t version;     /* SimtLaunch.changes when it last ran */
    bool quiet;           /* nothing has changed since: what its warps do is looked at */
    bool goes_round;      /* all warps do since then, or wait for those that do */
    struct Spin *spin;
    void *memory; /* of all of the above */
    int nwarps;
    Warp warps[];
};

/* How kernels run. */
typedef struct SimtRun {
    uint64_t seed;
    double timeout; /* seconds; 0: none */
    int threads;    /* of the host; 0: one a core */
    void (*print)(const char *text, size_t len, void *user);
    void *print_user;
    const char *const *pointers; /* by parameter, what a pointer is called; NULL: not known */
} SimtRun;

struct SimtLaunch {
    const SimtFunc *func;
    uint32_t grid[3], block[3], shared_bytes;
    uint8_t *params;
    SimtRun run;
    Memory *memory;
    atomic_int stop;       /* not 0: the driver's code of what went wrong */
    atomic_ullong next_block;
    atomic_ullong changes;  /* slices in which a program changed something */
    atomic_ullong *idle_at; /* by core, when all its programs go round: changes + 1 */
    int cores;
    double deadline; /* clock_seconds(); 0: none */
    char *report; /* what went wrong, of `report_size` bytes */
    size_t report_size;
};

/* Runs the whole grid; gives the driver's code, and on a fault launch->report says what happened.
   The launch's fields from `stop` up to `deadline` are the callee's. */
int simt_launch_run(SimtLaunch *launch);

/* ---- lanes ---- */

static inline void *simt_lanes(const Warp *w, SimtOperand o)
{
    return (o.number ? w->func->numbers : w->regs) + o.at;
}

static inline uint64_t simt_lane(const void *lanes, int bits, int lane)
{
    switch (bits) {
    case 1: return *(const LaneMask *)lanes >> lane & 1;
    case 16: return ((const uint16_t *)lanes)[lane];
    case 32: return ((const uint32_t *)lanes)[lane];
    default: return ((const uint64_t *)lanes)[lane];
    }
}

static inline void simt_set_lane(void *lanes, int bits, int lane, uint64_t x)
{
    LaneMask *mask = lanes;
    switch (bits) {
    case 1: *mask = (*mask & ~(1u << lane)) | (LaneMask)(x & 1) << lane; break;
    case 16: ((uint16_t *)lanes)[lane] = (uint16_t)x; break;
    case 32: ((uint32_t *)lanes)[lane] = (uint32_t)x; break;
    default: ((uint64_t *)lanes)[lane] = x; break;
    }
}

/* Lane of a source, and what it says in a warp: the low bits that are used. */
static inline uint64_t simt_read(const Warp *w, SimtOperand o, int lane)
{
    uint64_t x = simt_lane(simt_lanes(w, o), o.bits, lane);
    return ptx_low(o.negated ? ~x : x, o.used);
}

static inline void simt_write(Warp *w, SimtOperand d, int lane, uint64_t x)
{
    if (!d.bits) return;
    simt_set_lane(w->regs + d.at, d.bits, lane, x);
    w->written[d.reg] |= 1u << lane;
}

/* Writes the lanes of m. */
void simt_write_lanes(Warp *w, SimtOperand d, const void *lanes, LaneMask m);
/* A predicate as a mask. */
static inline LaneMask simt_mask(const Warp *w, SimtOperand o)
{
    LaneMask x = *(const LaneMask *)simt_lanes(w, o);
    return o.negated ? ~x : x;
}
static inline int simt_first(LaneMask m) { return __builtin_ctz(m); }
/* ---- what goes wrong ---- */

/* The driver's codes. */
enum {
#define ERROR(id, number, name, text) SIMT_##id = number,
#include "errors.def"
#undef ERROR
};

/* Ends the launch with the code and a report: the text, then the instruction, the kernel's line,
   the program and the thread (`lane` -1: the warp). The first report stays. Gives STEP_FAULT. */
SimtStep simt_fault(Warp *w, const SimtInsn *in, int lane, int code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
#define simt_refuse(...) (simt_fault(__VA_ARGS__), false)
/* A place of the code in words: the instruction, the kernel's line. */
void simt_describe(const SimtFunc *f, const SimtInsn *in, char *out, size_t size);
