/* What works while its threads go on: cp.async for the lanes of a warp, bulk copies for a program.
   A copy takes place at a moment between its start and the wait for it that the seed chooses. */
#pragma once

#include "machine.h"
#include "tensormap.h"

/* Copies of the program that may take place now do so, some of them; all: every one. True: one
   did. */
bool async_progress(Block *b, bool all);

/* ---- bulk copies ---- */
struct BulkCopy {
    /* Moves the bytes; false: told. */
    bool (*move)(BulkCopy *copy);
    Warp *warp;
    const SimtInsn *in;
    int lane, agent;
    uint32_t mbarrier, bytes; /* that it completes at the mbarrier; mbarrier 0: none */
    bool committed;           /* to a group, by cp.async.bulk.commit_group */
    uint32_t group;           /* of the warp */
    uint32_t shared;          /* address and bytes there */
    uint64_t global;
    uint32_t length;
    bool to_shared, done;
    TensorMap map;            /* of a box: what it is of, and where that begins */
    int32_t at[TENSOR_RANK];
};
/* cp.async.bulk.commit_group and wait_group, of the lanes of m. False: told. */
void async_commit(Warp *w, LaneMask m);
bool async_wait(Warp *w, LaneMask m, uint32_t may_remain);
void copies_free(Warp *w);
/* Starts it; false: no memory, told. */
bool async_start(Warp *w, const SimtInsn *in, const BulkCopy *copy);

/* ---- mbarriers ---- */
/* Their shared addresses, from such or generic ones. False: told. */
bool mbarrier_addresses(Warp *w, const SimtInsn *in, LaneMask m, uint64_t *address);
/* What was started for the lane is done: its bytes, and arrivals, that the phase expected. With them
   goes what these lanes of the unit know. False: told. */
bool mbarrier_arrive(Warp *w, const SimtInsn *in, int lane, uint32_t address, uint32_t bytes,
                     uint32_t arrivals, int unit, LaneMask knowing);
