/* Matrices as a warp group's products (wgmma) read them from shared memory: rows of 32, 64 or 128
   bytes, eight of them a tile, in which the 16 bytes at place p of row r lie at place p ^ r (r / 2
   where a row has 64 bytes, r / 4 where it has 32), so that a column of such pieces meets all
   banks. Tiles go along the other dim first, then along the rows' own. Source: the PTX manual's
   shared memory layouts of wgmma. */
#pragma once

#include "linear/layout.h"

enum { SWIZZLE_ROWS_LOG2 = 3, SWIZZLE_ALIGN = 1024 /* of a buffer, in bytes */ };

/* What such a buffer is. */
typedef struct Swizzle {
    int dim;      /* rows lie along it */
    int row_log2; /* bytes of a row: 5, 6 or 7 */
    int group;    /* bytes from a tile to the next along the other dim */
    int block;    /* bytes from a tile to the next along `dim` */
} Swizzle;

/* The layout of a buffer for blocks of two dims, of which `like` has the shape; NULL where that is
   too small for a tile. */
const Layout *swizzle_layout(LayoutTable *t, const Layout *like, int dim, int elem_bytes);
/* False: the buffer is none. */
bool swizzle_find(LayoutTable *t, const Layout *buffer, int elem_bytes, Swizzle *out);
