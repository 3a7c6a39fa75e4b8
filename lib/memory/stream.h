/* Which loads of a loop can come ahead, and what of the loop their addresses need. */
#pragma once

#include "base/bitset.h"
#include "base/vec.h"
#include "ir/ir.h"

enum { STREAM_MOVES = 4, STREAM_READERS = 8, STREAM_FAR = 4 };

/* An op of the loop that changes a stream's layout, for a matrix product as a rule. */
typedef struct Reader {
    Op *convert;
    const Layout *layout;    /* in which it can read the ring */
    Op *moves[STREAM_MOVES]; /* transpositions between, the last first */
    int nmoves;
} Reader;

/* A load whose block comes to a ring, and is read from there by each of its readers, and by all
   else as the load gives it. */
typedef struct Stream {
    Op *load;
    Reader readers[STREAM_READERS];
    int nreaders;
    int dim, copy_log2;    /* neighbours that one copy moves */
    bool ends;             /* the mask may end among them */
    const Layout *from;    /* that of the addresses that it is copied from */
    const Op *box;         /* what says it of the pointers where TMA copies; else NULL */
    const Layout *in_ring; /* how the block lies there */
    bool elsewhere; /* what is masked off is not 0: the ring says it is */
    Value *ring, *read;    /* all of it from there, for all but the readers; NULL: there is no other */
} Stream;

/* The part of a loop's body that gives addresses and masks, of its streams and of the indices that
   are loaded for these: ops without effects, and the slots that these carry from turn to turn. */
typedef struct Slice {
    Bitset ops; /* by the number of their first result */
    Bitset slots;
} Slice;

typedef struct Streams {
    Arena *scratch;
    Func *fn;
    Op *loop;
    struct AxisFacts *facts; /* NULL: nobody has asked yet */
    Bitset written; /* parameters, by what the loop writes through them */
    VEC(Stream) all;
    Slice slice;
    VEC(Op *) far; /* loads that the slice uses, of which a thread has a few registers */
    bool in_far;   /* no more of these */
    bool moves_lines; /* through shared memory, for the stream at hand */
    VEC(Op *) few; /* other such loads */
    Slice few_slice;
} Streams;

/* Finds them; none where the loop waits for others, or how often it runs cannot be said ahead.
 */
void streams_find(Streams *s, Arena *scratch, Func *fn, Op *loop);
/* Boxes may come from what the function, or what it waits for, writes. */
bool streams_are_written(const Streams *s);
bool slice_has(const Slice *s, const Op *op);
/* Streams that come by boxes. */
int streams_boxes(const Streams *s);
/* Each thread reads of the rings what it has copied there, and nothing else. */
bool streams_are_own(const Streams *s);
/* The loop around whose turns are tiles that programs share (from program_id on, or in steps of
   num_programs), if a turn can ask for the first copies of the next: what they need follows from its
   index. NULL: there is none. slice: of that loop what gives it. */
Op *streams_around(Streams *s, Slice *slice);
