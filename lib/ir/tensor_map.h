/* Tensor maps: what TMA is told of a matrix in global memory. A launch makes them of its arguments,
   so that a box can be copied by TMA where base, shape and strides are parameters or constants, and
   where what is known of them is what TMA asks for. */
#pragma once

#include "ir/tile.h"
#include "tkc/edge.h"

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64, TENSOR_MAP_MOST_BOX = 256 /* rows */ };

/* Of what the tile is of, whose block is a matrix's; what is said of the box is 0. NULL, or what keeps a
   launch from making it. */
const char *tensor_map_of_tile(const Func *fn, const Tile *t, TkcTensorMap *out);
/* Of a copy_box or store_box. False: nor that, or the buffer has no swizzled rows along the
   matrix's. */
bool tensor_map_of_copy(const Op *copy, TkcTensorMap *out);
/* The number of the map that the copy uses among those of the function, which are numbered in the
   order of their first copies, and how many there are. */
int tensor_map_index(Arena *scratch, const Func *fn, const Op *copy);
int tensor_maps(Arena *scratch, const Func *fn, TkcTensorMap **out);
