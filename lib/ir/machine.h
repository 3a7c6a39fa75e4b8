/* Facts of each target. One row per machine in machines.def. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"

typedef struct Machine Machine;
struct Machine {
    const char *name;        /* "sm_90a" */
    int sm;                  /* 90 */
    bool arch_specific;      /* the `a` variants: wgmma, setmaxnreg */
    int max_smem;            /* bytes a block can have with opt-in */
    bool cp_async, tma, redux, bf16_arith;
    bool fp8_mma;            /* mma.sync multiplies fp8 as such */
    const char *min_ptx;     /* lowest PTX ISA that knows it, as an LLVM feature: "+ptx78" */
};

/* What all of them share. */
enum {
    MACHINE_LANES = 32, /* of a warp */
    MACHINE_LANE_BITS = 5,
    MACHINE_THREADS = 1024, /* of a block, at most */
    MACHINE_MATRIX_STORES = 90, /* the first chip whose warps write matrices to shared memory */
    MACHINE_VECTOR_ATOMICS = 90, /* the first chip that adds floats to memory by vectors */
    MACHINE_THREAD_REGISTERS = 255,
    MACHINE_REGISTERS = 65536, /* of 32 bits, of a multiprocessor */
    MACHINE_RESERVED = 1024    /* bytes of shared memory of each program, by the driver */
};

/* How many programs of so many bytes of shared memory a multiprocessor has room for. */
int machine_programs(const Machine *m, int64_t bytes);
/* NULL when unknown. */
const Machine *machine_find(const char *name);
/* The one that another way of writing its number means, "90", "9.0" or "compute_90"; else NULL. */
const char *machine_nearest(const char *name);
/* "sm_75, sm_80, …" for messages. */
void machine_list(Buf *out);
