/* What is known of shared memory, byte by byte: whether anything wrote it, and which accesses may
   still conflict with a later one (order.h says which are over). An access is of a unit's lanes at
   its present time; an asynchronous one is noted when it is issued, so until somebody waits for it
   its bytes are pending: whoever touches them conflicts with it. */
#pragma once

#include "order.h"

/* SAME: writes what is there already; the caller's to tell, here it is a write as others. */
typedef enum Touch { TOUCH_READ = 1, TOUCH_WRITE, TOUCH_ATOMIC, TOUCH_SAME } Touch;

typedef enum RaceProblem {
    RACE_NONE,
    RACE_CONFLICT,  /* with an earlier access that nothing orders before this one */
    RACE_UNFENCED,  /* ordered, but no fence.proxy.async between a write and the async proxy */
    RACE_UNWRITTEN, /* read, and nothing wrote it */
} RaceProblem;

/* The first problem of an access: its lane and byte, and the earlier access. */
typedef struct RaceReport {
    RaceProblem problem;
    int lane;
    uint32_t offset;
    Touch earlier_kind;
    int earlier_unit, earlier_lane;
    uint32_t earlier_insn;
    bool together; /* two lanes of the one access write the byte: fine if they write the same */
} RaceReport;

typedef struct Race Race;
/* Of that many bytes; the order is the caller's and must outlive it. NULL: no memory. */
Race *race_new(uint32_t bytes, Order *o);
void race_free(Race *r);
void race_reset(Race *r);        /* as new; the order is to be reset with it */
bool race_failed(const Race *r); /* no memory: from then on accesses are not all noted */

/* Each of the lanes accesses `bytes` at its offset; all lie within the memory. False: a problem,
   told in `out`; the access is noted all the same. */
bool race_access(Race *r, int unit, uint32_t lanes, const uint32_t *offsets, uint32_t bytes,
                 Touch kind, uint32_t insn, RaceReport *out);
