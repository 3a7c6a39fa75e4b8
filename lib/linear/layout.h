/* Linear layouts: which thread holds which element of a block, as a linear map over F2. Paper:
   "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2", arXiv
   2505.23819.

   Element index: the row-major index in the PADDED shape (each extent rounded up to a power of
   two), so bits [0, log2 of the last padded extent) are the last coordinate, the next ones the
   one before, and so on. A hardware position (register r, lane l, warp w) holds the element  XOR
   of basis[DIM][bit] over the set bits of r, l, w. A zero basis vector means duplication: two
   positions hold one element. So does, more generally, a vector that the ones before it
   (registers first, then lanes, then warps) already span: such a bit is free, and the canonical
   holder of an element has all its free bits 0. Example: block<1024> on 4 warps, vectors of 4:
     register: 1 2 512   lane: 4 8 16 32 64   warp: 128 256 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "linear/f2.h"

#define LAYOUT_MAX_RANK 8
#define LAYOUT_MAX_BITS 20  /* of the element index */

typedef enum LayoutDim { DIM_REGISTER, DIM_LANE, DIM_WARP, DIM_OFFSET, DIM_COUNT } LayoutDim;

typedef struct Layout Layout;
struct Layout {
    int rank;
    uint8_t dim_log2[LAYOUT_MAX_RANK]; /* log2 of the padded extents, outermost first */
    uint8_t total_log2;                /* their sum */
    uint8_t nbits[DIM_COUNT]; /* basis vectors; shared layouts use DIM_OFFSET only */
    const uint32_t *basis[DIM_COUNT];
    uint32_t id;                       /* order of interning: dense, deterministic */
};

/* Interned: equal layouts are one pointer. The table lives in the arena. */
typedef struct LayoutTable LayoutTable;
LayoutTable *layouts_new(Arena *a);

/* What a caller fills to make a layout. */
typedef struct LayoutSpec {
    int rank;
    uint8_t dim_log2[LAYOUT_MAX_RANK];
    uint8_t nbits[DIM_COUNT];
    uint32_t basis[DIM_COUNT][32];
} LayoutSpec;
const Layout *layout_make(LayoutTable *t, const LayoutSpec *spec);
void layout_spec_of(const Layout *l, LayoutSpec *out);

/* ---- shapes ---- */
/* log2 of the padded extents of a logical shape; returns their sum. */
int layout_pad(int rank, const int32_t *shape, uint8_t *dim_log2);
/* Lowest index bit of a dim. */
int layout_shift(int rank, const uint8_t *dim_log2, int dim);
int layout_dim_shift(const Layout *l, int dim);
int layout_coord(const Layout *l, uint32_t index, int dim);

/* ---- makers ---- */
/* Blocked: `order` lists dims fastest first; per thread size_per_thread[d] elements (power of
   two), lanes and warps dealt along `order` after it, remaining extent in registers; too many
   lanes or warps become zero vectors. */
const Layout *layout_blocked(LayoutTable *t, int rank, const uint8_t *dim_log2, const int *order,
                             const int *thread_log2, int lane_bits, int warp_bits);

/* What else may be said of such a layout. */
typedef struct Blocked {
    int rank;
    const uint8_t *dim_log2;
    const int *order, *thread_log2; /* as above */
    const int *warp_order; /* of warps, so that a reduced dim can stay inside one; NULL: order */
    int beside_log2; /* bits of the fastest dim that registers get before warps do */
    int nwoven;
    const int *woven; /* dims along which the lowest bits of a lane go first, one each */
    int lane_bits, warp_bits;
} Blocked;
const Layout *layout_blocked_as(LayoutTable *t, const Blocked *b);

/* ---- queries ---- */
int layout_registers(const Layout *l);                      /* 1 << nbits[DIM_REGISTER] */
/* The element's index. */
uint32_t layout_apply(const Layout *l, uint32_t reg, uint32_t lane, uint32_t warp);
/* The map as a matrix from the bits (register, then lane, then warp, from bit 0 on, as far as
   `last`) to the bits of the index. */
F2Matrix layout_matrix(const Layout *l, LayoutDim last);
/* The free bits of a hardware dim, as a mask: the duplicates. Zero vectors, and those that
   earlier ones span. */
uint32_t layout_free_bits(const Layout *l, LayoutDim dim);
/* Some threads are duplicates. */
bool layout_has_free_threads(const Layout *l);
/* True when every element has a holder. */
bool layout_is_surjective(const Layout *l);
/* log2 of the run of registers 0, 1, 2, … that hold neighbours along a dim: the leading register
   vectors are the lowest bits of `dim`. */
int layout_run_log2(const Layout *l, int dim);
/* The bits of registers' numbers that step along a dim by 1, 2, 4, …, at most `most` of them, whatever
   their order. Returns how many. */
int layout_steps(const Layout *l, int dim, int most, uint32_t *bits);
/* The index bits of a dim, as a mask. */
uint32_t layout_dim_mask(const Layout *l, int dim);
/* Bits of the index that differ within aligned groups of so many neighbours along each dim: powers
   of two. */
uint32_t layout_group_bits(const Layout *l, const int64_t *groups);
/* Register bits that change those of the index alone, and none that lanes or warps change: where a
   register is valid, so is the one with these bits 0. */
uint32_t layout_registers_within(const Layout *l, uint32_t bits);
bool layout_has_offset(const Layout *l);
/* The index without a dim: that of the element of the slice that index belongs to. */
uint32_t layout_forget(const Layout *l, int dim, uint32_t index);
/* The index with the dim's coordinate made of its bits in `kept` alone, moved together. */
uint32_t layout_keep_bits(const Layout *l, int dim, uint32_t kept, uint32_t index);
/* True when a reduction along the dim needs nothing but registers of one thread, lanes that differ
   in one bit and warps that do; and what only warps tell apart is whole bits of the coordinate. */
bool layout_reduces(const Layout *l, int dim);
/* These bits. */
uint32_t layout_warp_bits(const Layout *l, int dim);
/* Where a dim's coordinate is held, bit by bit: XOR of bits[i] into the number of that kind (a set of
   registers' bits, or one bit of the lane or warp) flips bit i of the coordinate, and changes
   nothing else. */
typedef struct LayoutAxis {
    int n;               /* bits of the coordinate */
    LayoutDim held_by[LAYOUT_MAX_BITS];
    uint32_t bits[LAYOUT_MAX_BITS];
    uint32_t in_registers, in_lanes, in_warps; /* bits of the coordinate */
} LayoutAxis;
/* False when threads mix the dim with other dims, or hold a bit of it twice. */
bool layout_axis(const Layout *l, int dim, LayoutAxis *out);
/* The bits of the coordinate from the lowest that warps hold on; 0 when they hold none: what is
   equal in them is a segment that a warp has whole. */
uint32_t layout_axis_slots(const LayoutAxis *a);
/* True when layout_axis is, and lanes number no segments. */
bool layout_scans(const Layout *l, int dim, LayoutAxis *out);
/* For one element a segment: threads have the segments of the rows of `l` that they have elements
   of, all of them; in lanes, as far as these hold no other dim, those first that warps of `l` hold.
 */
const Layout *layout_slots(LayoutTable *t, const Layout *l, int dim, const LayoutAxis *a);
/* True when layout_axis is, and no warp holds a part of the dim only. */
bool layout_axis_in_warp(const Layout *l, int dim);

/* ---- algebra; results are interned in t ---- */
/* Every register that duplicates another is dropped (free register vectors removed). */
const Layout *layout_drop_free_registers(LayoutTable *t, const Layout *l);
/* The layout of x.trans(perm): result dim i is dim perm[i]. */
const Layout *layout_trans(LayoutTable *t, const Layout *l, int rank, const int *perm);
/* Inserts a dim of extent 1 before `axis`; the vectors stay. */
const Layout *layout_expand(LayoutTable *t, const Layout *l, int axis);
/* Takes the dim of extent 1 at `axis` away again. */
const Layout *layout_squeeze(LayoutTable *t, const Layout *l, int axis);
/* Source layout of a broadcast whose result has layout l: bits of the dims that grow are
   projected to 0; registers that become duplicates are dropped. */
const Layout *layout_project(LayoutTable *t, const Layout *l, int rank, const uint8_t *dim_log2);
/* Result layout of a reduction of `axis` (rank 2 and more): its bits are removed; registers that
   become duplicates are dropped. */
const Layout *layout_slice(LayoutTable *t, const Layout *l, int axis);
/* The same where bits `kept` of the dim's coordinate stay, moved together. */
/* Bits of a lane's number that hold nothing but the dim. */
uint32_t layout_lanes_along(const Layout *l, int dim);
/* The slice, but that as many of these lanes, the highest first, have what the highest registers had. */
const Layout *layout_deal(LayoutTable *t, const Layout *l, int axis, int lanes);
const Layout *layout_keep(LayoutTable *t, const Layout *l, int dim, uint32_t kept);
/* With a dim of 1 << bits before `axis`, held in the last registers. */
const Layout *layout_insert(LayoutTable *t, const Layout *l, int axis, int bits);
/* Same vectors under another shape with the same total bits. */
const Layout *layout_reshape(LayoutTable *t, const Layout *l, int rank, const uint8_t *dim_log2);
/* Every warp has the whole dim of what it holds: its bits go from the warps to the registers, which
   give bits of other dims for them as long as they have such. */
const Layout *layout_keep_in_warp(LayoutTable *t, const Layout *l, int dim);
/* A new last dim of extent 2 held in register bit 0 (join), and back (split; NULL unless exactly
   one vector, a register's, has the last dim's bit, and has no other). */
const Layout *layout_join(LayoutTable *t, const Layout *l);
const Layout *layout_split(LayoutTable *t, const Layout *l);
/* Puts the first n vectors of the dim in. */
void layout_add_vectors(F2Space *s, const Layout *l, LayoutDim dim, int n);
/* The register whose own vectors XOR to index, or -1: which register of the source a register of
   the result of a free move (broadcast, trans, expand_dims, reshape) is. */
int layout_find_register(const Layout *l, uint32_t index);

/* ---- text: #l<16x64; register: (0,1) (0,2); lane: …; warp: …> ; coordinates outermost first
   ---- */
void layout_print(Buf *out, const Layout *l);
/* Parses what layout_print wrote. Advances *p; NULL with *error (static text) on bad input. */
const Layout *layout_parse(LayoutTable *t, const char **p, const char **error);
