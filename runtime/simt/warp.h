/* How the lanes of a warp run, wait and end; and the warps of a program. */
#pragma once

#include "machine.h"

/* ---- lanes ---- */
/* They go on at the address; for executors that then give STEP_MOVED. */
void warp_move(Warp *w, LaneMask lanes, uint32_t at);
void warp_end(Warp *w, LaneMask lanes);
/* For an instruction that the named lanes execute together: all of them, once they are there; else
   0, those of m wait, and STEP_MOVED is to be given. Lanes that have ended are not waited for. */
LaneMask warp_gather(Warp *w, const SimtInsn *in, LaneMask m, LaneMask named);
/* The lanes of m wait at the barrier; the others of the group go on. */
void warp_bar(Warp *w, LaneMask m, int barrier);
void warp_unbar(Warp *w, LaneMask lanes);

/* Runs until the lanes of the warp wait or have ended, or `budget` instructions are done; gives how
   many were. UINT64_MAX: a fault. */
uint64_t warp_run(Warp *w, uint64_t budget);

/* ---- programs ---- */
/* Warps whose live lanes wait at the barrier go on when all that are expected have come. */
void block_check_barriers(Block *b);

typedef enum BlockState { BLOCK_BUSY, BLOCK_DONE, BLOCK_FAULT } BlockState;
/* NULL: no memory. */
Block *block_new(SimtLaunch *launch);
void block_begin(Block *b, const uint32_t id[3], uint64_t seed);
BlockState block_run(Block *b, uint64_t budget);
void block_free(Block *b);

uint64_t simt_random(uint64_t *state);

/* ---- products of a warp group that run on while the warp does something else: warp_group.c ---- */
/* While w->in_flight: whether the instruction leaves alone what products in flight own. False: the
   fault is told. */
bool warp_group_allows(Warp *w, const SimtInsn *in);
void warp_group_reset(Warp *w); /* nothing is in flight */
void warp_group_free(Warp *w);

/* ---- programs whose warps all go round, waiting for memory to change: spin.c ---- */
typedef struct Spin Spin;
/* To be freed by free(). NULL: no memory. */
Spin *spin_new(int nwarps);
/* Memory has changed, or may have: what was seen is of no use. */
void spin_forget(Spin *s);
/* Between turns of the warps, memory being as it was since spin_forget. */
void spin_look(Block *b);
/* The fault, at what a warp that goes round reads. `more`: there are programs that have not begun. */
void spin_tell(Block *b, bool more);

/* What an instruction does that has nothing to do here. */
SimtExec exec_nothing;
/* Barriers of a warp: lanes meet at any of them. */
SimtExec exec_warp_barrier;

/* ---- instructions of all 32 lanes together (.sync.aligned) ---- */
/* Executes in->whole when all lanes are there; that some have ended is told. */
SimtExec exec_whole;
/* n operands of 32 or of 64 bits to and from [n][32 lanes]. */
void whole_warp_read(const Warp *w, const SimtOperand *s, int n, int bits, void *out);
void whole_warp_write(Warp *w, const SimtOperand *d, int n, int bits, const void *from);

/* ---- memory ---- */
/* Whether each lane's address is a multiple of `bytes`, a power of two. False: the fault is told. */
bool warp_aligned(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address, uint32_t bytes);
/* `bytes` at each lane's address, as an instruction reaches them: bounds, alignment and, for shared
   memory, other threads' accesses are checked. False: the fault is told. */
bool warp_reach(Warp *w, const SimtInsn *in, LaneMask m, SimtSpace space, const uint64_t *address,
                uint32_t bytes, Touch touch, uint8_t **host);
/* The same of one lane; NULL: the fault is told. */
uint8_t *warp_reach_lane(Warp *w, const SimtInsn *in, int lane, SimtSpace space, uint64_t address,
                         uint32_t bytes, Touch touch);
/* The same of shared memory, bounds only: as offsets into it. */
bool warp_bounds(Warp *w, const SimtInsn *in, LaneMask m, const uint64_t *address, uint32_t bytes,
                 uint32_t *offset, uint8_t **host);
/* Whether shared memory has these bytes at the address already. */
bool warp_holds(const Warp *w, SimtSpace space, uint64_t address, const void *what, uint32_t bytes);
/* The addresses of "[base + offset]". False: a register that holds nothing; told. */
bool warp_addresses(Warp *w, const SimtInsn *in, LaneMask m, SimtOperand base, int64_t offset,
                    uint64_t *address);
/* The one value that all lanes of m have; false: they do not, which is told so. */
bool warp_uniform(Warp *w, const SimtInsn *in, LaneMask m, SimtOperand o, const char *told,
                  uint64_t *x);
/* What lane has at a generic address: bytes, and a text, cut to size. */
bool warp_read(Warp *w, const SimtInsn *in, int lane, uint64_t address, void *out, uint32_t bytes);
bool warp_string(Warp *w, const SimtInsn *in, int lane, uint64_t address, char *out, size_t size);
/* vprintf. */
bool warp_print(Warp *w, const SimtInsn *in, int lane, uint64_t format, uint64_t args);
