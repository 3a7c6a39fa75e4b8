/* Operands that a warp group's product reads from a buffer of their own. */
#pragma once

#include "base/vec.h"
#include "ir/ir.h"

/* What of a dot's operand 0 or 1 is stored for that, and where. */
typedef struct Tile {
    Op *dot;
    int operand;
    Value *base;  /* the operand before changes of layout and transpositions … */
    bool flipped; /* … which come to one */
    Op *home;     /* it is stored before this op (dot_home) */
    Op *early;    /* if not NULL, before this one instead, which comes earlier */
    const Layout *from;   /* that of threads as they store it */
    const Layout *layout; /* swizzled (linear/swizzle.h) */
    Value *buffer;        /* NULL: none has it yet */
} Tile;

typedef struct Tiles {
    Arena *scratch;
    Func *fn;
    VEC(Tile) made;
} Tiles;

static inline bool tile_is_same(const Tile *t, const Tile *other)
{
    return t->base == other->base && t->layout == other->layout;
}

/* False: the block is too small, or its threads have it in a way that no group can read. */
bool tile_find(const Tiles *tiles, Op *dot, int operand, Tile *out);
/* Fills the buffer, unless it was. Before a loop, threads meet behind that. */
void tile_store(Tiles *tiles, Tile *t);
/* The dot reads it there. */
void tile_read(const Tiles *tiles, const Tile *t);
