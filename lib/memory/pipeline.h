/* What of a loop that loads ahead (pipeline.c) its parts share. */
#pragma once

#include "ir/build.h"
#include "layout/remat.h"
#include "memory/stream.h"

typedef struct Pipeline {
    Streams *s;
    Func *fn;
    Op *loop;
    Region *body;
    int slots; /* as it was */
    bool own;  /* no thread waits for another */
    bool apart; /* nor a warp group: threads say at barriers when what they copied has come */
    int stages, boxes;
    int turns;  /* by which copies are ahead */
    int round;  /* turns from one that reads a copy of a ring to the next that does */
    int copies; /* of a ring: the last is for no turn where there are fewer */
    Value *barriers; /* at which what comes is waited for; NULL: there are none */
    Value *free;     /* barriers at which warps say what they have read; NULL: all meet each turn */
    bool down;
    Value **ahead;          /* of slots of the slice, where the copies are */
    Value *index;           /* the same of the loop's index */
    Value *far[STREAM_FAR]; /* the same of indices that are loaded */
    Op *around;             /* the loop whose turns ask for the next one's first copies; or NULL */
    Slice around_slice;     /* of it, which these need */
    Remat remat;
    ValueMap moved;         /* what these ops give, for the turn of it that the copies are for */
    ValueMap next;          /* the same of its next turn */
} Pipeline;

/* What a turn knows. */
typedef struct Turn {
    Value *until;     /* the index from which on no copies are to come */
    Value *far_until; /* the same of indices for copies; NULL: there are none */
    Value *take;      /* which copy of the rings is read */
    Value *last;      /* the one before it, which the last turn has read, and which is written */
    Value *round;     /* of boxes: 0 and 1 by turns, from one time around the rings to the next */
    Value *last_but_one, *its_round; /* of the last turn, where groups are apart: that is written */
    Value *has_next; /* the loop around has a next turn */
    Value *flows;    /* and the last turns here ask for its first copies; NULL: none do */
    Value *on;       /* from an index that this loop would come to, to the one there */
    Value *next_tile; /* the index of the loop around then */
} Turn;

static inline Value *number(Builder *b, int64_t x)
{
    return build_int(b, DT_I32, x);
}

static inline Value *wide(Builder *b, Value *v)
{
    return build_cast(b, v, DT_I64, NULL);
}

/* For what is done there only, and ends with a yield. */
Builder pipeline_where(Builder *b, Value *is_so);
/* The copies of the turn that `index` and `ahead` are at, to that copy of the rings. */
void pipeline_copy_here(Pipeline *p, Builder *b, Value *which);
/* The ops of the slice once more, of what the map says; what they give goes there. */
void pipeline_clone_ops(const Pipeline *p, Builder *b, const Region *body, const Slice *slice,
                        ValueMap *map);
void pipeline_make_rings(Pipeline *p, Builder *b);
/* Of the loop's first turns. which: the copy of the rings that the first comes to, and its round;
   NULL: nothing was in the rings. is_run: whether it is run; NULL: it is. */
void pipeline_copy_first(Pipeline *p, Builder *b, Value *which, Value *round, Value *is_run);
/* Of a turn that an index belongs to: it has not come as far as `to`. */
Value *pipeline_has_not_come(const Pipeline *p, Builder *b, Value *index, Value *to);
/* is_turn, and that a step that is not known leads up: by no other such step is there a turn. */
Value *pipeline_leads(Builder *b, Value *step, Value *is_turn);
/* The turn number `turn` is one of the loop's. */
Value *pipeline_has_turn(const Pipeline *p, Builder *b, int turn);
/* A slot of a loop, and what it is in its body. */
Value *pipeline_add_slot_to(Op *loop, Value *init);
