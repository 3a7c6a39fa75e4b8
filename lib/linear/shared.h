/* Blocks in shared memory. A shared layout has vectors of DIM_OFFSET only: basis[DIM_OFFSET][i] is
   the element that lies at offset 1 << i of the buffer, and offsets and elements go together by
   XOR, so that a swizzle is nothing but such a map. Its vectors are independent. They may be fewer
   than the index has bits: then the buffer has room for a piece of the block at a time. Piece p
   (any index that is in it) is the elements e with e ^ p in the span of the vectors; e lies where
   e ^ p does. */
#pragma once

#include "linear/layout.h"

#define SHARED_THREAD_BITS 8   /* of a lane or of a warp number, at most */
#define SHARED_ACCESS_BYTES 16 /* that one thread moves at once, at most */

/* ---- choosing a layout ---- */

/* How a block goes through shared memory from one layout to another. */
typedef struct SharedPlan {
    int write_log2, read_log2; /* elements that a thread moves at once */
    int write_waves, read_waves; /* how often a warp has all banks for that (shared_waves) */
    int offset_log2; /* the buffer holds 1 << offset_log2 elements */
    int pieces_log2;
    uint32_t offset[LAYOUT_MAX_BITS]; /* the layout's vectors */
    uint32_t piece[LAYOUT_MAX_BITS];  /* piece i is the XOR of these over the bits of i */
} SharedPlan;

/* Both have one shape and reach every element. A buffer of more than `most` bytes is cut into pieces
   as far as that is possible. */
void shared_plan(SharedPlan *out, const Layout *from, const Layout *to, int elem_bytes, int most);
/* How a block that is written `vector` by vector (elements 1 << n at a time, `from` has them in registers)
   and read in another layout lies in a buffer, whole. */
void shared_plan_vectors(SharedPlan *out, const Layout *from, int n, const uint32_t *vector,
                         const Layout *to, int elem_bytes);
uint32_t shared_piece(const SharedPlan *p, uint32_t i);
/* `like` has the shape. */
const Layout *shared_layout(LayoutTable *t, const SharedPlan *p, const Layout *like);
/* Offsets are indices. */
const Layout *shared_row_major(LayoutTable *t, int rank, const uint8_t *dim_log2);

/* ---- questions ---- */

bool shared_is_sound(const Layout *buffer); /* nothing but offsets, and these independent */
/* Where element `index` lies while the buffer holds the piece; -1: it is not in it. */
int64_t shared_offset(const Layout *buffer, uint32_t piece, uint32_t index);

/* ---- threads at a buffer ---- */

typedef enum SharedKind {
    SHARED_VECTORS, /* each thread for itself */
    SHARED_ROWS,    /* a warp reads matrices: shared_matrix.h */
    SHARED_ROWS_TRANSPOSED
} SharedKind;

/* A thread's offset is the XOR of a register's, of lane[i] and of warp[i] at the bits of its
   numbers. Vectors begin at registers whose offsets have the lowest vector_log2 bits clear. */
typedef struct SharedAccess {
    const Layout *block;
    SharedKind kind;
    F2Space buffer; /* the vectors of the buffer's layout */
    uint32_t lane[SHARED_THREAD_BITS], warp[SHARED_THREAD_BITS];
    uint32_t free_registers; /* registers with one of these bits are duplicates */
    int vector_log2;
    uint32_t vector_reg[4];
} SharedAccess;

/* False when threads hold elements of different pieces in one register. */
bool shared_access(SharedAccess *out, const Layout *block, const Layout *buffer, int elem_bytes);
/* The offset of the vector that begins with `reg`, without the thread's part; -1 when none of this
   piece does. Duplicates begin none. */
int64_t shared_head(const SharedAccess *a, uint32_t reg, uint32_t piece);
/* How often a warp that accesses one vector a thread has the banks all to itself: 1 for each 128
   bytes, times what lanes collide. */
int shared_waves(const SharedAccess *a, int elem_bytes);
/* The register of element e of the vector that begins with `head`. */
uint32_t shared_vector_reg(const SharedAccess *a, uint32_t head, uint32_t e);
